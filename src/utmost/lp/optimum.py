"""The certified answer to a linear program: its optimum, that it is the only one, or that there is none.

Infeasibility, certified in exact arithmetic.

Farkas: A x (=, >=) rhs, x >= 0 has no solution exactly when some y, >= 0 on the inequality rows, has Aᵀ y <= 0 and
rhs·y > 0; for then 0 >= y·Ax >= rhs·y > 0 would hold of any solution x.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import InfeasibleError, InputError, SolverError
from utmost.lp.certificate import (
    ProgramCertificate,
    dual_bound,
    dual_fault,
    primal_fault,
    primal_objective,
    program_certificate,
    verify_certificate,
)
from utmost.lp.elimination import null_vector
from utmost.lp.guess_repair import Frame, Point, dual_repair, initial_point, primal_repair, refine_once, scaled_frame
from utmost.lp.linear_program import (
    ONE,
    ZERO,
    LinearProgram,
    Rational,
    dot_product,
    flint_reduced_costs,
    flint_vector,
    row_products,
    to_fraction,
    to_fractions,
)
from utmost.lp.simplex import Basis, PrimalDualPair, basic_solution, pivot_to_optimum, two_phase_simplex
from utmost.lp.solver import MIN_DOUBLE_RATIO, Flags, SolverGuess, guess_in_units, has_wide_scale, solve

MAX_REFINEMENT_ROUNDS = 9


def certify_guess(program: LinearProgram, guess: SolverGuess) -> ProgramCertificate:
    """The certificate a float guess leads to, checked exactly whatever path was taken.

    1. The vertex of the guess's basis in exact arithmetic, then that of every round of iterative refinement. A program
       whose scale is wide is guessed again in units as wide, and refined in these.
    2. Exact simplex steps, from scratch for a program of up to `simplex.MAX_SCRATCH_SIZE` rows and columns, which
       always ends here, else from the last regular basis. An optimal pair found so far has gap 0.
    3. The best of these points, as they are and repaired: x by `primal_repair`, y by `dual_repair`, and of the trivial
       ones: x = interior, y = 0. The gap is what that costs. SolverError if a side has none.
    """
    bases: dict[bytes, Basis] = {}
    pairs: list[PrimalDualPair] = []
    is_wide = has_wide_scale(program)
    pair = _refine_to_optimum(scaled_frame(program), guess, 1 if is_wide else MAX_REFINEMENT_ROUNDS, bases, pairs)
    if pair is None and is_wide:
        pair = _refine_in_wide_units(program, bases, pairs)
    if pair is None:
        pair = _pivot_from_bases(program, reversed(bases.values()))
    return _best_certificate(program, pairs) if pair is None else program_certificate(program, *pair)


def certified_optimum(program: LinearProgram) -> ProgramCertificate:
    """The certified optimum: `certify_guess(program, solve(program))`, an "infeasible" of the solver being proved
    first.

    Raises InfeasibleError when the program has no feasible point (a Farkas certificate was found and checked),
    SolverError when the solver reports no finite optimum or the guess cannot be closed. A small program that the
    solver cannot answer is solved exactly from scratch.
    """
    try:
        guess = solve(program, accept=("Optimal", "Infeasible"))
    except SolverError:
        pair = two_phase_simplex(program)
        if pair is None:
            raise
        return program_certificate(program, *pair)
    if guess.status == "Infeasible" and infeasibility(program) is not None:
        raise InfeasibleError("program has no feasible point, proved by Farkas multipliers: relax its constraints")
    return certify_guess(program, guess)


def _refine_to_optimum(
    frame: Frame, guess: SolverGuess, rounds: int, bases: dict[bytes, Basis], pairs: list[PrimalDualPair]
) -> PrimalDualPair | None:
    """The optimal vertex of the guess's basis or of a later round; the bases and pairs that were not are added."""
    program = frame.program
    point: Point | None = initial_point(frame, guess)
    for remaining_rounds in reversed(range(rounds)):
        if point is None or point.basis.key() in bases:
            break
        bases[point.basis.key()] = point.basis
        pair = basic_solution(program, point.basis)
        if pair is not None and _is_optimal(program, pair):
            return pair
        pairs += [(point.x, point.y)] + ([] if pair is None else [pair])
        recent_pairs = pairs[-2:]
        if remaining_rounds:
            point = refine_once(frame, [x for x, _ in recent_pairs], [y for _, y in recent_pairs], point.basis)
    return None


def _refine_in_wide_units(
    program: LinearProgram, bases: dict[bytes, Basis], pairs: list[PrimalDualPair]
) -> PrimalDualPair | None:
    """The same from a guess in units as wide as the program's; None also where the solver takes no such numbers."""
    try:
        guess = guess_in_units(program, MIN_DOUBLE_RATIO)
        return _refine_to_optimum(scaled_frame(program, MIN_DOUBLE_RATIO), guess, MAX_REFINEMENT_ROUNDS, bases, pairs)
    except SolverError:
        return None


def _pivot_from_bases(program: LinearProgram, bases: Iterable[Basis]) -> PrimalDualPair | None:
    """An optimal pair by exact steps from scratch, else from the first regular basis; None if that is too far.

    A basis from which refinement leads no further is a worse start than the slacks, which are feasible on the dual
    side for costs >= 0; only a large program has too far to go from there.
    """
    pair = two_phase_simplex(program)
    if pair is not None:
        return pair
    regular_basis = next((basis for basis in bases if basic_solution(program, basis) is not None), None)
    return None if regular_basis is None else pivot_to_optimum(program, regular_basis)


def _is_optimal(program: LinearProgram, pair: PrimalDualPair) -> bool:
    """Whether a vertex and its multipliers, whose objectives agree by construction, are both feasible."""
    return primal_fault(program, pair[0]) is None and dual_fault(program, pair[1], trust_upper=False) is None


def _best_certificate(program: LinearProgram, pairs: Sequence[PrimalDualPair]) -> ProgramCertificate:
    """The cheapest feasible x with the highest bound among the pairs, as they are, repaired, and trivial."""
    repaired = [primal_repair(program, x) for x, _ in pairs]
    primal_points = [x for x, _ in pairs] + [x for x in repaired if x is not None]
    if program.interior is not None:
        primal_points.append(flint_vector("interior", program.interior, program.shape[1]))
    multipliers = [y for _, y in pairs] + [dual_repair(program, y) for _, y in pairs] + [[ZERO] * program.shape[0]]
    primal_feasible = [x for x in primal_points if primal_fault(program, x) is None]
    dual_feasible = [y for y in multipliers if dual_fault(program, y) is None]
    if not primal_feasible:
        raise SolverError("guess cannot be made feasible: give the program an interior point, or a better scale")
    if not dual_feasible:
        raise SolverError("guess gives no lower bound: give the program upper bounds, or a better scale")
    x = min(primal_feasible, key=lambda x: primal_objective(program, x))
    return program_certificate(program, x, max(dual_feasible, key=lambda y: dual_bound(program, y)))


@dataclass(frozen=True, slots=True)
class Farkas:
    """Multipliers y that contradict every feasible point."""

    y: tuple[Fraction, ...]

    def check(self, program: LinearProgram) -> bool:
        """Whether y proves, exactly, that `program` has no feasible point."""
        y = flint_vector("y", self.y, program.shape[0])
        has_valid_signs = all(equal or value >= 0 for value, equal in zip(y, program.equality.tolist(), strict=True))
        costs_and_reduced = zip(program.costs, flint_reduced_costs(program, y), strict=True)
        return (
            has_valid_signs
            and all(cost <= reduced for cost, reduced in costs_and_reduced)
            and dot_product(program.targets, y) > 0
        )


def infeasibility(program: LinearProgram) -> Farkas | None:
    """A checked Farkas certificate of `program`; None when it is proved to have a feasible point.

    Phase one, minimise the sum of artificial variables, is feasible and >= 0; its optimum is positive exactly when the
    program is infeasible, and then its multipliers are the certificate. SolverError if neither side can be certified.
    """
    phase = phase_one(program)
    certificate = certified_optimum(phase)
    proof = Farkas(certificate.proof.y)
    if proof.check(program):
        return proof
    if certificate.upper == 0:
        return None
    raise SolverError("feasibility must be decided by phase one, got a gap across 0: give the program a scale")


def phase_one(program: LinearProgram) -> LinearProgram:
    """Minimise Σ t subject to A x + t >= rhs (inequalities), A x + t⁺ − t⁻ = rhs (equalities), all >= 0.

    Columns: x, one t a row, one t⁻ for each equality. A dual feasible y has Aᵀ y <= 0 and y >= 0 on inequalities.
    """
    count, width = program.shape
    equality_rows = np.flatnonzero(program.equality)
    all_rows = np.arange(count)
    artificial_count = count + len(equality_rows)
    unit = Fraction(1)
    return LinearProgram(
        cost=[Fraction(0)] * width + [unit] * artificial_count,
        rows=np.concatenate([program.rows, all_rows, equality_rows]),
        columns=np.concatenate([program.columns, width + np.arange(artificial_count)]),
        values=np.array([*program.values, *[unit] * count, *[-unit] * len(equality_rows)], dtype=object),
        rhs=program.rhs,
        equality=program.equality,
        scale=None if program.scale is None else [*program.scale, *[unit] * artificial_count],
    )


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """Whether an optimal point is the only one; if not, `witness` is another optimal point, exactly feasible."""

    unique: bool
    witness: tuple[Fraction, ...] | None


@dataclass(frozen=True, slots=True)
class _Face:
    """The optimal face at x: per column and row, what is tight at x and what every optimal point keeps tight."""

    program: LinearProgram
    x: list[Rational]
    slack: list[Rational]
    fixed_columns: Flags
    fixed_rows: Flags

    @property
    def loose(self) -> tuple[list[int], list[int]]:
        """Columns and rows that are tight at x without having to be."""
        columns = [j for j, value in enumerate(self.x) if not value and not self.fixed_columns[j]]
        return columns, [r for r, value in enumerate(self.slack) if not value and not self.fixed_rows[r]]


def is_unique(program: LinearProgram, certificate: ProgramCertificate) -> Uniqueness:
    """Whether certificate.proof.x is the only optimal point of `program`; the certificate must have gap 0.

    Complementary slackness: with y optimal, the optimal points are the feasible x' with x'_j = 0 where the reduced
    cost is positive and (A x')_r = rhs_r where y_r > 0. Call these the fixed constraints, and loose the others that
    are tight at x. Another optimal x' = x + d either keeps all loose constraints tight, or not.
    If it does, d is 0 off the support of x and A d = 0 on the tight rows: the columns of the support, cut to the tight
    rows, are dependent; conversely a dependency d gives x + t·d for a small t > 0.
    If it does not, the sum of the loose slacks is positive at x'. That sum, capped at 1, is maximised over the optimal
    face; x has 0, so the maximum is 0 exactly when there is no such x' (capping loses none: points between x and x' are
    optimal too, with sums down to 0). Hence: unique if and only if the columns are independent and the maximum is 0.
    """
    if not certificate.exact:
        raise InputError(
            "certificate must have gap 0, got a positive one: uniqueness is asked of optimal points only", "certificate"
        )
    verify_certificate(program, certificate.proof.x, certificate.proof.y)
    face = _face(program, certificate)
    witness = _witness_keeping_tight(face)
    witness = _witness_loosening(face) if witness is None else witness
    return Uniqueness(witness is None, witness)


def _face(program: LinearProgram, certificate: ProgramCertificate) -> _Face:
    x, y = (
        flint_vector("x", certificate.proof.x, program.shape[1]),
        flint_vector("y", certificate.proof.y, program.shape[0]),
    )
    if dual_fault(program, y, trust_upper=False) is not None:
        raise InputError(
            "certificate must have reduced costs >= 0, got some below: its bound rests on upper bounds", "certificate"
        )
    slack = [a - b for a, b in zip(row_products(program, x), program.targets, strict=True)]
    positive_reduced_costs = np.array([value > 0 for value in flint_reduced_costs(program, y)], dtype=bool)
    positive_multipliers = np.array([value > 0 for value in y], dtype=bool)
    return _Face(program, x, slack, positive_reduced_costs, positive_multipliers | program.equality)


def _witness_keeping_tight(face: _Face) -> tuple[Fraction, ...] | None:
    """Another optimal point on which everything tight at x stays so; None if x is a vertex."""
    support = [j for j, value in enumerate(face.x) if value]
    tight = [r for r, value in enumerate(face.slack) if not value]
    column_position, row_position = {j: k for k, j in enumerate(support)}, {r: k for k, r in enumerate(tight)}
    entries = [
        (row_position[r], column_position[c], v)
        for r, c, v in face.program.entries
        if r in row_position and c in column_position
    ]
    null_direction = null_vector(entries, len(tight), len(support))
    if null_direction is None:
        return None
    direction = [null_direction[column_position[j]] if j in column_position else ZERO for j in range(len(face.x))]
    step = _step(face, direction)
    return to_fractions(a + step * d for a, d in zip(face.x, direction, strict=True))


def _step(face: _Face, direction: list[Rational]) -> Rational:
    """A positive t for which x + t·direction keeps every constraint that is not tight at x."""
    pairs = [*zip(face.x, direction, strict=True), *zip(face.slack, row_products(face.program, direction), strict=True)]
    return min((-slack / change for slack, change in pairs if slack and change < 0), default=ONE)


def _witness_loosening(face: _Face) -> tuple[Fraction, ...] | None:
    """Another optimal point at which some loose constraint is slack; None if there is none."""
    columns, rows = face.loose
    if not columns and not rows:
        return None
    program, cost_at_x = _loosening_program(face, columns, rows)
    certificate = certified_optimum(program)
    if certificate.upper < cost_at_x:
        free_values = iter(certificate.proof.x)
        return tuple(Fraction(0) if fixed else next(free_values) for fixed in face.fixed_columns)
    if certificate.lower < cost_at_x:
        raise SolverError("uniqueness must be decided by a program of its own, got a gap across 0: give a scale")
    return None


def _loosening_program(face: _Face, columns: list[int], rows: list[int]) -> tuple[LinearProgram, Fraction]:
    """The program of the optimal face, and a number that its minimum falls short of by min(1, most loose slack)."""
    program, free_columns = face.program, np.flatnonzero(~face.fixed_columns)
    position = {j: k for k, j in enumerate(free_columns.tolist())}
    loose_slack = [Fraction(0)] * len(free_columns)
    for j in columns:
        loose_slack[position[j]] += 1
    entries = [(r, position[c], to_fraction(v)) for r, c, v in program.entries if c in position]
    loose_rows = set(rows)
    for r, c, v in entries:
        loose_slack[c] += v if r in loose_rows else 0
    offset = sum((program.rhs[r] for r in rows), Fraction(0))
    entries += [(program.shape[0], c, -v) for c, v in enumerate(loose_slack) if v]
    return LinearProgram(
        cost=[-v for v in loose_slack],
        rows=np.array([r for r, _, _ in entries], dtype=np.int64),
        columns=np.array([c for _, c, _ in entries], dtype=np.int64),
        values=np.array([v for _, _, v in entries], dtype=object),
        rhs=[*program.rhs, -1 - offset],
        equality=np.append(face.fixed_rows, False),
        scale=None if program.scale is None else [program.scale[j] for j in free_columns.tolist()],
    ), -offset
