"""Two-sided geometric noise on the integers: Pr[Δ = δ] = (1−α)/(1+α)·α^|δ|, for any level with 0 < α < 1, exactly.

**Sign and size.** Let Pr[G = g] = (1−α)·α^g for g ≥ 0, and let Δ = G with probability 1/(1+α), else −1−G. For δ ≥ 0
Pr[Δ = δ] = (1−α)α^δ/(1+α), and for δ < 0 Pr[Δ = δ] = α/(1+α)·(1−α)α^(−1−δ) = (1−α)α^|δ|/(1+α). ∎

**Digits.** With B = b^k, G = q·B + r_{k−1}·b^(k−1) + … + r_0 and α^G is the product of α^(qB) and the α^(r_i·b^i), so
q ~ Geom(α^B) and the digits r_i in 0 … b−1, r_i ∝ α^(r_i·b^i), are independent. k = 0 when ε is not small.

**Nothing is cut off.** Sign and q are one law on the cells c = q and c = −1−q with q < Q, and two cells more for q ≥ Q.
Given q ≥ Q, q − Q is again Geom(α^B), since it has no memory: such a draw takes another q and adds Q.

Pr[C ≤ c] is α^(1+B(−1−c))/(1+α) for c < 0 and 1 − α^(B(c+1))/(1+α) for c ≥ 0; Pr[r_i ≤ r] is
(1−β^(r+1))/(1−β^b) with β = α^(b^i). Where they cut the words is found by balls around e^(−ε·m), of as many bits as it
takes (`thresholds.ball_threshold`), so that a rational α is never raised to a huge power. Which b, k and Q are used
changes how long a draw takes and not its law; they are the only thing that a float decides.

The noise is drawn before the secret is seen: a mechanism adds the one to the other. So neither the words taken nor the
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
    draw_samples,
    fill,
    sample_array,
    slabs,
    table_from_thresholds,
    workspace,
)
from utmost.noise.thresholds import Threshold, ball_threshold, complement_threshold

if TYPE_CHECKING:
    from flint import arb

BASE = 1 << 10  # b: a power of two, so that b^k − 1 − r is r with its bits flipped
SMALL = 0.01  # an ε per cell below which another digit is split off
BEYOND = 32  # a draw falls beyond the last cell with probability at most 2^−BEYOND
SMALLEST = 1e-300  # the least ε that noise is drawn for
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
        return int(BASE ** len(self.digits))

    @property
    def kind(self) -> type[np.int64] | type[np.object_]:
        """The type of the noise: 64-bit integers where they hold (Q+1)·B with room to spare, else Python's own."""
        return np.int64 if (self.reach + 1) * self.block < MAX_INT64_NOISE else np.object_


def check_level(level: Level) -> Level:
    """A level, refused at the door if it is anything else, such as a bare number for ε."""
    if not isinstance(level, Level):
        raise InputError(f'level must be made by alpha("1/2") or epsilon("0.1"), got {type(level).__name__}')
    return level


def geometric_noise(level: Level, count: int, source: EntropySource | None = None) -> npt.NDArray[Any]:
    """`count` independent draws of Δ: 64-bit integers within ±2^62, or Python's integers where those would not do.

    >>> from utmost.exact import epsilon
    >>> geometric_noise(epsilon("0.1"), 4).dtype
    dtype('int64')
    """
    if not check_level(level).is_inner:
        raise InputError("geometric noise needs 0 < alpha < 1, that is a finite epsilon > 0")
    cells, stream = sample_array(count), entropy_source(source)
    tables, size = lattice(level), len(cells)
    result: npt.NDArray[Any] = cells if tables.kind is np.int64 else np.empty(size, dtype=object)
    late: dict[int, int] = {}
    scratch, digits = workspace(size), sample_array(min(size, SLAB_DRAWS))
    for start, slab in zip(range(0, size, SLAB_DRAWS), slabs(cells), strict=True):
        late |= {start + k: more for k, more in _beyond(tables, slab, stream, scratch).items()}
        _lengthen(tables, slab, result[start : start + SLAB_DRAWS], stream, (scratch, digits[: len(slab)]))
    return _added(result, late)


def _beyond(tables: Lattice, out: Positions, source: EntropySource, scratch: Words) -> dict[int, int]:
    """Fill a slab with cells c; returns what must be added to those beyond the last cell, which the guide never tells.

    A cell beyond is narrower than a bucket of the guide, so it has no bucket of its own.
    """
    searched = fill(tables.cells, out, source, scratch)
    found = out[searched]
    far = searched[(found >= tables.reach) | (found < -tables.reach)]
    return {int(k): (1 if out[k] >= 0 else -1) * tables.block * _more(tables, source) for k in far}


def _more(tables: Lattice, source: EntropySource) -> int:
    """A draw of q alone, without end."""
    size = 0
    while True:
        cell = int(draw_samples(tables.cells, 1, source)[0])
        step = max(cell, -1 - cell)
        size += min(step, tables.reach)
        if step < tables.reach:
            return size


def _lengthen(
    tables: Lattice, cells: Positions, out: npt.NDArray[Any], source: EntropySource, spare: tuple[Words, Positions]
) -> None:
    """c·B + r for c ≥ 0 and c·B + (B−1−r) for c < 0, which are G and −1−G, into `out`, which can be the cells."""
    if not tables.digits:
        return
    scratch, digit = spare
    flip = (cells >> 63) & (BASE - 1)
    if out.dtype == object:
        out[:] = cells
    for law in reversed(tables.digits):
        fill(law, digit, source, scratch)
        digit ^= flip
        out *= BASE
        out += digit


def _added(noise: npt.NDArray[Any], late: dict[int, int]) -> npt.NDArray[Any]:
    """The noise with what lies beyond the last cell, in Python's integers if 64 bits would not hold it."""
    if any(abs(int(noise[k]) + more) >= MAX_INT64_NOISE for k, more in late.items()):
        noise = noise.astype(object)
    for k, more in late.items():
        noise[k] = int(noise[k]) + more
    return noise


@lru_cache(maxsize=32)
def lattice(level: Level) -> Lattice:
    """The tables of a level, 0 < α < 1."""
    epsilon = level.epsilon
    if epsilon < SMALLEST:
        raise InputError(f"epsilon must be at least {SMALLEST} to draw noise, got less: the noise would be that large")
    places = 0
    while epsilon * BASE**places < SMALL:
        places += 1
    block = BASE**places
    reach = math.ceil(BEYOND * math.log(2) / (epsilon * block))
    cells = table_from_thresholds(partial(_cell_cut, level, block), 2 * reach + 2, -reach - 1)
    digits = [table_from_thresholds(partial(_digit_cut, level, BASE**place), BASE) for place in range(places)]
    return Lattice(cells, tuple(digits), reach)


def _cell_cut(level: Level, block: int, cell: int, bits: int) -> Threshold:
    """The cut of Pr[C ≤ cell]."""
    if cell < 0:
        return _tail_cut(level, 1 + block * (-1 - cell), bits)
    return complement_threshold(_tail_cut(level, block * (cell + 1), bits), bits)


def _tail_cut(level: Level, distance: int, bits: int) -> Threshold:
    """The cut of α^distance/(1+α)."""

    def enclosed(precision: int) -> arb:
        with working_precision(precision):
            rate = level.epsilon_ball(precision)
            return (-distance * rate).exp() / (1 + (-rate).exp())

    def exact() -> Number:
        return level.power(distance) / (1 + level.alpha)

    return ball_threshold(enclosed, exact, bits)


def _digit_cut(level: Level, weight: int, digit: int, bits: int) -> Threshold:
    """The cut of Pr[r ≤ digit] for the digit of this weight: (1−β^(digit+1))/(1−β^b), β = α^weight."""

    def enclosed(precision: int) -> arb:
        with working_precision(precision):
            rate = level.epsilon_ball(precision) * weight
            return (-(digit + 1) * rate).expm1() / (-BASE * rate).expm1()

    def exact() -> Number:
        return (1 - level.power(weight * (digit + 1))) / (1 - level.power(weight * BASE))

    return ball_threshold(enclosed, exact, bits)
