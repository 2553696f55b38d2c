"""FMPD23 Theorem 6, statement by statement, and whether a mechanism extends to more secrets, as 6(5) needs.

FMPD23 Theorem 6, statement by statement, on given mechanisms and losses, each side decided.

L_M is the set of losses for which M is universally optimal in its type. "Trivial" is Def. A1's: one action is best
whatever the secret. With Def. 6's (the loss does not depend on the action) statement 3 fails: [[0, 1], [0, 1]] depends
on it, and the mechanism that tells nothing is universally optimal for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, channel_of, choice, is_private
from utmost.channel.channel import trusted_channel
from utmost.consumer.loss_classes import LossLike, is_trivial, lift_loss
from utmost.design.universal.decision import require_rational, universally_optimal
from utmost.errors import InputError, SolverError
from utmost.exact import Level, rational
from utmost.lp import Farkas, LinearProgram, certified_optimum, infeasibility
from utmost.spaces import Label, Space, sub_space


@dataclass(frozen=True, slots=True)
class Extension:
    """A private mechanism on the whole space with the given rows, or a Farkas proof that there is none."""

    channel: Channel | None
    refutation: Farkas | None

    @property
    def exists(self) -> bool:
        """Does it extend."""
        return self.channel is not None


def extension(mechanism: Channel | Mechanism, space: Space, level: Level) -> Extension:
    """Rows for the secrets that the mechanism lacks, so that the whole is private at this rational level; 0 < α < 1.

    A column by itself always extends, by c_x = min_x′ α^−d(x,x′)·c_x′; but then the rows need not sum to 1.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> ends = channel([["4/5", "1/5"], ["1/5", "4/5"]], inputs=[0, 2])  # best for two secrets at distance 2
    >>> extension(ends, line(3), alpha("1/2")).exists  # 1 would need at least and at most 2/5 for each answer
    False
    """
    source = channel_of(mechanism)
    program = extension_program(source, space, level)
    refutation = infeasibility(program)
    if refutation is not None:
        return Extension(None, refutation)
    rows = np.empty((len(space), len(source.outputs)), dtype=object)
    new_rows = iter(np.array(certified_optimum(program).proof.x, dtype=object).reshape(-1, len(source.outputs)))
    for x, label in enumerate(space.labels):
        rows[x] = source.rows[source.inputs.index(label)] if label in source.inputs else next(new_rows)
    extended = trusted_channel(space.labels, source.outputs, rows)
    if not is_private(extended, space, level):
        raise SolverError("the extension found is not private; was the mechanism, on its own secrets?")
    return Extension(extended, None)


def extension_program(source: Channel, space: Space, level: Level) -> LinearProgram:
    """Find the missing rows: those of the secrets that the channel lacks, in the order of the space.

    Variables: the rows one after another. Rows: for each generating pair with a missing secret, both ways, and each
    output: C[x,y] − α^d·C[x′,y] ≥ 0; then each missing row sums to 1.
    """
    if not level.is_inner:
        raise InputError("level must have 0 < alpha < 1 here: at 0 and at 1 every mechanism extends", "level")
    require_rational(space, level, source.rows)
    known_rows = {space.position(label): source.rows[k] for k, label in enumerate(source.inputs)}
    missing = {x: k for k, x in enumerate(x for x in range(len(space)) if x not in known_rows)}
    width = len(source.outputs)
    entries, rhs = _privacy_constraints(space, level, known_rows, missing)
    count = len(rhs)
    entries += [(count + k, k * width + y, Fraction(1)) for k in missing.values() for y in range(width)]
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    return LinearProgram(
        [Fraction(0)] * (len(missing) * width),
        np.array(rows, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        np.array(values, dtype=object),
        [*rhs, *[Fraction(1)] * len(missing)],
        np.arange(count + len(missing)) >= count,
    )


def _privacy_constraints(
    space: Space, level: Level, known_rows: Mapping[int, Matrix], missing: Mapping[int, int]
) -> tuple[list[tuple[int, int, Fraction]], list[Fraction]]:
    """The entries and right-hand sides of the privacy rows; what is known goes to the right."""
    width = len(next(iter(known_rows.values())))
    entries: list[tuple[int, int, Fraction]] = []
    rhs: list[Fraction] = []
    pairs = [(a, b) for x, z in space.edges for a, b in ((x, z), (z, x)) if x in missing or z in missing]
    for (x, z), y in product(pairs, range(width)):
        target = Fraction(0)
        for point, value in ((x, Fraction(1)), (z, -rational(level.power(space.distance(x, z)), "alpha^distance"))):
            if point in missing:
                entries.append((len(rhs), missing[point] * width + y, value))
            else:
                target -= value * known_rows[point][y]
        rhs.append(target)
    return entries, rhs


def retraction(space: Space, labels: Sequence[Label]) -> dict[Label, Label] | None:
    """A map of the space onto `labels` that keeps them and brings no two points further apart; None if there is none.

    Where there is one every mechanism on `labels` extends, by pulling it back, at every level, and FMPD23 Thm 6(5)
    holds both ways. Discrete spaces have one onto any part.

    >>> from utmost.spaces import line
    >>> retraction(line(4), [1, 2]), retraction(line(4), [0, 3])
    ({0: 1, 1: 1, 2: 2, 3: 1}, None)
    """
    targets = [space.position(label) for label in labels]
    images: dict[int, int] = {point: point for point in targets}
    remaining = [x for x in range(len(space)) if x not in images]
    mapping = _extend_retraction(space, targets, remaining, images)
    return None if mapping is None else {space.labels[x]: space.labels[mapping[x]] for x in range(len(space))}


def _extend_retraction(
    space: Space, targets: Sequence[int], remaining: Sequence[int], images: dict[int, int]
) -> dict[int, int] | None:
    if not remaining:
        return images
    x = remaining[0]
    for image in targets:
        if all(space.distance(image, known_image) <= space.distance(x, z) for z, known_image in images.items()):
            mapping = _extend_retraction(space, targets, remaining[1:], {**images, x: image})
            if mapping is not None:
                return mapping
    return None


@dataclass(frozen=True, slots=True)
class Statement:
    """Two sides of a statement on one example, and whether they stand as the theorem says."""

    left: bool
    right: bool
    holds: bool


def trivial_is_optimal(space: Space, level: Level, loss: LossLike, mechanism: Channel) -> Statement:
    """(1) L* ⊆ L_M: if the loss is trivial (left), M is optimal for it (right)."""
    left = is_trivial(loss, len(space)).dominated
    right = universally_optimal(space, level, loss, mechanism).optimal
    return Statement(left, right, right or not left)


def refinement_keeps(space: Space, level: Level, loss: LossLike, mechanism: Channel, remap: Channel) -> Statement:
    """(2) M ⊑ M′ = M·R implies L_M ⊇ L_M′: if M′ is optimal (left), so is M (right)."""
    left = universally_optimal(space, level, loss, mechanism.then(remap)).optimal
    right = universally_optimal(space, level, loss, mechanism).optimal
    return Statement(left, right, right or not left)


def check_constant(space: Space, level: Level, loss: LossLike) -> Statement:
    """(3) L_𝕀 = L*: the mechanism that tells nothing is optimal (left) exactly for trivial losses (right); α < 1."""
    constant = trusted_channel(space.labels, (0,), np.full((len(space), 1), Fraction(1), dtype=object))
    left = universally_optimal(space, level, loss, constant).optimal
    right = is_trivial(loss, len(space)).dominated
    return Statement(left, right, left == right)


def check_choice(
    space: Space, level: Level, loss: LossLike, first: Channel, second: Channel, weight: object
) -> Statement:
    """(4) L_{M ⊕_p M′} = L_M ∩ L_M′ for 0 < p < 1: the choice is optimal (left) exactly when both are (right)."""
    left = universally_optimal(space, level, loss, choice(first, second, weight)).optimal
    right = all(universally_optimal(space, level, loss, mechanism).optimal for mechanism in (first, second))
    return Statement(left, right, left == right)


def check_restriction(
    space: Space, level: Level, loss: LossLike, labels: Sequence[Label], mechanism: Channel
) -> Statement:
    """(5) ℓ ∈ L_{M↓X′} (left) if and only if ℓ↑X ∈ L_M (right), X′ = `labels`.

    Left implies right: with π supported on X′ the loss of M is that of M↓X′, and what the type of X can do on X′ the
    type of X′ can do too. The converse needs that mechanisms on X′ extend to X, and **fails** without: on line:3 the
    geometric mechanism is optimal for ℓ_bin on {0, 2}, lifted, but its restriction is not for ℓ_bin, since T, which is,
    extends to no private mechanism on the line (`extension`). Where X has a `retraction` onto X′ both directions hold.
    """
    part_space = sub_space(space, labels)
    left = universally_optimal(part_space, level, loss, mechanism.restrict(labels)).optimal
    right = universally_optimal(space, level, lift_loss(loss, labels, space), mechanism).optimal
    return Statement(left, right, left == right)
