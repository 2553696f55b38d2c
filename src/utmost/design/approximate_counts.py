"""The best (ε, δ)-private mechanism for a consumer of a count: a remap of canonical noise; a program that decides it.

A loss is monotone on each side if ℓ(i, w) never falls as w moves away from i, up or down; legal losses are. M is a
mechanism from the counts 0 … n to guesses 0 … n, (ε, δ)-private where neighbours differ by one unit. N is the real
canonical noise of `noise.fine_canonical`, F its cdf, r its reach, and S the largest step that privacy allows.

**Theorem.** For every such M there is a remap of count + N whose expected loss is at most that of M *at each count*,
for every loss that is monotone on each side. So canonical noise, read in the best way, is optimal for every prior, and
for a consumer without a prior. (For δ = 0 it is geometric noise: GRS12 Thm 3.2.)
*Proof.* Let p_t(i) = Pr[M(i) ≥ t], t = 1 … n. Privacy says p_t(i+1) ≤ S(p_t(i)) and 1 − p_t(i−1) ≤ S(1 − p_t(i)).
Since F rises strictly from 0 to 1 on [−r, r], there is one x_t in it with F(x_t) = p_t(t−1). Put τ_t = t − 1 − x_t and
h_t(i) = Pr[i + N ≥ τ_t] = F(x_t + i − t + 1). Since F(x+1) = S(F(x)) for x ≥ −r, and its mirror image for x ≤ r,
h_t(i) ≥ p_t(i) for i ≥ t and h_t(i) ≤ p_t(i) for i < t.
The τ_t never fall: F(x_t + 1) = h_t(t) ≥ p_t(t) ≥ p_{t+1}(t) = F(x_{t+1}), so x_t + 1 ≥ x_{t+1}. Hence the remap
w(y) = #{t : τ_t ≤ y} has Pr[w(i + N) ≥ t] = h_t(i). And the loss at i is
ℓ(i,i) + Σ_{t>i} (ℓ(i,t) − ℓ(i,t−1))·Pr[w ≥ t] + Σ_{t≤i} (ℓ(i,t−1) − ℓ(i,t))·Pr[w < t],
where no difference is negative and no probability is larger than that of M. ∎

`closer_remap` carries the proof out for a given M, exactly. N is uniform on the parts that 3·count + Z tells, so the
remap reads Z, and tosses a coin where τ_t lies inside a part.

**Integer noise.** count + X is as good where q(L−1) = δ (`CanonicalLaw.is_tight`): then N is X and a uniform number
that knows nothing of the count. Where q := q(L−1) < δ it is not, already for counts 0 and 1. Consider the points
(Pr[E|0], Pr[E|1]) of all events E. Those of count + N lie up to the curve S, which has the corners (0, δ),
(q(0), 1 − q(0)) and (1 − δ, 1). Those of count + X lie up to a curve with the corners (0, q), (q, e^ε·q + δ),
(q(0), 1 − q(0)) and the mirror images of the first two. Consumers whose prior has a ratio of at most e^ε use the corner
in the middle and lose nothing. Whoever holds 0 to be more than e^ε times as likely as 1, π_1 > 0, and wants to name the
count loses π_1·(1 − δ) with count + N, and more with count + X.

**The program.** minimise Σ c[x,w]·C[x,w] over all channels C with Σ_w (C[x,w] − e^ε·C[z,w])₊ ≤ δ for all x, z = x ± 1.
The positive parts are variables s[x,z,w] ≥ 0, s[x,z,w] ≥ C[x,w] − e^ε·C[z,w]. Solved and certified in exact arithmetic,
it knows nothing of the theorem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Matrix
from utmost.channel.channel import trusted_channel
from utmost.consumer import Consumer
from utmost.errors import InputError, SolverError
from utmost.exact import Level, Number, integer, rational, sign
from utmost.lp import LinearProgram, ProgramCertificate, certified_optimum
from utmost.noise.canonical import canonical_law
from utmost.noise.fine_canonical import FineLaw, fine_law
from utmost.result_values import short_repr

MAX_CHANNEL_COUNT = 500  # upper end of a count whose matrix is written out
MAX_PROGRAM_CELLS = 400  # counts times guesses of a program


@dataclass(frozen=True, slots=True)
class ApproximateDesign:
    """The least expected loss over all (ε, δ)-private mechanisms, one that has it, and the certificate of both."""

    __repr__ = short_repr

    channel: Channel
    loss: Fraction
    certificate: ProgramCertificate


def canonical_channel(size: int, level: Level, delta: object) -> Channel:
    """count + X for the counts 0 … size, all its answers from −L to size + L; δ > 0.

    >>> from utmost.exact import alpha
    >>> print(canonical_channel(1, alpha("1/2"), "1/10"))
         -2    -1    0    1     2     3
    0  1/10   1/5  2/5  1/5  1/10     0
    1     0  1/10  1/5  2/5   1/5  1/10
    """
    law = canonical_law(level, delta)
    return _noise_channel(_check_size(size), 1, law.mass, law.last)


def fine_channel(size: int, level: Level, delta: object) -> Channel:
    """3·count + Z for the counts 0 … size, all its answers; δ > 0. No (ε, δ)-private mechanism tells a count better."""
    law = fine_law(level, delta)
    return _noise_channel(_check_size(size), 3, law.mass, law.last)


def least_delta(mechanism: Channel, level: Level) -> Number:
    """The least δ for which the mechanism is (ε, δ)-private, inputs in increasing order one unit apart.

    >>> from utmost.exact import alpha
    >>> least_delta(canonical_channel(3, alpha("1/2"), "1/20"), alpha("1/2"))
    Fraction(1, 20)
    """
    rows = mechanism.in_order().rows
    pairs = [*pairwise(rows), *pairwise(rows[::-1])]
    return max((_excess(first, second, level.alpha) for first, second in pairs), default=Fraction(0))


def approximate_program(level: Level, delta: object, costs: Matrix) -> LinearProgram:
    """The program of the least cost over all (ε, δ)-private channels, for costs c[x,w], 0 < α < 1 rational, 0 ≤ δ < 1.

    Variables: C row by row, then s for each ordered pair of neighbours and each w. Rows: s + e^ε·C[z,w] − C[x,w] ≥ 0
    for each s, −Σ_w s ≥ −δ for each pair, Σ_w C[x,w] = 1 for each x.
    """
    points, readings = costs.shape
    bound, pairs = _check_delta(delta), _neighbours(points)
    cells, count = points * readings, len(pairs) * readings
    rows, columns, values = _program_entries(1 / _rational_alpha(level), points, readings)
    return LinearProgram(
        [rational(cost, "cost") for cost in costs.ravel()] + [Fraction(0)] * count,
        rows,
        columns,
        values,
        [Fraction(0)] * count + [-bound] * len(pairs) + [Fraction(1)] * points,
        np.arange(count + len(pairs) + points) >= count + len(pairs),
        upper=[Fraction(1)] * cells + [bound] * count,
        interior=[Fraction(1, readings)] * cells + [bound / (2 * readings)] * count,
    )


def approximate_optimum(level: Level, delta: object, consumer: Consumer) -> ApproximateDesign:
    """The (ε, δ)-private mechanism for counts 0 … n with the least expected loss, certified; rational data, small n.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.exact import alpha
    >>> reader = Consumer(priors.uniform(3), losses.absolute)
    >>> approximate_optimum(alpha("1/2"), "1/20", reader).loss == reader.expected_loss(
    ...     fine_channel(2, alpha("1/2"), "1/20")
    ... )
    True
    """
    costs = consumer.costs()
    if costs.size > MAX_PROGRAM_CELLS:
        raise InputError(f"a program must have at most {MAX_PROGRAM_CELLS} counts times guesses, got {costs.size}")
    certificate = certified_optimum(approximate_program(level, delta, costs))
    rows = np.array(certificate.proof.x[: costs.size], dtype=object).reshape(costs.shape)
    counts = tuple(range(len(costs)))
    mechanism = trusted_channel(counts, consumer.readings(counts), rows)
    if least_delta(mechanism, level) > rational(delta, "delta"):
        raise SolverError("the mechanism found did not pass its own certificate; nothing is returned")
    return ApproximateDesign(mechanism, certificate.upper, certificate)


def closer_remap(mechanism: Channel, level: Level, delta: object) -> Channel:
    """The remap of `fine_channel` that loses no more than an (ε, δ)-private mechanism at any count, by the proof above.

    The mechanism goes from the counts 0 … n, in order, to guesses 0 … n; its guesses are its columns, in order.
    """
    size = len(mechanism.inputs) - 1
    if len(mechanism.outputs) != size + 1 or sign(least_delta(mechanism, level) - _check_delta(delta)) > 0:
        raise InputError("the mechanism must be (epsilon, delta)-private, with as many guesses as counts, got another")
    law = fine_law(level, delta)
    last = _finite(law.last)
    outputs = range(-last, 3 * size + last + 1)
    rows = np.full((len(outputs), size + 2), Fraction(0), dtype=object)  # Pr[w ≥ t], t = 0 … n + 1
    rows[:, 0] = Fraction(1)
    for t in range(1, size + 1):
        cut, share = _threshold(law, last, mechanism.rows[t - 1, t:].sum())
        rows[:, t] = [Fraction(y > cut + 3 * (t - 1)) for y in outputs]
        rows[cut + 3 * (t - 1) + last, t] = share
    return trusted_channel(outputs, mechanism.outputs, rows[:, :-1] - rows[:, 1:])


def _threshold(law: FineLaw, last: int, probability: Number) -> tuple[int, Number]:
    """The value z of Z, and the share of it, with Pr[Z > z] + share·Pr[Z = z] = probability, both as large as can be.

    At the two ends the threshold is −r or r: all of the first value, none of the last.
    """
    low, high = -last - 1, last  # Pr[Z > high] ≤ probability
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if law.tail(middle) <= probability else (middle, high)
    return high, (probability - law.tail(high)) / law.mass(high)


def _noise_channel(size: int, unit: int, mass: Callable[[int], Number], last: int | None) -> Channel:
    """unit·count + noise, as a matrix."""
    end = _finite(last)
    masses = {value: mass(value) for value in range(-end, end + 1)}
    outputs = range(-end, unit * size + end + 1)
    rows = np.full((size + 1, len(outputs)), Fraction(0), dtype=object)
    for x in range(size + 1):
        rows[x, unit * x : unit * x + 2 * end + 1] = [masses[value] for value in range(-end, end + 1)]
    return trusted_channel(range(size + 1), outputs, rows)


def _neighbours(points: int) -> list[tuple[int, int]]:
    return [(x, z) for x in range(points) for z in (x - 1, x + 1) if 0 <= z < points]


def _program_entries(
    factor: Fraction, points: int, readings: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.object_]]:
    """(row, column, value) of the constraints, in the order that `approximate_program` names them."""
    pairs, cell = np.array(_neighbours(points), dtype=np.int64).reshape(-1, 2), np.arange(points * readings)
    step = np.arange(len(pairs) * readings)
    slack, sum_row = len(cell) + step, len(step) + step // readings
    first, second = (np.repeat(pairs[:, side], readings) * readings + step % readings for side in (0, 1))
    rows = np.concatenate([step, step, step, sum_row, len(step) + len(pairs) + cell // readings])
    columns = np.concatenate([slack, second, first, slack, cell])
    kinds = ((Fraction(1), step), (factor, step), (Fraction(-1), step), (Fraction(-1), step), (Fraction(1), cell))
    return rows, columns, np.concatenate([np.full(len(part), value, dtype=object) for value, part in kinds])


def _excess(first: Matrix, second: Matrix, alpha: Number) -> Number:
    """Σ_w (first − e^ε·second)₊."""
    differences = (p - q / alpha for p, q in zip(first, second, strict=True))
    return sum((difference for difference in differences if sign(difference) > 0), Fraction(0))


def _check_size(size: object) -> int:
    count = integer(size, "size")
    if not 0 <= count <= MAX_CHANNEL_COUNT:
        raise InputError(f"size must be from 0 to {MAX_CHANNEL_COUNT} to write the matrix out", "size")
    return count


def _check_delta(delta: object) -> Fraction:
    bound = rational(delta, "delta")
    if not 0 <= bound < 1:
        raise InputError("delta must be in [0, 1), got another", "delta")
    return bound


def _rational_alpha(level: Level) -> Fraction:
    if not level.is_inner:
        raise InputError("a program of (epsilon, delta) needs 0 < alpha < 1")
    return rational(level.alpha, "alpha")


def _finite(last: int | None) -> int:
    if last is None:
        raise InputError(
            "delta must be > 0 to write canonical noise out, got 0", "delta", "use the geometric mechanism"
        )
    return last
