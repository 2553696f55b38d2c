"""FMM21 §IV-D, Lemma 11, Thm 12 and Figure 1: Laplace answers as post-processed geometric ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.channel import Channel, channel, identity
from utmost.consumer import priors
from utmost.continuous.laplace_from_geometric import mixture_spans, post_processing
from utmost.continuous.pixelation import cell_laplace, grid_geometric
from utmost.exact import Level, alpha, decimal
from utmost.papers.fmm21.matrices import sixteen, unit
from utmost.papers.items import Claim, Grid, Item, Series, Value, claims, found, statement
from utmost.qif import hyper, hyper_distance, refinement
from utmost.qif.hyper import Hyper

CELLS = 8  # T of Figure 1
INPUTS = (Fraction(0), Fraction(1, 2), Fraction(1))
SLICE = (Fraction(3, 8), Fraction(1, 2))  # the vertical slice of Figure 1(a)


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return section4d(), figure1a(), figure1b(), lemma11(), lemma11_between(), theorem12()


def twelfths() -> Level:
    """A level at which all powers α^(k/12) are fractions: (3/4)^12, ε ≈ 3.45."""
    return alpha(Fraction(3, 4) ** 12)


def section4d() -> Item:
    """An earth move exists between any two hypers with one prior: from telling nothing to telling all, for instance."""
    prior = priors.uniform(3)
    silent, telling = channel([[1]] * 3), identity(range(3))
    cost = hyper_distance(hyper(prior, silent), hyper(prior, telling), INPUTS).cost
    lines: list[Claim] = [
        ("an earth move from [⊙▷silent] to [⊙▷telling] exists", True, cost > 0),
        ("so, by (b), silent ⊑ telling", True, refinement(silent, telling).refines),
    ]
    note = (
        f"the move costs {cost}. What (b) must ask is that every posterior of Δ′ be the mean of what arrives at it: "
        "the moves that R makes are of this kind"
    )
    return claims("Section IV-D(b)", "refinement as an earth move", lines, note)


def figure1a() -> Item:
    """The mass of the slice for each input, and the densities whose area it is."""
    level = sixteen()
    rows = cell_laplace(unit(2), CELLS, level)
    slot = rows.outputs.index(str(SLICE[0]))
    cells: list[list[Value]] = [[rows.rows[k, slot], decimal(rows.rows[k, slot])] for k in range(len(INPUTS))]
    grid = Grid("input", ("mass of the cell", "about"), [str(x) for x in INPUTS], cells)
    made = found(
        "Figure 1(a)",
        f"Laplace densities for three inputs, ε = 4 ln 2; what falls in the cell from {SLICE[0]} to {SLICE[1]}, T = 8",
        grid,
        series=(*(_density(x, level) for x in INPUTS), *(_area(k, level) for k in range(len(INPUTS)))),
    )
    return replace(made, claim="Telling the cell of a Laplace answer makes a channel: its entries are areas")


def _density(x: Fraction, level: Level) -> Series:
    places = tuple(k / 100 for k in range(-50, 151))
    return Series(f"input {x}", "output y", "density", places, _heights(x, places, level))


def _area(k: int, level: Level) -> Series:
    """What input k has in the slice, in the colour of its density."""
    low, high = map(float, SLICE)
    places = tuple(low + (high - low) * j / 25 for j in range(26))
    heights = _heights(INPUTS[k], places, level)
    return Series(
        f"[{SLICE[0]}, {SLICE[1]}) of input {INPUTS[k]}", "output y", "density", places, heights, False, k, True
    )


def _heights(x: Fraction, places: Iterable[float], level: Level) -> tuple[float, ...]:
    rate = level.epsilon
    return tuple(rate / 2 * math.exp(-rate * abs(y - float(x))) for y in places)


def hypers(cells: int) -> tuple[Hyper, Hyper]:
    """[⊙▷G_2] and [⊙▷ᵀL] at ε = 4 ln 2."""
    grid, prior = unit(2), priors.uniform(3)
    return hyper(prior, grid_geometric(grid, sixteen())), hyper(prior, cell_laplace(grid, cells, sixteen()))


def figure1b() -> Item:
    """Three orange points, eight blue ones, each between two neighbouring orange ones."""
    grid = unit(2)
    orange, blue = hypers(CELLS)
    shares = post_processing(grid, CELLS, sixteen())
    lines: list[Claim] = [
        ("posteriors of [⊙▷G_2]", 3, len(orange.outers)),
        ("posteriors of [⊙▷⁸L]", CELLS, len(blue.outers)),
        (
            "the blue points are within the hull of the orange ones",
            True,
            _is_post(shares, grid_geometric(grid, sixteen())),
        ),
        (
            "each lies between two neighbours",
            True,
            all(b - a <= 1 for a, *_, b in mixture_spans(grid, CELLS, sixteen())),
        ),
    ]
    made = claims("Figure 1(b)", "the supports of [⊙▷G_2] and [⊙▷⁸L], inputs 0, 1/2, 1, ε = 4 ln 2", lines)
    return replace(made, draw=lambda: _simplex(orange, blue))


def _is_post(shares: Channel, source: Channel) -> bool:
    """Is it a channel, and does it make ᵀL of the geometric mechanism: so each column is a mean of geometric ones."""
    return bool(all(v >= 0 for v in shares.rows.flat)) and source.then(shares) == cell_laplace(
        unit(2), CELLS, sixteen()
    )


def _simplex(orange: Hyper, blue: Hyper) -> Any:
    from utmost import charts

    dots = [
        charts.Posterior("", tuple(float(p) for p in group.inners[:, y]), 0.12, name)
        for name, group in (("geometric G_2", orange), ("Laplace, 8 cells", blue))
        for y in range(len(group.outers))
    ]
    title = "Every Laplace posterior lies between two neighbouring geometric ones"
    below = "FMM21 Figure 1(b): inputs 0, 1/2, 1, uniform prior, ε = 4 ln 2, T = 8"
    hull = [tuple(float(p) for p in orange.inners[:, y]) for y in range(len(orange.outers))]
    return charts.simplex_chart(("0", "1/2", "1"), title, below, region=hull, posteriors=dots)


def lemma11() -> Item:
    """R in closed form beside the verdict of the refinement program, for N and T that need not divide each other."""
    level = twelfths()
    cases = [(count, cells) for count in (2, 3, 4) for cells in (1, 2, 3, 4, 6, 12)]
    rows = [_refined(count, cells, level) for count, cells in cases]
    return statement(
        "Lemma 11",
        f"G_N ⊑ ᵀL at α = (3/4)^12, ε ≈ {decimal(level.epsilon, 4)}: decided, and by R in closed form",
        "for all integer T > 0, G_N ⊑ ᵀL",
        Grid("N, T", ("refines", "G_N·R = ᵀL"), [f"N = {count}, T = {cells}" for count, cells in cases], rows),
        all(all(row) for row in rows),
        "R[k, t] is a difference of hyperbolic cosines; no program is needed, for any N, T and ε",
    )


def _refined(count: int, cells: int, level: Level) -> list[Value]:
    grid = unit(count)
    source, target = grid_geometric(grid, level), cell_laplace(grid, cells, level)
    shares = post_processing(grid, cells, level)
    return [refinement(source, target).refines, source.then(shares) == target and _stochastic(shares)]


def _stochastic(shares: Channel) -> bool:
    return all(value >= 0 for value in shares.rows.flat) and all(row.sum() == 1 for row in shares.rows)


def lemma11_between() -> Item:
    """How many geometric posteriors a Laplace one mixes: two if N divides T, else more."""
    level, counts, several = twelfths(), (2, 3, 4, 6), (2, 3, 4, 6, 12)
    most = [
        [max(len(span) for span in mixture_spans(unit(count), cells, level)) for cells in several] for count in counts
    ]
    rows: list[list[Value]] = [list(line) for line in most]
    divided = [most[i][j] <= 2 for i, n in enumerate(counts) for j, t in enumerate(several) if t % n == 0]
    other = [most[i][j] > 2 for i, n in enumerate(counts) for j, t in enumerate(several) if t % n]
    return statement(
        "Theorem 13, between neighbours",
        "the most geometric posteriors that one Laplace posterior is a mixture of",
        "each Laplace posterior lies in between adjacent geometric ones, provided that N divides T",
        Grid("N", [f"T = {cells}" for cells in several], [f"N = {count}" for count in counts], rows),
        all(divided) and all(other),
        "and only then, in every case here",
    )


def theorem12() -> Item:
    """The chain: ᵀ′L ⊑ ᵀL decided for pairs of T; and R without cells."""
    grid, level, several = unit(4), twelfths(), (1, 2, 3, 4, 6, 12)
    made = {cells: cell_laplace(grid, cells, level) for cells in several}
    rows = [[refinement(made[fine], made[coarse]).refines for coarse in several] for fine in several]
    divided = [rows[i][j] for i, fine in enumerate(several) for j, coarse in enumerate(several) if fine % coarse == 0]
    cells: list[list[Value]] = [list(row) for row in rows]
    return statement(
        "Theorem 12",
        "is the row's ᵀL refined by the column's, N = 4",
        "the ᵀL form an anti-refinement chain above L; G_N ⊑ L",
        Grid("T", [f"T = {t}" for t in several], [f"T = {t}" for t in several], cells),
        all(divided),
        "a chain needs each T to divide the next. That G_N ⊑ L needs no chain: on U_N the column of an answer y is a "
        "combination of those of the two points next to it, with sinh for weights",
    )
