"""The optimum of a linear program, certified: from a solver's guess to a pair of vectors that proves it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from utmost.errors import InfeasibleError, SolverError
from utmost.lp.basis import Basis, PrimalDualPair, basic_solution
from utmost.lp.certificate import (
    ProgramCertificate,
    dual_bound,
    dual_fault,
    primal_fault,
    primal_objective,
    program_certificate,
)
from utmost.lp.feasibility_repair import dual_repair, primal_repair
from utmost.lp.iterative_refinement import Frame, Point, initial_point, refine_once, scaled_frame
from utmost.lp.linear_program import LinearProgram, flint_vector
from utmost.lp.rationals import ZERO
from utmost.lp.simplex import pivot_to_optimum, two_phase_simplex
from utmost.lp.solver import MIN_DOUBLE_RATIO, SolverGuess, guess_in_units, has_wide_scale, solve

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
    if guess.status == "Infeasible":
        from utmost.lp.farkas import infeasibility  # farkas closes programs of its own, so it imports this module

        if infeasibility(program) is not None:
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
