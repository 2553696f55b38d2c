"""FMM21 §VIII, last remarks, and §X: losses with steps, for which Laplace noise is beaten, and for which it is not."""

from __future__ import annotations

from fractions import Fraction

from utmost.consumer import Consumer, losses
from utmost.consumer.losses import Table
from utmost.continuous.laplace_optimality import Band
from utmost.continuous.pixelation import PixelGrid
from utmost.exact import decimal, decimal_above
from utmost.papers.fmm21.margins import COMPARISON_COLUMNS, compare_with_best, level_with_32nd_roots, trial_priors
from utmost.papers.fmm21.matrices import unit_grid
from utmost.papers.items import Item, LabelledMatrix, Value, statement_item

RATES = (1, 2, 3, 8, 25)


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return section8_band(), section10_steps()


def section8_band() -> Item:
    """A loss of 0 and 1 with steps at 1/4 and 3/4: the least of all private mechanisms, in closed form, and Laplace."""
    bands = [Band(Fraction(rate)) for rate in RATES]
    loss_bounds = [(band.best(), *band.laplace()) for band in bands]
    rows: list[list[Value]] = [
        [decimal(best), decimal_above(upper), f"{float(upper / best) - 1:.1%}"] for best, _, upper in loss_bounds
    ]
    return statement_item(
        "Section VIII, step functions",
        "is x inside [1/4, 3/4]? A wrong answer costs 1; uniform density",
        "the Laplace mechanism is not in general universally optimal wrt. arbitrary step functions",
        LabelledMatrix("ε", ("least of all", "Laplace", "more by"), [str(rate) for rate in RATES], rows),
        all(lower > best for best, lower, _ in loss_bounds),
        "the first is what the mechanism loses that says outside with probability F(|x − 1/2| − 1/4), F the Laplace "
        "distribution function. It is ε-private on the interval; that nothing private loses less is proved at "
        "continuous.optimality.Band",
    )


def section10_steps() -> Item:
    """Two losses that are monotone and not continuous in x: 0 within 1/8 and else 1, and the 2-step |w − ⌊x⌋_2|."""
    level = level_with_32nd_roots()
    cases = [("0 within 1/8, else 1", count) for count in (4, 8, 16)] + [("|w − ⌊x⌋_2|", count) for count in (4, 8)]
    comparisons = [
        compare_with_best(Consumer(trial_priors(n)["leaning"], _step_loss(name, unit_grid(n))), unit_grid(n), level)
        for name, n in cases
    ]
    return statement_item(
        "Sections VIII and X, continuity",
        "monotone losses with steps in x on finer and finer grids; leaning prior",
        "the loss must be continuous; for N-step losses the Laplace mechanism is not optimal",
        LabelledMatrix(
            "loss, grid",
            COMPARISON_COLUMNS,
            [f"{name}, U_{count}" for name, count in cases],
            [row for row, _ in comparisons],
        ),
        not all(verdict for _, verdict in comparisons),
        "it is, among the mechanisms that are ε-private on the interval: cosh(ε/2N) needs no Lipschitz constant, and a "
        "grid N times as fine sees the steps of a bounded loss wrongly in few cells only",
    )


def _step_loss(name: str, grid: PixelGrid) -> Table:
    if name.startswith("0"):
        return losses.matrix([[int(abs(x - w) > Fraction(1, 8)) for w in grid.points] for x in grid.points])
    return losses.matrix(
        [[abs(unit_grid(2).points[unit_grid(2).cell(x)] - w) for w in grid.points] for x in grid.points]
    )
