"""The linear programs for the capacities of a privacy type: over weights of points, and over orbits of pairs.

Weights on the points: a linear program over orbits of points that bounds a capacity, and often is it.

The packing {max Σb : Mb ≤ 1, b ≥ 0} and the covering {min Σa : Ma ≥ 1, a ≥ 0} of a symmetric matrix M are dual to each
other. With M = K the covering bounds max T and the packing is the diagonal of a channel that would attain it; with
M = B they change places (`capacity_bounds`). Both may be averaged over the symmetries of the space, so one unknown for
each orbit of points is enough: 15 for a 10×10 grid.

The programs of FMPD23 Cor. 17 and 18 over orbits of pairs, with privacy constraints added as they are broken.

A channel may be averaged over the symmetries of its space, so its entries C[x,y] are unknowns only up to symmetry: 1275
for a 10×10 grid. A constraint C[x,y] ≥ α^d(x,x′)·C[x′,y] for a generating pair is then a relation between two orbits.
Few of them bind: the first program has those of the nearest pairs, and each round adds the ones that its answer breaks.
A program with fewer constraints still bounds T; when its exact answer breaks none, that answer is optimal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.design.capacities.capacity_bounds import object_array, weighted_columns
from utmost.errors import InputError, SolverError
from utmost.exact import Level, Number, Real, ball_endpoints, enclosure
from utmost.lp import (
    LinearProgram,
    ProgramCertificate,
    SolverGuess,
    certified_optimum,
    certify_guess,
    solve,
    verify_certificate,
)
from utmost.result_values import equal_fields, hash_of_kind
from utmost.spaces import Space, Symmetries

Ints = npt.NDArray[np.int64]
TARGET_MARGIN_BITS = 52  # the target is an ε smaller by one part in 2^52 …
PRECISION_BITS = 112  # … so that numbers of 112 bits can be rounded and stay private


@dataclass(frozen=True, slots=True, eq=False)
class AlphaPowers:
    """low ≤ α^v ≤ high for each distinct distance v of a space, all rational; equal where α^v is rational for all v.

    `target` is what a channel is made for: α^v itself if that is rational, else about α^(v·(1 − 2^−52)), a little more
    private, so that entries may be rounded.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    target: tuple[Fraction, ...]

    @property
    def exact(self) -> bool:
        """Is every power rational."""
        return self.low == self.high


def alpha_powers(space: Space, level: Level) -> AlphaPowers:
    """The powers of α at the distances of a space (0 < α < 1)."""
    powers = [level.power(value) for value in space.values]
    if not any(isinstance(power, Real) for power in powers):
        exact: tuple[Fraction, ...] = tuple(powers)  # type: ignore[arg-type]
        return AlphaPowers(exact, exact, exact)
    intervals = [enclosure(power, PRECISION_BITS) for power in powers]
    low, high = (tuple(pair[side] for pair in intervals) for side in (0, 1))
    return AlphaPowers(low, high, tuple(_target_power(level, value) for value in space.values))


def _target_power(level: Level, distance: Number) -> Fraction:
    if not distance:
        return Fraction(1)
    shorter_distance = distance * (1 - Fraction(1, 1 << TARGET_MARGIN_BITS))
    return sum(ball_endpoints(level.power_ball(shorter_distance, PRECISION_BITS)), Fraction(0)) / 2


def round_channel(space: Space, bounds: AlphaPowers, entries: Matrix, remainder_columns: Ints, columns: Ints) -> Matrix:
    """Entries rounded down to multiples of a power of 2, what row x lacks given to its column remainder_columns[x].

    `entries` are rationals with rows that sum to 1, about private for `bounds.target`. Privacy is decided afterwards,
    in whole numbers against `bounds.high`, for every generating pair and the columns `columns`; the others must
    be images of them under symmetries of the space. It takes an ε·d below 2^−50 to fail.
    """
    distinct = {id(entry): entry for entry in entries.ravel()}
    smallest_entry = min(entry for entry in distinct.values() if entry)
    bits = PRECISION_BITS + max(0, smallest_entry.denominator.bit_length() - smallest_entry.numerator.bit_length())
    floors = {key: (entry.numerator << bits) // entry.denominator for key, entry in distinct.items()}
    units = np.empty(entries.shape, dtype=object)
    units.ravel()[:] = [floors[id(entry)] for entry in entries.ravel()]
    units[np.arange(len(units)), remainder_columns] += (1 << bits) - units.sum(axis=1)
    if not units_are_private(space, bounds, units[:, columns]):
        raise SolverError("the channel found did not stay private when it was rounded: take a larger epsilon")
    entry_of_unit = {unit: Fraction(unit, 1 << bits) for unit in set(units.ravel())}
    rows = np.empty(entries.shape, dtype=object)
    rows.ravel()[:] = [entry_of_unit[unit] for unit in units.ravel()]
    return rows


def units_are_private(space: Space, bounds: AlphaPowers, units: Matrix) -> bool:
    """Is units[x] ≥ α^d(x,x′)·units[x′], both ways, for every generating pair: decided with α^d rounded up."""
    first, second = space.edge_array[:, 0], space.edge_array[:, 1]
    codes = space.codes[first, second]
    for code in np.unique(codes).tolist():
        numerator, denominator = bounds.high[code].numerator, bounds.high[code].denominator
        left, right = units[first[codes == code]], units[second[codes == code]]
        if (left * denominator < right * numerator).any() or (right * denominator < left * numerator).any():
            return False
    return True


MAX_POINT_ORBITS = 100  # kinds of points: a dense rational system


@dataclass(frozen=True, slots=True, eq=False)
class PointWeights:
    """For each point: the diagonal λ of a channel that would attain the bound, and the weights w of the bound.

    `bound` = Σw is proved: Kw ≥ 1 (Bw ≤ 1 for the least T) holds for the true α. `slack` says that some row of λ's
    columns, each the least (greatest) private one with λ_y at y, does not sum to 1.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    diagonal: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    bound: Fraction
    slack: bool
    minimise: bool


def optimal_weights(space: Space, group: Symmetries, bounds: AlphaPowers, minimise: bool) -> PointWeights:
    """The optimal weights for the powers `bounds.target`, scaled so that they bound T at the true α."""
    sizes = np.bincount(group.points)
    if len(sizes) > MAX_POINT_ORBITS:
        raise InputError(
            f"{space.name} has {len(sizes)} points that no known symmetry takes to each other, and a "
            f"capacity is found for at most {MAX_POINT_ORBITS}",
            hint="take fewer points, or a space with more symmetry",
        )
    matrix = _orbit_sums(space, group, kernel_table(bounds.target, minimise))
    cover, packing = _dual_pair(matrix, sizes)
    diagonal, weights = (cover, packing) if minimise else (packing, cover)
    row_sums = _orbit_sums(space, group, kernel_table(bounds.low, minimise)) @ object_array(weights)
    scale = max(row_sums) if minimise else min(row_sums)
    weights = [weight / scale for weight in weights]
    total = sum((int(size) * weight for size, weight in zip(sizes, weights, strict=True)), Fraction(0))
    slack = bool((matrix @ object_array(diagonal) != 1).any())
    points = group.points.tolist()
    return PointWeights(tuple(diagonal[k] for k in points), tuple(weights[k] for k in points), total, slack, minimise)


def without_slack(
    space: Space, group: Symmetries, bounds: AlphaPowers, weights: PointWeights
) -> tuple[tuple[int, ...], Matrix]:
    """The columns λ_y·M[x,y] of a weighting without slack, as points and a channel; rounded unless α^d is rational."""
    columns, rows = weighted_columns(
        space, object_array(kernel_table(bounds.target, weights.minimise)), weights.diagonal
    )
    if bounds.exact:
        return columns, rows
    if len(columns) < len(space):
        return columns, round_channel(space, bounds, rows, rows.argmax(axis=1), np.arange(len(columns)))
    return columns, round_channel(space, bounds, rows, np.arange(len(space)), orbit_firsts(group.points))


def orbit_firsts(points: Ints) -> Ints:
    """The first point of each orbit."""
    return np.unique(points, return_index=True)[1].astype(np.int64)


def kernel_table(powers: Sequence[Fraction], minimise: bool) -> list[Fraction]:
    """M for each distance: α^d, or α^−d for the least T."""
    return [1 / power for power in powers] if minimise else list(powers)


def _orbit_sums(space: Space, group: Symmetries, table: Sequence[Fraction]) -> Matrix:
    """M summed over orbits: entry (p, k) is the sum of M[x,y] over the points y of orbit k, for one x of orbit p."""
    rows = object_array(table)[space.codes[orbit_firsts(group.points)]]
    return np.stack([rows[:, group.points == k].sum(axis=1) for k in range(len(rows))], axis=1)


def _dual_pair(matrix: Matrix, sizes: Ints) -> tuple[list[Fraction], list[Fraction]]:
    """(covering, packing): optimal a, b ≥ 0 with Ma ≥ 1 and Mb ≤ 1, a value for each orbit."""
    count = len(sizes)
    rows, columns = np.indices((count, count)).reshape(2, -1)
    certificate = certified_optimum(
        LinearProgram(
            [Fraction(int(size)) for size in sizes],
            rows,
            columns,
            matrix.ravel(),
            [Fraction(1)] * count,
            np.zeros(count, dtype=bool),
        )
    )
    return list(certificate.proof.x), [y / int(size) for y, size in zip(certificate.proof.y, sizes, strict=True)]


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

    __eq__ = equal_fields
    __hash__ = hash_of_kind

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
