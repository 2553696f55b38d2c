"""Refinement: solve B = A·R with R a channel, or find a consumer who prefers B (FMPD23 §II-B, eq. 6, 7).

Solve B = A·R with R ≥ 0: find R and check the product, or find a consumer to whom B is worth more than A.

Rows of R sum to 1. Where A's columns are independent there is one candidate (FMPD23 §II-B, b) and linear algebra
decides; else a linear program does. What a solver returns is a guess: an R is accepted when A·R = B exactly, a
consumer when the two expected losses compare exactly.

A ⊑ B, "B refines A", when B = A·R for some channel R. Then no consumer, whatever the prior and the loss, does
better with B than with A (the data-processing inequality); and if there is no such R, some consumer does better with B,
already with the uniform prior (Blackwell 1951; the "Coriaceous" theorem). So one of two proofs always exists: R, or
that consumer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_inputs
from utmost.channel.channel import Label, label_positions, matrix_product, trusted_channel
from utmost.errors import InputError, SolverError, UndecidedError
from utmost.exact import sign
from utmost.lp import SolverGuess, certified_optimum, solve
from utmost.qif.exact_algebra import (
    add_exact,
    has_irrational,
    independent_columns,
    is_solvable,
    object_matrix,
    rational_approximation,
    solve_system,
)
from utmost.qif.hyper import ColumnBundle, bundle_columns, exact_channel
from utmost.qif.refinement_programs import (
    Witness,
    cone_program,
    distance_program,
    free_entries,
    name_secrets,
    slack_program,
    witness,
)
from utmost.result_values import short_repr

PRECISION_BITS = (64, 256, 1024)  # bits of the fractions that stand for irrational numbers in a guess
MAX_SIMPLE_DENOMINATOR = 1000  # of the entries of a simple R
ROUNDING_BITS = (8, 16, 40)  # bits of the part of R that is free
FLOAT_ZERO_TOLERANCE = 1e-9  # optima of a float program up to this count as 0


def factor_channel(a: Matrix, b: Matrix) -> Matrix | Witness:
    """The R with A·R = B, exact, or the witness that there is none; UndecidedError if neither is found.

    Channels of fractions are decided (SolverError if the program's optimum cannot be closed), and so are channels made
    of powers of one e^u, up to 64 outputs, where A's columns, none of which is zero, are independent.
    """
    is_unique = len(independent_columns(a)) == a.shape[1] and is_solvable(a, b)
    return _factor_unique(a, b) if is_unique else _factor_by_program(a, b)


def _factor_unique(a: Matrix, b: Matrix) -> Matrix | Witness:
    """The case of independent columns: the one R, or a consumer with two actions who shows that it is no channel."""
    result = _two_action_witness(a, b, PRECISION_BITS[0]) if has_irrational(a, b) else None
    if result is not None:
        return result
    factor = solve_system(a, b)
    if factor is not None and _is_channel(factor):
        return factor
    for bits in PRECISION_BITS:
        result = _two_action_witness(a, b, bits)
        if result is not None:
            return result
    raise _undecided_error()


def _two_action_witness(a: Matrix, b: Matrix, bits: int) -> Witness | None:
    margin = Fraction(1, 2 ** (bits // 2)) if has_irrational(a, b) else Fraction(0)
    approximations = rational_approximation(bits, a, b)
    for vector in _separating_vectors(approximations[0], approximations[1], margin):
        result = witness(object_matrix([[Fraction(0), value] for value in vector]), a, b)
        if result is not None:
            return result
    return None


def _separating_vectors(a: Matrix, b: Matrix, margin: Fraction) -> Iterator[Matrix]:
    """Vectors k with k·A ≤ 0 and k·B_w > least for some w; rational A of independent columns.

    With a square regular part A_T: row j of A_T^−1, negated, where R[j, w] < 0; and e_x − A_x·A_T^−1, of either sign,
    which vanishes on A, where row x of B does not follow from the rows T.
    """
    rows = independent_columns(a.T)
    inverse = solve_system(a[rows], object_matrix([[Fraction(int(i == j)) for j in rows] for i in rows]))
    if inverse is None or len(rows) < a.shape[1]:
        return
    factor = matrix_product(inverse, b[rows])
    j, w = divmod(int(np.argmin(factor)), factor.shape[1])
    if -factor[j, w] > margin:
        yield _embed_vector(-inverse[j], rows, len(a))
    gap = b - matrix_product(a, factor)
    x, w = divmod(int(np.argmax(abs(gap))), b.shape[1])
    if abs(gap[x, w]) > margin:
        vector = _embed_vector(-matrix_product(a[[x]], inverse)[0], rows, len(a))
        vector[x] += 1
        yield vector * sign(gap[x, w])


def _embed_vector(values: Matrix, positions: list[int], size: int) -> Matrix:
    vector = np.full(size, Fraction(0), dtype=object)
    vector[positions] = values
    return vector


def _factor_by_program(a: Matrix, b: Matrix) -> Matrix | Witness:
    """The general case: a float program guesses, roundings of the guess are tried, then the exact optimum."""
    approximations = rational_approximation(PRECISION_BITS[0], a, b)
    result = _outside_cone_witness(a, b, approximations)
    if result is not None:
        return result
    guess = solve(distance_program(*approximations))
    result = witness(_gain_from_multipliers(guess.y, b), a, b) if guess.objective > FLOAT_ZERO_TOLERANCE else None
    if result is not None:
        return result
    factor = next(_exact_factors(a, b, approximations, guess), None)
    if factor is not None:
        return factor
    if has_irrational(a, b):
        raise _undecided_error()
    return _factor_exactly(a, b)


def _outside_cone_witness(a: Matrix, b: Matrix, approximations: tuple[Matrix, ...]) -> Witness | None:
    """A consumer with two actions, if a column of B is outside the cone of A's: this finds most witnesses."""
    for column in approximations[1].T:
        guess = solve(cone_program(approximations[0], column))
        if guess.objective > FLOAT_ZERO_TOLERANCE:
            result = witness(object_matrix([[Fraction(0), Fraction(y)] for y in guess.y]), a, b)
            if result is not None:
                return result
    return None


def _exact_factors(a: Matrix, b: Matrix, approximations: tuple[Matrix, ...], guess: SolverGuess) -> Iterator[Matrix]:
    """R's that are right, the simplest first: the guess in small fractions, then one that keeps clear of 0."""
    shape = a.shape[1], b.shape[1]
    entries = guess.x[: shape[0] * shape[1]].reshape(shape)
    simple = object_matrix([[Fraction(v).limit_denominator(MAX_SIMPLE_DENOMINATOR) for v in row] for row in entries])
    if _is_factor(simple, a, b):
        yield simple
    interior = solve(slack_program(*approximations), accept=("Optimal", "Infeasible", "Unbounded", "Unknown"))
    if interior.status != "Optimal" or interior.x[-1] <= FLOAT_ZERO_TOLERANCE or not is_solvable(a, b):
        return
    floats = interior.x[:-1].reshape(shape) + interior.x[-1] * free_entries(*approximations)
    for bits in ROUNDING_BITS:
        factor = _complete_factor(a, b, _round_rows(floats, 2**bits))
        if factor is not None and _is_channel(factor):
            yield factor


def _complete_factor(a: Matrix, b: Matrix, approximation: Matrix) -> Matrix | None:
    """The R with A·R = B that agrees with `approximation`, whose rows sum to 1, off a basis of A's columns.

    The rows of the others then sum to 1 by themselves: A·R·1 = 1 = A·1, and the basis is independent.
    """
    basis = independent_columns(a)
    rest = [j for j in range(a.shape[1]) if j not in set(basis)]
    basis_rows = solve_system(a[:, basis], b - matrix_product(a[:, rest], approximation[rest]) if rest else b)
    if basis_rows is None:
        return None
    factor = approximation.copy()
    factor[basis] = basis_rows
    return factor


def _round_rows(floats: Matrix, denominator: int) -> Matrix:
    """The same in fractions ≥ 0 with this denominator, the largest entry of each row making its sum 1."""
    rows = []
    for row in floats:
        line = [Fraction(max(0, round(value * denominator)), denominator) for value in row]
        line[int(np.argmax(row))] += 1 - sum(line)
        rows.append(line)
    return object_matrix(rows)


def _factor_exactly(a: Matrix, b: Matrix) -> Matrix | Witness:
    """The program's exact optimum: at 0 it is an R, above 0 its multipliers are a gain."""
    certificate = certified_optimum(distance_program(a, b))
    if certificate.upper == 0:
        return np.array(certificate.proof.x[: a.shape[1] * b.shape[1]], dtype=object).reshape(a.shape[1], -1)
    result = witness(_gain_from_multipliers(certificate.proof.y, b), a, b)
    if result is None:
        raise SolverError("whether the second channel refines the first could not be certified: merge some outputs")
    return result


def _gain_from_multipliers(multipliers: Sequence[float] | Sequence[Fraction] | Matrix, b: Matrix) -> Matrix:
    return np.array([Fraction(y) for y in multipliers[: b.size]], dtype=object).reshape(b.shape)


def _is_factor(factor: Matrix, a: Matrix, b: Matrix) -> bool:
    """Whether it is a channel, and A·R = B, multiplied out."""
    return _is_channel(factor) and bool(np.all(matrix_product(a, factor) == b))


def _is_channel(factor: Matrix) -> bool:
    return all(sign(value) >= 0 for value in factor.flat) and all(add_exact(row) == 1 for row in factor)


def _undecided_error() -> UndecidedError:
    return UndecidedError(
        "whether the second channel refines the first is not decided for these irrational entries: "
        "use a level and distances that make them fractions, or fewer inputs"
    )


@dataclass(frozen=True, slots=True)
class Refinement:
    """Does B refine A, with the proof: R with A·R = B, or else a consumer who is better served by B."""

    __repr__ = short_repr

    refines: bool
    post_processing: Channel | None
    witness: Witness | None


def refinement(a: Channel | Mechanism, b: Channel | Mechanism) -> Refinement:
    """Whether B refines A (A ⊑ B: B = A·R for a channel R), decided exactly.

    Their inputs must be the same secrets, in any order. UndecidedError where irrational entries leave it open.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> fine, coarse = geometric(2, alpha("1/3")), geometric(2, alpha("1/2"))
    >>> print(refinement(fine, coarse).post_processing)
          0     1     2
    0   5/6  1/12  1/12
    1  5/24  7/12  5/24
    2  1/12  1/12   5/6
    >>> other = refinement(coarse, fine).witness
    >>> other.with_a > other.with_b
    True
    """
    first, second = exact_channel(a, "A"), _align_inputs(exact_channel(b, "B"), exact_channel(a, "A"))
    left, right = bundle_columns(first.rows), bundle_columns(second.rows)
    factor = factor_channel(_stack_columns(left), _stack_columns(right))
    if isinstance(factor, Witness):
        return Refinement(False, None, name_secrets(factor, first.inputs))
    rows = _expand_bundles(factor, left, right, (len(first.outputs), len(second.outputs)))
    return Refinement(True, trusted_channel(first.outputs, second.outputs, rows), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Does B refine A, and does A refine B; the second is None where it was not decided. `inputs` are those of A."""

    __repr__ = short_repr

    inputs: tuple[Label, ...]
    forward: Refinement
    reverse: Refinement | None

    @property
    def equivalent(self) -> bool | None:
        """Whether each refines the other; None where that was not decided."""
        if not self.forward.refines:
            return False
        return None if self.reverse is None else self.reverse.refines


def compare(a: Channel, b: Channel) -> Comparison:
    """Both directions; the first must be decided, the second may stay open."""
    forward = refinement(a, b)
    try:
        return Comparison(a.inputs, forward, refinement(b, a))
    except UndecidedError:
        return Comparison(a.inputs, forward, None)


def _align_inputs(second: Channel, first: Channel) -> Channel:
    """The second channel with its inputs in the order of the first one's."""
    if label_positions(second.inputs, first.inputs) is None:
        missing = [x for x in (*first.inputs, *second.inputs) if x not in first.inputs or x not in second.inputs]
        name = str(missing[0])[:40]
        raise InputError(
            f"A and B must have the same inputs, got '{name}' in one of them only", hint="rename the inputs"
        )
    return align_inputs(second, first.inputs)


def _stack_columns(groups: list[ColumnBundle]) -> Matrix:
    return np.stack([group.column for group in groups], axis=1)


def _expand_bundles(
    factor: Matrix, left: list[ColumnBundle], right: list[ColumnBundle], shape: tuple[int, int]
) -> Matrix:
    """R between the outputs themselves, from R between their bundles.

    Outputs of A in one bundle are treated alike; a bundle of B is dealt out by its members' shares. An output of A that
    never occurs is sent to the first output.
    """
    rows = np.full(shape, Fraction(0), dtype=object)
    rows[:, 0] = Fraction(1)
    for j, source in enumerate(left):
        line = np.full(shape[1], Fraction(0), dtype=object)
        for w, target in enumerate(right):
            line[list(target.members)] = [factor[j, w] * share for share in target.shares]
        rows[list(source.members)] = line
    return rows
