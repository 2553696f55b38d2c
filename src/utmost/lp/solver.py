"""Call HiGHS, the float solver. Its answer is a guess; `certificate.certify_guess` certifies it.

HiGHS is called directly, silently, on one thread, with the simplex method so that a basis comes with the answer.
Columns are scaled by the program's `scale`, rows and the cost by their largest entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from utmost.errors import InfeasibleError, SolverError
from utmost.lp.linear_program import ONE, ZERO, LinearProgram, Rational, nearest_float, to_fmpqs, to_fraction

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Options = dict[str, bool | int | float | str]

FEASIBILITY_TOLERANCE = 1e-9
CONCLUSIVE_STATUSES = ("Optimal", "Infeasible", "Unbounded")
MAX_FINITE_BOUND = 1e20
# A column's scale is raised to this share of the largest: the solver ignores coefficients that are any smaller, so
# its numbers are near to feasible. Below it, down to where doubles end, they are not, but its basis is a better one.
MIN_SCALE_RATIO = fmpq(1, 2**24)
MIN_DOUBLE_RATIO = fmpq(1, 2**480)


@dataclass(frozen=True, slots=True)
class SolverGuess:
    """The answer of HiGHS: floats x, y (in the program's own units), which columns and rows are basic, a status.

    A basic row is one whose slack is basic; rows that are not basic are tight, columns that are not basic are 0. The
    numbers mean something only when `status` is "Optimal".
    """

    x: Floats
    y: Floats
    basic_columns: Flags
    basic_rows: Flags
    status: str
    objective: float


@dataclass(frozen=True, slots=True)
class CompressedColumns:
    """A matrix by columns: where each column starts among the entries, and the row and the value of each entry."""

    starts: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    values: Floats


@dataclass(frozen=True, slots=True)
class ScaledProgram:
    """A program in the units the solver sees: x = column·z, row r divided by row_r, the cost divided by cost."""

    program: LinearProgram
    column: list[Rational]
    row: list[Rational]
    cost: Rational
    matrix: CompressedColumns


@dataclass(frozen=True, slots=True)
class StartBasis:
    """A basis to start from: which columns and which rows are basic."""

    columns: Flags
    rows: Flags


def solve(program: LinearProgram, *, accept: Sequence[str] = ("Optimal",)) -> SolverGuess:
    """HiGHS's answer to `program`, unchecked.

    A status outside `accept` raises: InfeasibleError for "Infeasible", SolverError for the rest. Both repeat the claim
    of a float solver; `infeasibility` proves or refutes it.
    """
    guess = guess_in_units(program, MIN_SCALE_RATIO)
    if guess.status in accept:
        return guess
    if guess.status == "Infeasible":
        raise InfeasibleError("program has no feasible point, says the solver: infeasibility(program) proves it")
    raise SolverError(f"program must have a finite optimum, the solver's status is {guess.status!r}: check its bounds")


def guess_in_units(program: LinearProgram, min_scale_ratio: Rational) -> SolverGuess:
    """HiGHS's answer, whatever its status, in units that are at least `min_scale_ratio` of the largest."""
    scaled = scale_program(program, min_scale_ratio)
    cost = to_floats(c * s / scaled.cost for c, s in zip(program.costs, scaled.column, strict=True))
    rhs = to_floats(b / r for b, r in zip(program.targets, scaled.row, strict=True))
    return unscale_guess(scaled, run_highs(scaled, cost, rhs, np.zeros(program.shape[1]), None))


def has_wide_scale(program: LinearProgram) -> bool:
    """Whether some column's scale is below MIN_SCALE_RATIO of the largest."""
    return program.scale is not None and min(program.scale) < to_fraction(MIN_SCALE_RATIO) * max(program.scale)


def scale_program(program: LinearProgram, min_scale_ratio: Rational = MIN_SCALE_RATIO) -> ScaledProgram:
    """The program in the solver's units; a row's or the cost's unit is its largest entry after column scaling."""
    count = program.shape[0]
    column = _column_units(program, min_scale_ratio)
    terms = [value * column[j] for _, j, value in program.entries]
    row = [ZERO] * count
    for (i, _, _), term in zip(program.entries, terms, strict=True):
        row[i] = max(row[i], abs(term))
    row = [unit or ONE for unit in row]
    cost = max((abs(c) * s for c, s in zip(program.costs, column, strict=True)), default=ONE) or ONE
    values = to_floats(term / row[i] for (i, _, _), term in zip(program.entries, terms, strict=True))
    return ScaledProgram(program, column, row, cost, _compressed_columns(program, values))


def run_highs(scaled: ScaledProgram, cost: Floats, rhs: Floats, lower: Floats, start: StartBasis | None) -> SolverGuess:
    """Minimise cost·z with the scaled matrix, right-hand sides `rhs` and z >= lower; numbers in the solver's units.

    From a start basis the solver's own scaling is off, the program being in good units. An inconclusive status is
    followed by an attempt from scratch, then by one without presolve; the last one's answer stands.
    """
    model = _highs_model(scaled, cost, rhs, lower)
    attempts: list[tuple[Options, StartBasis | None]] = [({}, None), ({"presolve": "off"}, None)]
    if start is not None:
        attempts.insert(0, ({"simplex_scale_strategy": 0}, start))
    for options, basis in attempts:
        guess = _attempt(model, scaled.program.shape, options, basis)
        if guess.status in CONCLUSIVE_STATUSES:
            break
    return guess


def unscale_guess(scaled: ScaledProgram, guess: SolverGuess) -> SolverGuess:
    """The guess in the program's own units."""
    x = _finite_array(guess.x * to_floats(scaled.column), len(guess.x))
    y = _finite_array(guess.y * to_floats(scaled.cost / unit for unit in scaled.row), len(guess.y))
    objective = guess.objective * nearest_float(scaled.cost)
    return SolverGuess(x, y, guess.basic_columns, guess.basic_rows, guess.status, objective)


def to_floats(values: Any) -> Floats:
    """The nearest doubles of exact numbers."""
    return np.array([nearest_float(value) for value in values], dtype=np.float64)


def _column_units(program: LinearProgram, min_scale_ratio: Rational) -> list[Rational]:
    if program.scale is None:
        return [ONE] * program.shape[1]
    units = to_fmpqs(program.scale)
    smallest_unit = min_scale_ratio * max(units, default=ONE)
    return [max(unit, smallest_unit) for unit in units]


def _compressed_columns(program: LinearProgram, values: Floats) -> CompressedColumns:
    """The matrix, entries of equal position added."""
    count, width = program.shape
    keys, inverse = np.unique(program.columns * max(count, 1) + program.rows, return_inverse=True)
    summed = np.bincount(inverse, weights=values, minlength=len(keys)).astype(np.float64)
    starts = np.searchsorted(keys, np.arange(width + 1) * max(count, 1))
    return CompressedColumns(starts.astype(np.int32), (keys % max(count, 1)).astype(np.int32), summed)


def _highs_model(scaled: ScaledProgram, cost: Floats, rhs: Floats, lower: Floats) -> Any:
    import highspy

    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = scaled.program.shape
    model.col_cost_ = cost
    model.col_lower_ = np.where(lower < -MAX_FINITE_BOUND, -highspy.kHighsInf, lower)
    model.col_upper_ = np.full(len(cost), highspy.kHighsInf)
    model.row_lower_ = rhs
    model.row_upper_ = np.where(scaled.program.equality, rhs, highspy.kHighsInf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = scaled.matrix.starts
    model.a_matrix_.index_ = scaled.matrix.rows
    model.a_matrix_.value_ = scaled.matrix.values
    return model


def _attempt(model: Any, shape: tuple[int, int], options: Options, start: StartBasis | None) -> SolverGuess:
    highs = _highs_solver(model, options)
    if start is not None:
        highs.setBasis(_highs_basis(start))
    highs.run()
    return _read_guess(highs, shape)


def _highs_solver(model: Any, options: Options) -> Any:
    import highspy

    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    defaults: Options = {
        "output_flag": False,
        "threads": 1,
        "solver": "simplex",
        "small_matrix_value": 1e-12,
        "primal_feasibility_tolerance": FEASIBILITY_TOLERANCE,
        "dual_feasibility_tolerance": FEASIBILITY_TOLERANCE,
    }
    for name, value in {**defaults, **options}.items():
        highs.setOptionValue(name, value)
    if highs.passModel(model) == highspy.HighsStatus.kError:
        raise SolverError("program must have finite coefficients in the solver's range: give a scale that evens them")
    return highs


def _highs_basis(start: StartBasis) -> Any:
    import highspy

    kind = highspy.HighsBasisStatus
    basis = highspy.HighsBasis()
    basis.valid = True
    basis.alien = True
    basis.col_status = [kind.kBasic if basic else kind.kLower for basic in start.columns]
    basis.row_status = [kind.kBasic if basic else kind.kLower for basic in start.rows]
    return basis


def _status_text(highs: Any) -> str:
    return str(highs.modelStatusToString(highs.getModelStatus()))


def _read_guess(highs: Any, shape: tuple[int, int]) -> SolverGuess:
    import highspy

    basic = highspy.HighsBasisStatus.kBasic
    count, width = shape
    solution, basis = highs.getSolution(), highs.getBasis()
    columns = [status == basic for status in basis.col_status] or [False] * width
    rows = [status == basic for status in basis.row_status] or [True] * count
    x, y = _finite_array(solution.col_value, width), _finite_array(solution.row_dual, count)
    objective = float(highs.getInfo().objective_function_value)
    return SolverGuess(x, y, np.array(columns, dtype=bool), np.array(rows, dtype=bool), _status_text(highs), objective)


def _finite_array(values: Any, size: int) -> Floats:
    """`values` as an array, zeros where the solver left none or none that is a number."""
    array = np.array(values, dtype=np.float64)
    return np.where(np.isfinite(array), array, 0.0) if len(array) == size else np.zeros(size)
