"""Several quantiles of a column at once, in order, by recursive halving (Kaplan, Schnapp and Stemmer 2022).

The middle probability is chosen on the whole grid, as one quantile is. It splits the grid at its value v: the left side
has the positions ≤ v and the rows below v, the right side the positions ≥ v and the rows above it, and each row at v
counts half on either side. Each side is asked for its probabilities in the same way, relative to its ends:
(p − left)/(right − left), where the ends are 0, 1 or probabilities that were answered before. So answers never cross,
and m probabilities take L = ⌈log2(m + 1)⌉ levels.

**Privacy.** Given the choices of the levels above, a row has weights w_i ≥ 0 in the choices of one level, and they add
up to at most 1. Let M_i = max(p_i, 1 − p_i) for the relative probability p_i of choice i; losses are counted in rows.

* add-remove: a row moves the losses of choice i by at most w_i·M_i. At the rate e/(2·M_i) the choice costs w_i·e, and
  all choices of the level cost e together.
* replace: one row leaves with weights w_i and another comes with weights u_i. What both have in common, min(w_i, u_i),
  moves the losses by at most itself, the rest by at most M_i·|w_i − u_i|. At the rate e/(4·M_i) that costs at most
  e·(min(w_i, u_i)/(2·M_i) + |w_i − u_i|/2) ≤ e·(w_i + u_i)/2, since 2·M_i ≥ 1, and e for the level. On a level with one
  choice the losses move by at most min(w, u) + M·|w − u| ≤ 1, so the rate e/2 costs e.

With k rows of a unit everything is k times as much, so rates are divided by k. With e = ε/L all levels cost ε.

**In cells.** Each cell has a tree of its own over its own rows, and a row is in at most one cell. So given the choices
of the levels above in all cells, the weights of a row in the choices of one level in all cells add up to at most 1, and
both arguments hold with all of these choices in the place of those of one tree: the rates e/(2·M_i) and e/(4·M_i) cost
e for the level. Under replace no level has one choice alone any more: a row may leave one cell (w = 1) and enter
another (u = 1), and move the losses of both by M. So the rate is e/(4·M_i) for every choice.

**Error.** A choice is fewer than T_i rows off its own target, except with a probability that `QuantileTree` bounds for
all choices of a level together. Its target lies between those of the two ends, so it is off by at most as many rows as
the worse of them, and a split is off by what its choice is, and by half of the rows at v. So no answer is further off
than the sum over the levels of the largest T_i, and half of the rows at one value for each level above the last. In
cells this holds of each cell, in rows of that cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data.grid import Grid
from utmost.data.selection import Key
from utmost.errors import InputError
from utmost.exact import decimal, decimal_above, plain_decimal
from utmost.noise import system_source
from utmost.noise.row_sampling import PreparedChoice, draw_permute_and_flip, prepare_choice
from utmost.queries.answer_mechanisms.choice import QuantileTree
from utmost.queries.answer_mechanisms.mechanism import (
    EXACT_SCHEMA,
    NUMBER_ROOM,
    AccuracyTarget,
    ConfidenceLaw,
    Drawn,
    ErrorLaw,
)
from utmost.queries.number_column import NumberQuery, parse_grid, parse_nulls
from utmost.queries.query import ALTERED, NO_CLAIM, AnswerDraw, ExactAnswer, FaceValue, SelectedMechanism

if TYPE_CHECKING:
    from utmost.data.cells import Grouping
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

MAX_QUANTILE_CANDIDATES = 10**4  # steps of a quantile's grid
MAX_CELL_CANDIDATES = 2 * 10**6  # grid values of all choices in all cells
MAX_PROBABILITY_DENOMINATOR = 10**6
MAX_PROBABILITIES = 99
POSITION_SCHEMA = {"type": "integer", "minimum": 0}
QUANTILES_REMARK = (
    "Quantiles are drawn by a law that depends on all rows, so there is no posterior for any prior: they are read at "
    "face value. With probability {0} % fewer than {1} rows lie on the wrong side of each of them, besides half of the "
    "rows that share a value, for each of {2} levels but the last, with values clamped to their bounds and rounded to "
    "their steps."
)


@dataclass(frozen=True, slots=True)
class Split:
    """One choice of the tree: which probability it answers, relative to its ends, on which level; and its two sides."""

    index: int
    relative: Fraction
    level: int
    left: Split | None
    right: Split | None

    @property
    def movement(self) -> Fraction:
        """M, the most by which one row that comes or goes moves its losses, in rows."""
        return max(self.relative, 1 - self.relative)


def build_tree(probabilities: Sequence[Fraction]) -> Split:
    """The tree of choices for probabilities that rise.

    >>> tree = build_tree([Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)])
    >>> tree.index, str(tree.left.relative), str(tree.right.relative)
    (1, '1/2', '4/5')
    """

    def build(first: int, last: int, low: Fraction, high: Fraction, level: int) -> Split | None:
        if first > last:
            return None
        middle = (first + last) // 2
        own = probabilities[middle]
        left, right = build(first, middle - 1, low, own, level + 1), build(middle + 1, last, own, high, level + 1)
        return Split(middle, (own - low) / (high - low), level, left, right)

    tree = build(0, len(probabilities) - 1, Fraction(0), Fraction(1), 0)
    assert tree is not None
    return tree


def splits(tree: Split | None) -> list[Split]:
    """All choices of a tree, in the order of their probabilities."""
    return [] if tree is None else [*splits(tree.left), tree, *splits(tree.right)]


@dataclass(frozen=True, slots=True)
class Quantiles(NumberQuery):
    """The grid values below and at which the shares `probabilities` of the values lie."""

    kind: ClassVar[str] = "quantile"
    noun: ClassVar[str] = "quantiles"
    drawn_keys: ClassVar[tuple[str, ...]] = ("value", "positions")

    column: str
    grid: Grid
    probabilities: tuple[Fraction, ...]
    nulls: Fraction | None
    where: str | None = None

    def __post_init__(self) -> None:
        """Check the shares, the size and the number that stands in for a missing one."""
        for share in self.probabilities:
            check_share(share, "probabilities")
        if not 1 <= len(self.probabilities) <= MAX_PROBABILITIES or not _rises(self.probabilities):
            raise InputError(
                f"probabilities must be from 1 to {MAX_PROBABILITIES} shares that rise, got others", "probabilities"
            )
        check_rank_grid(self.grid)
        self.check_nulls()

    @property
    def tree(self) -> Split:
        """The choices that answer it."""
        return build_tree(self.probabilities)

    @property
    def levels(self) -> int:
        """L = ⌈log2(m + 1)⌉."""
        return len(self.probabilities).bit_length()

    @classmethod
    def parse(cls, fields: Fields) -> Quantiles:
        """The quantiles in a table of a plan or a release."""
        shares = tuple(fields.numbers("probabilities"))
        return cls(fields.text("column"), parse_grid(fields), shares, parse_nulls(fields), fields.text("where", None))

    def plan_entries(self) -> dict[str, Any]:
        """Column, bounds, step, what a missing value is, and the shares."""
        return NumberQuery.plan_entries(self) | {"probabilities": list(self.probabilities)}

    def content(self) -> dict[str, Any]:
        """The same, as a release file has it."""
        return NumberQuery.content(self) | {"probabilities": [str(share) for share in self.probabilities]}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Column, grid, shares, grid values and their positions."""
        shares, positions = {"type": "array", "items": EXACT_SCHEMA}, {"type": "array", "items": POSITION_SCHEMA}
        return NumberQuery.schema() | {"probabilities": shares, "positions": positions, "value": shares}

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """How many rows are at each position."""
        return table.position_counts(setting.selection(self), self.values)

    def rank_answer(self, counts: list[int]) -> ExactAnswer:
        """How many rows are at each position."""
        return counts

    def check_cells(self, number: int) -> None:
        """Refuse more losses in all cells, on all levels, than are worked out."""
        check_cell_grids(self.grid, number * self.levels)

    def cell_answers(self, table: Table, setting: PrivacySetting, grouping: Grouping) -> list[ExactAnswer]:
        """How many rows of each cell are at each position."""
        return table.cell_position_counts(setting.selection(self), grouping, self.values)

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Each level at ε/L; a unit that is replaced in cells moves all of them together by twice its rows."""
        unit_cost = epsilon / self.levels
        rates = tuple(unit_cost / (2 * movement) for movement in self._movements(setting))
        moved_rows = (2 if setting.grouped and setting.replacing else 1) * setting.unit.bound
        return SelectedMechanism(QuantileTree(rates, self.grid.size + 1), self.levels * moved_rows, NO_CLAIM, "any")

    def _movements(self, setting: PrivacySetting) -> list[Fraction]:
        """What the losses of each choice are taken to move by, in rows: costs of one level add up to the largest."""
        choices = splits(self.tree)
        levels = [choice.level for choice in choices]
        return [setting.unit.bound * _row_movement(choice, levels.count(choice.level), setting) for choice in choices]

    def actual_epsilon(self, mechanism: QuantileTree, setting: PrivacySetting) -> Fraction:
        """The sum over the levels of the largest cost of a choice, 2·rate·movement."""
        costs = [Fraction(0)] * self.levels
        for choice, rate, movement in zip(splits(self.tree), mechanism.rates, self._movements(setting), strict=True):
            costs[choice.level] = max(costs[choice.level], 2 * rate * movement)
        return sum(costs, Fraction(0))

    def prepare_draw(self, mechanism: QuantileTree) -> AnswerDraw:
        """The positions, and the values that they stand for."""
        scale = 1 << (self.levels - 1)
        choices = tuple(
            prepare_choice(rate / (scale * choice.relative.denominator))
            for choice, rate in zip(splits(self.tree), mechanism.rates, strict=True)
        )
        return partial(_draw_quantiles, self.grid, self.tree, choices, scale)

    def value_room(self, mechanism: QuantileTree) -> int:
        """Room for grid values and their positions."""
        return len(self.probabilities) * 2 * (NUMBER_ROOM + 2 * len(f"{self.grid.low}{self.grid.high}{self.grid.step}"))

    def _least_rates(self, mechanism: QuantileTree) -> list[Fraction]:
        """The least rate of each level."""
        choices = list(zip(splits(self.tree), mechanism.rates, strict=True))
        return [min(rate for choice, rate in choices if choice.level == level) for level in range(self.levels)]

    def error_law(self, mechanism: QuantileTree) -> ErrorLaw:
        """How many rows lie on the wrong side of the worst."""
        self.check_step()
        return mechanism.error_law(self._least_rates(mechanism))

    def confidence_law(self, mechanism: QuantileTree, target: AccuracyTarget) -> ConfidenceLaw:
        """The probability, at least, that few rows lie on the wrong side of each."""
        return mechanism.confidence_law(target, self._least_rates(mechanism))

    @property
    def cells(self) -> tuple[tuple[Key, ...], ...]:
        """The shares."""
        return tuple((str(share),) for share in self.probabilities)

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The column of the shares."""
        return ("probability",)

    @property
    def values_noun(self) -> str:
        """What its values are."""
        return "values"

    def face_value(self, mechanism: QuantileTree, coverage: float) -> FaceValue:
        """The rows that lie on the wrong side of each, at most, with this probability."""
        rank = mechanism.rank_bound(self._least_rates(mechanism), coverage)
        rows = plain_decimal(rank, 4, decimal_above)
        return FaceValue(QUANTILES_REMARK.format(decimal(100 * coverage, 4), rows, self.levels), rank)

    def read_drawn(self, fields: Fields) -> Drawn:
        """The grid values and their positions."""
        positions = fields.items("positions")
        if not all(isinstance(position, int) and not isinstance(position, bool) for position in positions):
            raise InputError("positions must be a list of whole numbers", "positions", context="release")
        values = tuple(fields.numbers("value"))
        return Drawn(values, {"positions": positions})

    def check_drawn(self, mechanism: QuantileTree, drawn: Drawn) -> None:
        """Refuse values that are not those of their positions, and values that cross."""
        positions, last = drawn.details["positions"], self.grid.size
        is_ordered = positions == sorted(positions) and len(positions) == len(self.probabilities)
        if not (is_ordered and all(0 <= position <= last for position in positions)):
            raise InputError("positions must rise, one for each probability, got others", "positions", ALTERED)
        if drawn.value != tuple(self.grid.value(position) for position in positions):
            raise InputError("value must be those of its positions on the grid, got others", "value", ALTERED)


def check_share(probability: Fraction, field: str) -> None:
    """Refuse a share that is none, or that no sensible plan has."""
    if not 0 <= probability <= 1:
        raise InputError(f"{field} must be from 0 to 1, got {probability}", field, "the median is 1/2")
    if probability.denominator > MAX_PROBABILITY_DENOMINATOR:
        raise InputError(f"{field} must be a fraction with a denominator up to 10^6", field, "round it")


def check_rank_grid(grid: Grid) -> None:
    """Refuse a grid with more positions than a choice is made from."""
    if grid.size > MAX_QUANTILE_CANDIDATES:
        raise InputError(
            f"step must leave at most {MAX_QUANTILE_CANDIDATES} steps for a quantile, got {grid.size}", "step"
        )


def check_cell_grids(grid: Grid, number: int) -> None:
    """Refuse so many choices, each from the whole grid, in all cells."""
    candidates = number * (grid.size + 1)
    if candidates > MAX_CELL_CANDIDATES:
        problem = f"keys must leave at most {MAX_CELL_CANDIDATES} grid values to choose from in all cells"
        raise InputError(f"{problem}, got {candidates}", "keys", "take fewer cells or a coarser step")


def _rises(shares: Sequence[Fraction]) -> bool:
    return all(first < second for first, second in pairwise(shares))


def _row_movement(choice: Split, level_size: int, setting: PrivacySetting) -> Fraction:
    """M under add-remove; under replace 2·M, or 1 where it is alone on its level and in one table."""
    if not setting.replacing:
        return choice.movement
    return Fraction(1) if level_size == 1 and not setting.grouped else 2 * choice.movement


def rank_losses(counts: Sequence[int], probability: Fraction) -> list[int]:
    """The loss of each position, from how many values are at each: whole numbers.

    >>> rank_losses([1, 0, 3, 0], Fraction(1, 2))
    [2, 2, 0, 4]
    """
    denominator, target = probability.denominator, probability.numerator * sum(counts)
    losses, smaller = [], 0
    for count in counts:
        losses.append(max(0, denominator * smaller - target, target - denominator * (smaller + count)))
        smaller += count
    return losses


def _draw_quantiles(
    grid: Grid, tree: Split, choices: tuple[PreparedChoice, ...], scale: int, truth: ExactAnswer
) -> Drawn:
    """Level after level; the sides of one level cover the grid once, whatever is drawn. Counts are halved exactly."""
    positions, source = [0] * len(choices), system_source()
    sides: list[tuple[Split | None, int, list[int]]] = [(tree, 0, [scale * count for count in truth])]
    while sides:
        split, first, counts = sides.pop()
        if split is None:
            continue
        place = draw_permute_and_flip(rank_losses(counts, split.relative), choices[split.index], source)
        positions[split.index] = first + place
        half = counts[place] >> 1
        sides.append((split.left, first, [*counts[:place], half]))
        sides.append((split.right, first + place, [half, *counts[place + 1 :]]))
    return Drawn(tuple(grid.value(position) for position in positions), {"positions": positions})
