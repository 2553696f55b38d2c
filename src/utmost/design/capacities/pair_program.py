"""The programs of FMPD23 Cor. 17 and 18 over orbits of pairs, with privacy constraints added as they are broken.

A channel may be averaged over the symmetries of its space, so its entries C[x,y] are unknowns only up to symmetry: 1275
for a 10×10 grid. A constraint C[x,y] ≥ α^d(x,x′)·C[x′,y] for a generating pair is then a relation between two orbits.
Few of them bind: the first program has those of the nearest pairs, and each round adds the ones that its answer breaks.
A program with fewer constraints still bounds T; when its exact answer breaks none, that answer is optimal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.design.capacities.alpha_powers import AlphaPowers, Ints, round_channel
from utmost.design.capacities.capacity_bounds import object_array
from utmost.design.capacities.point_weights import kernel_table, orbit_firsts
from utmost.errors import InputError
from utmost.lp import (
    LinearProgram,
    ProgramCertificate,
    SolverGuess,
    certified_optimum,
    certify_guess,
    solve,
    verify_certificate,
)
from utmost.spaces import Space, Symmetries

Flags = npt.NDArray[np.bool_]
BROKEN_TOLERANCE = 1e-9  # of an entry: what a float answer may break without a new round
NEARLY_BROKEN_MARGIN = 1e-3  # of an entry: constraints so near to being broken are added with the broken ones
MAX_SHORTFALL = 1e-7  # of T ≥ 1, and of 1: a float optimum that misses a bound by more does not attain it
MAX_RELATIONS = 100_000  # privacy constraints up to symmetry


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The unknowns: orbits of the pairs (x, y) with y among `columns`, and the relations that privacy makes.

    `unknown[x, k]` is the unknown of row x and column columns[k], `distance` the code of d(x,y) for each unknown.
    Relation r says unknown[left[r]] ≥ α^values[code[r]]·unknown[right[r]]. The rows of `row_points` sum to 1.
    """

    columns: tuple[int, ...]
    unknown: Ints
    distance: Ints
    row_points: Ints
    left: Ints
    right: Ints
    code: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A private channel, one column for each of the points `columns`, and the bound of T that its program proves."""

    columns: tuple[int, ...]
    rows: Matrix
    bound: Fraction


def program_cells(space: Space, group: Symmetries, columns: tuple[int, ...]) -> Cells:
    """The unknowns and relations for channels with these columns, a union of orbits of points."""
    column_points = np.array(columns, dtype=np.int64)
    orbit_columns = orbit_firsts(group.points[column_points])  # one column of each orbit: the others are its images
    if len(space.edge_array) * len(orbit_columns) > 100 * MAX_RELATIONS:
        raise _size_error(space, 2 * len(space.edge_array) * len(orbit_columns))
    pair_orbits, orbit_indices = np.unique(group.pairs[:, column_points], return_inverse=True)
    unknown = orbit_indices.reshape(len(space), len(column_points)).astype(np.int64)
    distance = np.zeros(len(pair_orbits), dtype=np.int64)
    distance[unknown] = space.codes[:, column_points]
    x, z = np.concatenate([space.edge_array, space.edge_array[:, ::-1]]).T
    left, right = unknown[x][:, orbit_columns].ravel(), unknown[z][:, orbit_columns].ravel()
    keys = (np.repeat(space.codes[x, z], len(orbit_columns)) * len(pair_orbits) + left) * len(pair_orbits) + right
    keys = np.unique(keys[left != right])
    if len(keys) > MAX_RELATIONS:
        raise _size_error(space, len(keys))
    left, right, code = (
        keys // len(pair_orbits) % len(pair_orbits),
        keys % len(pair_orbits),
        keys // len(pair_orbits) ** 2,
    )
    return Cells(columns, unknown, distance, orbit_firsts(group.points), left, right, code)


def _size_error(space: Space, relations: int) -> InputError:
    return InputError(
        f"a capacity of {space.name} needs a linear program with {relations} privacy constraints up "
        f"to symmetry, and at most {MAX_RELATIONS} are tried",
        hint="take fewer points, or another alpha",
    )


def cell_program(cells: Cells, powers: tuple[Fraction, ...], active: Flags, minimise: bool) -> LinearProgram:
    """minimise T (or −T) over the unknowns, rows summing to 1, the active relations holding at these powers."""
    left, right, factors = cells.left[active], cells.right[active], object_array(powers)[cells.code[active]]
    count, points, width = len(left), len(cells.row_points), len(cells.columns)
    relation = np.arange(count)
    diagonal = cells.unknown[list(cells.columns), np.arange(width)]
    weights = np.bincount(diagonal, minlength=len(cells.distance)) * (1 if minimise else -1)
    return LinearProgram(
        [Fraction(int(weight)) for weight in weights],
        np.concatenate([relation, count + np.repeat(np.arange(points), width), relation]),
        np.concatenate([left, cells.unknown[cells.row_points].ravel(), right]),
        np.concatenate([np.full(count + points * width, Fraction(1), dtype=object), -factors]),
        [Fraction(0)] * count + [Fraction(1)] * points,
        np.arange(count + points) >= count,
        scale=_scale(cells, powers, minimise),
        upper=[Fraction(1)] * len(weights),
        interior=[Fraction(1, width)] * len(weights),
    )


def _scale(cells: Cells, powers: tuple[Fraction, ...], minimise: bool) -> list[Fraction]:
    """The natural size of an entry: α^d(x,y), or α^(D−d(x,y)) where the diagonal is to be small."""
    table = kernel_table(powers, minimise)
    return [table[code] / table[-1] if minimise else table[code] for code in cells.distance]


def best_channel(
    space: Space,
    cells: Cells,
    bounds: AlphaPowers,
    minimise: bool,
    report: Callable[[float], None],
    target_total: float | None = None,
) -> Answer | None:
    """The optimal channel with these columns, and the bound; None once it is clear that it misses `target_total`.

    The answer is optimal for the powers `bounds.target`; its bound holds for the true α. `report` is given the float
    optimum of each round.
    """
    active, broken_so_far = _nearest_relations(cells), np.zeros(len(cells.code), dtype=bool)
    while True:
        guess = solve(cell_program(cells, bounds.target, active, minimise), accept=("Optimal", "Infeasible"))
        if guess.status != "Optimal":  # ratios beyond the reach of doubles
            return _solve_with_all_relations(space, cells, bounds, minimise)
        report(abs(guess.objective))
        if target_total is not None:
            target = target_total if minimise else -target_total
            if guess.objective - target > MAX_SHORTFALL * max(1.0, target_total):
                return None
        additions = _nearly_broken(cells, bounds.target, guess.x, NEARLY_BROKEN_MARGIN)
        if not (_nearly_broken(cells, bounds.target, guess.x, -BROKEN_TOLERANCE) & ~active).any():
            selection = active & (additions | broken_so_far | _binding_relations(guess, active))
            certificate = certify_guess(
                cell_program(cells, bounds.target, selection, minimise), _restrict_guess(guess, active, selection)
            )
            additions = broken_so_far = broken_so_far | _exactly_broken(cells, bounds.target, certificate.proof.x)
            if not (broken_so_far & ~selection).any():
                return _build_answer(
                    space, cells, bounds, certificate, cell_program(cells, bounds.low, selection, minimise)
                )
        active = active | additions


def _solve_with_all_relations(space: Space, cells: Cells, bounds: AlphaPowers, minimise: bool) -> Answer:
    """The optimal channel with these columns from the program with all relations, whatever doubles make of it."""
    all_relations = np.ones(len(cells.code), dtype=bool)
    certificate = certified_optimum(cell_program(cells, bounds.target, all_relations, minimise))
    return _build_answer(space, cells, bounds, certificate, cell_program(cells, bounds.low, all_relations, minimise))


def _binding_relations(guess: SolverGuess, active: Flags) -> Flags:
    """The relations that the guess's basis holds with equality."""
    binding = active.copy()
    binding[active] = ~guess.basic_rows[: active.sum()]
    return binding


def _restrict_guess(guess: SolverGuess, active: Flags, selection: Flags) -> SolverGuess:
    """The guess without relations that do not bind: their slacks are basic, so what is left is a basis."""
    row_mask = np.concatenate([selection[active], np.ones(len(guess.y) - active.sum(), dtype=bool)])
    return SolverGuess(
        guess.x, guess.y[row_mask], guess.basic_columns, guess.basic_rows[row_mask], guess.status, guess.objective
    )


def _nearest_relations(cells: Cells) -> Flags:
    """The relations of the nearest pairs: at least 2 for each unknown, if there are as many."""
    count = min(2 * len(cells.distance), len(cells.code))
    relations: Flags = cells.code <= (np.sort(cells.code)[count - 1] if count else 0)
    return relations


def _nearly_broken(cells: Cells, powers: tuple[Fraction, ...], x: npt.NDArray[np.float64], margin: float) -> Flags:
    """The relations that doubles break, or miss breaking by less than `margin` of an entry."""
    factors = np.array([float(power) for power in powers])[cells.code]
    relations: Flags = x[cells.left] < factors * x[cells.right] * (1 + margin)
    return relations


def _exactly_broken(cells: Cells, powers: tuple[Fraction, ...], x: tuple[Fraction, ...]) -> Flags:
    """The relations that do not hold. Doubles look first: their quotients are right within 2^−50."""
    values = np.array([float(value) for value in x])
    broken = np.zeros(len(cells.code), dtype=bool)
    for k in np.flatnonzero(_nearly_broken(cells, powers, values, BROKEN_TOLERANCE)).tolist():
        broken[k] = x[cells.left[k]] < powers[cells.code[k]] * x[cells.right[k]]
    return broken


def _build_answer(
    space: Space, cells: Cells, bounds: AlphaPowers, certificate: ProgramCertificate, true_program: LinearProgram
) -> Answer:
    """The channel without its empty columns, and its bound; for irrational powers rounded, bounded by `true_program`.

    `true_program` has the powers rounded down, so the optimal x is feasible for it, and the multipliers bound it from
    below once negative reduced costs are paid for (`verify_certificate`).
    """
    if not bounds.exact:
        certificate = verify_certificate(true_program, certificate.proof.x, certificate.proof.y)
    nonempty = [k for k, y in enumerate(cells.columns) if certificate.proof.x[cells.unknown[y, k]]]
    rows = object_array(certificate.proof.x)[cells.unknown[:, nonempty]]
    if not bounds.exact:
        rows = round_channel(space, bounds, rows, rows.argmax(axis=1), np.arange(len(nonempty)))
    return Answer(tuple(cells.columns[k] for k in nonempty), rows, abs(certificate.lower))
