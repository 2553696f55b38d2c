"""All answers of a table read together: posterior means, intervals, the best table, least squares and draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from utmost.consumer import losses
from utmost.consumer.losses import Loss
from utmost.errors import InputError, UndecidedError
from utmost.exact import rational
from utmost.joint.best_table import best_table
from utmost.joint.draws import CellSum, cell_sum, draw_tables, max_draws
from utmost.joint.laws import Ints
from utmost.joint.least_squares import LeastSquares, least_squares
from utmost.joint.partial_sums import partial_sums
from utmost.joint.posterior import Posterior, posterior
from utmost.joint.prior import EVIDENCE_GRID, Divisions, parse_prior
from utmost.joint.tree import CountTree, Key
from utmost.joint.windows import MISS_PROBABILITY, Windows, windows
from utmost.noise.entropy import EntropySource
from utmost.notebook import Figure, draw_figure, report_html
from utmost.tables import Column, ResultTable, Tabular, unique_columns

DEFAULT_DRAWS = 1000  # for the interval of a sum of cells
NUMBER_COLUMNS = ("level", "answer", "mean", "low", "high", "best", "unbiased", "unbiased_low", "unbiased_high")


@dataclass(frozen=True, slots=True)
class LinearEstimate:
    """The best linear unbiased estimate of a count, the variance of it, and its normal interval."""

    value: Fraction
    variance: Fraction
    interval: tuple[float, float]


@dataclass(frozen=True, repr=False)
class TableEstimate(Tabular):
    """What a reader with this prior and loss makes of a table; every mapping is by key, () is the total.

    `posterior` is exact given that no window misses, which has probability at least 1 − `left_out` whatever the table
    is: an interval with c of the posterior holds the truth with probability at least (1 − left_out)·c under the prior.
    """

    tree: CountTree
    prior: Divisions
    loss: Loss
    coverage: float
    posterior: Posterior
    least_squares: LeastSquares

    @property
    def left_out(self) -> Fraction:
        """β: the probability that a window misses its count is at most this, for every table."""
        return self.posterior.windows.miss

    @cached_property
    def mean(self) -> Mapping[Key, float]:
        """The posterior means: parts add up to their wholes."""
        return dict(zip(self.tree.keys, self.posterior.means.tolist(), strict=True))

    @cached_property
    def interval(self) -> Mapping[Key, tuple[int, int]]:
        """Credible intervals of each count, with at most (1 − coverage)/2 of its posterior beyond each end."""
        return dict(zip(self.tree.keys, self.posterior.intervals(self.coverage), strict=True))

    @cached_property
    def table(self) -> Mapping[Key, int]:
        """The table of least expected loss among all whole non-negative ones that add up."""
        return dict(zip(self.tree.keys, best_table(self.posterior, self.loss), strict=True))

    @cached_property
    def gls(self) -> Mapping[Key, LinearEstimate | None]:
        """The best linear unbiased estimates, which need no prior and may be negative; None where there is none."""
        return {key: self._linear(node) for node, key in enumerate(self.tree.keys)}

    def _linear(self, node: int) -> LinearEstimate | None:
        value, variance = self.least_squares.estimates[node], self.least_squares.variances[node]
        interval = self.least_squares.interval(node, self.coverage)
        if value is None or variance is None or interval is None:
            return None
        return LinearEstimate(value, variance, interval)

    def draws(self, count: int, *, source: EntropySource | None = None) -> Mapping[Key, Ints]:
        """Independent tables from the posterior, whole and adding up: of each key its count in each table."""
        tables = draw_tables(self.posterior, count, source)
        return {key: tables[node] for node, key in enumerate(self.tree.keys)}

    def sum(self, keys: Iterable[Key], draws: int | None = None) -> CellSum:
        """The sum of cells that do not overlap: its posterior mean, and an interval from so many draws.

        Where their number is left out, they are 1000, or as many as can be drawn at once of a table of many cells.
        """
        nodes = [self._node(tuple(key)) for key in keys]
        count = min(DEFAULT_DRAWS, max_draws(self.posterior)) if draws is None else draws
        return cell_sum(self.posterior, nodes, draw_tables(self.posterior, count), self.coverage)

    def _node(self, key: Key) -> int:
        widths = [len(columns) for columns in self.tree.columns]
        if len(key) not in widths:
            raise InputError(f"key must be one of the table's, got one of {len(key)} values", "key")
        return self.tree.node(widths.index(len(key)), key)

    def level_name(self, level: int) -> str:
        """The columns of a level, or the total."""
        return ", ".join(self.tree.columns[level]) or "total"

    def __repr__(self) -> str:
        """A line: how many cells, the prior and the loss."""
        return f"<TableEstimate of {self.tree.size} counts: prior {self.prior.name}, loss {self.loss.name}>"

    def _repr_html_(self) -> str:
        return report_html(self, "joint_estimate")

    def plot(self) -> Figure:
        """A chart of the estimates with their intervals beside the answers, a panel for each level."""
        return draw_figure(self, "joint_estimate")

    def _result_table(self) -> ResultTable:
        """A row for each count: its level and keys, its answer if it has a single one, and its readings."""
        tree, nodes = self.tree, range(self.tree.size)
        finest = tree.columns[-1]
        names = unique_columns(finest, NUMBER_COLUMNS)
        released = [tree.released(node) for node in nodes]
        answers = [values[0] if len(values) == 1 else None for values in released]
        linear, intervals = [self.gls[key] for key in tree.keys], list(self.interval.values())
        return ResultTable(
            (
                Column.labels("level", (self.level_name(level) for level in tree.levels)),
                *(
                    Column.labels(name, (key[place] if place < len(key) else None for key in tree.keys))
                    for place, name in enumerate(names)
                ),
                Column.values("answer", answers),
                Column.values("mean", self.mean.values()),
                Column.lower("low", (low for low, _ in intervals)),
                Column.upper("high", (high for _, high in intervals)),
                Column.values("best", self.table.values()),
                Column.values("unbiased", (None if one is None else one.value for one in linear)),
                Column.lower("unbiased_low", (None if one is None else one.interval[0] for one in linear)),
                Column.upper("unbiased_high", (None if one is None else one.interval[1] for one in linear)),
            )
        )


def estimate_table(
    tree: CountTree,
    prior: Divisions | str = "divisions",
    loss: Loss | str = "absolute",
    *,
    coverage: object = 0.95,
    left_out: object = MISS_PROBABILITY,
) -> TableEstimate:
    """Read all answers of a table together.

    >>> from utmost.exact import alpha
    >>> from utmost.joint.laws import GeometricNoise
    >>> from utmost.joint.tree import hierarchy
    >>> tree = hierarchy([["town"]], [("a",), ("b",), ("c",)]).with_answers(0, {(): 9}, GeometricNoise(alpha("1/2")))
    >>> tree = tree.with_answers(1, {("a",): 6, ("b",): 0, ("c",): 0}, GeometricNoise(alpha("1/2")))
    >>> estimate = estimate_table(tree)
    >>> estimate.table, round(estimate.mean["a",], 2), estimate.interval["a",]
    ({(): 8, ('a',): 6, ('b',): 1, ('c',): 1}, 6.22, (3, 9))
    """
    chosen_loss = losses.parse(loss) if isinstance(loss, str) else loss
    share = coverage if isinstance(coverage, float) else float(rational(coverage, "coverage"))
    if not 0 < share < 1:
        raise InputError("coverage must be strictly between 0 and 1, got another: 0.95 is usual", "coverage")
    miss = Fraction(left_out) if isinstance(left_out, float) else rational(left_out, "left_out")
    guide, within = least_squares(tree), windows(partial_sums(tree), miss)
    result = _chosen_posterior(parse_prior(prior), within, guide)
    return TableEstimate(tree, result.prior, chosen_loss, share, result, guide)


def _chosen_posterior(prior: Divisions, within: Windows, guide: LeastSquares) -> Posterior:
    """The posterior; where the prior has no parameter, with that of the largest probability of all answers.

    Parameters with which doubles do not hold the weights are left out, unless they all are.
    """
    if prior.a is not None:
        return posterior(within, prior, guide)
    best: Posterior | None = None
    for a in EVIDENCE_GRID:
        with suppress(UndecidedError):
            result = posterior(within, Divisions(a), guide)
            best = result if best is None or result.log_evidence > best.log_evidence else best
    return best or posterior(within, Divisions(), guide)
