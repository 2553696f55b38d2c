"""Generic differential privacy: a relation of secrets, and for each of its pairs a bound M (KL10 Def. 2.1.3).

Relations between secrets: which ordered pairs a privacy definition protects (KL10 §2, the privacy relation R).

R is irreflexive. Differential privacy needs it symmetric: both directions of every pair. What is said of R as a graph
(components, distances, paths, spanning trees) forgets directions.

A mechanism meets the definition when M(P(O|i₁)) ≥ P(O|i₂) for every event O, complements included, and every related
(i₁, i₂). M is concave, continuous on (0, 1], M(1) = 1, M(0) ≥ 0; then it never decreases and M(a) ≥ a. Such definitions
are exactly the sound ones: `soundness`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path

from utmost.axioms.curves import Curve, curve_from_lines, curve_from_points
from utmost.channel.concentration import check_rho
from utmost.consumer.family import read_text
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, decimal, epsilon, number, rational, sign
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


DEFINITION_FORMS = (
    "pure:EPSILON, alpha:ALPHA, approximate:EPSILON,DELTA, variation:T, identity, subsampling:P "
    "or points:0 0,1/4 3/4,1 1"
)
MAX_BOUND_CHARS = 100_000  # characters of the text of a bound
TWO_SECRETS = Relation(("i1", "i2"), ((0, 1),))


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A relation and a bound for each of its pairs: `default`, or what `others` has for it. Every bound is sound.

    >>> Definition(TWO_SECRETS, pure(alpha("1/2"))).bound(0, 1)("1/6")
    Fraction(1, 3)
    """

    relation: Relation
    default: Curve
    others: Mapping[Pair, Curve] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a bound that is not one, and a pair that the relation does not hold."""
        check_bound(self.default)
        related_pairs = set(self.relation.pairs)
        for pair, curve in self.others.items():
            if pair not in related_pairs:
                raise InputError("a bound of its own must be for a pair of the relation, got another pair")
            first, second = (label_text(self.relation.labels[k]) for k in pair)
            check_bound(curve, f"bound for ({first}, {second})")

    def __repr__(self) -> str:
        return f"<Definition: {self.relation!r}, {len({self.default, *self.others.values()})} bounds>"

    def bound(self, x: int, other: int) -> Curve:
        """M for the pair of positions (i₁, i₂) = (x, other)."""
        return self.others.get((x, other), self.default)


@lru_cache(maxsize=1024)  # one bound often serves many pairs
def bound_fault(curve: Curve) -> str | None:
    """What keeps a curve from being a bound M, in a few words; None if nothing does. KL10 Thm 2.3.1."""
    values = [value for _, value in curve.points] + [curve.at_zero, curve.at_one]
    if any(sign(value) < 0 for value in values):
        return "must be >= 0, got less: it bounds a probability"
    if any(value > 1 for value in values):
        return "must be <= 1, got more: it bounds a probability"
    if curve.at_one != 1:
        return f"must be 1 at 1, got {decimal(curve.at_one)}: a certain event is certain for both secrets"
    if curve.drop is not None:
        (left, _), (right, _) = curve.drop
        return f"must never decrease, got less at {decimal(right)} than at {decimal(left)}"
    dent = curve.dent
    if dent is not None:
        interval = f"{decimal(dent.left[0])} and {decimal(dent.right[0])}"
        return (
            f"must be concave, got a dent at {decimal(dent.middle[0])} between {interval}: "
            "ask `definition check` for more"
        )
    return None


def check_bound(curve: Curve, name: str = "bound M") -> Curve:
    """The curve, if it is a bound; else an error that says what it must be."""
    problem = bound_fault(curve)
    if problem is not None:
        raise InputError(f"{name} {problem}")
    return curve


def pure(level: Level) -> Curve:
    """ε-differential privacy: M(a) = min(e^ε·a, 1 − e^−ε·(1−a)); at α = 0, where nothing is asked, M = 1. KL10 §2.1.

    >>> pure(alpha("1/2")).points[1]
    (Fraction(1, 3), Fraction(2, 3))
    """
    return approximate(level, 0)


def approximate(level: Level, delta: object) -> Curve:
    """(ε, δ): M(a) = min(1, e^ε·a + δ, 1 − e^−ε·(1−a−δ)): P(O|i) ≤ e^ε·P(O|i′) + δ, either way. KL10 §2.1.

    The lines meet at a = α·(1−δ)/(1+α), where M = (1+α·δ)/(1+α), and M is 1 from a = 1−δ on.
    """
    extra, shrink = share(delta, "delta"), level.alpha
    if not shrink or extra == 1:
        return identity()
    meet = (shrink * (1 - extra) / (1 + shrink), (1 + shrink * extra) / (1 + shrink))
    full = [(1 - extra, 1)] if extra else []
    return curve_from_points([(0, extra), meet, *full, (1, 1)])


def variation(distance: object) -> Curve:
    """Total variation at most t: M(a) = min(1, a + t); (ε, δ) with ε = 0."""
    return curve_from_lines([(1, share(distance, "total variation"))])


def identity() -> Curve:
    """M = 1: nothing is asked, the mechanism that tells its input is allowed. KL10 §2.1."""
    return curve_from_points([(0, 1), (1, 1)])


def subsampling(probability: object) -> Curve:
    """What a random subset tells: M(a) = p + (1−p)·a where i₂ is i₁ with one record more and each is kept with p.

    With probability p the new record is kept, which shows that it is i₂; otherwise the subset has the law that it has
    under i₁. So P(O|i₂) = (1−p)·P(O|i₁) + p·P(O | kept), and P(O | kept) can be 1 for an O that i₁ never makes: M is
    the least bound. Back, from more records to fewer, it is `reversed`: min(1, a/(1−p)). KL10 §2.1 only names the
    mechanism.

    >>> str(subsampling("1/4")), str(subsampling("1/4").reversed)
    ('0 1/4, 1 1', '0 0, 3/4 1, 1 1')
    """
    rate = share(probability, "subsampling")
    return curve_from_points([(0, rate), (1, 1)])


def share(value: object, name: str) -> Number:
    """A number in [0, 1]."""
    exact_value = number(value, name)
    if sign(exact_value) < 0 or exact_value > 1:
        raise InputError(f"{name} must be in [0, 1], got {decimal(exact_value)}", name)
    return exact_value


def points(text: str) -> Curve:
    """The curve of `a value` pairs parted by commas; two pairs at 0 are the value there and the limit beside it.

    >>> points("0 0, 0 1/2, 1 1").at_zero, points("0 0,1/2 1,1 1")("1/4")
    (Fraction(0, 1), Fraction(1, 2))
    """
    pairs = [entry.split() for entry in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise InputError(
            'points of a bound must be pairs "a value" parted by commas, such as 0 0,1/4 3/4,1 1', "points"
        )
    exact_points = [(number(a, "place of a bound"), number(value, "value of a bound")) for a, value in pairs]
    jumps = len(exact_points) > 1 and exact_points[0][0] == 0 == exact_points[1][0]
    return curve_from_points(exact_points[1:], at_zero=exact_points[0][1]) if jumps else curve_from_points(exact_points)


def parse_bound(text: str) -> Curve:
    """The curve that a bound's text means, not yet known to be a bound: see DEFINITION_FORMS.

    >>> parse_bound("alpha:1/2") == pure(alpha("1/2")), parse_bound("variation:1/10")("1/2")
    (True, Fraction(3, 5))
    """
    if not isinstance(text, str):
        raise InputError(f"bound must be text, one of {DEFINITION_FORMS}, got {type(text).__name__}", "bound")
    kind, _, argument = text.strip().partition(":")
    if len(text) > MAX_BOUND_CHARS or kind not in BOUND_PARSERS or bool(argument) != (kind != "identity"):
        got = f"{len(text)} characters" if len(text) > MAX_BOUND_CHARS else label_text(text) or "nothing"
        raise InputError(f"bound must be {DEFINITION_FORMS}, got {got}", "bound")
    return BOUND_PARSERS[kind](argument)


def parse_zcdp(text: str) -> Fraction | None:
    """The ρ of `zcdp:RHO`, zero-concentrated privacy; None for other text.

    It bounds Rényi divergences and not single events, so no curve M says it: `channel.concentration` decides it.

    >>> parse_zcdp("zcdp:1/8"), parse_zcdp("pure:1")
    (Fraction(1, 8), None)
    """
    kind, _, argument = text.strip().partition(":")
    if kind != "zcdp":
        return None
    if not argument:
        raise InputError("zcdp must be zcdp:RHO such as zcdp:1/8, got no number", "definition")
    return check_rho(argument)


def is_bound_text(text: str) -> bool:
    """Does the text begin like that of a bound."""
    return text.strip().partition(":")[0] in BOUND_PARSERS


def definition_of(text: str, relation: Relation = TWO_SECRETS) -> Definition:
    """The definition in which every pair has the bound that the text means.

    Subsampling is the bound from the earlier to the later secret of a pair, which stands for one record more, and its
    reverse is the bound of the reversed pair.
    """
    curve = parse_bound(text)
    if text.strip().startswith("subsampling"):
        return Definition(relation, curve, {pair: curve.reversed for pair in relation.pairs if pair[0] > pair[1]})
    return Definition(relation, curve)


def _parse_approximate(text: str) -> Curve:
    first, comma, second = text.partition(",")
    if not comma:
        raise InputError(
            "approximate must be approximate:EPSILON,DELTA such as approximate:1,1e-6, got one number", "approximate"
        )
    return approximate(epsilon(rational(first, "epsilon")), second)


BOUND_PARSERS: Mapping[str, Callable[[str], Curve]] = {
    "pure": lambda text: pure(epsilon(text)),
    "alpha": lambda text: pure(alpha(text)),
    "approximate": _parse_approximate,
    "variation": variation,
    "identity": lambda _: identity(),
    "subsampling": subsampling,
    "points": points,
}
