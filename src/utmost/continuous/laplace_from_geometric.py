"""Laplace answers as post-processed geometric ones, on a grid: FMM21 Lemma 11 and Thm 12 to 14 with their constants.

On the points x of U_N, h apart, the column of a Laplace answer y between the points p_k and p_(k+1) = p_k + h is

    e^(−ε|x−y|) = s_k(y)·e^(−ε|x−p_k|) + s_(k+1)(y)·e^(−ε|x−p_(k+1)|),    s_k(y) = sinh(ε(h − |y−p_k|))/sinh(εh),

a combination of two neighbouring geometric columns with weights ≥ 0: both sides solve f″ = ε²f in y between the two
points, and agree at them. So L = G_N·R on U_N, where R answers the geometric answer p_k by a y of density
ε/2·s_k(y)/κ_k within h of it; an end keeps its answer with probability (1+β)/2, β = e^(−εh). That is Thm 12 for every
N, without a limit; telling only the cell of y is Lemma 11 for every N and T.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from utmost.channel import Channel
from utmost.channel.channel import trusted_channel
from utmost.consumer.priors import Prior
from utmost.continuous.pixelation import HALF, PixelGrid, check_inner_level, grid_geometric, output_edges
from utmost.exact import Level, Number
from utmost.mechanisms.geometric import column_weights


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
