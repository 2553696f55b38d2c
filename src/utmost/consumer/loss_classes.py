"""Losses restricted, lifted, added and scaled; trivial and monotone losses, decided (FMPD23 §IV-C, Def. 6, A1).

Losses on fewer secrets, on more, added and scaled (FMPD23 §IV-C, eq. 13 and 14).

A loss here is its exact matrix: one row for each secret x, one column for each action w; there may be more or fewer
actions than secrets.

Classes of losses: trivial, monotone, strictly monotone in a metric, decided with a witness (FMPD23 Def. 6, Def. A1).

A loss is monotone in d when ℓ(w, x) = m(d(x, a(w))) for a non-decreasing m and an injective a from actions to points;
strictly when m is strictly increasing. With fewer actions than points a is not onto, and the classes are larger: see
docs/universal.md for what that does to FMPD23 Thm 12.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.consumer.losses import Loss
from utmost.errors import InputError
from utmost.exact import Number, number, sign
from utmost.result_values import short_repr
from utmost.spaces import Label, Space, space

Exacts: TypeAlias = npt.NDArray[np.object_]
LossLike: TypeAlias = Loss | Exacts | Sequence[Sequence[object]]


def loss_rows(loss: LossLike, size: int) -> Exacts:
    """The exact matrix ℓ[x, w] of a loss over `size` secrets: a named loss, or its rows ("1/3", 2, Fraction).

    >>> from utmost.consumer import losses
    >>> [[str(v) for v in row] for row in loss_rows(losses.absolute, 2)], loss_rows([[0, "1/2", 1]], 1).shape
    ([['0', '1'], ['1', '0']], (1, 3))
    """
    rows = loss.matrix(size) if isinstance(loss, Loss) else loss
    width = len(rows[0]) if len(rows) else 0
    if len(rows) != size or not width or any(len(row) != width for row in rows):
        raise InputError(
            f"loss must have {size} rows, one for each secret, equally long, got {len(rows)} of them", "loss"
        )
    result = np.empty((size, width), dtype=object)
    for x, row in enumerate(rows):
        result[x] = [_exact_entry(value) for value in row]
    return result


def _exact_entry(value: object) -> Number:
    if isinstance(value, float):
        raise InputError(
            "loss must have exact entries here, got floats", "loss", 'write them as text, for instance "1/3"'
        )
    return number(int(value) if isinstance(value, np.integer) else value, "loss")


def restrict_loss(loss: LossLike, space: Space, labels: Iterable[Label]) -> Exacts:
    """ℓ↓X′: the rows of the secrets in X′ = `labels`, in the order given; every action stays.

    >>> from utmost.consumer import losses
    >>> from utmost.spaces import line
    >>> [[str(v) for v in row] for row in restrict_loss(losses.absolute, line(3), [0, 2])]
    [['0', '1', '2'], ['2', '1', '0']]
    """
    rows: Exacts = loss_rows(loss, len(space))[[space.position(label) for label in labels]]
    return rows


def lift_loss(loss: LossLike, labels: Sequence[Label], space: Space) -> Exacts:
    """ℓ↑X: the loss over the secrets `labels` on the whole space, 0 at every other secret whatever the action.

    >>> from utmost.consumer import losses
    >>> from utmost.spaces import line
    >>> [[str(v) for v in row] for row in lift_loss(losses.binary, [0, 2], line(3))]
    [['0', '1'], ['0', '0'], ['1', '0']]
    """
    if len(set(labels)) != len(labels):
        raise InputError("labels must name each secret once, got one twice", "labels")
    rows = loss_rows(loss, len(labels))
    result = np.full((len(space), rows.shape[1]), Fraction(0), dtype=object)
    result[[space.position(label) for label in labels]] = rows
    return result


def add_losses(first: LossLike, second: LossLike, size: int) -> Exacts:
    """ℓ₁ + ℓ₂ (eq. 13): an action is a pair (w₁, w₂), ordered by w₁ first, and costs ℓ₁(x, w₁) + ℓ₂(x, w₂).

    U_{ℓ₁+ℓ₂} = U_ℓ₁ + U_ℓ₂ for every prior and mechanism, since the two actions are chosen apart.
    """
    left, right = loss_rows(first, size), loss_rows(second, size)
    result: Exacts = (left[:, :, None] + right[:, None, :]).reshape(size, -1)
    return result


def scale_loss(loss: LossLike, factors: Sequence[object]) -> Exacts:
    """v × ℓ (eq. 14): the loss of secret x times factors[x] ≥ 0. It is ℓ under a prior proportional to v_x·π_x.

    >>> [[str(v) for v in row] for row in scale_loss([[0, 1], [1, 0]], ["1/2", 3])]
    [['0', '1/2'], ['3', '0']]
    """
    weights = np.array([number(value, "factor") for value in factors], dtype=object)
    if any(sign(value) < 0 for value in weights):
        raise InputError("factors must be >= 0, got one below", "factors", "a negative one turns a loss into a gain")
    result: Exacts = loss_rows(loss, len(weights)) * weights[:, None]
    return result


Entry: TypeAlias = tuple[int, int]  # secret, action
Images: TypeAlias = tuple[int, ...]  # the points that the first actions stand for


@dataclass(frozen=True, slots=True)
class Triviality:
    """Two notions that FMPD23 gives one name.

    Def. 6: ℓ does not depend on the action; `differing` = (x, w, w′) with ℓ(w, x) ≠ ℓ(w′, x) says otherwise. Def. A1:
    one action is best whatever the secret; `dominant` is the first such, and where there is none `rivals[w]` = (x, w′)
    says that at x action w′ is better than w. The first implies the second. Not conversely: [[0, 1], [0, 1]]. What
    makes every mechanism equally good, whatever the prior, is the second: U_ℓ is linear in the prior exactly then.
    """

    __repr__ = short_repr

    differing: tuple[int, int, int] | None
    dominant: int | None
    rivals: tuple[Entry, ...]

    @property
    def constant(self) -> bool:
        """Is it trivial by Def. 6."""
        return self.differing is None

    @property
    def dominated(self) -> bool:
        """Is it trivial by Def. A1."""
        return self.dominant is not None


def is_trivial(loss: LossLike, size: int) -> Triviality:
    """Is a loss over `size` secrets trivial, by Def. 6 and by Def. A1.

    >>> is_trivial([[0, 1], [0, 1]], 2)
    Triviality(differing=(0, 0, 1), dominant=0, rivals=())
    >>> is_trivial([[0, 1], [1, 0]], 2).rivals
    ((1, 1), (0, 0))
    """
    rows = loss_rows(loss, size)
    width = rows.shape[1]
    differing = next(((x, 0, w) for x in range(size) for w in range(1, width) if rows[x, w] != rows[x, 0]), None)
    better_actions = [_better_action(rows, w) for w in range(width)]
    dominant = next((w for w, rival in enumerate(better_actions) if rival is None), None)
    rivals = tuple(rival for rival in better_actions if rival is not None) if dominant is None else ()
    return Triviality(differing, dominant, rivals)


def _better_action(rows: Exacts, w: int) -> Entry | None:
    return next(((x, v) for x, row in enumerate(rows) for v in range(len(row)) if row[v] < row[w]), None)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Actions 0 … k−1 cannot stand for the points `images`: the two losses are not ordered as their distances are.

    `first` and `second` are entries (x, w), w < k, with d(x, a(w)) ≤ d(x′, a(w′)): the distances are equal and the
    losses differ, or the losses fall (or stay, where strictness is asked) as the distance grows.
    """

    images: Images
    first: Entry
    second: Entry


@dataclass(frozen=True, slots=True)
class Monotonicity:
    """Is a loss monotone in a metric.

    If so `images` are the points a(w) and `scale` the pairs (distance, m(distance)), increasing. If not, `conflicts`
    rule every injective a out: each begins with the images of one of them, or has no point left (`refutes`).
    """

    __repr__ = short_repr

    strict: bool
    images: tuple[Label, ...] | None
    scale: tuple[tuple[Number, Number], ...]
    conflicts: tuple[Conflict, ...]

    @property
    def holds(self) -> bool:
        """Was an a found."""
        return self.images is not None


def is_monotone(loss: LossLike, metric: Space) -> Monotonicity:
    """Is ℓ(w, x) = m(d(x, a(w))) for a non-decreasing m and an injective a (FMPD23 Def. 6): exact backtracking.

    >>> from utmost.consumer import losses
    >>> from utmost.spaces import line
    >>> is_monotone(losses.binary, line(3)).images, is_strictly_monotone(losses.binary, line(3)).holds
    ((0, 1, 2), False)
    """
    return _search_images(loss, metric, strict=False)


def is_strictly_monotone(loss: LossLike, metric: Space) -> Monotonicity:
    """The same with a strictly increasing m.

    >>> from utmost.spaces import line
    >>> swap = is_strictly_monotone([[1, 0], [0, 1]], line(2))  # what is not so: the actions stand for the other point
    >>> swap.images, swap.scale
    ((1, 0), ((Fraction(0, 1), Fraction(0, 1)), (Fraction(1, 1), Fraction(1, 1))))
    """
    return _search_images(loss, metric, strict=True)


def _search_images(loss: LossLike, metric: Space, strict: bool) -> Monotonicity:
    rows = loss_rows(loss, len(metric))
    search = _ImageSearch(rows, metric, _ranks(rows), _ranks(metric.distances), strict)
    conflicts: list[Conflict] = []
    solution = search.search((), {}, conflicts)
    if solution is None:
        return Monotonicity(strict, None, (), tuple(conflicts))
    images, entry_of_rank = solution
    scale = [
        (metric.distance(x, images[w]), rows[x, w]) for x, w in (entry_of_rank[rank] for rank in sorted(entry_of_rank))
    ]
    return Monotonicity(strict, tuple(metric.labels[p] for p in images), tuple(scale), ())


@dataclass(frozen=True, slots=True)
class _ImageSearch:
    """Losses and distances by rank, and the backtracking over a."""

    rows: Exacts
    metric: Space
    values: Exacts
    distances: Exacts
    strict: bool

    def search(
        self, images: Images, entry_of_rank: dict[int, Entry], conflicts: list[Conflict]
    ) -> tuple[Images, dict[int, Entry]] | None:
        """The first a that extends `images`, with an entry for each rank of a distance; else what rules each out."""
        if len(images) == self.rows.shape[1]:
            return images, entry_of_rank
        for point in range(len(self.metric)):
            if point in images:
                continue
            extended_images = (*images, point)
            extended_entries = dict(entry_of_rank)
            conflict = self.add_column(extended_images, extended_entries)
            if conflict is not None:
                conflicts.append(conflict)
                continue
            solution = self.search(extended_images, extended_entries, conflicts)
            if solution is not None:
                return solution
        return None

    def add_column(self, images: Images, entry_of_rank: dict[int, Entry]) -> Conflict | None:
        """Adds the last action's column to `entry_of_rank` (by rank of distance), or says what it contradicts."""
        w = len(images) - 1
        for x in range(len(self.rows)):
            distance = self.distances[x, images[w]]
            for rank, entry in entry_of_rank.items():
                pair = sorted([(rank, entry), (distance, (x, w))])
                if self.is_broken(pair[0], pair[1]):
                    return Conflict(images, pair[0][1], pair[1][1])
            entry_of_rank.setdefault(distance, (x, w))
        return None

    def is_broken(self, nearer: tuple[int, Entry], farther: tuple[int, Entry]) -> bool:
        """Are two losses not ordered as their distances."""
        low, high = self.values[nearer[1]], self.values[farther[1]]
        if nearer[0] == farther[0]:
            return bool(low != high)
        return bool(low >= high) if self.strict else bool(low > high)


def _ranks(entries: Exacts) -> Exacts:
    """Each entry's place among the different values."""
    levels: list[Number] = []
    for value in sorted(entries.ravel()):
        if not levels or levels[-1] != value:
            levels.append(value)
    ranks = np.empty(entries.shape, dtype=object)
    for k, value in np.ndenumerate(entries):
        ranks[k] = levels.index(value)
    return ranks


def refutes(loss: LossLike, metric: Space, monotonicity: Monotonicity) -> bool:
    """Do the conflicts rule out every injective a: each holds as said, and each a begins with the images of one."""
    rows = loss_rows(loss, len(metric))
    prefixes = {conflict.images for conflict in monotonicity.conflicts}
    return all(_is_conflict(rows, metric, c, monotonicity.strict) for c in monotonicity.conflicts) and all(
        images in prefixes for images in _leaves(prefixes, (), len(metric), rows.shape[1])
    )


def _is_conflict(rows: Exacts, metric: Space, conflict: Conflict, strict: bool) -> bool:
    (x, w), (z, v) = conflict.first, conflict.second
    if max(w, v) >= len(conflict.images):
        return False
    first_distance, second_distance = metric.distance(x, conflict.images[w]), metric.distance(z, conflict.images[v])
    low, high = rows[x, w], rows[z, v]
    if first_distance == second_distance:
        return bool(low != high)
    return bool(first_distance < second_distance and (low > high or (strict and low == high)))


def _leaves(prefixes: set[Images], images: Images, points: int, actions: int) -> Iterator[Images]:
    """Where the tree of injective maps is cut: at a prefix, or at a whole map that no prefix begins."""
    if images in prefixes or len(images) == actions:
        yield images
        return
    for point in range(points):
        if point not in images:
            yield from _leaves(prefixes, (*images, point), points, actions)


def metric_for(loss: LossLike, size: int, strict: bool = False) -> Space | None:
    """Some metric on `size` secrets in which the loss is monotone (strictly, if asked); None if there is none.

    Distances between 1 and 2 always make a metric, so only the order matters: ℓ is monotone in some metric exactly when
    some injective a has ℓ(w, a(w)) = min ℓ for every w, and ℓ(w, a(w′)) = ℓ(w′, a(w)). Strictly: and no other entry is
    min ℓ. FMPD23 §IV-B says that ℓ_nib is monotone in no metric; a pairing of the secrets makes it so, if they are even
    in number.

    >>> from utmost.consumer.loss_classes import is_monotone
    >>> nib = [[int(x == w) for w in range(4)] for x in range(4)]
    >>> is_monotone(nib, metric_for(nib, 4)).images, metric_for([row[:3] for row in nib[:3]], 3)
    ((1, 0, 3, 2), None)
    """
    rows = loss_rows(loss, size)
    images = _symmetric_images(rows, (), rows.min(), strict)
    if images is None:
        return None
    ranks = _ranks(rows)
    unit = Fraction(1, max(1, int(ranks.max())))
    distances = np.full((size, size), Fraction(2), dtype=object)
    for w, point in enumerate(images):
        distances[:, point] = distances[point, :] = 1 + unit * ranks[:, w]
    np.fill_diagonal(distances, Fraction(0))
    return space(distances.tolist(), name="some metric")


def _symmetric_images(rows: Exacts, images: Images, minimum: Number, strict: bool) -> Images | None:
    w = len(images)
    if w == rows.shape[1]:
        return images
    for point in range(len(rows)):
        fits = rows[point, w] == minimum and all(rows[p, w] == rows[point, v] for v, p in enumerate(images))
        if strict and any(rows[x, w] == minimum for x in range(len(rows)) if x != point):
            fits = False
        if fits and point not in images:
            solution = _symmetric_images(rows, (*images, point), minimum, strict)
            if solution is not None:
                return solution
    return None
