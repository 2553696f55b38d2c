"""Discrete Gaussian noise: Pr[X = x] ∝ e^(−x²/(2σ²)) on the integers, drawn exactly, whole arrays at a time.

The law itself, its tails and its privacy are in `gaussian_law`. Write f(x) = e^(−x²/(2σ²)).

**Cells and places.** B = 2^k. A whole number c and a place r in 0 … B−1 give x = cB + r for c ≥ 0 and
x = cB + B−1−r for c < 0: each integer once, and |x| = b_c + r with b_c = cB for c ≥ 0 and (−1−c)B + 1 for c < 0.

**Rejection.** Propose c with weight f(b_c) and r uniform, accept with probability e^(−z), z = r(2b_c + r)/(2σ²) ≥ 0.
Then x is accepted with weight f(b_c)·e^(−z) = f(x), as it must be. What is rejected is drawn again. With B = 1 (σ < 64)
z = 0: the table of cells is the law and nothing is rejected. Otherwise 32 ≤ σ/B < 64, and about 1 in 100 is.

**Nothing is cut off.** The table has the cells −Q … Q−1 and two more, for c ≥ Q and c < −Q. Let b = b_Q or b_(−1−Q).
A cell j places further has b_c = b + jB and f(b + jB) ≤ f(b)·e^(−jλ), λ = bB/σ², since (b + jB)² ≥ b² + 2bjB. So
the two cells have weight f(b)/(1 − e^(−λ)): a draw in them takes j with Pr ∝ e^(−jλ) and a uniform r, and is accepted
with probability e^(−z), z = ((jB + r)² + 2br)/(2σ²); f(b)·e^(−jλ)·e^(−z) = f(b + jB + r). Q is such that this happens
with probability below 2^−32.

**Every threshold can be told.** With all exponents multiples of 1/M, the cumulative weights of the proposals are
rational functions of t = e^(−1/M), which is transcendental. As t → 0 the weight of c = 0 tends to 1 and all others to
0, so Pr[C ≤ c] tends to 0 for c < 0 and Pr[C > c] tends to 0 for c ≥ 0. Neither is 0, so neither function is constant,
and a function that is not constant is transcendental at t. So no threshold is a fraction, and balls of enough bits
decide it: neither the tables nor a draw can fail. ∎

**Acceptance in whole arrays.** One word gives r by its last k bits and the first 64 − k bits of a uniform U by the
others. U < e^(−z) is certain below the least e^(−z) of the cell, which is tabulated (rounded down). The few words above
it are compared with integers around e^(−z)·2³² (`_acceptance_bounds`), and what these leave open is decided by balls
and further words. No float decides anything; a float chooses Q only, which does not change the law.

The noise is drawn before the secret is read, so neither the words taken nor the time depend on the secret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.errors import UndecidedError
from utmost.exact import ball
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource, Words, entropy_source
from utmost.noise.gaussian_law import check_variance, delta_ball, half_width, mass_ball, noise_spread, tail_ball
from utmost.noise.planar import EXPONENTIAL_ERROR_UNITS, exponential_tables, lower_exponential
from utmost.noise.table_sampling import (
    Positions,
    SamplingTable,
    Threshold,
    ball_threshold,
    check_draw_count,
    complement_threshold,
    fill_slab,
    slabs,
    table_from_thresholds,
    workspace,
)

if TYPE_CHECKING:
    from flint import arb

__all__ = [
    "GaussianTables",
    "delta_ball",
    "draw_gaussian_noise",
    "gaussian_noise",
    "gaussian_tables",
    "half_width",
    "mass_ball",
    "noise_spread",
    "tail_ball",
]

MIN_CELLS_PER_DEVIATION = 32  # σ/B, at least, where B > 1
TAIL_BITS = 32  # a draw falls beyond the last cell with probability at most 2^−TAIL_BITS
PLACE_BITS = 24  # of r/B where acceptance is bounded
RATE_BITS = 43  # of B²/(2σ²) there, which is at most 2^−11
MAX_INT64_NOISE = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class GaussianTables:
    """The tables of one σ²: `cells` for c, from −reach−1 to reach; B = 2^place_bits.

    `sure_limits[c + reach]`: a word below it accepts, whatever its r.
    """

    variance: Fraction
    cells: SamplingTable
    reach: int
    place_bits: int
    sure_limits: Words

    @property
    def block(self) -> int:
        """B."""
        return 1 << self.place_bits


def gaussian_noise(variance: object, count: int, source: EntropySource | None = None) -> npt.NDArray[Any]:
    """`count` independent draws of X at σ², a fraction from 10^−9 to 10^30: 64-bit integers.

    In the event (below e^−2000 a draw) that one lies beyond ±2^62, Python's integers.

    >>> gaussian_noise("2.5", 4).dtype
    dtype('int64')
    """
    tables, draw_count, stream = gaussian_tables(variance), check_draw_count(count), entropy_source(source)
    return draw_gaussian_noise(tables, draw_count, stream)


def draw_gaussian_noise(tables: GaussianTables, count: int, stream: EntropySource) -> npt.NDArray[Any]:
    """The same from tables that are at hand; `count` is from 0 to 2^40. Nothing here can fail."""
    noise, large = np.empty(count, dtype=np.int64), dict[int, int]()
    scratch, start = workspace(count), 0
    for slab in slabs(noise):
        missing = np.arange(len(slab))
        while len(missing):
            proposals = slab if len(missing) == len(slab) else np.empty(len(missing), dtype=np.int64)
            rejected, beyond = _fill_proposals(tables, proposals, stream, scratch)
            slab[missing] = proposals
            large |= {start + int(missing[k]): value for k, value in beyond.items()}
            missing = missing[rejected]
        start += len(slab)
    return _put_large(noise, large)


def _fill_proposals(
    tables: GaussianTables, out: Positions, stream: EntropySource, scratch: Words
) -> tuple[npt.NDArray[np.intp], dict[int, int]]:
    """Fill `out` with proposals; returns which are rejected, and those accepted that 64 bits do not hold.

    A cell beyond is narrower than a bucket of the guide, so its draws are among those that `fill_slab` returns.
    """
    unguided = fill_slab(tables.cells, out, stream, scratch)
    cells = out[unguided]
    beyond = unguided[(cells >= tables.reach) | (cells < -tables.reach)]
    signs = np.where(out[beyond] < 0, -1, 1)
    rejected = np.zeros(0, dtype=np.intp)
    if tables.place_bits:
        out[beyond] = 0
        rejected = _append_places(tables, out, stream)
        rejected = rejected[~np.isin(rejected, beyond)]
    large: dict[int, int] = {}
    for k, side in zip(beyond.tolist(), signs.tolist(), strict=True):
        value = _draw_beyond(tables, side, stream)
        if value is None:
            rejected = np.append(rejected, k)
        elif abs(value) < MAX_INT64_NOISE:
            out[k] = value
        else:
            large[k] = value
    return rejected, large


def _append_places(tables: GaussianTables, out: Positions, stream: EntropySource) -> npt.NDArray[np.intp]:
    """Turn cells into proposals x; returns which of them are rejected."""
    words = stream.words(len(out))
    unsure = (words >= tables.sure_limits.take(out + tables.reach)).nonzero()[0]
    rejected = unsure[~_accept(tables, out[unsure], words[unsure], stream)]
    out <<= tables.place_bits
    out |= (words & np.uint64(tables.block - 1)).view(np.int64)
    return rejected


def _accept(tables: GaussianTables, cells: Positions, words: Words, stream: EntropySource) -> npt.NDArray[np.bool_]:
    """For each proposal, is U < e^(−z), the first bits of U being those of the word above r."""
    last_bits = words & np.uint64(tables.block - 1)
    places = np.where(cells < 0, np.uint64(tables.block - 1) - last_bits, last_bits)
    low, high = _acceptance_bounds(tables, cells, places)
    hidden = max(tables.place_bits, 32)  # bits of the word that the comparison leaves out
    leading = words >> np.uint64(hidden) << np.uint64(hidden - 32)
    accepted: npt.NDArray[np.bool_] = leading + np.uint64(1 << (hidden - 32)) <= low
    for k in np.flatnonzero(~accepted & (leading < high)):
        exponent = _exponent(tables, int(cells[k]), int(places[k]))
        revealed_bits = 64 - tables.place_bits
        accepted[k] = _is_below_exponential(exponent, int(words[k]) >> tables.place_bits, revealed_bits, stream)
    return accepted


def _acceptance_bounds(tables: GaussianTables, cells: Positions, places: Words) -> tuple[Words, Words]:
    """Integers a ≤ e^(−z)·2³² ≤ b for each proposal.

    z = κ·s·(2g + s + o) with κ = B²/(2σ²) ≤ 2^−11, s = r/B < 1, g = ⌊b_c/B⌋ < 2⁹ and o = 0 for c ≥ 0, 2/B for c < 0.
    With v ≤ s·2²⁴ < v + 1 the product s·(2g + s + o) < 2¹⁰ is known in units of 2^−48, shifted to units of 2^−21, and
    times κ in units of 2^−43 it is below 2⁶⁴; a shift by 32 leaves units of 2^−32.
    """
    one, shift = np.uint64(1), tables.place_bits - PLACE_BITS
    v: Words = places >> np.uint64(shift) if shift > 0 else places << np.uint64(-shift)
    doubled = (np.where(cells < 0, -1 - cells, cells) << (PLACE_BITS + 1)).astype(np.uint64)
    offset = (2 << PLACE_BITS) >> tables.place_bits
    low_offset = np.where(cells < 0, np.uint64(offset), np.uint64(0))
    rate = int(Fraction(tables.block**2 << RATE_BITS) / (2 * tables.variance))
    lower = (v * (doubled + v + low_offset) >> np.uint64(27)) * np.uint64(rate) >> np.uint64(32)
    high_product = ((v + one) * (doubled + v + low_offset + np.uint64(2)) >> np.uint64(27)) + one
    upper = (high_product * np.uint64(rate + 1) >> np.uint64(32)) + one
    low = lower_exponential(upper)
    return low, low + (upper - lower) + np.uint64(EXPONENTIAL_ERROR_UNITS)  # e^(−x) falls by at most what x grows


def _nearest(cell: int, block: int) -> int:
    """b_c, the least |x| of a cell."""
    return cell * block if cell >= 0 else (-1 - cell) * block + 1


def _exponent(tables: GaussianTables, cell: int, place: int) -> Fraction:
    """z = r(2b_c + r)/(2σ²)."""
    return place * (2 * _nearest(cell, tables.block) + place) / (2 * tables.variance)


def _draw_beyond(tables: GaussianTables, side: int, stream: EntropySource) -> int | None:
    """A proposal beyond the last cell on one side, or None if it is rejected."""
    nearest, steps = _nearest(tables.reach if side > 0 else -1 - tables.reach, tables.block), 0
    while _is_below_exponential(nearest * tables.block / tables.variance, 0, 0, stream):
        steps += 1
    place = int(stream.words(1)[0]) & (tables.block - 1)
    distance = steps * tables.block + place
    exponent = (distance * distance + 2 * nearest * place) / (2 * tables.variance)
    return side * (nearest + distance) if _is_below_exponential(exponent, 0, 0, stream) else None


def _is_below_exponential(exponent: Fraction, prefix: int, revealed_bits: int, stream: EntropySource) -> bool:
    """Is U < e^(−exponent), so many bits of U being `prefix`: by balls and further words."""
    if exponent == 0:
        return True
    while True:
        precision = revealed_bits + 96 + exponent.numerator.bit_length()
        with working_precision(precision):
            scaled = ball(-exponent, precision).exp() * (1 << revealed_bits)
            if scaled >= prefix + 1:  # for certain, as the next
                return True
            if scaled <= prefix:
                return False
        prefix, revealed_bits = prefix << 64 | int(stream.words(1)[0]), revealed_bits + 64


def _put_large(noise: npt.NDArray[Any], large: dict[int, int]) -> npt.NDArray[Any]:
    """The noise with draws that 64 bits do not hold, in Python's integers if there are any."""
    if large:
        noise = noise.astype(object)
        for k, value in large.items():
            noise[k] = value
    return noise


def gaussian_tables(variance: object) -> GaussianTables:
    """The tables of σ², a fraction from 10^−9 to 10^30."""
    return _tables(check_variance(variance))


@lru_cache(maxsize=32)
def _tables(variance: Fraction) -> GaussianTables:
    place_bits = max(0, (math.isqrt(math.floor(variance)) // MIN_CELLS_PER_DEVIATION).bit_length() - 1)
    block = 1 << place_bits
    reach = math.ceil(math.sqrt(variance * 2 * TAIL_BITS) * math.sqrt(math.log(2)) / block) + 1
    cells = table_from_thresholds(partial(_cell_threshold, variance, block, reach), 2 * reach + 2, -reach - 1)
    exponential_tables()  # made here, before a charge, and not by the first draw
    return GaussianTables(variance, cells, reach, place_bits, _sure_limits(variance, block, reach))


def _sure_limits(variance: Fraction, block: int, reach: int) -> Words:
    """⌊e^(−z)·2^(64−k)⌋·2^k or less for each cell, z that of r = B, which is above all others; 0 where B = 1."""
    if block == 1:
        return np.zeros(2 * reach, dtype=np.uint64)  # nothing is rejected
    with working_precision(128):
        rate, scale = ball(block / (2 * variance), 128), (1 << 64) // block
        exponents = [(2 * _nearest(cell, block) + block) * rate for cell in range(-reach, reach)]
        limits = [_floor((-exponent).exp() * scale) * block for exponent in exponents]
    return np.array(limits, dtype=np.uint64)


def _floor(interval: arb) -> int:
    """The floor of the lower end of a ball, which has far fewer bits than the working precision."""
    floor = interval.lower().floor().unique_fmpz()
    assert floor is not None
    return int(floor)


def _cell_threshold(variance: Fraction, block: int, reach: int, cell: int, bits: int) -> Threshold:
    """The threshold of Pr[C ≤ cell]: by its complement for cell ≥ 0, so that balls are narrow beside its size."""

    def enclose(precision: int) -> arb:
        below, above = _side_balls(variance, block, reach, precision)
        return below[cell + reach + 1] if cell < 0 else above[reach - 1 - cell]

    def exact() -> Fraction:
        raise UndecidedError("where a transcendental weight cuts the words is not decided by balls")

    threshold = ball_threshold(enclose, exact, bits)
    return threshold if cell < 0 else complement_threshold(threshold, bits)


@lru_cache(maxsize=8)
def _side_balls(variance: Fraction, block: int, reach: int, bits: int) -> tuple[list[arb], list[arb]]:
    """Of the proposals: Pr[C ≤ c] for c from −reach−1 up to −1, and Pr[C > c] for c from reach−1 down to 0."""
    with working_precision(bits + 64):
        rate = ball(1 / (2 * variance), bits + 64)
        weights = [_cell_weight(rate, block, reach, cell) for cell in range(-reach - 1, reach + 1)]
        below, above = list(accumulate(weights[: reach + 1])), list(accumulate(weights[:reach:-1]))
        total = below[-1] + above[-1]  # above[-1] is that of all c ≥ 0
        return [weight / total for weight in below], [weight / total for weight in above[:-1]]


def _cell_weight(rate: arb, block: int, reach: int, cell: int) -> arb:
    """f(b_c), and f(b)/(1 − e^(−λ)) for the two cells that stand for all beyond; `rate` is 1/(2σ²)."""
    nearest = _nearest(cell, block)
    weight = (-(nearest * nearest) * rate).exp()
    return weight if -reach <= cell < reach else weight / (1 - (-2 * nearest * block * rate).exp())
