"""A predicate as a tree. `position` is where a node starts in the text, from 1; comparisons of trees leave it out."""

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
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A number (exact), a text, a truth, a date or a time, as written."""

    value: Constant
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Minus:
    """−operand."""

    operand: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """left sign right, with a sign of + - *."""

    sign: str
    left: Node
    right: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """left sign right, with a sign of = != < <= > >=."""

    sign: str
    left: Node
    right: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class In:
    """left in (items): left equals one of them."""

    left: Node
    items: tuple[Node, ...]
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """operand is null: never unknown itself."""

    operand: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """not operand."""

    operand: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """All parts, joined by and."""

    parts: tuple[Node, ...]
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """One part at least, joined by or."""

    parts: tuple[Node, ...]
    position: int = field(default=0, compare=False)


Node = Column | Literal | Minus | Arithmetic | Comparison | In | IsNull | Not | And | Or


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Column() | Literal():
            return ()
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case In(left, items):
            return (left, *items)
        case And(operands) | Or(operands):
            return operands
        case Minus(operand) | IsNull(operand) | Not(operand):
            return (operand,)


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, without recursion."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))
