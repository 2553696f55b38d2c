"""B = A·R with R ≥ 0: an R found and multiplied out, or a consumer to whom B is worth more than A.

Rows of R sum to 1. Where A's columns are independent there is one candidate (FMPD23 §II-B, b) and linear algebra
decides; else a linear program does. What a solver says is a guess: an R is accepted when A·R = B exactly, a consumer
when her two expected losses compare exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from utmost.channel import Matrix
from utmost.channel.channel import matrix_product
from utmost.errors import SolverError, UndecidedError
from utmost.exact import sign
from utmost.lp import SolverGuess, certified_optimum, solve
from utmost.qif.linear_systems import (
    has_irrational,
    independent_columns,
    is_solvable,
    object_matrix,
    rational_approximation,
    solve_system,
)
from utmost.qif.rational_functions import add_exact
from utmost.qif.refinement_programs import cone_program, distance_program, free, slack_program
from utmost.qif.refinement_witness import Witness, witness

PRECISIONS = (64, 256, 1024)  # bits of the fractions that stand for irrational numbers in a guess
SIMPLEST = 1000  # the largest denominator of a simple R
FINENESS = (8, 16, 40)  # bits of the part of R that is free
NOTHING = 1e-9  # what a float program calls 0


def factor_channel(a: Matrix, b: Matrix) -> Matrix | Witness:
    """The R with A·R = B, exact, or the witness that there is none; UndecidedError if neither can be had.

    Channels of fractions are decided (SolverError if the program's optimum cannot be closed), and so are channels made
    of powers of one e^u, up to 64 outputs, where A's columns, none of which is zero, are independent.
    """
    forced = len(independent_columns(a)) == a.shape[1] and is_solvable(a, b)
    return _forced(a, b) if forced else _programmed(a, b)


def _forced(a: Matrix, b: Matrix) -> Matrix | Witness:
    """The case of independent columns: the one R, or a consumer with two actions who sees what is wrong with it."""
    found = _with_two_actions(a, b, PRECISIONS[0]) if has_irrational(a, b) else None
    if found is not None:
        return found
    post = solve_system(a, b)
    if post is not None and _is_channel(post):
        return post
    for bits in PRECISIONS:
        found = _with_two_actions(a, b, bits)
        if found is not None:
            return found
    raise _undecided()


def _with_two_actions(a: Matrix, b: Matrix, bits: int) -> Witness | None:
    least = Fraction(1, 2 ** (bits // 2)) if has_irrational(a, b) else Fraction(0)
    near = rational_approximation(bits, a, b)
    for vector in _separating(near[0], near[1], least):
        found = witness(object_matrix([[Fraction(0), value] for value in vector]), a, b)
        if found is not None:
            return found
    return None


def _separating(a: Matrix, b: Matrix, least: Fraction) -> Iterator[Matrix]:
    """Vectors k with k·A ≤ 0 and k·B_w > least for some w; rational A of independent columns.

    With a square regular part A_T: row j of A_T^−1, negated, where R[j, w] < 0; and e_x − A_x·A_T^−1, of either sign,
    which vanishes on A, where row x of B does not follow from the rows T.
    """
    chosen = independent_columns(a.T)
    inverse = solve_system(a[chosen], object_matrix([[Fraction(int(i == j)) for j in chosen] for i in chosen]))
    if inverse is None or len(chosen) < a.shape[1]:
        return
    post = matrix_product(inverse, b[chosen])
    j, w = divmod(int(np.argmin(post)), post.shape[1])
    if -post[j, w] > least:
        yield _spread(-inverse[j], chosen, len(a))
    gap = b - matrix_product(a, post)
    x, w = divmod(int(np.argmax(abs(gap))), b.shape[1])
    if abs(gap[x, w]) > least:
        vector = _spread(-matrix_product(a[[x]], inverse)[0], chosen, len(a))
        vector[x] += 1
        yield vector * sign(gap[x, w])


def _spread(values: Matrix, places: list[int], size: int) -> Matrix:
    whole = np.full(size, Fraction(0), dtype=object)
    whole[places] = values
    return whole


def _programmed(a: Matrix, b: Matrix) -> Matrix | Witness:
    """The general case: a float program guesses, roundings of what it says are tried, and fractions are closed."""
    near = rational_approximation(PRECISIONS[0], a, b)
    found = _outside(a, b, near)
    if found is not None:
        return found
    guess = solve(distance_program(*near))
    found = witness(_gain(guess.y, b), a, b) if guess.objective > NOTHING else None
    if found is not None:
        return found
    post = next(_posts(a, b, near, guess), None)
    if post is not None:
        return post
    if has_irrational(a, b):
        raise _undecided()
    return _closed(a, b)


def _outside(a: Matrix, b: Matrix, near: tuple[Matrix, ...]) -> Witness | None:
    """A consumer with two actions, if a column of B is outside the cone of A's: most who exist are found so."""
    for column in near[1].T:
        guess = solve(cone_program(near[0], column))
        if guess.objective > NOTHING:
            found = witness(object_matrix([[Fraction(0), Fraction(y)] for y in guess.y]), a, b)
            if found is not None:
                return found
    return None


def _posts(a: Matrix, b: Matrix, near: tuple[Matrix, ...], guess: SolverGuess) -> Iterator[Matrix]:
    """R's that are right, the simplest first: the guess in small fractions, then one that keeps clear of 0."""
    shape = a.shape[1], b.shape[1]
    entries = guess.x[: shape[0] * shape[1]].reshape(shape)
    simple = object_matrix([[Fraction(v).limit_denominator(SIMPLEST) for v in row] for row in entries])
    if _is_post(simple, a, b):
        yield simple
    clear = solve(slack_program(*near), accept=("Optimal", "Infeasible", "Unbounded", "Unknown"))
    if clear.status != "Optimal" or clear.x[-1] <= NOTHING or not is_solvable(a, b):
        return
    floats = clear.x[:-1].reshape(shape) + clear.x[-1] * free(*near)
    for bits in FINENESS:
        post = _completed(a, b, _rounded(floats, 2**bits))
        if post is not None and _is_channel(post):
            yield post


def _completed(a: Matrix, b: Matrix, near: Matrix) -> Matrix | None:
    """The R with A·R = B that agrees with `near`, whose rows sum to 1, off a basis of A's columns.

    The rows of the others then sum to 1 by themselves: A·R·1 = 1 = A·1, and the basis is independent.
    """
    basis = independent_columns(a)
    rest = [j for j in range(a.shape[1]) if j not in set(basis)]
    found = solve_system(a[:, basis], b - matrix_product(a[:, rest], near[rest]) if rest else b)
    if found is None:
        return None
    post = near.copy()
    post[basis] = found
    return post


def _rounded(floats: Matrix, denominator: int) -> Matrix:
    """The same in fractions ≥ 0 with this denominator, the largest entry of each row making its sum 1."""
    rows = []
    for row in floats:
        line = [Fraction(max(0, round(value * denominator)), denominator) for value in row]
        line[int(np.argmax(row))] += 1 - sum(line)
        rows.append(line)
    return object_matrix(rows)


def _closed(a: Matrix, b: Matrix) -> Matrix | Witness:
    """The program's exact optimum: at 0 it is an R, above 0 its multipliers are a gain."""
    certificate = certified_optimum(distance_program(a, b))
    if certificate.upper == 0:
        return np.array(certificate.x[: a.shape[1] * b.shape[1]], dtype=object).reshape(a.shape[1], -1)
    found = witness(_gain(certificate.y, b), a, b)
    if found is None:
        raise SolverError("whether the second channel refines the first could not be certified: merge some outputs")
    return found


def _gain(multipliers: Sequence[float] | Sequence[Fraction] | Matrix, b: Matrix) -> Matrix:
    return np.array([Fraction(y) for y in multipliers[: b.size]], dtype=object).reshape(b.shape)


def _is_post(post: Matrix, a: Matrix, b: Matrix) -> bool:
    """Whether it is a channel, and A·R = B, multiplied out."""
    return _is_channel(post) and bool(np.all(matrix_product(a, post) == b))


def _is_channel(post: Matrix) -> bool:
    return all(sign(value) >= 0 for value in post.flat) and all(add_exact(row) == 1 for row in post)


def _undecided() -> UndecidedError:
    return UndecidedError(
        "whether the second channel refines the first is not decided for these irrational entries: "
        "use a level and distances that make them fractions, or fewer inputs"
    )
