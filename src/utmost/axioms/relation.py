"""Relations between secrets: which ordered pairs a privacy definition protects (KL10 §2, the privacy relation R).

R is irreflexive. Differential privacy needs it symmetric: both directions of every pair. What is said of R as a graph
(components, distances, paths, spanning trees) forgets directions.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from utmost.consumer.files import read_text
from utmost.errors import InputError
from utmost.spaces import Space, parse_space
from utmost.spaces.space import MAX_TABLE_POINTS, Label, Pair, label_text

MAX_LABEL_CHARS = 200  # characters
MAX_LABEL_DIGITS = 18  # of a label that is read as a whole number


@dataclass(frozen=True)
class Relation:
    """Ordered pairs of positions among `labels`, sorted, each once, never a secret with itself.

    >>> Relation(("a", "b", "c"), ((0, 1), (1, 0))).components
    ((0, 1), (2,))
    """

    labels: tuple[Label, ...]
    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        """Refuse a relation that is not irreflexive, and positions that are none; sort the pairs."""
        size = len(self.labels)
        distinct = len({str(label) for label in self.labels})
        if not 1 <= size <= MAX_TABLE_POINTS or distinct != size:
            got = size if distinct == size else f"{size} of which {distinct} are written differently"
            raise InputError(f"a relation must have 1 to {MAX_TABLE_POINTS} distinct labels, got {got}")
        for first, second in self.pairs:
            if not (0 <= first < size and 0 <= second < size):
                raise InputError(f"a pair of a relation must be two positions below {size}, got another number")
            if first == second:
                name = label_text(self.labels[first])
                raise InputError(
                    f"a relation must be irreflexive, got a pair of {name} with itself", hint="leave it out"
                )
        object.__setattr__(self, "pairs", tuple(sorted(set(self.pairs))))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<Relation: {len(self.labels)} secrets, {len(self.pairs)} ordered pairs>"

    @cached_property
    def symmetric(self) -> bool:
        """Does it hold both directions of each of its pairs."""
        pair_set = set(self.pairs)
        return all((second, first) in pair_set for first, second in self.pairs)

    @property
    def both_ways(self) -> Relation:
        """The least symmetric relation that contains it."""
        return self if self.symmetric else Relation(self.labels, (*self.pairs, *((y, x) for x, y in self.pairs)))

    @cached_property
    def edges(self) -> tuple[Pair, ...]:
        """The pairs without direction: x < x′, each once."""
        return tuple(sorted({(min(pair), max(pair)) for pair in self.pairs}))

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """For each secret the secrets it is related to, in either direction, in order."""
        neighbour_sets: list[set[int]] = [set() for _ in self.labels]
        for first, second in self.pairs:
            neighbour_sets[first].add(second)
            neighbour_sets[second].add(first)
        return tuple(tuple(sorted(members)) for members in neighbour_sets)

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The connected parts, each in order, by their first secrets."""
        component_list: list[tuple[int, ...]] = []
        visited: set[int] = set()
        for start in range(len(self)):
            if start not in visited:
                component = tuple(sorted(self._tree(start)))
                visited.update(component)
                component_list.append(component)
        return tuple(component_list)

    @property
    def connected(self) -> bool:
        """Is there a path between any two secrets."""
        return len(self.components) == 1

    def _tree(self, start: int) -> dict[int, int]:
        """For each secret that can be reached the one before it on a shortest path from `start`; nearest first."""
        predecessor = {start: start}
        layer = [start]
        while layer:
            next_layer = []
            for x in layer:
                for neighbour in self.neighbours[x]:
                    if neighbour not in predecessor:
                        predecessor[neighbour] = x
                        next_layer.append(neighbour)
            layer = next_layer
        return predecessor

    def distances(self, start: int) -> tuple[int | None, ...]:
        """d_R(start, x), the fewest steps along pairs, for every secret x; None where there is no path."""
        steps = {start: 0}
        for x, predecessor in self._tree(start).items():
            steps.setdefault(x, steps[predecessor] + 1)
        return tuple(steps.get(x) for x in range(len(self)))

    def path(self, start: int, end: int) -> tuple[int, ...] | None:
        """A shortest path, both ends included; None if there is none.

        >>> relation_from_space(parse_space("cycle:5")).path(0, 3)
        (0, 4, 3)
        """
        predecessor, reversed_path = self._tree(start), [end]
        if end not in predecessor:
            return None
        while reversed_path[-1] != start:
            reversed_path.append(predecessor[reversed_path[-1]])
        return tuple(reversed(reversed_path))

    @cached_property
    def diameter(self) -> int | None:
        """The largest distance of two secrets; None if the relation is not connected."""
        if not self.connected:
            return None
        return max(step for x in range(len(self)) for step in self.distances(x) if step is not None)

    @cached_property
    def spanning_trees(self) -> int:
        """How many spanning trees it has as a graph: a principal minor of its Laplacian (Kirchhoff), exact.

        >>> (
        ...     relation_from_space(parse_space("discrete:5")).spanning_trees,
        ...     relation_from_space(parse_space("cycle:7")).spanning_trees,
        ... )
        (125, 7)
        """
        from flint import fmpz_mat

        size = len(self) - 1
        laplacian = [[0] * size for _ in range(size)]
        for x, neighbours in enumerate(self.neighbours[:size]):
            laplacian[x][x] = len(neighbours)
            for neighbour in neighbours:
                if neighbour < size:
                    laplacian[x][neighbour] = -1
        return int(fmpz_mat(size, size, [entry for row in laplacian for entry in row]).det())


def relation_from_space(space: Space) -> Relation:
    """The neighbours of a space: its edges, in both directions; line:n gives KL10's R_n, discrete:n all pairs."""
    return Relation(space.labels, (*space.edges, *((second, first) for first, second in space.edges)))


def relation_from_pairs(pairs: Iterable[Sequence[Label]], labels: Iterable[Label] | None = None) -> Relation:
    """The relation of ordered pairs (i₁, i₂) of labels; the secrets stand in the order given, else as they appear.

    >>> relation_from_pairs([("a", "b"), ("b", "c")]).symmetric
    False
    """
    label_pairs = [_check_pair(pair) for pair in pairs]
    names = tuple(labels) if labels is not None else tuple(dict.fromkeys(end for pair in label_pairs for end in pair))
    positions = {label: k for k, label in enumerate(names)}
    return Relation(
        names,
        tuple((label_position(positions, first), label_position(positions, second)) for first, second in label_pairs),
    )


def label_position(positions: Mapping[Label, int], label: Label) -> int:
    """Where a label stands, or an error that names it."""
    if label not in positions:
        raise InputError(f"a pair of a relation must be of its labels, got {label_text(label)}", hint="add it to them")
    return positions[label]


def _check_pair(pair: Sequence[Label]) -> tuple[Label, Label]:
    labels = list(pair) if isinstance(pair, list | tuple) else []
    if len(labels) != 2 or not all(isinstance(label, str | int) and not isinstance(label, bool) for label in labels):
        raise InputError('a pair of a relation must be two labels such as ["a", "b"]')
    return labels[0], labels[1]


def parse_relation(text: str) -> Relation:
    """The relation that the command line or a file means: `pairs:FILE` (CSV lines i1,i2), or a space such as line:6."""
    kind, _, path = text.partition(":")
    return _read_relation(Path(path)) if kind == "pairs" and path else relation_from_space(parse_space(text))


def _read_relation(path: Path) -> Relation:
    text = read_text(path, "relation")
    try:
        rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    except csv.Error:
        raise InputError("relation must be a CSV file of lines i1,i2, got one that is not", "relation") from None
    if not rows:
        raise InputError("relation must be a CSV file of lines i1,i2, got none", "relation")
    for k, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise InputError(f"relation must be a CSV file of lines i1,i2, got {len(row)} cells in row {k}", "relation")
    return relation_from_pairs([[_parse_label(cell, k) for cell in row] for k, row in enumerate(rows, start=1)])


def check_printable(relation: Relation) -> Relation:
    """The relation, if its labels can be printed."""
    if not all(_is_printable(str(label)) for label in relation.labels):
        raise InputError(f"a relation must have labels of 1 to {MAX_LABEL_CHARS} printable characters, got another one")
    return relation


def _is_printable(text: str) -> bool:
    return 1 <= len(text) <= MAX_LABEL_CHARS and text.isprintable()


def _parse_label(cell: str, row: int) -> Label:
    """A label as written: a whole number if it is one, else short text that can be printed."""
    text = cell.strip()
    if not _is_printable(text):
        raise InputError(
            f"relation must have labels of 1 to {MAX_LABEL_CHARS} printable characters", "relation", f"see row {row}"
        )
    is_integer = text.isascii() and text.lstrip("-").isdigit() and len(text) <= MAX_LABEL_DIGITS
    return int(text) if is_integer and str(int(text)) == text else text
