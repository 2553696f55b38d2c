"""FMM21 §VI, Lemmas 8, 9, 10 and 16: between the interval and its grid."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from utmost.channel import Channel
from utmost.consumer import Consumer, losses, priors
from utmost.consumer.losses import Table, legality
from utmost.continuous.densities import Density, linear_density, uniform_density
from utmost.continuous.interval import interval
from utmost.continuous.pixelation import (
    PixelGrid,
    Stepped,
    SteppedLoss,
    averaged_laplace,
    cell_laplace,
    grid_geometric,
    pixelate,
)
from utmost.design import by_program
from utmost.exact import Number, alpha, decimal, decimal_above, decimal_below, epsilon
from utmost.mechanisms.randomised_response import response
from utmost.papers.fmm21.matrices import paper_level, unit_grid
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, require_exact, statement_item
from utmost.spaces import line

PIECES_PER_CELL = 3  # pieces that each cell is cut into for the continuous side of Lemma 8


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return section6b(), lemma8(), lemma9(), lemma10(), lemma16()


def densities() -> tuple[Density, ...]:
    """A flat one and one with a peak off every grid."""
    return uniform_density(interval(0, 1)), linear_density([(0, 0), ("2/7", 2), (1, 0)])


def distance_loss(grid: PixelGrid, square: bool = False) -> Table:
    """|w − x| on the points of the grid, or its square."""
    power = 2 if square else 1
    return losses.matrix([[abs(x - w) ** power for w in grid.points] for x in grid.points])


def section6b() -> Item:
    """π_2 of the uniform density."""
    weights = pixelate(uniform_density(interval(0, 1)), unit_grid(2)).exact()
    printed_weights = (Fraction(1, 2), Fraction(1, 2), Fraction(0))
    lines: list[Claim] = [
        (f"π_2({x})", p, weight) for x, p, weight in zip(unit_grid(2).points, printed_weights, weights, strict=True)
    ]
    return claims_item("Section VI-B", "the uniform density on U_2", lines)


def continuous_loss(density: Density, mechanism: Stepped, loss: SteppedLoss) -> Number:
    """$(π, M_N, ℓ_N) by Def. 2: Σ_y min_w ∫ ℓ_N(w, x)·π(x)·M_N(x)(y) dx, over pieces in which only π varies.

    M_N and ℓ_N are looked up at the middle of each of three pieces of every cell.
    """
    edges = mechanism.grid.interval.grid(PIECES_PER_CELL * mechanism.grid.count)
    masses = density.exact_masses(edges) or []
    middles = [(u + v) / 2 for u, v in pairwise(edges)]
    laws = [mechanism.law(x) for x in middles]
    readings = range(len(loss.table.rows[0]))
    total: Number = Fraction(0)
    for y in range(len(mechanism.channel.outputs)):
        weights = [mass * law[y] for mass, law in zip(masses, laws, strict=True)]
        total = total + min(
            sum((p * loss.exact(x, w) for p, x in zip(weights, middles, strict=True)), Fraction(0)) for w in readings
        )
    return total


def lemma8() -> Item:
    """Both sides, for two densities, two mechanisms and two losses."""
    rows: list[list[Value]] = []
    labels: list[str] = []
    for count in (2, 3, 5):
        grid = unit_grid(count)
        mechanisms: tuple[tuple[str, Channel], ...] = (
            ("geometric", grid_geometric(grid, alpha(Fraction(1, 2**count)))),
            ("response", response(count + 1, alpha("1/3")).channel()),
        )
        for density in densities():
            for name, mechanism in mechanisms:
                table = distance_loss(grid, square=name == "response")
                continuous_side = continuous_loss(density, Stepped(grid, mechanism), SteppedLoss(grid, table))
                grid_side = Consumer(pixelate(density, grid), table).expected_loss(mechanism)
                rows.append([continuous_side, require_exact(grid_side)])
                labels.append(f"N = {count}, {density.name}, {name}")
    return statement_item(
        "Lemma 8",
        "losses on the interval, by Def. 2 over pieces of cells, and on U_N; |w−x| and |w−x|²",
        "$(π, M_N, ℓ_N) = $(π_N, M, ℓ)",
        LabelledMatrix("case", ("$(π, M_N, ℓ_N)", "$(π_N, M, ℓ)"), labels, rows),
        all(row[0] == row[1] for row in rows),
    )


def lemma9_bounds(count: int, cells: int, rate: str) -> tuple[Number, Number, Number]:
    """e^(−ε/N)·$(π_N, K_N, ℓ), $(π, K, ℓ) and e^(ε/N)·$(π_N, K_N, ℓ) for K = ᵀL, uniform π and |w − ⌊x⌋_N|."""
    grid, level = unit_grid(count), epsilon(rate)
    consumer = Consumer(pixelate(uniform_density(grid.interval), grid), distance_loss(grid))
    outer = require_exact(consumer.expected_loss(cell_laplace(grid, cells, level)))
    middle = require_exact(consumer.expected_loss(averaged_laplace(grid, cells, level)))
    ratio = level.power(grid.step)
    return outer * ratio, middle, outer / ratio


def lemma9() -> Item:
    """The sandwich, closing as N grows."""
    counts = (2, 4, 8)
    bounds = [lemma9_bounds(count, 4, "2") for count in counts]
    rows: list[list[Value]] = [
        [decimal_below(low), decimal(middle), decimal_above(high)] for low, middle, high in bounds
    ]
    columns = ("e^(−ε/N)·$(π_N, K_N, ℓ)", "$(π, K, ℓ)", "e^(ε/N)·$(π_N, K_N, ℓ)")
    return statement_item(
        "Lemma 9",
        "K = ᵀL with T = 4, which is ε-private on the interval; ε = 2, uniform density, ℓ = |w − ⌊x⌋_N|",
        "e^(−ε/N)·$(π_N, K_N, ℓ) ≤ $(π, K, ℓ) ≤ e^(ε/N)·$(π_N, K_N, ℓ) for N-step ℓ",
        LabelledMatrix("N", columns, [f"N = {count}" for count in counts], rows),
        all(low <= middle <= high for low, middle, high in bounds),
        "decided on the exact numbers, sums of powers of e; the decimals are theirs",
    )


def off_grid_loss(grid: PixelGrid, factor: int) -> Table:
    """|w − x|² on U_N for readings `factor` times as dense."""
    return losses.matrix([[abs(x - w) ** 2 for w in grid.interval.grid(factor * grid.count)] for x in grid.points])


def lemma10() -> Item:
    """G_N against the best private mechanism on U_N, found by the program; readings on and off the grid."""
    rows: list[list[Value]] = []
    labels: list[str] = []
    gaps: list[Number] = []
    for count in (2, 4):
        grid = unit_grid(count)
        step, peaked_prior = grid.level(paper_level()), pixelate(densities()[1], grid)
        cases = {
            "uniform, |w−x|": Consumer(priors.uniform(count + 1), distance_loss(grid)),
            "peak, |w−x|²": Consumer(peaked_prior, distance_loss(grid, square=True)),
            "peak, |w−x|², readings off the grid": Consumer(peaked_prior, off_grid_loss(grid, 4)),
        }
        for name, consumer in cases.items():
            design = by_program(line(count + 1), step, consumer)
            rows.append([require_exact(consumer.expected_loss(grid_geometric(grid, paper_level()))), design.loss])
            labels.append(f"N = {count}, {name}")
            gaps.append(design.certificate.gap)
    return statement_item(
        "Lemma 10",
        "expected losses on U_N, ε = 4 ln 2",
        "$(π_N, G_N, ℓ_N) ≤ $(π, M_N, ℓ_N) for every ε-private M",
        LabelledMatrix("case", ("G_N", "the best mechanism, by the program"), labels, rows),
        all(row[0] == row[1] for row in rows) and not any(gaps),
        "every optimum is certified with gap 0",
    )


def lemma16() -> Item:
    """ℓ_N on U_N as Def. 7 has it: legal but for x = 1, where it is looked up at 1 − 1/N."""
    grid = unit_grid(4)
    stepped = SteppedLoss(grid, distance_loss(grid))
    readings = range(grid.count + 1)
    rows = [[stepped.exact(x, w) for w in readings] for x in grid.points]
    inner = [row[:-1] for row in rows[:-1]]
    lines: list[Claim] = [
        ("ℓ_N is monotone on U_N", True, legality(losses.matrix(rows), grid.count + 1).legal),
        ("ℓ_N is monotone on U_N without 1", True, legality(losses.matrix(inner), grid.count).legal),
        ("ℓ_N(w, x) = ℓ(w, x) at w = x = 1", Fraction(0), stepped.exact(1, grid.count)),
        ("π_N(1), uniform density", Fraction(0), pixelate(densities()[0], grid).exact()[-1]),
    ]
    note = (
        "⌊1⌋_N = 1, but Def. 7 takes ℓ_N(w, 1) from 1 − 1/N. It does no harm: π_N(1) = 0, so what a reading costs "
        "at x = 1 is never paid"
    )
    return claims_item("Lemma 16", "ℓ = |w−x|, T = N = 4", lines, note)
