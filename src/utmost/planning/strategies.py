"""Strategies side by side for a workload and a budget: variances, gains, and how far from what is possible.

All variances are balls, printed from above. Gaussian noise counts with its σ², which its variance is at most. Answers
that are brought back to an end count as unbounded, and totals that are known do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from utmost import notebook
from utmost.errors import InputError
from utmost.exact import ball_endpoints, rational
from utmost.exact.working_precision import working_precision
from utmost.planning.bounds import NormBound, norm_bound
from utmost.planning.designs import (
    Partition,
    TableDesign,
    branched_design,
    crossed_design,
    tree_design,
)
from utmost.planning.matrices import MAX_MATRIX_CELLS, MatrixModel
from utmost.planning.regular import regular_model
from utmost.planning.shares import EPSILON, RHO, planned_shares
from utmost.planning.trees import tree_model
from utmost.planning.workloads import MARGINALS, Workload, parse_workload
from utmost.tables import Column, ResultTable, Tabular

if TYPE_CHECKING:
    from flint import arb

BITS = 192
MAX_EPSILON, MIN_PRICE, MAX_RHO = 1000, Fraction(1, 10**9), 10**6
FANOUTS = (2, 4, 8, 16)
ALONE, EQUAL, PLANNED, STATED = "cells alone", "equal shares", "planned shares", "stated shares"


@dataclass(frozen=True, slots=True)
class Price:
    """A price in ε or ρ, and how far a unit moves what it pays for.

    `rows` of a unit may be in one cell; `is_replaced` says that a unit moves from cell to cell, and `may_leave` that it
    can also go to none. `moves` says by how much a unit moves a level of one part and one of several, for ρ squared.
    """

    measure: str
    amount: Fraction
    rows: int = 1
    is_replaced: bool = False
    may_leave: bool = True

    def precision(self, share: Fraction, move: int) -> arb:
        """1/variance of the answers of a level, from this share of the price."""
        from flint import arb, fmpq

        if not share:
            return arb(0)
        part = self.amount * share / move
        exact = arb(fmpq(part.numerator, part.denominator))
        return 2 * exact if self.measure == RHO else exact.cosh() - 1

    @property
    def unit_precision(self) -> arb:
        """1/V: no strategy has more squared length of scaled answers for a row that comes or goes."""
        return self.precision(Fraction(1), self.rows**2 if self.measure == RHO else self.rows)

    @property
    def score_square(self) -> arb:
        """The same for any unbiased mechanism: the largest E s² of rows that come or go, over their number squared."""
        from flint import arb, fmpq

        amount = arb(fmpq(self.amount.numerator, self.amount.denominator))
        square = (2 * amount).expm1() if self.measure == RHO else 2 * (amount.cosh() - 1)
        return square / self.rows**2


@dataclass(frozen=True, slots=True)
class Strategy:
    """Levels with shares of the price: variance of each level and of the workload, upper bounds; None: no estimate.

    `gain` is how many times less variance the workload has than from the cells alone. No linear unbiased strategy has
    less than 1/`c` of this variance, no unbiased mechanism less than 1/`c_any`.
    """

    name: str
    levels: tuple[str, ...]
    shares: tuple[Fraction, ...]
    level_variances: tuple[Fraction | None, ...]
    variance: Fraction | None
    gain: Fraction | None
    c: Fraction | None
    c_any: Fraction | None


@dataclass(frozen=True, repr=False)
class StrategyComparison(Tabular):
    """Strategies for one table, workload and price; `least_variance` is a lower bound for linear unbiased ones."""

    name: str
    cells: int
    workload: str
    measure: str
    amount: Fraction
    strategies: tuple[Strategy, ...]
    least_variance: Fraction
    least_any: Fraction
    weights: str

    @cached_property
    def best(self) -> Strategy:
        """The strategy of least variance."""
        return min(self.strategies, key=lambda one: (one.variance is None, one.variance or 0))

    def __repr__(self) -> str:
        """The best and how good it is."""
        best = self.best
        c = "" if best.c is None else f", c {float(best.c):.4g}"
        return f"<StrategyComparison of {len(self.strategies)} for {self.workload}: {best.name}{c}>"

    def _repr_html_(self) -> str:
        return notebook.report_html(self, "strategies")

    def plot(self) -> notebook.Figure:
        """The variance of the workload under each strategy, and what no strategy falls below."""
        return notebook.draw_figure(self, "strategies")

    def _result_table(self) -> ResultTable:
        """A row for each level of each strategy, and one for its workload, which has no level."""
        rows: list[tuple[Any, ...]] = []
        for one in self.strategies:
            levels = zip(one.levels, one.shares, one.level_variances, strict=True)
            rows += [(one.name, level, share, variance, None, None) for level, share, variance in levels]
            rows.append((one.name, None, Fraction(1), one.variance, one.gain, one.c))
        strategy, level, share, variance, gain, c = zip(*rows, strict=True)
        return ResultTable(
            (
                Column.labels("strategy", strategy),
                Column.labels("level", level),
                Column.values("share", share),
                Column.upper("variance", variance),
                Column.lower("gain", gain),
                Column.upper("c", c),
            )
        )


@dataclass(frozen=True, eq=False)
class Candidate:
    """A strategy to be measured: its design and shares, None where they are to be planned; moves of each level."""

    name: str
    design: TableDesign
    shares: tuple[Fraction, ...] | None
    moves: tuple[int, ...]


def design_model(design: TableDesign, workload: Workload, partitions: tuple[Partition, ...] | None = None) -> Any:
    """How variances of a design are computed; refused where it has no shape and too many cells."""
    parts = design.levels if partitions is None else partitions
    tree = tree_model(design, parts, workload)
    if tree is not None and workload.runs is not None and not tree.chain.has_cells_in_order:
        return tree  # which keeps the cells of a part together in prefix sums and ranges
    model = regular_model(design.factors, parts, workload) or tree
    if model is not None:
        return model
    if design.size > MAX_MATRIX_CELLS:
        problem = "levels must be a hierarchy, or of columns that are crossed in full"
        raise InputError(
            f"{problem}, in a table of more than {MAX_MATRIX_CELLS} cells that is planned, got {design.size}",
            "levels",
            "take other, zeros or the levels that are no hierarchy out",
        )
    return MatrixModel(parts, workload, design.size)


def measure_candidates(
    name: str, candidates: Sequence[Candidate], workload: Workload, price: Price, cell_move: int
) -> StrategyComparison:
    """All variances of the candidates, beside those of the cells alone, and the bound."""
    design = candidates[0].design
    with working_precision(BITS):
        alone_model = design_model(design, workload, (design.cells,))
        bound = norm_bound(design, workload, alone_model)
        least, least_any = _least_variances(bound, price)
        alone = _cells_alone(candidates, cell_move)
        baseline = _measured(alone, workload, price)
        rows = [baseline, *(_measured(candidate, workload, price) for candidate in candidates)]
        strategies = tuple(_strategy(row, baseline[3], least, least_any) for row in rows)
        return StrategyComparison(
            name, design.size, workload.name, price.measure, price.amount, strategies,
            _lower(least), _lower(least_any), bound.weights,
        )  # fmt: skip


def _cells_alone(candidates: Sequence[Candidate], cell_move: int) -> Candidate:
    """Nothing but the cells, beside levels that all candidates have."""
    design = candidates[0].design
    shared = design.levels if all(one.design is design for one in candidates) else ()
    levels = [level for level in shared if level.size < design.size]
    finest = next((level for level in shared if level.size == design.size), design.cells)
    shares = (*[Fraction(0)] * len(levels), Fraction(1))
    return Candidate(ALONE, TableDesign(design.codes, (*levels, finest)), shares, (cell_move,) * len(shares))


Measured = tuple[Candidate, tuple[Fraction, ...], "list[arb | None]", "arb | None"]


def _measured(candidate: Candidate, workload: Workload, price: Price) -> Measured:
    model = design_model(candidate.design, workload)
    shares = candidate.shares or planned_shares(model, candidate.moves, price.measure)
    precisions = [price.precision(share, move) for share, move in zip(shares, candidate.moves, strict=True)]
    return candidate, shares, *model.variances(precisions)


def _least_variances(bound: NormBound, price: Price) -> tuple[arb, arb]:
    """What linear unbiased strategies, and all unbiased mechanisms, have at least."""
    options = [bound.replaced] if price.is_replaced else [bound.added]
    if price.is_replaced and price.may_leave:
        options.append(bound.added)
    norm = max(options, key=lambda one: float(one.lower()))
    return norm / price.unit_precision, norm / price.score_square


def _strategy(row: Measured, alone: arb | None, least: arb, least_any: arb) -> Strategy:
    candidate, shares, levels, variance = row
    return Strategy(
        candidate.name,
        tuple(level.name for level in candidate.design.levels),
        shares,
        tuple(None if value is None else _upper(value) for value in levels),
        None if variance is None else _upper(variance),
        _gain(alone, variance),
        _upper(variance / least) if variance is not None and least > 0 else None,
        _upper(variance / least_any) if variance is not None and least_any > 0 else None,
    )


def _gain(alone: arb | None, variance: arb | None) -> Fraction | None:
    """How many times less variance than the cells alone; they themselves have 1."""
    if alone is None or variance is None:
        return None
    return Fraction(1) if alone is variance else _lower(alone / variance)


def _upper(value: arb) -> Fraction:
    return ball_endpoints(value)[1]


def _lower(value: arb) -> Fraction:
    return max(ball_endpoints(value)[0], Fraction(0))


def check_price(epsilon: object, rho: object) -> tuple[str, Fraction]:
    """The measure and the amount: one of the two is given."""
    if (epsilon is None) == (rho is None):
        raise InputError("epsilon or rho must be given, one of the two", "epsilon", "say for instance epsilon 1")
    measure, name = (RHO, "rho") if epsilon is None else (EPSILON, "epsilon")
    amount = rational(rho if epsilon is None else epsilon, name)
    most = MAX_RHO if measure == RHO else MAX_EPSILON
    if not MIN_PRICE <= amount <= most:
        raise InputError(f"{name} must be from 10^-9 to {most}, got another", name)
    return measure, amount


def compare_strategies(
    workload: str = "levels",
    *,
    epsilon: object = None,
    rho: object = None,
    cells: int | None = None,
    tree: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
) -> StrategyComparison:
    """Strategies for a workload and a budget: of `cells` in a row, of a `tree` whose cells have so many parts at each
    level, or of crossed `columns` of so many values. One row is a unit, which comes or goes.

    >>> comparison = compare_strategies("levels", rho="0.005", tree=[8, 8])
    >>> [(one.name, round(float(one.gain), 2), round(float(one.c), 4)) for one in comparison.strategies]
    [('cells alone', 1.0, 9.5504), ('equal shares', 9.52, 1.003), ('planned shares', 9.55, 1.0)]
    """
    given = [name for name, value in (("cells", cells), ("tree", tree), ("columns", columns)) if value is not None]
    if len(given) != 1:
        raise InputError("cells, tree or columns must be given, one of them", "cells", "say for instance tree 8x8")
    price = Price(*check_price(epsilon, rho))
    if cells is not None:
        return _compare_branchings(cells, workload, price)
    design = tree_design(tree) if tree is not None else crossed_design(columns or (), _ways(workload, columns or ()))
    name = "×".join(str(size) for size in tree or columns or ())
    moves = (1,) * len(design.levels)
    equal = (Fraction(1, len(moves)),) * len(moves)
    candidates = [Candidate(EQUAL, design, equal, moves), Candidate(PLANNED, design, None, moves)]
    kind = "tree" if tree is not None else "columns"
    return measure_candidates(f"{kind} {name}", candidates, parse_workload(workload, design), price, 1)


def _ways(workload: str, columns: Sequence[int]) -> int:
    """How many columns the levels of a crossed design have at most: those of the workload, or all."""
    word, _, digits = workload.partition(":")
    is_marginal = word == MARGINALS and digits.isascii() and digits.isdigit()
    return int(digits[:4]) if is_marginal and 1 <= int(digits[:4]) <= len(columns) else len(columns)


def _compare_branchings(cells: int, workload: str, price: Price) -> StrategyComparison:
    """Blocks of blocks of cells, of several sizes, each with the shares that suit the workload."""
    fanouts = [fanout for fanout in FANOUTS if fanout < cells] or [2]
    designs = [branched_design(cells, fanout) for fanout in fanouts]
    if workload == "levels" or workload.startswith(MARGINALS):
        raise InputError("workload must be cells, prefix or ranges of cells in a row, got another", "workload")
    candidates = [
        Candidate(f"blocks of {fanout}", design, None, (1,) * len(design.levels))
        for fanout, design in zip(fanouts, designs, strict=True)
    ]
    return measure_candidates(f"{cells} cells", candidates, parse_workload(workload, designs[0]), price, 1)
