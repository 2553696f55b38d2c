"""The discrete Gaussian N_ℤ(0, σ²): Pr[X = x] = e^(−x²/(2σ²))/θ on the integers (CKS20: Canonne, Kamath, Steinke,
arXiv:2004.00010). Its weights, tails, moments and privacy as balls, for every rational σ² from 10^−9 to 10^30;
`bits`, up to about 2000, is how many bits of a result are right.

**Series.** Σ_{k≥1} k^p·e^(−ck²) is summed up to k = N−1, cN² > p/2. For k = N + j, k² ≥ N² + 2Nj and
k^p ≤ N^p·e^(pj/N), so the rest is at most N^p·e^(−cN²)/(1 − e^(−(2cN − p/N))). ∎

**Normaliser.** θ = Σ_x e^(−x²/(2σ²)) = σ√(2π)·Σ_k e^(−2π²σ²k²): Poisson's summation formula, since
f(x) = e^(−x²/(2σ²)) has the Fourier transform f̂(k) = σ√(2π)·e^(−2π²σ²k²). The first series is used for σ² < 1, the
second from there on: both then need few terms. With c = 1/(2σ²), Var X = −d ln θ/dc, which is Σx²e^(−cx²)/θ or, from
the second form, σ² − 4π²σ⁴·Σk²e^(−2π²σ²k²)/Σe^(−2π²σ²k²). So Var X < σ².

**Tails.** Σ_{x≥n} f(x), n ≥ 1, is summed directly for small σ², the rest from m on
being at most f(m)/(1 − e^(−m/σ²)). Beyond, by Euler and Maclaurin,

    Σ_{x≥n} f(x) = ∫_n^∞ f + f(n)/2 − Σ_{j=1}^p B_2j/(2j)!·f^(2j−1)(n) + R,   |R| ≤ |B_2p|/(2p)!·∫_n^∞ |f^(2p)|.

f^(m)(x) = (−1)^m·h_m(x)·f(x) with h_m(x) = σ^−m·He_m(x/σ), so h_{m+1} = (x·h_m − m·h_{m−1})/σ²: fractions.
|B_2p|/(2p)! = 2ζ(2p)/(2π)^2p ≤ 4/(2π)^2p, and |He_m(s)| ≤ 1.09·√(m!)·e^(s²/4) (Cramér's inequality; Abramowitz and
Stegun 22.14.17). ∫_t^∞ e^(−s²/4) ds ≤ √π·e^(−t²/4) for t = n/σ ≥ 0, so

    |R| ≤ 4·1.09·√π·σ·√((2p)!)·(2πσ)^(−2p)·e^(−t²/4) < 8σ·√((2p)!)·(2πσ)^(−2p)·e^(−t²/4). ∎

The same for g(x) = x·f(x) = −σ²·f'(x) from n = 0: ∫g = σ², g(0) = 0 and g^(2j−1)(0)/(2j−1)! = (−1/(2σ²))^(j−1)/(j−1)!
by its power series, so Σ_{x≥1} g(x) = σ² − Σ_{j=1}^p B_2j/(2j)·(−1/(2σ²))^(j−1)/(j−1)! + R, and since g^(2p) is
−σ²·f^(2p+1), |R| < 8σ²·√((2p+1)!)·(2πσ)^(−2p). ∎

For t ≥ 2√(2p) a narrower bound holds. The ratios r_k = He_{k+1}(s)/He_k(s) are r_0 = s and r_k = s − k/r_{k−1}, so
√m ≤ r_k ≤ s for s ≥ 2√m and k ≤ m, by induction: there 0 < He_m(s) ≤ s^m. So f^(2p) > 0 beyond n, and ∫_n^∞ |f^(2p)| is
h_{2p−1}(n)·f(n) ≤ (n/σ²)^(2p−1)·f(n). It is used from t = 60 on, unless n ≥ σ²: then terms fall by e^−1 each, and are
summed directly. A float guesses p; R is a ball.

**Profile.** For a shift Δ ≥ 1, p(x)/p(x−Δ) = e^((Δ²−2xΔ)/(2σ²)) is above e^ε where x < Δ/2 − εσ²/Δ, and equal at
equality. So with t = ⌊Δ/2 − εσ²/Δ⌋ the least δ for which X and X + Δ are (ε, δ)-indistinguishable is

    δ(ε) = Σ_x (p(x) − e^ε·p(x−Δ))₊ = Pr[X ≤ t] − e^ε·Pr[X ≤ t − Δ] = Pr[X ≥ −t] − e^ε·Pr[X ≥ Δ − t].

The same holds in the other direction, since p is symmetric. ∎

**Concentrated privacy** (CKS20 Thm 4): adding X to a whole number of sensitivity Δ is ρ-zCDP, ρ = Δ²/(2σ²).
*Proof.* For a > 1, p(x)^a·p(x−Δ)^(1−a) = e^(a(a−1)Δ²/(2σ²))·e^(−(x−μ)²/(2σ²))/θ with μ = (1−a)Δ. By Poisson's formula
Σ_x f(x−μ) = Σ_k f̂(k)·cos(2πkμ) ≤ Σ_k f̂(k) = θ, since f̂ > 0. So the Rényi divergence of order a is at most
aΔ²/(2σ²), with equality where μ is whole. ∎
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from utmost.errors import InputError, UndecidedError
from utmost.exact import ball, integer, rational
from utmost.exact.reals import refine_double
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

MIN_VARIANCE, MAX_VARIANCE = Fraction(1, 10**9), Fraction(10**30)
MAX_VARIANCE_BITS = 4096  # of numerator and denominator together
MAX_SUMMED_VARIANCE = 64  # up to it, and up to a quarter of the bits, tails are summed term by term
FAR_DEVIATIONS = 60  # n/σ from which the narrower bound of R is used
MAX_EXPANSION_TERMS = 400
GUARD_BITS = 64
FIRST_BITS, MAX_BITS = 128, 1 << 13
MIN_MISS = Fraction(1, 10**300)
MAX_EPSILON, MAX_SHIFT = 10**6, 10**30  # of a profile


def check_variance(value: object) -> Fraction:
    """σ² as a fraction.

    >>> check_variance("2.5")
    Fraction(5, 2)
    """
    variance = rational(value, "variance")
    if variance <= 0:
        raise InputError("variance must be > 0, got one that is not", "variance", "say for instance 100 for σ = 10")
    if not MIN_VARIANCE <= variance <= MAX_VARIANCE:
        raise InputError("variance must be from 10^-9 to 10^30 for discrete Gaussian noise, got another", "variance")
    if variance.numerator.bit_length() + variance.denominator.bit_length() > MAX_VARIANCE_BITS:
        raise InputError(f"variance must be a fraction of at most {MAX_VARIANCE_BITS} bits, got more", "variance")
    return variance


def mass_ball(variance: object, n: int, bits: int) -> arb:
    """Pr[X = n].

    >>> round(float(mass_ball(1, 0, 64)), 6), round(float(mass_ball(1, -2, 64)), 6)
    (0.398942, 0.053991)
    """
    exact, precision = check_variance(variance), bits + GUARD_BITS
    with working_precision(precision):
        return _weight(exact, n, precision) / normaliser_ball(exact, precision)


def tail_ball(variance: object, n: int, bits: int) -> arb:
    """Pr[X ≥ n].

    >>> round(float(tail_ball(1, 1, 64)), 6), round(float(tail_ball(10**12, 10**6, 64)), 6)
    (0.300529, 0.158655)
    """
    exact, precision = check_variance(variance), bits + GUARD_BITS
    with working_precision(precision):
        above = _weight_above(exact, n if n > 0 else 1 - n, precision) / normaliser_ball(exact, precision)
        return above if n > 0 else 1 - above


def variance_ball(variance: object, bits: int) -> arb:
    """Var X, which is below σ².

    >>> round(float(variance_ball(1, 64)), 6), round(float(variance_ball("0.1", 64)), 6)
    (1.0, 0.013297)
    """
    exact, precision = check_variance(variance), bits + GUARD_BITS
    with working_precision(precision):
        if exact < 1:
            return 2 * _series(_direct_rate(exact, precision), 2, precision) / normaliser_ball(exact, precision)
        rate = _dual_rate(exact, precision)
        squares, weights = _series(rate, 2, precision), _series(rate, 0, precision)
        return ball(exact, precision) * (1 - 4 * rate * squares / (1 + 2 * weights))


def half_width(variance: object, miss: object) -> int:
    """The least t with Pr[|X| > t] ≤ miss, decided by balls; miss is from 10^−300 to below 1.

    >>> half_width(100, "0.05"), half_width(10**12, "0.05")
    (20, 1959964)
    """
    exact, probability = check_variance(variance), rational(miss, "miss")
    if not MIN_MISS <= probability < 1:
        raise InputError("miss must be a probability from 10^-300 to below 1, got another", "miss")
    low, high = -1, 1
    while not _misses_at_most(exact, high, probability):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _misses_at_most(exact, middle, probability) else (middle, high)
    return high


def noise_spread(variance: object) -> float:
    """E|X|, as a double.

    >>> noise_spread(1), round(noise_spread(10**6), 6)
    (0.7275819837095119, 797.884494)
    """
    exact = check_variance(variance)
    return refine_double(lambda bits: spread_ball(exact, bits))


def spread_ball(variance: Fraction, bits: int) -> arb:
    """E|X| = 2Σ_{x≥1} x·f(x)/θ."""
    with working_precision(bits):
        if _is_summed(variance, bits):
            total = _series(_direct_rate(variance, bits), 1, bits)
        else:
            total = _expansion_of_spread(variance, bits)
        return 2 * total / normaliser_ball(variance, bits)


def delta_ball(variance: object, shift: object, epsilon: object, bits: int = FIRST_BITS) -> arb:
    """The least δ for which X and X + shift are (ε, δ)-indistinguishable; 0 ≤ ε ≤ 10^6 and shift whole.

    >>> round(float(delta_ball(1, 1, 1)), 6), round(float(delta_ball(10**12, 10**6, "0.5")), 6)
    (0.141351, 0.238422)
    """
    exact, move, level = check_variance(variance), abs(integer(shift, "shift")), rational(epsilon, "epsilon")
    if not 0 <= level <= MAX_EPSILON:
        raise InputError(f"epsilon must be from 0 to {MAX_EPSILON}, got another", "epsilon")
    if move > MAX_SHIFT:
        raise InputError("shift must be at most 10^30 in absolute value, got more", "shift")
    if move == 0:
        return ball(0, bits)
    precision = bits + 2 * GUARD_BITS + exact.numerator.bit_length()
    last = math.floor(Fraction(move, 2) - level * exact / move)
    with working_precision(precision):
        shifted = ball(level, precision).exp() * tail_ball(exact, move - last, precision)
        return tail_ball(exact, -last, precision) - shifted


def rho(variance: object, sensitivity: object) -> Fraction:
    """The ρ of ρ-zCDP that X gives a whole number of this sensitivity: Δ²/(2σ²), exactly.

    >>> rho(100, 1)
    Fraction(1, 200)
    """
    change = integer(sensitivity, "sensitivity")
    if change < 0:
        raise InputError("sensitivity must be >= 0, got a negative one", "sensitivity")
    return Fraction(change**2) / (2 * check_variance(variance))


@lru_cache(maxsize=256)
def normaliser_ball(variance: Fraction, bits: int) -> arb:
    """θ = Σ_x e^(−x²/(2σ²)), by the series that ends sooner."""
    return direct_normaliser(variance, bits) if variance < 1 else dual_normaliser(variance, bits)


def direct_normaliser(variance: Fraction, bits: int) -> arb:
    """θ by its own series."""
    with working_precision(bits):
        return 1 + 2 * _series(_direct_rate(variance, bits), 0, bits)


def dual_normaliser(variance: Fraction, bits: int) -> arb:
    """θ by Poisson's summation formula: σ√(2π)·Σ_k e^(−2π²σ²k²)."""
    from flint import arb

    with working_precision(bits):
        scale = (2 * arb.pi() * ball(variance, bits)).sqrt()
        return scale * (1 + 2 * _series(_dual_rate(variance, bits), 0, bits))


def _direct_rate(variance: Fraction, bits: int) -> arb:
    return ball(1 / (2 * variance), bits)


def _dual_rate(variance: Fraction, bits: int) -> arb:
    from flint import arb

    return 2 * arb.pi() ** 2 * ball(variance, bits)


def _series(rate: arb, power: int, bits: int) -> arb:
    """Σ_{k≥1} k^power·e^(−rate·k²), with the rest beyond the last term in its radius."""
    from flint import arb

    last = math.isqrt(math.ceil((bits + power) / float(rate.lower()))) + 2  # the rest is about 2^−bits
    total = sum((arb(k) ** power * (-rate * k * k).exp() for k in range(1, last)), arb(0))
    ratio = (-(2 * rate * last - arb(power) / last)).exp()
    return total + _up_to(arb(last) ** power * (-rate * last * last).exp() / (1 - ratio))


def _up_to(bound: arb) -> arb:
    """The interval [0, bound]."""
    from flint import arb

    return bound * arb(0.5, 0.5)


def _weight(variance: Fraction, n: int, bits: int) -> arb:
    """f(n) = e^(−n²/(2σ²))."""
    with working_precision(bits):
        return ball(-(n * n) / (2 * variance), bits).exp()


def _weight_above(variance: Fraction, n: int, bits: int) -> arb:
    """Σ_{x≥n} f(x) for n ≥ 1."""
    if n >= variance or _is_summed(variance, bits):
        return _direct_weight_above(variance, n, bits)
    return _expansion_above(variance, n, bits)


def _is_summed(variance: Fraction, bits: int) -> bool:
    """Are sums taken term by term at this σ², since the expansions would not reach so many bits or not sooner."""
    return variance <= max(MAX_SUMMED_VARIANCE, bits // 4)


def _direct_weight_above(variance: Fraction, n: int, bits: int) -> arb:
    """Σ_{x≥n} f(x), term by term; the rest from x = m on is at most f(m)/(1 − e^(−m/σ²))."""
    from flint import arb

    last = math.isqrt(n * n + math.ceil(2 * variance * bits)) + 1
    with working_precision(bits):
        total = sum((_weight(variance, x, bits) for x in range(n, last)), arb(0))
        return total + _up_to(_weight(variance, last, bits) / (1 - ball(-last / variance, bits).exp()))


def _integral_above(variance: Fraction, n: int, bits: int) -> arb:
    """∫_n^∞ f = σ·√(π/2)·erfc(n/(σ√2))."""
    from flint import arb

    with working_precision(bits):
        width = ball(2 * variance, bits).sqrt()
        return width * arb.pi().sqrt() / 2 * (n / width).erfc()


def _expansion_above(variance: Fraction, n: int, bits: int) -> arb:
    """Σ_{x≥n} f(x) by Euler and Maclaurin, R in the radius."""
    from flint import arb, fmpq

    count = _expansion_count(variance, n, bits)
    precision = 2 * bits + 8 * count
    with working_precision(precision):
        drift, spread = ball(n / variance, precision), ball(1 / variance, precision)
        before, hermite = arb(1), drift  # h_0, h_1
        bracket, factorial = arb(1) / 2, 1
        for order in range(2, 2 * count + 1, 2):  # h_{order−1} is at hand
            factorial *= order * (order - 1)
            bracket += arb(fmpq.bernoulli(order) / factorial) * hermite
            before, hermite = hermite, drift * hermite - (order - 1) * spread * before
            before, hermite = hermite, drift * hermite - order * spread * before
        expansion = bracket * _weight(variance, n, precision) + _rest(variance, n, count, precision) * arb(0, 1)
        return _integral_above(variance, n, precision) + expansion


def _rest(variance: Fraction, n: int, count: int, bits: int) -> arb:
    """A bound of |R| with `count` terms."""
    from flint import arb

    if _is_far(variance, n):
        return (
            4 * ball(n / variance, bits) ** (2 * count - 1) / (2 * arb.pi()) ** (2 * count) * _weight(variance, n, bits)
        )
    deviation = ball(variance, bits).sqrt()
    bound = 8 * deviation * arb(math.factorial(2 * count)).sqrt() / (2 * arb.pi() * deviation) ** (2 * count)
    return bound * ball(-(n * n) / (4 * variance), bits).exp()


def _is_far(variance: Fraction, n: int) -> bool:
    """Is n/σ at least 60, and with that at least 2√(2p) for all p up to the most terms."""
    return n * n >= FAR_DEVIATIONS**2 * variance


def _expansion_of_spread(variance: Fraction, bits: int) -> arb:
    """Σ_{x≥1} x·f(x) by Euler and Maclaurin, its R in the radius."""
    from flint import arb, fmpq

    count = _expansion_count(variance, 0, bits)
    with working_precision(bits):
        total, spread, factorial = ball(variance, bits), ball(-1 / (2 * variance), bits), 1
        for j in range(1, count + 1):
            total -= arb(fmpq.bernoulli(2 * j) / (2 * j * factorial)) * spread ** (j - 1)
            factorial *= j
        scale = 2 * arb.pi() * ball(variance, bits).sqrt()
        rest = 8 * ball(variance, bits) * arb(math.factorial(2 * count + 1)).sqrt() / scale ** (2 * count)
        return total + rest * arb(0, 1)


def _expansion_count(variance: Fraction, n: int, bits: int) -> int:
    """How many terms: as many as make R about 2^−bits of f(n), by a guess in floats."""
    shown, wanted = float(variance), -(bits + 16) * math.log(2)
    if _is_far(variance, n):
        return min(MAX_EXPANSION_TERMS, 2 + math.ceil(wanted / (2 * math.log(n / shown / (2 * math.pi)))))
    wanted -= n * n / (4 * shown)
    for count in range(2, MAX_EXPANSION_TERMS):
        rest = math.lgamma(2 * count + 1) / 2 - count * math.log(4 * math.pi**2 * shown) + math.log(shown) / 2
        if rest <= wanted:
            return count
    return MAX_EXPANSION_TERMS


def _misses_at_most(variance: Fraction, width: int, miss: Fraction) -> bool:
    """Is Pr[|X| > width] ≤ miss."""
    return _is_negative(lambda bits: 2 * tail_ball(variance, width + 1, bits) - ball(miss, bits))


def _is_negative(difference: Callable[[int], arb]) -> bool:
    """Is a number below 0 that is known by a ball of any precision and is not 0."""
    bits = FIRST_BITS
    while bits <= MAX_BITS:
        with working_precision(bits + GUARD_BITS):
            interval = difference(bits)
        if not interval.contains(0):
            return bool(interval < 0)
        bits *= 2
    raise UndecidedError(f"whether a probability is at most another is not decided by {MAX_BITS} bits")
