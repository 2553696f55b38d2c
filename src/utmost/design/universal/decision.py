"""Decide whether a mechanism is best for a loss whatever the prior, by the corners of its cells, with the proof.

The corners of the cells on which a mechanism's uncertainty is linear in the prior.

U(π) = Σ_y min_w c_yw·π with c_yw[x] = M[x,y]·ℓ[x,w]. In each cell every output has one best action, and U is linear.
The corners of all cells are the vertices (π, t) of {Σ π = 1, π ≥ 0, t_y ≤ c_yw·π}: at a vertex the tight constraints
fix (π, t); eliminating t, the differences c_yw − c_yw′ of the actions that tie and the zeros of π fix π, which says
that π alone is a cell. They are found as the extreme rays of the cone, by double description in whole numbers (Motzkin
and others 1953; adjacency by the tight constraints, Fukuda and Prodon 1996).

The question and the verdict: is this mechanism best in its privacy type for this loss, whatever the prior?

A verdict says what the decision rests on, and how to check it.

Universal ℓ-optimality decided, by the corners of the mechanism's cells.

**Theorem.** Let U(π) be the consumer's loss with M under the prior π, and OPT(π) the least over the type. M is
universally ℓ-optimal (FMPD23 Def. 3) if and only if U = OPT at every corner of the cells on which U is linear.

*Proof.* OPT is a minimum of functions linear in π (one for each mechanism of the type and reading of its outputs), so
it is concave; so is U, and OPT ≤ U. Each cell is a polytope. On it OPT − U is concave less linear, hence concave, so
its least value over the cell is at a corner of the cell. If it is ≥ 0 at the corners it is ≥ 0 on the cell, and the
cells cover the simplex. ∎

OPT at a corner is a linear program over direct mechanisms, whose outputs are the actions; it is solved with a
certificate.

Whether a type has any universally ℓ-optimal mechanism is decided here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_exact_inputs, channel_of, is_private
from utmost.channel.channel import matrix_product, trusted_channel
from utmost.consumer.consumer import first_minimum
from utmost.consumer.loss_classes import Exacts, LossLike, loss_rows
from utmost.consumer.losses import Loss, check_points
from utmost.design.certified_design import reading_names
from utmost.design.privacy_program import privacy_program
from utmost.errors import InputError, SolverError
from utmost.exact import Level, Real
from utmost.lp import LinearProgram, certified_optimum, verify_certificate
from utmost.result_values import short_repr
from utmost.spaces import Space

IntVector: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ray:
    """An extreme ray (π, t), and the constraints that it makes tight, as bits."""

    vector: IntVector
    tight: int


def cell_corners(rows: Matrix, losses: Exacts) -> list[tuple[Fraction, ...]]:
    """The priors at which π ↦ U_ℓ(π, M) can bend, the ends of the simplex among them; rational data.

    >>> import numpy as np
    >>> third = Fraction(1, 3)
    >>> binary = np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]], dtype=object)
    >>> cell_corners(np.array([[2 * third, third], [third, 2 * third]], dtype=object), binary)[2:]
    [(Fraction(1, 3), Fraction(2, 3)), (Fraction(2, 3), Fraction(1, 3))]
    """
    size = len(rows)
    pieces = [_integer_pieces(column, undominated_actions(losses)) for column in distinct_columns(rows)]
    rays = _initial_rays(size, [group[0] for group in pieces])
    bit = size + len(pieces)
    for y, group in enumerate(pieces):
        for piece in group[1:]:
            rays = _cut_cone(rays, piece, size + y, 1 << bit)
            bit += 1
    corners = {_prior(ray.vector[:size]) for ray in rays if any(ray.vector[:size])}
    return sorted(corners, key=lambda prior: (sum(1 for p in prior if p), prior))


def distinct_columns(rows: Matrix) -> list[tuple[Fraction, ...]]:
    """The columns that occur, one for each direction: proportional ones bend at the same priors."""
    directions = {}
    for column in rows.T:
        total = sum(column, Fraction(0))
        if total:
            directions[tuple(value / total for value in column)] = True
    return list(directions)


def undominated_actions(losses: Exacts) -> list[tuple[Fraction, ...]]:
    """The actions that no other one is at least as good as everywhere; one of each kind."""
    actions = list(dict.fromkeys(tuple(column) for column in losses.T))
    return [a for a in actions if not any(b != a and all(p <= q for p, q in zip(b, a, strict=True)) for b in actions)]


def _integer_pieces(column: Sequence[Fraction], actions: Sequence[Sequence[Fraction]]) -> list[IntVector]:
    """The c_w of one output, times one positive number that makes all of them whole."""
    pieces = [[p * v for p, v in zip(column, action, strict=True)] for action in actions]
    unit = math.lcm(*(value.denominator for piece in pieces for value in piece))
    return list(dict.fromkeys(tuple(int(value * unit) for value in piece) for piece in pieces))


def _initial_rays(size: int, first: Sequence[IntVector]) -> list[Ray]:
    """The rays of {π ≥ 0, t_y ≤ c_y0·π}: each secret by itself, and each t_y falling."""
    width = size + len(first)
    all_bits = (1 << width) - 1
    rays = []
    for x in range(size):
        vector = tuple(int(k == x) for k in range(size)) + tuple(piece[x] for piece in first)
        rays.append(Ray(vector, all_bits ^ (1 << x)))
    for y in range(len(first)):
        rays.append(Ray(tuple(-int(k == size + y) for k in range(width)), all_bits ^ (1 << (size + y))))
    return rays


def _cut_cone(rays: list[Ray], piece: IntVector, index: int, bit: int) -> list[Ray]:
    """The rays of the cone cut by t_y ≤ piece·π, where t_y stands at `index`: one step of double description."""
    values = [sum(a * b for a, b in zip(piece, ray.vector, strict=False)) - ray.vector[index] for ray in rays]
    new_rays = [Ray(r.vector, r.tight | bit) if v == 0 else r for r, v in zip(rays, values, strict=True) if v >= 0]
    inside = [(r, v) for r, v in zip(rays, values, strict=True) if v > 0]
    outside = [(r, v) for r, v in zip(rays, values, strict=True) if v < 0]
    min_common = len(rays[0].vector) - 2
    for inner, inner_value in inside:
        for outer, outer_value in outside:
            common = inner.tight & outer.tight
            if common.bit_count() >= min_common and _are_adjacent(rays, inner, outer, common):
                new_rays.append(Ray(_combination(inner.vector, -outer_value, outer.vector, inner_value), common | bit))
    return new_rays


def _are_adjacent(rays: list[Ray], inner: Ray, outer: Ray, common: int) -> bool:
    return not any(common & ray.tight == common for ray in rays if ray is not inner and ray is not outer)


def _combination(inner: IntVector, inner_weight: int, outer: IntVector, outer_weight: int) -> IntVector:
    vector = [inner_weight * a + outer_weight * b for a, b in zip(inner, outer, strict=True)]
    common = math.gcd(*vector)
    return tuple(value // common for value in vector)


def _prior(vector: IntVector) -> tuple[Fraction, ...]:
    total = sum(vector)
    return tuple(Fraction(value, total) for value in vector)


Prior: TypeAlias = tuple[Fraction, ...]
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class OptimalityQuestion:
    """A type, a loss ℓ[x, w] and a mechanism of the type, M[x, y], its rows in the order of the space; all rational."""

    space: Space
    level: Level
    losses: Exacts
    rows: Matrix

    def uncertainty(self, prior: Prior) -> Fraction:
        """U_ℓ(π, M)."""
        return uncertainty(prior, self.rows, self.losses)

    def program(self, prior: Prior) -> LinearProgram:
        """The least expected loss over the whole type, for this prior."""
        return privacy_program(self.space, self.level, costs(prior, self.losses))

    def induced(self, prior: Prior) -> list[Fraction]:
        """The mechanism followed by its best reading: a feasible point of `program` that costs U_ℓ(π, M)."""
        cells = np.full(self.losses.shape, Fraction(0), dtype=object)
        for y, w in enumerate(readings(prior, self.rows, self.losses)):
            cells[:, w] += self.rows[:, y]
        return list(cells.ravel())


def optimality_question(
    space: Space, level: Level, loss: LossLike, mechanism: Channel | Mechanism
) -> OptimalityQuestion:
    """The question, once it is one: the data rational, the mechanism private at the level."""
    source = align_exact_inputs(mechanism, space)
    if isinstance(loss, Loss):
        check_points(loss, space)
    losses = loss_rows(loss, len(space))
    require_rational(space, level, losses, source.rows)
    if not is_private(source, space, level):
        raise InputError(
            f"mechanism must be of the type, got one that is not private on {space.name} at this level", "mechanism"
        )
    return OptimalityQuestion(space, level, losses, source.rows)


def require_rational(space: Space, level: Level, *data: Matrix) -> None:
    """Refuses data that are not fractions."""
    powers = np.array([level.power(space.distance(x, z)) for x, z in space.edges], dtype=object)
    if any(isinstance(value, Real) for value in powers.flat):
        raise InputError(
            "universal optimality is decided for rational alpha^distance, got an irrational one",
            hint="give alpha as a fraction, and distances that are whole numbers",
        )
    if any(isinstance(value, Real) for matrix in data for value in matrix.flat):
        raise InputError(
            "universal optimality is decided for rational losses and mechanisms, got an irrational entry: absolute, "
            "squared, binary and nib are rational where the distances are"
        )


def costs(prior: Sequence[Fraction], losses: Exacts) -> Exacts:
    """c[x, w] = π_x·ℓ[x, w]."""
    weights = np.empty(len(prior), dtype=object)
    weights[:] = prior
    result: Exacts = weights[:, None] * losses
    return result


def readings(prior: Sequence[Fraction], rows: Matrix, losses: Exacts) -> list[int]:
    """The best action for each output, the first of those that tie."""
    return [first_minimum(column) for column in matrix_product(costs(prior, losses).T, rows).T]


def uncertainty(prior: Sequence[Fraction], rows: Matrix, losses: Exacts) -> Fraction:
    """U_ℓ(π, M) = Σ_y min_w Σ_x π_x·M[x,y]·ℓ[x,w] (FMPD23 eq. 5).

    >>> half = Fraction(1, 2)
    >>> binary = np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]], dtype=object)
    >>> uncertainty((half, half), np.array([[half, half], [half, half]], dtype=object), binary)
    Fraction(1, 2)
    """
    scores = matrix_product(costs(prior, losses).T, rows)
    return sum((min(column) for column in scores.T), Fraction(0))


@dataclass(frozen=True, slots=True)
class CornerProof:
    """A prior at which the mechanism's loss is the least of the type: `multipliers` solve the dual with that value."""

    __repr__ = short_repr

    prior: Prior
    loss: Fraction
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A consumer who is better served: with `prior` the loss is `loss` by the mechanism, `better_loss` by `better`."""

    prior: Prior
    loss: Fraction
    better: Channel
    better_loss: Fraction


@dataclass(frozen=True, slots=True)
class Verdict:
    """Is a mechanism universally ℓ-optimal: if so `corners` prove it, if not `objection` refutes it.

    At α = 1 there are no corners to prove: every mechanism of the type tells nothing.
    """

    __repr__ = short_repr

    corners: tuple[CornerProof, ...]
    objection: Counterexample | None

    @property
    def optimal(self) -> bool:
        """No consumer objects."""
        return self.objection is None


def verify(space: Space, level: Level, loss: LossLike, mechanism: Channel | Mechanism, verdict: Verdict) -> bool:
    """Does the verdict prove what it says; no solver is asked.

    An objection: the other mechanism is private, and the two losses are as said, the second one less. Corners: they are
    all the corners of the mechanism's cells (enumerated afresh), and at each the loss is as said and the multipliers
    bound every mechanism of the type from below by it (weak duality, multiplied out).
    """
    question = optimality_question(space, level, loss, mechanism)
    if verdict.objection is not None:
        return _is_refuted(question, verdict.objection)
    if level.alpha == 1:
        return True
    proved_priors = {corner.prior for corner in verdict.corners}
    return proved_priors >= set(cell_corners(question.rows, question.losses)) and all(
        _is_attained(question, proof) for proof in verdict.corners
    )


def _is_attained(question: OptimalityQuestion, corner: CornerProof) -> bool:
    try:
        certificate = verify_certificate(
            question.program(corner.prior), question.induced(corner.prior), corner.multipliers
        )
    except (InputError, SolverError):  # multipliers that are negative, or not as many as there are rows
        return False
    return certificate.lower == certificate.upper == corner.loss == question.uncertainty(corner.prior)


def _is_refuted(question: OptimalityQuestion, objection: Counterexample) -> bool:
    better = align_exact_inputs(objection.better, question.space)
    prior = objection.prior
    return (
        is_private(better, question.space, question.level)
        and sum(prior) == 1
        and min(prior) >= 0
        and objection.loss == question.uncertainty(prior)
        and objection.better_loss == uncertainty(prior, better.rows, question.losses)
        and objection.better_loss < objection.loss
    )


def universally_optimal(
    space: Space, level: Level, loss: LossLike, mechanism: Channel | Mechanism, progress: Progress | None = None
) -> Verdict:
    """Is a mechanism of the type at least as good as any other for this loss, whatever the prior: with a proof.

    Decided for rational data; the work is a linear program for each corner (about a hundred for five secrets).

    >>> from utmost.consumer import losses
    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> from utmost.spaces import line
    >>> universally_optimal(line(3), alpha("1/2"), losses.absolute, geometric(2, alpha("1/2"))).optimal
    True
    """
    question = optimality_question(space, level, loss, mechanism)
    if level.alpha == 1:
        return Verdict((), None)
    proofs: list[CornerProof] = []
    priors = cell_corners(question.rows, question.losses)
    for k, prior in enumerate(priors):
        if progress is not None:
            progress("priors where the mechanism's loss bends", k, len(priors))
        evidence = decide_at_prior(question, prior)
        if isinstance(evidence, Counterexample):
            return Verdict((), evidence)
        proofs.append(evidence)
    return Verdict(tuple(proofs), None)


def decide_at_prior(question: OptimalityQuestion, prior: Prior) -> CornerProof | Counterexample:
    """Is the mechanism best at this prior: the multipliers that prove it, or a better one."""
    loss = question.uncertainty(prior)
    certificate = certified_optimum(question.program(prior))
    if certificate.lower == loss:
        return CornerProof(prior, loss, certificate.proof.y)
    if certificate.upper == loss:
        raise SolverError("the least loss at a prior was not closed to a gap of 0: the question stays open")
    rows = np.array(certificate.proof.x, dtype=object).reshape(question.losses.shape)
    better = trusted_channel(question.space.labels, reading_names(question.space, question.losses.shape[1]), rows)
    return Counterexample(prior, loss, better, uncertainty(prior, rows, question.losses))


@dataclass(frozen=True, slots=True)
class Existence:
    """A kernel mechanism that is universally ℓ-optimal with its verdict, or an objection to every kernel, in order."""

    __repr__ = short_repr

    mechanism: Channel | None
    verdict: Verdict | None
    objections: tuple[Counterexample, ...]

    @property
    def exists(self) -> bool:
        """Was one found."""
        return self.mechanism is not None


def universal_mechanism(
    space: Space, level: Level, loss: LossLike, kernels: Iterable[Channel | Mechanism], progress: Progress | None = None
) -> Existence:
    """The first universally ℓ-optimal mechanism among `kernels`, or why each is not one.

    Given all kernel mechanisms of the type this decides whether the type has any: a universally ℓ-optimal M refines a
    visible choice of kernels (FMPD23 Thm 3), which is then universally ℓ-optimal too, and so is each kernel in it
    (Thm 6(2), 6(4)): FMPD23 Cor. 7. A consumer who objected to one kernel is asked about the next ones first.
    """
    distinct_objections: list[Counterexample] = []
    objections: list[Counterexample] = []
    for k, kernel in enumerate(kernels):
        if progress is not None:
            progress("kernel mechanisms refuted", k, 0)
        question = optimality_question(space, level, loss, kernel)
        repeat = next((o for o in distinct_objections if question.uncertainty(o.prior) > o.better_loss), None)
        if repeat is not None:
            objections.append(_repeat_objection(question, repeat))
            continue
        verdict = universally_optimal(space, level, loss, kernel)
        if verdict.objection is None:
            return Existence(channel_of(kernel), verdict, tuple(objections))
        distinct_objections.append(verdict.objection)
        objections.append(verdict.objection)
    return Existence(None, None, tuple(objections))


def _repeat_objection(question: OptimalityQuestion, objection: Counterexample) -> Counterexample:
    loss: Fraction = question.uncertainty(objection.prior)
    return Counterexample(objection.prior, loss, objection.better, objection.better_loss)
