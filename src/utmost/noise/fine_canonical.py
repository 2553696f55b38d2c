"""Canonical noise in thirds: the real-valued canonical noise of an (ε, δ) bound as a finite exact law.

`canonical` has the integer noise X, q(n) = Pr[X > n] and L. Let θ = (q(L−2) − δ)/(q(L−2) − q(L−1)), with
q(−1) = 1 − q(0), so 0 < θ ≤ 1. The real noise N has X as its nearest integer. Given X = n with |n| < L it is uniform on
the cell from n − 1/2 to n + 1/2; given X = L it is uniform on the first θ of that cell, and given X = −L on the last θ.
So it is symmetric, and reaches r = L − 1/2 + θ. This is Awan and Slavković's Tulap noise (arXiv:1904.00459).

**Theorem.** Let F be the cdf of N and S(p) = min(e^ε·p + δ, 1 − e^−ε·(1 − p − δ), 1) the largest probability that
privacy allows for an event which has p under a neighbour. F(x+1) = S(F(x)) for every real x ≥ −r. count + N is
(ε, δ)-private, and the event {N > r − 1}, of probability δ, is impossible under the neighbour: nothing is left over.
*Proof.* Let Q = 1 − F. On the cell of n it falls linearly from q(n−1) to q(n). So Q(x+1) = α·(Q(x) − δ) on every whole
cell, as it holds at its ends. It holds in the last cell too: q(L−1) = α·(q(L−2) − δ) = α·θ·Pr[X = L−1] says that the
density there is α times that of the cell before, and both sides reach 0 at the same place. That is S for x ≥ −1/2,
where F(x) ≥ q(0); by symmetry also for −r ≤ x < −1/2. Hence Q(r−1) = δ, the density falls by e^ε from x to x + 1 where
−1/2 ≤ x < r − 1, and it does not fall where x < −1/2. So the integral of (density(x) − e^ε·density(x+1))₊ is Q(r−1),
which is δ. ∎

**In thirds.** Cut each cell at the two places that are θ and 1 − θ of it. N is uniform on each of the three parts, so
only the part matters. Z = 3n − 1, 3n, 3n + 1 for the lower, middle and upper part of the cell of n is integer noise for
*three times the count*, and Z/3 rounded is X. Parts may be empty: where θ = 1 all but the middle ones are, and Z = 3·X.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from utmost.exact import Level, Number, ball
from utmost.exact.working_precision import working_precision
from utmost.noise.canonical import CanonicalLaw, canonical_law, canonical_tables, draw_canonical_noise
from utmost.noise.entropy import EntropySource, entropy_source
from utmost.noise.selection import EXTRA_BITS
from utmost.noise.table_sampling import (
    SamplingTable,
    Threshold,
    ball_threshold,
    check_draw_count,
    complement_threshold,
    draw_samples,
    table_from_thresholds,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from flint import arb


@dataclass(frozen=True, slots=True)
class FineLaw:
    """The law of Z, exactly. `split` is θ; `last` is the largest value of Z, None where δ = 0.

    >>> from utmost.exact import alpha
    >>> law = fine_law(alpha("1/2"), "1/20")
    >>> str(law.split), law.last, [str(law.mass(z)) for z in range(5, 10)]
    ('10/11', 9, ['1/120', '3/40', '1/120', '1/240', '3/80'])
    """

    law: CanonicalLaw
    split: Number
    last: int | None

    def mass(self, value: int) -> Number:
        """Pr[Z = value]."""
        distance = abs(value)
        return self.tail(distance - 1) - self.tail(distance) if value else 1 - 2 * self.tail(0)

    def tail(self, value: int) -> Number:
        """Pr[Z > value], for any value."""
        if value < 0:
            return 1 - self.tail(-1 - value)
        cell, share = self._place(value)
        if self.law.last is not None and cell >= self.law.last:
            beyond = self.split > share and cell == self.law.last
            return self.law.tail(cell - 1) * (1 - share / self.split) if beyond else Fraction(0)
        return (1 - share) * self.law.cdf(-cell) + share * self.law.tail(cell)

    def tail_ball(self, value: int, bits: int) -> arb:
        """An interval that contains Pr[Z > value], value ≥ 0."""
        from flint import arb

        cell, share = self._place(value)
        with working_precision(bits + EXTRA_BITS):
            part, before = ball(share, bits + EXTRA_BITS), self.law.cdf_ball(-cell, bits)
            if self.law.last is not None and cell >= self.law.last:
                beyond = self.split > share and cell == self.law.last
                return before * (1 - part / ball(self.split, bits + EXTRA_BITS)) if beyond else arb(0)
            return (1 - part) * before + part * self.law.tail_ball(cell, bits)

    def _place(self, value: int) -> tuple[int, Number]:
        """The cell of a value ≥ 0, and how much of the cell lies up to the end of its part."""
        cell, part = divmod(value + 1, 3)
        return cell, (min(self.split, 1 - self.split), max(self.split, 1 - self.split), Fraction(1))[part]


def fine_law(level: Level, delta: object) -> FineLaw:
    """The law of Z at (ε, δ), 0 < ε < ∞, 0 ≤ δ < 1.

    θ ≤ 1/2 leaves only the lower part of the last cell.
    """
    law = canonical_law(level, delta)
    return _fine_law(law)


@lru_cache(maxsize=256)
def _fine_law(law: CanonicalLaw) -> FineLaw:
    if law.last is None:
        return FineLaw(law, Fraction(1), None)
    split = (law.cdf(1 - law.last) - law.delta) / law.mass(law.last - 1)
    return FineLaw(law, split, 3 * law.last - int(split * 2 <= 1))


@lru_cache(maxsize=16)
def fine_table(law: FineLaw) -> SamplingTable:
    """The law of Z as a table to draw from, where δ > 0."""
    assert law.last is not None
    return table_from_thresholds(partial(_threshold, law), 2 * law.last + 1, -law.last)


def fine_canonical_noise(
    level: Level, delta: object, count: int, source: EntropySource | None = None
) -> npt.NDArray[Any]:
    """`count` independent draws of Z: add them to three times the count.

    >>> from utmost.exact import epsilon
    >>> fine_canonical_noise(epsilon(1), "1e-6", 1000).shape
    (1000,)
    """
    law = fine_law(level, delta)
    draw_count, stream = check_draw_count(count), entropy_source(source)
    if law.last is None:
        return 3 * draw_canonical_noise(canonical_tables(law.law), draw_count, stream)
    return draw_samples(fine_table(law), draw_count, stream)


def _threshold(law: FineLaw, value: int, bits: int) -> Threshold:
    """The threshold of Pr[Z ≤ value]."""
    if value >= 0:
        return complement_threshold(_threshold(law, -1 - value, bits), bits)
    return ball_threshold(partial(law.tail_ball, -1 - value), partial(law.tail, -1 - value), bits)
