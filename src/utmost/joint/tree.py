"""A table of counts as a tree of cells: what is known of them, and the noisy answers that were published.

A *level* is a list of columns; each level has all columns of the one before. Its cells are keys, one value for each of
its columns, in their order. A cell of a finer level is part of the cell of the coarser level that its key starts with,
and every count is the sum of its parts. The top is the total of the table, with the empty key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from utmost.errors import InputError
from utmost.exact.input_text import escape_control
from utmost.joint.laws import NoiseLaw
from utmost.tables import Label

Key: TypeAlias = tuple[Label | None, ...]  # None stands for all other values of a column

MAX_COUNT = 10**15  # of a known total or an answer: sums of them are whole numbers that doubles hold
MAX_CELLS = 10**6
MAX_SHOWN_LABEL = 40  # characters


@dataclass(frozen=True, slots=True)
class NoisyCount:
    """One published answer: count plus noise of this law. `source` says which release it is of."""

    value: int
    law: NoiseLaw
    source: str = ""


@dataclass(frozen=True)
class CountTree:
    """Cells in an order where parents come first, 0 is the top; `parents[0]` is −1. Every count is ≥ 0 and whole.

    `keys` and `levels` name each cell and its level, `columns` are those of each level. `totals` are counts that are
    public, 0 where a cell is empty by its meaning (a structural zero). `answers` are those of each cell.

    >>> tree = hierarchy([["region"], ["region", "town"]], [("n", "a"), ("n", "b"), ("s", "c")])
    >>> tree.keys, tree.parents
    (((), ('n',), ('s',), ('n', 'a'), ('n', 'b'), ('s', 'c')), (-1, 0, 0, 1, 1, 2))
    """

    parents: tuple[int, ...]
    keys: tuple[Key, ...]
    levels: tuple[int, ...]
    columns: tuple[tuple[str, ...], ...]
    totals: Mapping[int, int] = field(default_factory=dict)
    answers: tuple[tuple[NoisyCount, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that do not come after what they are part of, and lists of other lengths."""
        sizes = {len(self.parents), len(self.keys), len(self.levels)}
        if len(sizes) != 1 or not self.parents or self.parents[0] != -1:
            raise InputError("parents, keys and levels must be lists of one length that start with the top", "parents")
        if any(not 0 <= parent < node for node, parent in enumerate(self.parents) if node):
            raise InputError("parents must come before their parts, got one that does not", "parents")
        if not self.answers:
            object.__setattr__(self, "answers", ((),) * len(self.parents))

    @property
    def size(self) -> int:
        """How many cells all levels have."""
        return len(self.parents)

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The parts of each cell."""
        lists: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                lists[parent].append(node)
        return tuple(map(tuple, lists))

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The cells without parts."""
        return tuple(node for node, parts in enumerate(self.parts) if not parts)

    @cached_property
    def _nodes(self) -> dict[tuple[int, Key], int]:
        return {(level, key): node for node, (level, key) in enumerate(zip(self.levels, self.keys, strict=True))}

    def node(self, level: int, key: Iterable[Label | None]) -> int:
        """The cell of a level with this key; an unknown one is refused."""
        node = self._nodes.get((level, tuple(key)))
        if node is None:
            raise InputError(f"key must be one of the table's, got {key_text(tuple(key))}", "key")
        return node

    def level_nodes(self, level: int) -> tuple[int, ...]:
        """The cells of a level, in their order."""
        return tuple(node for node, of in enumerate(self.levels) if of == level)

    def label(self, node: int) -> str:
        """A cell's key as a text; the top is the total."""
        return key_text(self.keys[node])

    def with_answers(self, level: int, values: Mapping[Key, int], law: NoiseLaw, source: str = "") -> CountTree:
        """The tree with one more answer for each of these cells of a level."""
        answers = list(self.answers)
        for key, value in values.items():
            if abs(value) > MAX_COUNT:
                raise InputError(f"answers must be within ±10^15, got another at {key_text(key)}", "values")
            node = self.node(level, key)
            answers[node] = (*answers[node], NoisyCount(value, law, source))
        return replace(self, answers=tuple(answers))

    def released(self, node: int) -> list[int]:
        """The numbers that were told of a cell."""
        return [answer.value for answer in self.answers[node] if answer.law.has_value]

    def bounds(self, node: int) -> tuple[int, int | None]:
        """The least and the greatest count that is possible, by public counts and the ends that laws state."""
        total = self.totals.get(node)
        if total is not None:
            return total, total
        ends = [answer.law.ends for answer in self.answers[node]]
        highs = [high for _, high in ends if high is not None]
        return max([0, *(low for low, _ in ends if low is not None)]), min(highs, default=None)

    def known_total(self, node: int) -> int | None:
        """The count where it is public, else None."""
        return self.totals.get(node)


def hierarchy(
    levels: Sequence[Sequence[str]],
    cells: Iterable[Iterable[Label | None]],
    totals: Mapping[Key, int] | None = None,
    zeros: Iterable[Key] = (),
) -> CountTree:
    """The tree of these levels, coarse to fine, over the keys of the finest: all of them, each once.

    `totals` are public counts by key, and `zeros` the keys of cells that are empty by their meaning, with all of their
    parts. A total of the table is put on top where no level is one.
    """
    columns = _checked_levels(levels)
    parents, key_levels = [-1], [0]
    keys: list[Key] = [()]
    nodes: dict[tuple[int, Key], int] = {(0, ()): 0}
    finest = [tuple(cell) for cell in cells]
    _check_cells(finest, columns[-1])
    for level in range(1, len(columns)):
        above, width = len(columns[level - 1]), len(columns[level])
        for key in dict.fromkeys(cell[:width] for cell in finest):
            nodes[level, key] = len(parents)
            parents.append(nodes[level - 1, key[:above]])
            keys.append(key)
            key_levels.append(level)
    tree = CountTree(tuple(parents), tuple(keys), tuple(key_levels), columns)
    return replace(tree, totals=_known_totals(tree, totals or {}, zeros))


def _checked_levels(levels: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    columns = tuple(tuple(level) for level in levels)
    if not columns or columns[0]:
        columns = ((), *columns)
    for coarse, fine in pairwise(columns):
        if fine[: len(coarse)] != coarse or len(fine) == len(coarse):
            raise InputError(
                f"levels must each have the columns of the one before and more, got {list(coarse)} and {list(fine)}",
                "levels",
                "list them from coarse to fine; marginals that are no hierarchy: two_way",
            )
    return columns


def _check_cells(cells: list[Key], columns: tuple[str, ...]) -> None:
    if not 1 <= len(cells) <= MAX_CELLS:
        raise InputError(f"cells must be from 1 to {MAX_CELLS}, got {len(cells)}", "cells")
    wrong = next((cell for cell in cells if len(cell) != len(columns)), None)
    if wrong is not None:
        raise InputError(f"cells must have {len(columns)} values each, got {key_text(wrong)}", "cells")
    if len(set(cells)) != len(cells):
        raise InputError("cells must be listed once each, got one twice", "cells")


def _known_totals(tree: CountTree, totals: Mapping[Key, int], zeros: Iterable[Key]) -> dict[int, int]:
    """The public counts by cell, zeros passed down to parts; refused where they do not add up."""
    level_of_width = {len(columns): level for level, columns in enumerate(tree.columns)}
    known: dict[int, int] = {}
    for key, total in [*totals.items(), *((tuple(key), 0) for key in zeros)]:
        if len(key) not in level_of_width:
            raise InputError(f"totals must be of cells of a level, got {key_text(key)}", "totals")
        if not 0 <= total <= MAX_COUNT:
            raise InputError(f"totals must be from 0 to 10^15, got another at {key_text(key)}", "totals")
        node = tree.node(level_of_width[len(key)], key)
        if known.setdefault(node, total) != total:
            raise InputError(f"totals must be one for each cell, got two at {key_text(key)}", "totals")
    for node, parent in enumerate(tree.parents):
        if known.get(parent) == 0 and known.setdefault(node, 0) != 0:
            raise InputError(f"totals must be 0 in an empty cell, got another at {tree.label(node)}", "totals")
    for node in reversed(range(tree.size)):
        parts = tree.parts[node]
        if parts and all(part in known for part in parts):
            known.setdefault(node, sum(known[part] for part in parts))
        if parts and node in known:
            rest = known[node] - sum(known.get(part, 0) for part in parts)
            if rest < 0 or (rest and all(part in known for part in parts)):
                raise InputError(f"totals must add up, got others for the parts of {tree.label(node)}", "totals")
    return known


def key_text(key: Key) -> str:
    """A key as a short text: its values, or the total.

    >>> key_text(("north", 3)), key_text(())
    ('north, 3', 'the total')
    """
    names = ("other" if part is None else escape_control(str(part))[:MAX_SHOWN_LABEL] for part in key)
    return ", ".join(names) or "the total"
