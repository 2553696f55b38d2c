"""FMM21 Thm 13, 14 and Cor. 17: what Laplace noise loses on a grid, with constants and rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

from utmost.consumer import Consumer, losses, priors
from utmost.consumer.priors import Prior
from utmost.continuous import geometric_loss, laplace_factor, laplace_loss
from utmost.continuous.laplace_optimality import (
    loss_margin,
    move_margin,
    post_processing,
    posterior_gaps,
    printed_margin,
)
from utmost.continuous.pixelation import PixelGrid, grid_geometric
from utmost.design import optimal
from utmost.exact import Level, Number, alpha, decimal, decimal_above, epsilon
from utmost.papers.fmm21.matrices import unit_grid
from utmost.papers.fmm21.pixelation import distance_loss
from utmost.papers.items import (
    Claim,
    Item,
    LabelledMatrix,
    Series,
    Value,
    claims_item,
    computed_item,
    require_exact,
    statement_item,
)
from utmost.qif import hyper, hyper_distance, refining_move
from utmost.spaces import line

GRID_COUNTS = (1, 2, 4, 8, 16, 32)
OUTPUT_CELLS = 32  # T, a multiple of every N here
MAX_MOVE_COUNT = 16  # N up to which the earth move is computed: T must be finer
MAX_DISTANCE_COUNT = 8  # N up to which the cheapest move is
UNKNOWN_TEXT = "–"


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        theorem13(),
        rates(),
        theorem14(),
        theorem14_reduction(),
        constants(),
        lipschitz_constants(),
        corollary17(),
    )


def level_with_32nd_roots() -> Level:
    """A level at which α^(1/N) is a fraction for every N here: α = (9/10)^32, ε ≈ 3.37."""
    return alpha(Fraction(9, 10) ** 32)


@dataclass(frozen=True, slots=True)
class Margin:
    """What one consumer loses on U_N from Laplace noise beyond geometric, and what may be said of it beforehand.

    lower ≤ $(π, L, ℓ) − $(π, G_N, ℓ) ≤ upper, no further apart than 1e-30 or so; `move` is the cost of R's earth move,
    `least` that of the cheapest one; κ = 1.
    """

    count: int
    lower: Number
    upper: Number
    move: Number | None
    cheapest: Number | None
    printed: Number
    proved: Number


def margin(prior: Prior, grid: PixelGrid, level: Level) -> Margin:
    """All columns of Theorem 13's table for ℓ = |w−x|, exact but for square roots."""
    costs, step = Consumer(prior, distance_loss(grid)).costs(), grid.level(level)
    laplace, geometric = laplace_loss(costs, step), geometric_loss(costs, step)
    source, refinement_matrix = grid_geometric(grid, level), post_processing(grid, OUTPUT_CELLS, level)
    move = refining_move(prior, source, refinement_matrix, grid.points).cost if grid.count <= MAX_MOVE_COUNT else None
    cheapest = None
    if grid.count <= MAX_DISTANCE_COUNT:
        cheapest = hyper_distance(hyper(prior, source), hyper(prior, source.then(refinement_matrix)), grid.points).cost
    return Margin(
        grid.count,
        laplace.lower - geometric,
        laplace.upper - geometric,
        move,
        cheapest,
        printed_margin(grid, level),
        loss_margin(grid, level) / 2,
    )


@cache
def uniform_margins() -> tuple[Margin, ...]:
    """Uniform prior, ℓ = |w−x|."""
    return tuple(margin(priors.uniform(count + 1), unit_grid(count), level_with_32nd_roots()) for count in GRID_COUNTS)


def margins_hold(row: Margin) -> bool:
    """difference ≤ earth move ≤ c·κ/N, the cheapest move between them, and difference ≤ what is proved here."""
    chain = [row.upper, *(value for value in (row.cheapest, row.move) if value is not None), row.printed]
    return all(a <= b for a, b in pairwise(chain)) and row.lower >= 0 and bool(row.upper <= row.proved)


def theorem13() -> Item:
    """N, true difference, cheapest and R's earth move, c·κ/N."""
    table = uniform_margins()
    rows: list[list[Value]] = [[_decimal_text(value) for value in _margin_values(row)] for row in table]
    item = statement_item(
        "Theorem 13",
        "uniform prior, ℓ = |w−x|, κ = 1, ε = −32 ln 0.9 ≈ 3.3715; moves to ᵀL with T = 32",
        "$(⊙, L, ℓ) − $(⊙, G_N, ℓ) ≤ c·κ/N with c = 3/(1−e^−ε)², by an earth move of cost ≤ c/N",
        LabelledMatrix("N", MARGIN_COLUMNS, [f"N = {row.count}" for row in table], rows),
        all(margins_hold(row) for row in table),
        f"the least c that would do here is {_decimal_text(max(row.upper * row.count for row in table))}, the one "
        f"printed is {_decimal_text(table[0].printed)}. Proved here: h·tanh(εh/4)/(2cosh(εh/2)), h = 1/N, for losses "
        "with ℓ(x, x) = 0",
    )
    return replace(
        item, series=_margin_series(table), claim="The loss of Laplace noise on a grid falls as 1/N², not 1/N"
    )


MARGIN_COLUMNS = ("true difference", "cheapest move", "R's move", "c·κ/N", "proved here")


def _margin_values(row: Margin) -> tuple[Number | None, ...]:
    return row.upper, row.cheapest, row.move, row.printed, row.proved


def _decimal_text(value: Number | None) -> str:
    return UNKNOWN_TEXT if value is None else decimal_above(value, 4)


def _margin_series(table: Sequence[Margin]) -> tuple[Series, ...]:
    series = []
    for k, name in enumerate(MARGIN_COLUMNS):
        pairs = [(row.count, _margin_values(row)[k]) for row in table]
        points = [(math.log2(n), math.log10(float(value))) for n, value in pairs if value is not None]
        series.append(Series(name, "log₂ N", "log₁₀", tuple(x for x, _ in points), tuple(y for _, y in points)))
    return tuple(series)


def rates() -> Item:
    """log₂ of the ratio between N and 2N."""
    table = uniform_margins()
    rows: list[list[Value]] = [
        [_rate_text(a, b) for a, b in zip(_margin_values(coarse), _margin_values(fine), strict=True)]
        for coarse, fine in pairwise(table)
    ]
    return computed_item(
        "Theorem 13, rates",
        "the power of 1/N by which each column falls, from N to 2N",
        LabelledMatrix("from N to 2N", MARGIN_COLUMNS, [f"{a} to {b}" for a, b in pairwise(GRID_COUNTS)], rows),
        "earth moves cost as much as 1/N because neighbouring posteriors are that far apart; losses fall as 1/N²",
    )


def _rate_text(coarse: Number | None, fine: Number | None) -> str:
    if coarse is None or fine is None:
        return UNKNOWN_TEXT
    return f"{math.log2(float(coarse) / float(fine)):.2f}"


def trial_priors(count: int) -> dict[str, Prior]:
    """Priors on U_N: flat, at the two ends, leaning, and almost all on one point."""
    size = count + 1
    both_ends = [Fraction(k in (0, count), 2) for k in range(size)]
    leaning = [Fraction(2 * k + 1, size * size) for k in range(size)]
    peaked = [Fraction(1, 100 * count)] * size
    peaked[count // 3] = 1 - Fraction(1, 100)
    return {
        "uniform": priors.uniform(size),
        "0 or 1": priors.explicit(both_ends),
        "leaning": priors.explicit(leaning),
        "peaked": priors.explicit(peaked),
    }


def theorem14() -> Item:
    """(15) for other priors, with the constants that are enough."""
    level, count = level_with_32nd_roots(), 8
    grid = unit_grid(count)
    rows, verdicts = [], []
    for prior in trial_priors(count).values():
        row = margin(prior, grid, level)
        largest_gap = max(posterior_gaps(prior, grid, level))
        verdicts.append(margins_hold(row) and bool(largest_gap <= grid.interval.length * _gap_bound(grid, level)))
        rows.append([*(_decimal_text(value) for value in _margin_values(row)), _decimal_text(largest_gap)])
    cells: list[list[Value]] = [list(row) for row in rows]
    return statement_item(
        "Theorem 14",
        "N = 8, ℓ = |w−x|, κ = 1, ε = −32 ln 0.9; the last column is the largest W₁ between neighbouring posteriors",
        "$(π, L, ℓ) − $(π, G_N, ℓ) ≤ c·κ/N for any prior π over U_N",
        LabelledMatrix("prior", (*MARGIN_COLUMNS, "W₁"), tuple(trial_priors(count)), cells),
        all(verdicts),
        f"for every prior W₁ ≤ tanh(ε/2N) = {_decimal_text(_gap_bound(grid, level))}, and R's move to L costs at most "
        f"{_decimal_text(move_margin(grid, level))}",
    )


def _gap_bound(grid: PixelGrid, level: Level) -> Number:
    ratio = level.power(grid.step)
    return (1 - ratio) / (1 + ratio)


def theorem14_reduction() -> Item:
    """ℓ*(w, x) = ℓ(w, x)·π(x)·N: neither the factor nor the Lipschitz constant is kept."""
    count = 4
    grid, prior = unit_grid(count), trial_priors(count)["0 or 1"]
    original = Consumer(prior, distance_loss(grid))
    mechanism = grid_geometric(grid, alpha("1/16"))
    starred = [
        [distance_loss(grid).exact(i, w) * p * count for w in range(count + 1)] for i, p in enumerate(prior.exact())
    ]
    reduced = Consumer(priors.uniform(count + 1), losses.matrix(starred))
    slope = least_lipschitz_constant(starred, grid)
    target_loss, reduced_loss = (require_exact(consumer.expected_loss(mechanism)) for consumer in (original, reduced))
    lines: list[Claim] = [
        ("$(⊙, M, ℓ*), to be $(π, M, ℓ)", target_loss, reduced_loss),
        ("the same with N + 1 for N", target_loss, reduced_loss * Fraction(count + 1, count)),
        ("κ of ℓ*, to be that of ℓ = |w−x|", Fraction(1), slope),
    ]
    note = "U_N has N + 1 points; and π may be as uneven as it likes, so no κ serves ℓ* for all π. Yet (15) is right"
    return claims_item("Theorem 14, proof", "N = 4, ε = 4 ln 2, the prior is 1/2 at 0 and 1/2 at 1", lines, note)


def least_lipschitz_constant(table: Sequence[Sequence[Number]], grid: PixelGrid) -> Number:
    """The least Lipschitz constant in x of a loss on U_N; rows are the points, columns the readings."""
    rises = [b - a for row, next_row in pairwise(table) for a, b in zip(row, next_row, strict=True)]
    return max(max(rise, -rise) for rise in rises) / grid.step


def constants() -> Item:
    """c by ε: printed, and what is enough for the earth move and for the loss, at N = 16."""
    epsilons = ("1/10", "1/2", "1", "2", "4", "8", "16")
    grid = unit_grid(16)
    rows: list[list[Value]] = []
    is_ordered = True
    for rate in epsilons:
        level = epsilon(rate)
        values = [bound(grid, level) / grid.step for bound in (printed_margin, move_margin, loss_margin)]
        is_ordered = is_ordered and values[0] > values[1] > values[2]
        rows.append([*(_decimal_text(value) for value in values), f"{float(values[0]) / float(values[2]):.0f}"])
    columns = ("c printed", "earth move", "loss", "printed/loss")
    return computed_item(
        "Theorem 14, constants",
        "c such that the loss differs by at most c·κ/N, for every prior, N = 16",
        LabelledMatrix("ε", columns, epsilons, rows),
        "move: min((1+3β)/(2(1+β)), N/2·tanh(ε/2N)) ≤ min(1, ε/4), β = e^(−ε/N); loss: tanh(ε/4N)/cosh(ε/2N) ≤ ε/4N"
        if is_ordered
        else "the printed constant is smaller somewhere",
    )


def lipschitz_constants() -> Item:
    """§VII-C: |w−x| is 1-Lipschitz, its square 2-Lipschitz, on [0, 1]; on [0, D] the square is 2D-Lipschitz."""
    grid = unit_grid(64)
    lines: list[Claim] = [
        ("κ of |w−x| on U_64", Fraction(1), least_lipschitz_constant(distance_loss(grid).matrix(65).tolist(), grid)),
        (
            "κ of |w−x|² on U_64, less than 2 by 1/64",
            2 - Fraction(1, 64),
            least_lipschitz_constant(distance_loss(grid, square=True).matrix(65).tolist(), grid),
        ),
    ]
    return claims_item(
        "Section VII-C", "Lipschitz constants", lines, "2 is the supremum on [0, 1]; on [a, b] it is 2(b−a)"
    )


def corollary17() -> Item:
    """|w−x| and |w−x|²: the least loss of any private mechanism on U_N, certified, and Laplace's."""
    level = level_with_32nd_roots()
    rows: list[list[Value]] = []
    verdicts: list[bool] = []
    labels: list[str] = []
    for square in (False, True):
        for count in (2, 4, 8, 16):
            consumer = Consumer(trial_priors(count)["leaning"], distance_loss(unit_grid(count), square))
            row, verdict = compare_with_best(consumer, unit_grid(count), level)
            rows.append(row)
            verdicts.append(verdict)
            labels.append(f"{'len²' if square else 'len'}, N = {count}")
    return statement_item(
        "Corollary 17",
        "the least loss of any ε-private mechanism on U_N, certified, and that of truncated Laplace; leaning prior",
        "the Laplace mechanism is universally optimal for len and len²",
        LabelledMatrix("loss", COMPARISON_COLUMNS, labels, rows),
        all(verdicts),
        "on U_N it is not optimal; its loss is at most cosh(ε/2N) times the least (GRS12 Thm A.2), which tends to 1",
    )


COMPARISON_COLUMNS = ("least on U_N", "Laplace", "ratio", "cosh(ε/2N)")


def compare_with_best(consumer: Consumer, grid: PixelGrid, level: Level) -> tuple[list[Value], bool]:
    """The columns COMPARISON_COLUMNS, and whether all that is claimed of them is certified."""
    step = grid.level(level)
    design = optimal(line(grid.count + 1), step, consumer)
    min_loss = design.loss
    is_certified = not design.certificate.gap and min_loss == geometric_loss(consumer.costs(), step)
    laplace, factor = laplace_loss(consumer.costs(), step), laplace_factor(step)
    ratio = laplace.upper / min_loss
    row: list[Value] = [
        decimal(min_loss),
        decimal_above(laplace.upper),
        decimal_above(ratio, 8),
        decimal_above(factor, 8),
    ]
    return row, is_certified and bool(laplace.lower >= min_loss) and bool(laplace.lower <= factor * min_loss)
