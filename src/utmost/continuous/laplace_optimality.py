"""How near Laplace noise is to the best on a grid: FMM21 Lemmas 9, 11 and Thm 5, 12 to 14 with their constants.

FMM21 Theorem 5 on a finite grid, for more losses than the paper states, and a loss for which it fails.

Write λ for the rate, ε per unit of distance, and call K *private* when K(x) ≤ e^(λ|x−x′|)·K(x′) for all x, x′ of the
interval. Cut it into cells of width s, let x_j be the middle of cell j, π_j the prior's mass there and ℓ̄(w, j) the
mean of ℓ(w, x) over the cell. G is the geometric mechanism on the x_j with λs a step, L truncated Laplace.

**Lemma 9, from the middle.** For private K and ℓ ≥ 0, e^(−λs/2)·$(π_j, K, ℓ̄) ≤ $(π, K, ℓ) ≤ e^(λs/2)·$(π_j, K, ℓ̄),
since K(x) and K(x_j) differ by a factor of at most e^(λs/2) within cell j.

**In order.** A loss is in order when each row ℓ(·, x) does not rise up to some best reading φ(x), does not fall after
it, and φ does not decrease (`best_readings`). If ℓ̄ is in order, no private mechanism on the x_j gives less than G
(docs/papers/grs12.md). The proof there is for as many readings as points. *More readings*: add points beyond the last,
of prior 0 and best reading the last. Private mechanisms extend to them by copies of the last row, and on the points
that were there before, the columns of the longer G beyond the last are multiples of the last. *Fewer*: repeat one.

**Theorem.** If ℓ̄ is in order, then for every private K

    $(π, L, ℓ) ≤ `margin`·$(π, K, ℓ),    margin = e^(λs)·cosh(λs/2).

*Proof.* Lemma 9 for K, then G, then GRS12 Thm A.2: $(π_j, L, ℓ̄) ≤ cosh(λs/2)·$(π_j, G, ℓ̄) whatever the costs
(`laplace_factor`), then Lemma 9 for L. ∎ The margin falls to 1 with s: that is FMM21 Thm 5, without its Thm 13 and 14.

**Which losses.** ℓ̄ is in order for every s if ℓ is convex in w and best at w = x. For a *legal* ℓ, bounded, and a
prior without atoms neither convexity nor continuity is needed. *Proof.* Let the readings be finitely many: Def. 2 asks
for countably many, and the loss over more and more of them falls to that over all. The nearest reading to x is φ(x),
and it changes in fewer cells than there are readings. In all other cells the rows agree on their best reading, so there
ℓ̄ is in order. The cells of change cost L at most max ℓ times their mass, which tends to 0 with s. ∎ The same holds for
N-step losses ℓ(w, ⌊x⌋_N) with ℓ legal. So Thm 5 needs no Lipschitz constant (FMM21 §X asks), and truncated Laplace is
*not* beaten for monotone step losses or N-step ones (as §VIII and §X have it): what beats it there, G_N, is not private
between the points of its grid.

**Where it fails**: `Band`. Readings "inside" and "outside" of the band [1/4, 3/4], loss 1 for the wrong one: outside is
best below and above the band, inside in between, so φ is not in order. A mechanism made for this reader beats L.

Laplace answers as post-processed geometric ones, on a grid: FMM21 Lemma 11 and Thm 12 to 14 with their constants.

On the points x of U_N, h apart, the column of a Laplace answer y between the points p_k and p_(k+1) = p_k + h is

    e^(−ε|x−y|) = s_k(y)·e^(−ε|x−p_k|) + s_(k+1)(y)·e^(−ε|x−p_(k+1)|),    s_k(y) = sinh(ε(h − |y−p_k|))/sinh(εh),

a combination of two neighbouring geometric columns with weights ≥ 0: both sides solve f″ = ε²f in y between the two
points, and agree at them. So L = G_N·R on U_N, where R answers the geometric answer p_k by a y of density
ε/2·s_k(y)/κ_k within h of it; an end keeps its answer with probability (1+β)/2, β = e^(−εh). That is Thm 12 for every
N, without a limit; telling only the cell of y is Lemma 11 for every N and T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.channel import Channel
from utmost.channel.channel import trusted_channel
from utmost.consumer.priors import Prior
from utmost.continuous.pixelation import PixelGrid, check_inner_level, grid_geometric, output_edges
from utmost.errors import InputError
from utmost.exact import Level, Number, ball, ball_endpoints, exponential
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.geometric import column_weights

if TYPE_CHECKING:
    from flint import arb

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
BALL_BITS = 160
Bounds = tuple[Fraction, Fraction]


def lemma9(level: Level, distance: Fraction) -> Number:
    """e^(λ·distance): a private law at x and one at a point within `distance` differ by at most this factor.

    FMM21 Lemma 9 with `distance` 1/N, from the left ends of cells; half of that from their middles.
    """
    if not distance > 0 or not level.is_inner:
        raise InputError(
            "distance must be > 0 and alpha inside (0, 1) for Lemma 9: at the ends nothing is compared", "distance"
        )
    return 1 / level.power(distance)


def margin(level: Level, step: Fraction) -> Number:
    """e^(λs)·cosh(λs/2) for s = step: no private mechanism is better than truncated Laplace by a larger factor.

    >>> from utmost.exact import alpha, epsilon
    >>> str(margin(epsilon(1), Fraction(1, 10))), margin(alpha("1/16"), Fraction(1, 2))
    ('1/2*exp(3/20) + 1/2*exp(1/20)', Fraction(5, 1))
    """
    return (lemma9(level, step * HALF) + lemma9(level, step * 3 * HALF)) * HALF


def least_loss(grid_loss: Number, level: Level, step: Fraction) -> Number:
    """e^(−λs/2) times a lower bound for private mechanisms on the middles of cells: one for those on the continuum."""
    return grid_loss / lemma9(level, step * HALF)


def best_readings(losses: Sequence[Sequence[Any]]) -> list[int] | None:
    """φ(x) for a table of rows ℓ(x, ·), if the loss is in order; None if it is not.

    Of a row that falls and then rises any least reading may be φ(x); the first that is not before the last one's is
    taken.

    >>> best_readings([[0, 1, 2], [1, 0, 1], [2, 1, 0]]), best_readings([[0, 1], [1, 0], [0, 1]])
    ([0, 1, 2], None)
    """
    readings: list[int] = []
    for row in losses:
        minimum = min(row)
        first = next(w for w, loss in enumerate(row) if loss == minimum)
        last = max(w for w, loss in enumerate(row) if loss == minimum)
        falls = all(row[w] >= row[w + 1] for w in range(last))
        rises = all(row[w] <= row[w + 1] for w in range(first, len(row) - 1))
        best = max(first, readings[-1] if readings else 0)
        if not falls or not rises or best > last:
            return None
        readings.append(best)
    return readings


@dataclass(frozen=True, slots=True)
class Band:
    """Is x inside [1/4, 3/4]? x is uniform on [0, 1], a wrong answer costs 1; truncated Laplace is beaten at all rates.

    **The best mechanism** says outside with probability f(x) = F(|x − 1/2| − 1/4), where F(t) = e^(λt)/2 for t ≤ 0 and
    1 − e^(−λt)/2 for t ≥ 0. It is private: f and 1 − f change by a factor of at most e^(λ|x−x′|). It loses
    (2/λ)·(1 − e^(−λ/4)), and nothing private loses less. *Proof.* Two answers are enough, one for each reading, and
    f(x) may be replaced by (f(x) + f(1−x))/2. Privacy is |f′| ≤ λ·min(f, 1 − f). On [0, 1/2] let f(1/4) = F(v): then
    f ≤ F(1/4 − x + v) outside the band and f ≥ F(1/4 − x + v) inside, so these f are the best ones. The derivative of
    their loss in v is twice what Laplace noise about 1/4 + v puts on [1/4, 1/2] less what it puts on [0, 1/4]: 0 at
    v = 0, and of the sign of v elsewhere. ∎

    **Truncated Laplace**, with a = e^(−λ/4), is read outside below y₀ and above 1 − y₀, else inside, where z = e^(λy₀)
    solves q·z² − 2z + 1 = 0, q = 2a − 2a³ + a⁴: z = (1 + √(1−q))/q lies between 1 and 1/a, as 1 − q = (1−a)³(1+a) > 0.
    """

    rate: Fraction

    def __post_init__(self) -> None:
        """Refuses a rate that tells nothing."""
        if not self.rate > 0:
            raise InputError(f"rate must be > 0, got {self.rate}: at 0 both mechanisms tell nothing", "rate")

    def outside(self, x: Fraction) -> Number:
        """The probability that the best mechanism says outside when the value is x, exact.

        >>> str(Band(Fraction(1)).outside(Fraction(1, 2))), Band(Fraction(1)).outside(Fraction(3, 4))
        ('1/2*exp(-1/4)', Fraction(1, 2))
        """
        if not 0 <= x <= 1:
            raise InputError("x must be from 0 to 1", "x")
        distance = abs(x - HALF) - QUARTER
        tail = exponential(-self.rate * abs(distance)) * HALF
        return tail if distance <= 0 else 1 - tail

    def best(self) -> Number:
        """The least loss of a private mechanism, exact."""
        return 2 * (1 - exponential(-self.rate * QUARTER)) / self.rate

    def laplace(self) -> Bounds:
        """Truncated Laplace's loss, between two fractions that hold it.

        λ times it is (a − a³)z + 2λ(1/4 − y₀) + a − 1/z − (a − a³ + a⁴)(1/a − z) + (1−a)²(1+a): the integrals of the
        mass inside over the answers read outside and of the mass outside over those read inside, both sides together.

        >>> low, high = Band(Fraction(1)).laplace()
        >>> high - low < Fraction(1, 10**30), round(float(low), 6), round(float(Band(Fraction(1)).best()), 6)
        (True, 0.478758, 0.442398)
        """
        with working_precision(BALL_BITS):
            return ball_endpoints(_laplace_band(ball(self.rate, BALL_BITS)))


def _laplace_band(rate: arb) -> arb:
    a = (-rate / 4).exp()
    q = 2 * a - 2 * a**3 + a**4
    z = (1 + ((1 - a) ** 3 * (1 + a)).sqrt()) / q
    read_outside = (a - a**3) * z
    read_inside = 2 * (rate / 4 - z.log()) + a - 1 / z - (a - a**3 + a**4) * (1 / a - z)
    return (read_outside + read_inside + (1 - a) ** 2 * (1 + a)) / rate


def post_processing(grid: PixelGrid, cells: object, level: Level) -> Channel:
    """R with G_N·R = ᵀL, exact, in closed form for any N and T (FMM21 Lemma 11).

    R[k, t] = (W_k(v) − W_k(u))/κ_k for the cell from u to v. W_k(y) = ε/2·∫ s_k up to y is (cosh ε(y−p_k+h) − 1)/
    (2 sinh εh) below p_k and (2cosh εh − 1 − cosh ε(p_k+h−y))/(2 sinh εh) above it. The first column has the atom 1/2
    of the lower end in addition, the last one that of the upper end.

    >>> from utmost.continuous.interval import interval
    >>> from utmost.continuous.pixelation import cell_laplace, pixel_grid
    >>> from utmost.exact import alpha
    >>> grid = pixel_grid(interval(0, 1), 2)
    >>> print(post_processing(grid, 4, alpha("1/16")))
             0   1/4   1/2    3/4
      0  11/12  1/12     0      0
    1/2    1/9  7/18  7/18    1/9
      1      0     0  1/12  11/12
    >>> grid_geometric(grid, alpha("1/16")).then(post_processing(grid, 4, alpha("1/16"))) == cell_laplace(
    ...     grid, 4, alpha("1/16")
    ... )
    True
    """
    edges, points = output_edges(grid, cells), grid.points
    kappa = column_weights(grid.count, grid.level(check_inner_level(level)))
    rows = []
    for point, factor in zip(points, kappa, strict=True):
        sums = [_weight_below(point, edge, grid, level) for edge in edges[1:-1]]
        running_sums = [Fraction(0), *sums, factor]
        rows.append([(v - u) / factor for u, v in pairwise(running_sums)])
    return trusted_channel(grid.labels, map(str, edges[:-1]), np.array(rows, dtype=object))


def _weight_below(point: Fraction, edge: Fraction, grid: PixelGrid, level: Level) -> Number:
    """The weight on the point's geometric column of all Laplace answers below the edge, an atom included."""
    step, ratio = grid.step, level.power(grid.step)
    low, high = point == grid.interval.low, point == grid.interval.high
    sinh = 1 / ratio - ratio  # twice it, as the cosh below
    if edge <= point:
        rise: Number = _cosh(edge - point + step, level) - 2 if edge > point - step else Fraction(0)
        return Fraction(0) if low else rise / (2 * sinh)
    left = HALF if low else (1 / ratio + ratio - 2) / (2 * sinh)
    if high:
        return left
    fall = _cosh(point + step - edge, level) if edge < point + step else Fraction(2)
    return left + (1 / ratio + ratio - fall) / (2 * sinh)


def _cosh(distance: Fraction, level: Level) -> Number:
    """2·cosh(ε·place)."""
    power = level.power(abs(distance))
    return power + 1 / power


def mixture_spans(grid: PixelGrid, cells: object, level: Level) -> list[tuple[int, ...]]:
    """For each cell of answers the geometric answers that it is a mixture of: two neighbours at most if N divides T.

    >>> from utmost.continuous.interval import interval
    >>> from utmost.continuous.pixelation import pixel_grid
    >>> from utmost.exact import alpha
    >>> (
    ...     mixture_spans(pixel_grid(interval(0, 1), 2), 4, alpha("1/16")),
    ...     mixture_spans(pixel_grid(interval(0, 1), 4), 3, alpha("1/16")),
    ... )
    ([(0, 1), (0, 1), (1, 2), (1, 2)], [(0, 1, 2), (1, 2, 3), (2, 3, 4)])
    """
    return [tuple(int(k) for k in np.flatnonzero(column)) for column in post_processing(grid, cells, level).rows.T]


def posterior_gaps(prior: Prior, grid: PixelGrid, level: Level) -> list[Number]:
    """W₁ between the posteriors of neighbouring geometric answers, for any prior on U_N, one a step.

    The ratio of their columns is β up to p_k and 1/β from p_(k+1) on, so the later one is larger in the likelihood
    ratio order, and W₁ is the difference of the means. It is at most (b−a)·tanh(εh/2) whatever the prior: the odds of
    being above p_k grow by the factor e^(2εh), a probability so by tanh(εh/2) at most, and the means of the two sides
    are no more than b−a apart.
    """
    joint = np.array(prior.exact(), dtype=object)[:, None] * grid_geometric(grid, level).rows
    means = [(np.array(grid.points, dtype=object) @ column) / column.sum() for column in joint.T]
    return [later - earlier for earlier, later in pairwise(means)]


def printed_margin(grid: PixelGrid, level: Level) -> Number:
    """c·h with c = 3/(1 − e^(−ε(b−a)))²: what FMM21 Thm 13 and 14 allow for each unit of the Lipschitz constant."""
    return 3 * grid.step / (1 - check_inner_level(level).power(grid.interval.length)) ** 2


def move_margin(grid: PixelGrid, level: Level) -> Number:
    """A bound on the cost of the earth move that R makes from [π▷G_N] to [π▷L], for every prior π on U_N.

    The smaller of h·(1+3β)/(2(1+β)) ≤ h and (b−a)/2·tanh(εh/2) ≤ ε(b−a)h/4. *Proof.* A = Σ_{x≤p_k} π_x β^((p_k−x)/h)
    and B = Σ_{x≥p_(k+1)} π_x β^((x−p_(k+1))/h); l, r are the mean distances of p_k and p_(k+1) from x on the two
    sides, weighted so. An answer y between them mixes masses a(y) and b(y) of the posteriors of p_k and p_(k+1), which
    are d_k apart, and to bring them together costs 2ab/(a+b)·d_k. This is concave in (a, b), so the interval's cost is
    at most what its totals give: tanh(εh/2)·(1−β)·AB/(A+B)·(l + h + r). Now AB/(A+B) is at most (A+B)/4, A and B; so
    this is at most tanh(εh/2)·(1−β) times A·l + B·r + h·(A+B)/4, and times (A+B)/4·(b−a). Summed over k, the A's
    come to at most 1/(1−β), the A·l's to h·β/(1−β)², and likewise B. ∎  The second bound, half the largest
    `posterior_gaps`, holds for the move to ᵀL too if N divides T (there the atoms are told together with their cells),
    and a uniform prior attains it at N = T = 1. Either also bounds the distance between the hypers, and so κ times it
    the difference of losses (Kantorovich and Rubinstein): Thm 14 with c = min(1, ε(b−a)/4).
    """
    ratio = check_inner_level(level).power(grid.step)
    any_length = grid.step * (1 + 3 * ratio) / (2 * (1 + ratio))
    by_length = grid.interval.length * HALF * (1 - ratio) / (1 + ratio)
    return min(any_length, by_length)


def loss_margin(grid: PixelGrid, level: Level) -> Number:
    """m with 0 ≤ $(π, L, ℓ) − $(π, G_N, ℓ) ≤ κ·m for every prior π on U_N and every loss that is κ-Lipschitz in x.

    m = h·tanh(εh/4)/cosh(εh/2) ≤ ε·h²/4: of second order, whatever the interval. Half of it is enough for losses with
    a reading that costs nothing for each x, such as |w−x|, and these come as near to it as one likes on long intervals
    under a uniform prior. *Proof.* Answers rounded to the nearest point of U_N have at most cosh(εh/2) times the
    geometric probabilities (GRS12, proof of Thm A.2), so $(π, L, ℓ) ≤ cosh(εh/2)·$(π, G_N, ℓ) for ℓ ≥ 0. Take
    f(x) = inf_w ℓ(w, x) off the loss: it is κ-Lipschitz, and both sides lose the same. To read p as the best reading of
    p costs ℓ(w, x) − f(x) ≤ 2κ·|x−p|, or κ·|x−p| if f = 0, and the geometric answer is h/sinh(εh) off on average, or
    less at the ends. So m = (cosh(εh/2) − 1)·2h/sinh(εh). ∎
    """
    root = check_inner_level(level).power(grid.step / 2)
    return grid.step * 2 * root * (1 - root) / ((1 + root) * (1 + root * root))
