"""The least and the greatest value of a column on a grid.

The loss of position j is the number of rows on its wrong side: #{x < j} for the least value, #{x > j} for the greatest.
Every position on the far side of all rows has loss 0 too, so the mechanism may well choose one of those: an extreme
value belongs to one row, and privacy hides every row.

**Privacy.** Take the least value, and let a row that is not there be at +∞. A unit that comes, goes or is replaced
moves at most k rows. A row that moves down adds 0 or 1 to each loss, one that moves up takes 0 or 1 away. If u rows
move down and d up, losses move by −d … u, and u + d ≤ k: two of them move by amounts that differ by at most k. So
permute-and-flip has ε = rate·k (`PermuteAndFlip`), half of what a quantile with probability 0 has, under add-remove and
under replace. The greatest value is the same with the order reversed.

**In cells.** Let a unit take a_c rows from cell c and bring b_c. Pair as many of them as there are pairs: in that cell
max(a_c, b_c) rows move, each of them up or down, so by the above its choice has ε_c = rate·max(a_c, b_c). Cells have
independent noise, so the ε_c add up.

* add-remove: either all a_c or all b_c are 0, and Σ_c max(a_c, b_c) ≤ k. All cells together cost what one table does.
* replace: Σ_c max(a_c, b_c) ≤ Σ_c (a_c + b_c) ≤ 2k, with equality where the unit leaves cells and enters others.

Neither can be less for all grids. Let the positions be 0 … N. In a cell with n ≥ k rows at N − 1 and no others let k of
them go: N is chosen with probability e^(−rate·n)/(N + 1), then with e^(rate·k) times that. In a cell without rows let k
come to 0: it is chosen with probability 1/(N + 1), then with one that is e^(rate·k) times as large in the limit of
large N. A unit that is replaced can do both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data.grid import Grid
from utmost.exact import decimal, decimal_above, plain_decimal
from utmost.queries.answer_mechanisms.choice import ChoiceMechanism, PermuteAndFlip
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism, Drawn, ErrorLaw
from utmost.queries.number_column import (
    COLUMN_FIELD,
    HIGH_FIELD,
    LOW_FIELD,
    NULLS_FIELD,
    STEP_FIELD,
    NumberQuery,
    parse_grid,
    parse_nulls,
)
from utmost.queries.quantile import Quantile
from utmost.queries.quantiles import POSITION_SCHEMA, check_rank_grid, rank_losses
from utmost.queries.query import NO_CLAIM, AnswerDraw, ExactAnswer, FaceValue, QueryField, SelectedMechanism

if TYPE_CHECKING:
    from typing import Self

    from utmost.data.cells import Grouping
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.answer_mechanisms.mechanism import AccuracyTarget, ConfidenceLaw
    from utmost.queries.privacy_setting import PrivacySetting

RANK_NOUN = "rows beyond it"
NOTE = (
    "rows: at most so many lie beyond a {0}. Every grid value that no row lies beyond is as good to the mechanism, so "
    "it can be far from all rows; a quantile with probability {1} is usually what is wanted."
)
REMARK = (
    "With probability {0} % fewer than {1} rows lie beyond it. It can be far from all rows: every grid value that no "
    "row lies beyond was as likely. Ask for a quantile with probability {2} instead."
)


class Extreme(NumberQuery):
    """What the least and the greatest value share. A release file has its value and its position, as for a quantile."""

    __slots__ = ()

    drawn_keys: ClassVar[tuple[str, ...]] = Quantile.drawn_keys
    probability: ClassVar[Fraction]
    advice: ClassVar[str]  # the probability to ask for instead
    fields: ClassVar[tuple[QueryField, ...]] = (COLUMN_FIELD, LOW_FIELD, HIGH_FIELD, STEP_FIELD, NULLS_FIELD)

    column: str
    grid: Grid
    nulls: Fraction | None

    def _as_quantile(self) -> Quantile:
        return Quantile(self.column, self.grid, self.probability, self.nulls, self.where)

    @classmethod
    def parse(cls, fields: Fields) -> Self:
        """The query in a table of a plan or a release."""
        entries: tuple[Any, ...] = fields.text("column"), parse_grid(fields), parse_nulls(fields)
        return cls(*entries, fields.text("where", None))  # type: ignore[call-arg]

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Column, grid, a grid value and its position."""
        return NumberQuery.schema() | {"position": POSITION_SCHEMA}

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """The loss of each position."""
        return self._as_quantile().exact_answer(table, setting)

    def rank_answer(self, counts: list[int]) -> ExactAnswer:
        """How many rows lie beyond each position. Runs after the charge where cells are found: it cannot fail."""
        return rank_losses(counts, self.probability)

    def check_cells(self, number: int) -> None:
        """Refuse more losses in all cells than are worked out."""
        self._as_quantile().check_cells(number)

    def cell_answers(self, table: Table, setting: PrivacySetting, grouping: Grouping) -> list[ExactAnswer]:
        """The loss of each position in each cell."""
        return self._as_quantile().cell_answers(table, setting, grouping)

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Permute-and-flip at the rate ε/sensitivity."""
        sensitivity = _sensitivity(setting)
        mechanism = PermuteAndFlip(epsilon / sensitivity, self.grid.size + 1)
        return SelectedMechanism(mechanism, sensitivity, NO_CLAIM, "any")

    def actual_epsilon(self, mechanism: ChoiceMechanism, setting: PrivacySetting) -> Fraction:
        """The rate times the sensitivity: losses move apart by no more."""
        return mechanism.rate * _sensitivity(setting)

    def prepare_draw(self, mechanism: ChoiceMechanism) -> AnswerDraw:
        """A position, and the value that it stands for."""
        return self._as_quantile().prepare_draw(mechanism)

    def value_room(self, mechanism: ChoiceMechanism) -> int:
        """Room for a grid value and its position."""
        return self._as_quantile().value_room(mechanism)

    def error_law(self, mechanism: ChoiceMechanism) -> ErrorLaw:
        """How many rows lie beyond it, and what to ask for instead."""
        self.check_step()
        return mechanism.error_law(1, RANK_NOUN, NOTE.format(self.kind, self.advice))

    def confidence_law(self, mechanism: ChoiceMechanism, target: AccuracyTarget) -> ConfidenceLaw:
        """The probability, at least, that few rows lie beyond it."""
        return mechanism.confidence_law(target, 1)

    def face_value(self, mechanism: ChoiceMechanism, coverage: float) -> FaceValue:
        """The rows that lie beyond it, at most, with this probability."""
        rank = mechanism.rank_bound(1, coverage)
        rows = plain_decimal(rank, 4, decimal_above)
        return FaceValue(REMARK.format(decimal(100 * coverage, 4), rows, self.advice), rank)

    def read_drawn(self, fields: Fields) -> Drawn:
        """The grid value and its position."""
        return self._as_quantile().read_drawn(fields)

    def check_drawn(self, mechanism: AnswerMechanism, drawn: Drawn) -> None:
        """Refuse a value that is not that of its position."""
        assert isinstance(mechanism, ChoiceMechanism)
        self._as_quantile().check_drawn(mechanism, drawn)


@dataclass(frozen=True, slots=True)
class Min(Extreme):
    """The least value."""

    kind: ClassVar[str] = "min"
    noun: ClassVar[str] = "least value"
    probability: ClassVar[Fraction] = Fraction(0)
    advice: ClassVar[str] = "0.01"

    column: str
    grid: Grid
    nulls: Fraction | None
    where: str | None = None

    def __post_init__(self) -> None:
        """Check the size and the number that stands in for a missing one."""
        check_rank_grid(self.grid)
        self.check_nulls()


@dataclass(frozen=True, slots=True)
class Max(Extreme):
    """The greatest value."""

    kind: ClassVar[str] = "max"
    noun: ClassVar[str] = "greatest value"
    probability: ClassVar[Fraction] = Fraction(1)
    advice: ClassVar[str] = "0.99"

    column: str
    grid: Grid
    nulls: Fraction | None
    where: str | None = None

    def __post_init__(self) -> None:
        """Check the size and the number that stands in for a missing one."""
        check_rank_grid(self.grid)
        self.check_nulls()


def _sensitivity(setting: PrivacySetting) -> int:
    """k; 2k for a unit that is replaced in cells, since it may leave some and enter others."""
    return (2 if setting.grouped and setting.replacing else 1) * setting.unit.bound
