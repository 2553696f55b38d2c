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
from utmost.design.capacities.alpha_powers import AlphaPowers, Whole, round_channel
from utmost.design.capacities.capacity_bounds import object_array
from utmost.design.capacities.point_weights import kernel_table, orbit_firsts
from utmost.errors import InputError
from utmost.lp import (
    Certificate,
    LinearProgram,
    SolverGuess,
    certified_optimum,
    certify_guess,
    solve,
    verify_certificate,
)
from utmost.spaces import Space, Symmetries

Flags = npt.NDArray[np.bool_]
BROKEN = 1e-9  # of an entry: what a float answer may break without a new round
NEAR = 1e-3  # of an entry: constraints so near to being broken are added with the broken ones
SHORT = 1e-7  # of T ≥ 1, and of 1: a float optimum that misses a bound by more does not attain it
MOST_RELATIONS = 100_000  # privacy constraints up to symmetry


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The unknowns: orbits of the pairs (x, y) with y among `columns`, and the relations that privacy makes.

    `number[x, k]` is the unknown of row x and column columns[k], `distance` the code of d(x,y) for each unknown.
    Relation r says unknown[left[r]] ≥ α^values[code[r]]·unknown[right[r]]. The rows of the points `first` sum to 1.
    """

    columns: tuple[int, ...]
    number: Whole
    distance: Whole
    first: Whole
    left: Whole
    right: Whole
    code: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A private channel, one column for each of the points `columns`, and the bound of T that its program proves."""

    columns: tuple[int, ...]
    rows: Matrix
    bound: Fraction


def program_cells(space: Space, group: Symmetries, columns: tuple[int, ...]) -> Cells:
    """The unknowns and relations for channels with these columns, a union of orbits of points."""
    listed = np.array(columns, dtype=np.int64)
    ones = orbit_firsts(group.points[listed])  # one column of each orbit: the others are its images
    if len(space.tight) * len(ones) > 100 * MOST_RELATIONS:
        raise _too_large(space, 2 * len(space.tight) * len(ones))
    chosen, places = np.unique(group.pairs[:, listed], return_inverse=True)
    number = places.reshape(len(space), len(listed)).astype(np.int64)
    distance = np.zeros(len(chosen), dtype=np.int64)
    distance[number] = space.codes[:, listed]
    x, other = np.concatenate([space.tight, space.tight[:, ::-1]]).T
    left, right = number[x][:, ones].ravel(), number[other][:, ones].ravel()
    keys = (np.repeat(space.codes[x, other], len(ones)) * len(chosen) + left) * len(chosen) + right
    keys = np.unique(keys[left != right])
    if len(keys) > MOST_RELATIONS:
        raise _too_large(space, len(keys))
    left, right, code = keys // len(chosen) % len(chosen), keys % len(chosen), keys // len(chosen) ** 2
    return Cells(columns, number, distance, orbit_firsts(group.points), left, right, code)


def _too_large(space: Space, relations: int) -> InputError:
    return InputError(
        f"a capacity of {space.name} needs a linear program with {relations} privacy constraints up to symmetry, and "
        f"at most {MOST_RELATIONS} are tried: take fewer points, or another alpha"
    )


def program(found: Cells, powers: tuple[Fraction, ...], active: Flags, least: bool) -> LinearProgram:
    """minimise T (or −T) over the unknowns, rows summing to 1, the active relations holding at these powers."""
    left, right, factors = found.left[active], found.right[active], object_array(powers)[found.code[active]]
    count, points, width = len(left), len(found.first), len(found.columns)
    relation = np.arange(count)
    diagonal = found.number[list(found.columns), np.arange(width)]
    weights = np.bincount(diagonal, minlength=len(found.distance)) * (1 if least else -1)
    return LinearProgram(
        [Fraction(int(weight)) for weight in weights],
        np.concatenate([relation, count + np.repeat(np.arange(points), width), relation]),
        np.concatenate([left, found.number[found.first].ravel(), right]),
        np.concatenate([np.full(count + points * width, Fraction(1), dtype=object), -factors]),
        [Fraction(0)] * count + [Fraction(1)] * points,
        np.arange(count + points) >= count,
        scale=_scale(found, powers, least),
        upper=[Fraction(1)] * len(weights),
        interior=[Fraction(1, width)] * len(weights),
    )


def _scale(found: Cells, powers: tuple[Fraction, ...], least: bool) -> list[Fraction]:
    """The natural size of an entry: α^d(x,y), or α^(D−d(x,y)) where the diagonal is to be small."""
    table = kernel_table(powers, least)
    return [table[code] / table[-1] if least else table[code] for code in found.distance]


def best_channel(
    space: Space,
    found: Cells,
    bounds: AlphaPowers,
    least: bool,
    report: Callable[[float], None],
    hoped: float | None = None,
) -> Answer | None:
    """The optimal channel with these columns, and the bound; None once it is clear that it misses the T hoped for.

    The answer is optimal for the powers `bounds.aim`; its bound holds for the true α. `report` is told the float
    optimum of each round.
    """
    active, needed = _nearest(found), np.zeros(len(found.code), dtype=bool)
    while True:
        guess = solve(program(found, bounds.aim, active, least), accept=("Optimal", "Infeasible"))
        if guess.status != "Optimal":  # ratios beyond the reach of doubles
            return _by_all(space, found, bounds, least)
        report(abs(guess.objective))
        if hoped is not None and guess.objective - (hoped if least else -hoped) > SHORT * max(1.0, hoped):
            return None
        near = _near(found, bounds.aim, guess.x, NEAR)
        if not (_near(found, bounds.aim, guess.x, -BROKEN) & ~active).any():
            kept = active & (near | needed | _binding(guess, active))
            certificate = certify_guess(program(found, bounds.aim, kept, least), _restricted(guess, active, kept))
            near = needed = needed | _exactly_broken(found, bounds.aim, certificate.x)
            if not (needed & ~kept).any():
                return _answer(space, found, bounds, certificate, program(found, bounds.low, kept, least))
        active = active | near


def _by_all(space: Space, found: Cells, bounds: AlphaPowers, least: bool) -> Answer:
    """The optimal channel with these columns from the program with all relations, whatever doubles make of it."""
    every = np.ones(len(found.code), dtype=bool)
    certificate = certified_optimum(program(found, bounds.aim, every, least))
    return _answer(space, found, bounds, certificate, program(found, bounds.low, every, least))


def _binding(guess: SolverGuess, active: Flags) -> Flags:
    """The relations that the guess's basis holds with equality."""
    binding = active.copy()
    binding[active] = ~guess.basic_rows[: active.sum()]
    return binding


def _restricted(guess: SolverGuess, active: Flags, kept: Flags) -> SolverGuess:
    """The guess without relations that do not bind: their slacks are basic, so what is left is a basis."""
    left = np.concatenate([kept[active], np.ones(len(guess.y) - active.sum(), dtype=bool)])
    return SolverGuess(
        guess.x, guess.y[left], guess.basic_columns, guess.basic_rows[left], guess.status, guess.objective
    )


def _nearest(found: Cells) -> Flags:
    """The relations of the nearest pairs: at least 2 for each unknown, if there are as many."""
    wanted = min(2 * len(found.distance), len(found.code))
    near: Flags = found.code <= (np.sort(found.code)[wanted - 1] if wanted else 0)
    return near


def _near(found: Cells, powers: tuple[Fraction, ...], x: npt.NDArray[np.float64], part: float) -> Flags:
    """The relations that doubles break, or miss breaking by less than a part of an entry."""
    rate = np.array([float(power) for power in powers])[found.code]
    near: Flags = x[found.left] < rate * x[found.right] * (1 + part)
    return near


def _exactly_broken(found: Cells, powers: tuple[Fraction, ...], x: tuple[Fraction, ...]) -> Flags:
    """The relations that do not hold. Doubles look first: their quotients are right within 2^−50."""
    values = np.array([float(value) for value in x])
    broken = np.zeros(len(found.code), dtype=bool)
    for k in np.flatnonzero(_near(found, powers, values, BROKEN)).tolist():
        broken[k] = x[found.left[k]] < powers[found.code[k]] * x[found.right[k]]
    return broken


def _answer(space: Space, found: Cells, bounds: AlphaPowers, certificate: Certificate, true: LinearProgram) -> Answer:
    """The channel without its empty columns, and the bound; for irrational powers rounded, and bound by `true`.

    `true` has the powers rounded down, so the optimal x is feasible for it, and the multipliers bound it from below
    once negative reduced costs are paid for (`solve.verify`).
    """
    if not bounds.exact:
        certificate = verify_certificate(true, certificate.x, certificate.y)
    used = [k for k, y in enumerate(found.columns) if certificate.x[found.number[y, k]]]
    rows = object_array(certificate.x)[found.number[:, used]]
    if not bounds.exact:
        rows = round_channel(space, bounds, rows, rows.argmax(axis=1), np.arange(len(used)))
    return Answer(tuple(found.columns[k] for k in used), rows, abs(certificate.lower))
