"""FMM21 §IV-D, Lemma 11, Thm 12 and Figure 1: Laplace answers as post-processed geometric ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.channel import Channel, channel, identity
from utmost.consumer import priors
from utmost.continuous.laplace_optimality import mixture_spans, post_processing
from utmost.continuous.pixelation import cell_laplace, grid_geometric
from utmost.exact import Level, alpha, decimal
from utmost.papers.fmm21.matrices import paper_level, unit_grid
from utmost.papers.items import Claim, Item, LabelledMatrix, Series, Value, claims_item, computed_item, statement_item
from utmost.qif import hyper, hyper_distance, refinement
from utmost.qif.hyper import Hyper

FIGURE_CELLS = 8  # T of Figure 1
FIGURE_INPUTS = (Fraction(0), Fraction(1, 2), Fraction(1))
FIGURE_SLICE = (Fraction(3, 8), Fraction(1, 2))  # the vertical slice of Figure 1(a)


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return section4d(), figure1a(), figure1b(), lemma11(), lemma11_between(), theorem12()


def level_with_twelfth_roots() -> Level:
    """A level at which all powers α^(k/12) are fractions: (3/4)^12, ε ≈ 3.45."""
    return alpha(Fraction(3, 4) ** 12)


def section4d() -> Item:
    """An earth move exists between any two hypers with one prior: from constant to identity, for instance."""
    prior = priors.uniform(3)
    constant, revealing = channel([[1]] * 3), identity(range(3))
    cost = hyper_distance(hyper(prior, constant), hyper(prior, revealing), FIGURE_INPUTS).cost
    lines: list[Claim] = [
        ("an earth move from [⊙▷silent] to [⊙▷telling] exists", True, cost > 0),
        ("so, by (b), silent ⊑ telling", True, refinement(constant, revealing).refines),
    ]
    note = (
        f"the move costs {cost}. What (b) must ask is that every posterior of Δ′ be the mean of what arrives at it: "
        "the moves that R makes are of this kind"
    )
    return claims_item("Section IV-D(b)", "refinement as an earth move", lines, note)


def figure1a() -> Item:
    """The mass of the slice for each input, and the densities whose area it is."""
    level = paper_level()
    rows = cell_laplace(unit_grid(2), FIGURE_CELLS, level)
    column_index = rows.outputs.index(str(FIGURE_SLICE[0]))
    cells: list[list[Value]] = [
        [rows.rows[k, column_index], decimal(rows.rows[k, column_index])] for k in range(len(FIGURE_INPUTS))
    ]
    grid = LabelledMatrix("input", ("mass of the cell", "about"), [str(x) for x in FIGURE_INPUTS], cells)
    item = computed_item(
        "Figure 1(a)",
        f"Laplace densities for three inputs, ε = 4 ln 2; what falls in the cell from {FIGURE_SLICE[0]} to "
        f"{FIGURE_SLICE[1]}, T = 8",
        grid,
        series=(
            *(_density_series(x, level) for x in FIGURE_INPUTS),
            *(_area_series(k, level) for k in range(len(FIGURE_INPUTS))),
        ),
    )
    return replace(item, claim="Telling the cell of a Laplace answer makes a channel: its entries are areas")


def _density_series(x: Fraction, level: Level) -> Series:
    outputs = tuple(k / 100 for k in range(-50, 151))
    return Series(f"input {x}", "output y", "density", outputs, _density_heights(x, outputs, level))


def _area_series(k: int, level: Level) -> Series:
    """What input k has in the slice, in the colour of its density."""
    low, high = map(float, FIGURE_SLICE)
    outputs = tuple(low + (high - low) * j / 25 for j in range(26))
    heights = _density_heights(FIGURE_INPUTS[k], outputs, level)
    return Series(
        f"[{FIGURE_SLICE[0]}, {FIGURE_SLICE[1]}) of input {FIGURE_INPUTS[k]}",
        "output y",
        "density",
        outputs,
        heights,
        False,
        k,
        True,
    )


def _density_heights(x: Fraction, outputs: Iterable[float], level: Level) -> tuple[float, ...]:
    rate = level.epsilon
    return tuple(rate / 2 * math.exp(-rate * abs(y - float(x))) for y in outputs)


def both_hypers(cells: int) -> tuple[Hyper, Hyper]:
    """[⊙▷G_2] and [⊙▷ᵀL] at ε = 4 ln 2."""
    grid, prior = unit_grid(2), priors.uniform(3)
    return hyper(prior, grid_geometric(grid, paper_level())), hyper(prior, cell_laplace(grid, cells, paper_level()))


def figure1b() -> Item:
    """Three orange points, eight blue ones, each between two neighbouring orange ones."""
    grid = unit_grid(2)
    geometric_hyper, laplace_hyper = both_hypers(FIGURE_CELLS)
    refinement_matrix = post_processing(grid, FIGURE_CELLS, paper_level())
    lines: list[Claim] = [
        ("posteriors of [⊙▷G_2]", 3, len(geometric_hyper.outers)),
        ("posteriors of [⊙▷⁸L]", FIGURE_CELLS, len(laplace_hyper.outers)),
        (
            "the blue points are within the hull of the orange ones",
            True,
            _makes_cell_laplace(refinement_matrix, grid_geometric(grid, paper_level())),
        ),
        (
            "each lies between two neighbours",
            True,
            all(b - a <= 1 for a, *_, b in mixture_spans(grid, FIGURE_CELLS, paper_level())),
        ),
    ]
    item = claims_item("Figure 1(b)", "the supports of [⊙▷G_2] and [⊙▷⁸L], inputs 0, 1/2, 1, ε = 4 ln 2", lines)
    return replace(item, draw=lambda: _simplex_chart(geometric_hyper, laplace_hyper))


def _makes_cell_laplace(refinement_matrix: Channel, source: Channel) -> bool:
    """Is it a channel, and does it make ᵀL of the geometric mechanism: so each column is a mean of geometric ones."""
    return bool(all(v >= 0 for v in refinement_matrix.rows.flat)) and source.then(refinement_matrix) == cell_laplace(
        unit_grid(2), FIGURE_CELLS, paper_level()
    )


def _simplex_chart(geometric_hyper: Hyper, laplace_hyper: Hyper) -> Any:
    from utmost import charts

    dots = [
        charts.Posterior("", tuple(float(p) for p in group.inners[:, y]), 0.12, name)
        for name, group in (("geometric G_2", geometric_hyper), ("Laplace, 8 cells", laplace_hyper))
        for y in range(len(group.outers))
    ]
    title = "Every Laplace posterior lies between two neighbouring geometric ones"
    subtitle = "FMM21 Figure 1(b): inputs 0, 1/2, 1, uniform prior, ε = 4 ln 2, T = 8"
    hull = [tuple(float(p) for p in geometric_hyper.inners[:, y]) for y in range(len(geometric_hyper.outers))]
    return charts.simplex_chart(("0", "1/2", "1"), title, subtitle, region=hull, posteriors=dots)


def lemma11() -> Item:
    """R in closed form beside the verdict of the refinement program, for N and T that need not divide each other."""
    level = level_with_twelfth_roots()
    cases = [(count, cells) for count in (2, 3, 4) for cells in (1, 2, 3, 4, 6, 12)]
    rows = [_refinement_row(count, cells, level) for count, cells in cases]
    return statement_item(
        "Lemma 11",
        f"G_N ⊑ ᵀL at α = (3/4)^12, ε ≈ {decimal(level.epsilon, 4)}: decided, and by R in closed form",
        "for all integer T > 0, G_N ⊑ ᵀL",
        LabelledMatrix(
            "N, T", ("refines", "G_N·R = ᵀL"), [f"N = {count}, T = {cells}" for count, cells in cases], rows
        ),
        all(all(row) for row in rows),
        "R[k, t] is a difference of hyperbolic cosines; no program is needed, for any N, T and ε",
    )


def _refinement_row(count: int, cells: int, level: Level) -> list[Value]:
    grid = unit_grid(count)
    source, target = grid_geometric(grid, level), cell_laplace(grid, cells, level)
    refinement_matrix = post_processing(grid, cells, level)
    return [
        refinement(source, target).refines,
        source.then(refinement_matrix) == target and _is_stochastic(refinement_matrix),
    ]


def _is_stochastic(source: Channel) -> bool:
    return all(value >= 0 for value in source.rows.flat) and all(row.sum() == 1 for row in source.rows)


def lemma11_between() -> Item:
    """How many geometric posteriors a Laplace one mixes: two if N divides T, else more."""
    level, counts, cell_counts = level_with_twelfth_roots(), (2, 3, 4, 6), (2, 3, 4, 6, 12)
    span_sizes = [
        [max(len(span) for span in mixture_spans(unit_grid(count), cells, level)) for cells in cell_counts]
        for count in counts
    ]
    rows: list[list[Value]] = [list(line) for line in span_sizes]
    divisible_cases = [
        span_sizes[i][j] <= 2 for i, n in enumerate(counts) for j, t in enumerate(cell_counts) if t % n == 0
    ]
    other_cases = [span_sizes[i][j] > 2 for i, n in enumerate(counts) for j, t in enumerate(cell_counts) if t % n]
    return statement_item(
        "Theorem 13, between neighbours",
        "the most geometric posteriors that one Laplace posterior is a mixture of",
        "each Laplace posterior lies in between adjacent geometric ones, provided that N divides T",
        LabelledMatrix("N", [f"T = {cells}" for cells in cell_counts], [f"N = {count}" for count in counts], rows),
        all(divisible_cases) and all(other_cases),
        "and only then, in every case here",
    )


def theorem12() -> Item:
    """The chain: ᵀ′L ⊑ ᵀL decided for pairs of T; and R without cells."""
    grid, level, cell_counts = unit_grid(4), level_with_twelfth_roots(), (1, 2, 3, 4, 6, 12)
    channels = {cells: cell_laplace(grid, cells, level) for cells in cell_counts}
    rows = [[refinement(channels[fine], channels[coarse]).refines for coarse in cell_counts] for fine in cell_counts]
    divisible_cases = [
        rows[i][j] for i, fine in enumerate(cell_counts) for j, coarse in enumerate(cell_counts) if fine % coarse == 0
    ]
    cells: list[list[Value]] = [list(row) for row in rows]
    return statement_item(
        "Theorem 12",
        "is the row's ᵀL refined by the column's, N = 4",
        "the ᵀL form an anti-refinement chain above L; G_N ⊑ L",
        LabelledMatrix("T", [f"T = {t}" for t in cell_counts], [f"T = {t}" for t in cell_counts], cells),
        all(divisible_cases),
        "a chain needs each T to divide the next. That G_N ⊑ L needs no chain: on U_N the column of an answer y is a "
        "combination of those of the two points next to it, with sinh for weights",
    )
