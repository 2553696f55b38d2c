"""Two-sided geometric noise on the integers: Pr[Δ = δ] = (1−α)/(1+α)·α^|δ|, for any level with 0 < α < 1, exactly.

**Sign and size.** Let Pr[G = g] = (1−α)·α^g for g ≥ 0, and let Δ = G with probability 1/(1+α), else −1−G. For δ ≥ 0
Pr[Δ = δ] = (1−α)α^δ/(1+α), and for δ < 0 Pr[Δ = δ] = α/(1+α)·(1−α)α^(−1−δ) = (1−α)α^|δ|/(1+α). ∎

**Digits.** With B = b^k, G = q·B + r_{k−1}·b^(k−1) + … + r_0 and α^G is the product of α^(qB) and the α^(r_i·b^i), so
q ~ Geom(α^B) and the digits r_i in 0 … b−1, r_i ∝ α^(r_i·b^i), are independent. k = 0 when ε is not small.

**Nothing is cut off.** Sign and q are one law on the cells c = q and c = −1−q with q < Q, and two cells more for q ≥ Q.
Given q ≥ Q, q − Q is again Geom(α^B), since it has no memory: such a draw takes another q and adds Q.

Pr[C ≤ c] is α^(1+B(−1−c))/(1+α) for c < 0 and 1 − α^(B(c+1))/(1+α) for c ≥ 0; Pr[r_i ≤ r] is
(1−β^(r+1))/(1−β^b) with β = α^(b^i). Their thresholds in words are found by balls around e^(−ε·m), of as many bits as
it takes (`table_sampling.ball_threshold`), so that a rational α is never raised to a huge power. Which b, k and Q are
used changes how long a draw takes and not its law; they are the only thing that a float decides.

The noise is drawn before the secret is read: a mechanism adds the one to the other. So neither the words taken nor the
time they take depend on the secret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Level, Number
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource, Words, entropy_source
from utmost.noise.table_sampling import (
    SLAB_DRAWS,
    Positions,
    SamplingTable,
    Threshold,
    ball_threshold,
    check_draw_count,
    complement_threshold,
    fill_slab,
    search_answers,
    slabs,
    table_from_thresholds,
    workspace,
)

if TYPE_CHECKING:
    from flint import arb

DIGIT_BASE = 1 << 10  # b: a power of two, so that b^k − 1 − r is r with its bits flipped
MIN_CELL_EPSILON = 0.01  # an ε per cell below which another digit is split off
TAIL_BITS = 32  # a draw falls beyond the last cell with probability at most 2^−TAIL_BITS
MIN_EPSILON = 1e-300  # the least ε that noise is drawn for
MAX_INT64_NOISE = 1 << 62  # numbers below this in absolute value can be added in 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The tables of one level: `cells` for sign and q, `digits` for r_0, r_1, …; q runs over 0 … reach−1."""

    cells: SamplingTable
    digits: tuple[SamplingTable, ...]
    reach: int

    @property
    def block(self) -> int:
        """B = b^k."""
        return int(DIGIT_BASE ** len(self.digits))

    @property
    def dtype(self) -> type[np.int64] | type[np.object_]:
        """The type of the noise: 64-bit integers where they hold (Q+1)·B with room to spare, else Python's own."""
        return np.int64 if (self.reach + 1) * self.block < MAX_INT64_NOISE else np.object_


def check_level(level: Level) -> Level:
    """The level; anything else, such as a bare number for ε, is refused."""
    if not isinstance(level, Level):
        raise InputError(f'level must be made by alpha("1/2") or epsilon("0.1"), got {type(level).__name__}', "level")
    return level


def geometric_noise(level: Level, count: int, source: EntropySource | None = None) -> npt.NDArray[Any]:
    """`count` independent draws of Δ: 64-bit integers within ±2^62, or Python's integers where those would not do.

    >>> from utmost.exact import epsilon
    >>> geometric_noise(epsilon("0.1"), 4).dtype
    dtype('int64')
    """
    if not check_level(level).is_inner:
        raise InputError("geometric noise needs 0 < alpha < 1, that is a finite epsilon > 0")
    draw_count, stream = check_draw_count(count), entropy_source(source)
    return draw_lattice_noise(lattice(level), draw_count, stream)


def draw_lattice_noise(tables: Lattice, draw_count: int, stream: EntropySource) -> npt.NDArray[Any]:
    """The same from tables that are at hand; `draw_count` is from 0 to 2^40. Nothing here can fail."""
    cells = np.empty(draw_count, dtype=np.int64)
    result: npt.NDArray[Any] = cells if tables.dtype is np.int64 else np.empty(draw_count, dtype=object)
    tails: dict[int, int] = {}
    scratch, digits = workspace(draw_count), np.empty(min(draw_count, SLAB_DRAWS), dtype=np.int64)
    for start, slab in zip(range(0, draw_count, SLAB_DRAWS), slabs(cells), strict=True):
        tails |= {start + k: tail for k, tail in _fill_cells(tables, slab, stream, scratch).items()}
        _append_digits(tables, slab, result[start : start + SLAB_DRAWS], stream, (scratch, digits[: len(slab)]))
    return _add_tails(result, tails)


def _fill_cells(tables: Lattice, out: Positions, source: EntropySource, scratch: Words) -> dict[int, int]:
    """Fill a slab with cells c; returns what must be added to those beyond the last cell.

    A cell beyond is narrower than a bucket of the guide, so its draws are among those that `fill_slab` returns.
    """
    unguided = fill_slab(tables.cells, out, source, scratch)
    cells = out[unguided]
    beyond_last = unguided[(cells >= tables.reach) | (cells < -tables.reach)]
    return {int(k): (1 if out[k] >= 0 else -1) * tables.block * _draw_quotient(tables, source) for k in beyond_last}


def _draw_quotient(tables: Lattice, source: EntropySource) -> int:
    """A draw of q alone, unbounded."""
    quotient = 0
    while True:
        cell = int(search_answers(tables.cells, source.words(1), source)[0])
        magnitude = max(cell, -1 - cell)
        quotient += min(magnitude, tables.reach)
        if magnitude < tables.reach:
            return quotient


def _append_digits(
    tables: Lattice,
    cells: Positions,
    out: npt.NDArray[Any],
    source: EntropySource,
    scratch_arrays: tuple[Words, Positions],
) -> None:
    """c·B + r for c ≥ 0 and c·B + (B−1−r) for c < 0, which are G and −1−G, into `out`, which can be the cells."""
    if not tables.digits:
        return
    scratch, digit = scratch_arrays
    flip = (cells >> 63) & (DIGIT_BASE - 1)
    if out.dtype == object:
        out[:] = cells
    for table in reversed(tables.digits):
        fill_slab(table, digit, source, scratch)
        digit ^= flip
        out *= DIGIT_BASE
        out += digit


def _add_tails(noise: npt.NDArray[Any], tails: dict[int, int]) -> npt.NDArray[Any]:
    """The noise with what lies beyond the last cell, in Python's integers if 64 bits would not hold it."""
    if any(abs(int(noise[k]) + tail) >= MAX_INT64_NOISE for k, tail in tails.items()):
        noise = noise.astype(object)
    for k, tail in tails.items():
        noise[k] = int(noise[k]) + tail
    return noise


@lru_cache(maxsize=32)
def lattice(level: Level) -> Lattice:
    """The tables of a level, 0 < α < 1."""
    epsilon = level.epsilon
    if epsilon < MIN_EPSILON:
        raise InputError(
            f"epsilon must be at least {MIN_EPSILON} to draw noise, got less: the noise would be that large", "epsilon"
        )
    digit_count = 0
    while epsilon * DIGIT_BASE**digit_count < MIN_CELL_EPSILON:
        digit_count += 1
    block = DIGIT_BASE**digit_count
    reach = math.ceil(TAIL_BITS * math.log(2) / (epsilon * block))
    cells = table_from_thresholds(partial(_cell_threshold, level, block), 2 * reach + 2, -reach - 1)
    digits = [
        table_from_thresholds(partial(_digit_threshold, level, DIGIT_BASE**digit), DIGIT_BASE)
        for digit in range(digit_count)
    ]
    return Lattice(cells, tuple(digits), reach)


def _cell_threshold(level: Level, block: int, cell: int, bits: int) -> Threshold:
    """The threshold of Pr[C ≤ cell]."""
    if cell < 0:
        return _tail_threshold(level, 1 + block * (-1 - cell), bits)
    return complement_threshold(_tail_threshold(level, block * (cell + 1), bits), bits)


def _tail_threshold(level: Level, distance: int, bits: int) -> Threshold:
    """The threshold of α^distance/(1+α)."""

    def enclose(precision: int) -> arb:
        with working_precision(precision):
            rate = level.epsilon_ball(precision)
            return (-distance * rate).exp() / (1 + (-rate).exp())

    def exact() -> Number:
        return level.power(distance) / (1 + level.alpha)

    return ball_threshold(enclose, exact, bits)


def _digit_threshold(level: Level, weight: int, digit: int, bits: int) -> Threshold:
    """The threshold of Pr[r ≤ digit] for the digit of this weight: (1−β^(digit+1))/(1−β^b), β = α^weight."""

    def enclose(precision: int) -> arb:
        with working_precision(precision):
            rate = level.epsilon_ball(precision) * weight
            return (-(digit + 1) * rate).expm1() / (-DIGIT_BASE * rate).expm1()

    def exact() -> Number:
        return (1 - level.power(weight * (digit + 1))) / (1 - level.power(weight * DIGIT_BASE))

    return ball_threshold(enclose, exact, bits)
