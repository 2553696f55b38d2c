"""A predicate as a tree. `at` is the place of a node in the text, from 1; it takes no part in comparisons of trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction

Constant = Fraction | str | bool | date | datetime


@dataclass(frozen=True, slots=True)
class Column:
    """A column, by its exact name."""

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A number (exact), a text, a truth, a date or a time, as written."""

    value: Constant
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Negative:
    """−inside."""

    inside: Node
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """left sign right, with a sign of + - *."""

    sign: str
    left: Node
    right: Node
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """left sign right, with a sign of = != < <= > >=."""

    sign: str
    left: Node
    right: Node
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Within:
    """left in (items): left equals one of them."""

    left: Node
    items: tuple[Node, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Missing:
    """inside is null: never unknown itself."""

    inside: Node
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """not inside."""

    inside: Node
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Every:
    """All parts, joined by and."""

    parts: tuple[Node, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Some:
    """One part at least, joined by or."""

    parts: tuple[Node, ...]
    at: int = field(default=0, compare=False)


Node = Column | Literal | Negative | Arithmetic | Comparison | Within | Missing | Not | Every | Some


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Column() | Literal():
            return ()
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case Within(left, items):
            return (left, *items)
        case Every(parts) | Some(parts):
            return parts
        case Negative(inside) | Missing(inside) | Not(inside):
            return (inside,)


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, without recursion."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))
