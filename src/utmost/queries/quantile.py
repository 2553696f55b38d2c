"""Quantiles of the values of a column on a grid.

A quantile at p = s/t is drawn by permute-and-flip from the grid's positions j with the loss
max(0, t·#{x < j} − s·n, s·n − t·#{x ≤ j}), t times how many values lie on the wrong side of j. One row that comes or
goes moves t·# − s·n by t − s or s; one that moves, by t. So the loss moves by at most k·max(s, t − s) under add-remove
and by k·t under replace, with k rows kept of a unit. The intervals [#{x < j}, #{x ≤ j}] cover 0 … n, so some j has
loss 0. The mechanism has ε = 2·rate·sensitivity (`PermuteAndFlip`), as the exponential mechanism has (McSherry and
Talwar 2007), by which releases were drawn before.

**Quantiles in cells.** If a unit takes a_c rows from cell c and brings b_c, the losses of that cell move by at most
(a_c + b_c)·max(s, t − s), and its choice has ε_c = 2·rate·(a_c + b_c)·max(s, t − s). The choices are independent, so
the ε_c add up: all cells together move by k·max(s, t − s) under add-remove, and by 2k·max(s, t − s) under replace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data.grid import Grid
from utmost.errors import InputError
from utmost.exact import decimal, decimal_above, plain_decimal, rational
from utmost.noise import system_source
from utmost.noise.row_sampling import PreparedChoice, draw_permute_and_flip, prepare_choice
from utmost.queries.answer_mechanisms.choice import ChoiceMechanism, PermuteAndFlip
from utmost.queries.answer_mechanisms.mechanism import (
    EXACT_SCHEMA,
    NUMBER_ROOM,
    AccuracyTarget,
    AnswerMechanism,
    ConfidenceLaw,
    Drawn,
    ErrorLaw,
)
from utmost.queries.calibration_form import (
    GRID_OPTIONS,
    CalibrationExample,
    CalibrationForm,
    CalibrationOption,
)
from utmost.queries.number_column import (
    COLUMN_FIELD,
    HIGH_FIELD,
    LOW_FIELD,
    NULLS_FIELD,
    STEP_FIELD,
    NumberQuery,
    grid_content,
    grid_from_options,
    parse_grid,
    parse_nulls,
)
from utmost.queries.quantiles import (
    POSITION_SCHEMA,
    Quantiles,
    check_cell_grids,
    check_rank_grid,
    check_share,
    rank_losses,
)
from utmost.queries.query import (
    ALTERED,
    NO_CLAIM,
    AnswerDraw,
    ExactAnswer,
    FaceValue,
    Query,
    QueryField,
    SelectedMechanism,
)

if TYPE_CHECKING:
    from utmost.data.cells import Grouping
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

QUANTILE_REMARK = (
    "A quantile is drawn by a law that depends on all rows, not on the true quantile alone, so there is no posterior "
    "for any prior: it is read at face value. With probability {0} % fewer than {1} rows lie on the wrong side of it, "
    "with values clamped to its bounds and rounded to its steps."
)


@dataclass(frozen=True, slots=True)
class Quantile(NumberQuery):
    """The grid value below and at which a share `probability` of the values lies."""

    kind: ClassVar[str] = "quantile"
    noun: ClassVar[str] = "quantile"
    calibration: ClassVar[CalibrationForm | None] = CalibrationForm(
        "Find the least ε for the rank error of a quantile.",
        (
            *GRID_OPTIONS,
            CalibrationOption("probability", "Which quantile; 1/2 is the median.", "Q", default="1/2"),
        ),
        error_help="Bound on the rows on the wrong side, exclusive.",
        error_metavar="T",
    )
    fields: ClassVar[tuple[QueryField, ...]] = (
        COLUMN_FIELD,
        LOW_FIELD,
        HIGH_FIELD,
        STEP_FIELD,
        NULLS_FIELD,
        QueryField("probability", "Share below", "number", "1/2 is the median.", default="1/2"),
        QueryField(
            "probabilities",
            "Or several shares",
            "text",
            "1/4, 1/2, 3/4 are answered together, in order; leave the share empty.",
            instead_of="probability",
        ),
    )

    drawn_keys: ClassVar[tuple[str, ...]] = ("value", "position")

    column: str
    grid: Grid
    probability: Fraction
    nulls: Fraction | None
    where: str | None = None

    def __post_init__(self) -> None:
        """Check the share, the size and the number that stands in for a missing one."""
        check_share(self.probability, "probability")
        check_rank_grid(self.grid)
        self.check_nulls()

    @property
    def loss_per_row(self) -> int:
        """t, the loss of one row on the wrong side."""
        return self.probability.denominator

    @classmethod
    def forms(cls) -> tuple[type[Query], ...]:
        """One quantile, and several."""
        return cls, Quantiles

    @classmethod
    def form(cls, fields: Fields) -> type[Query]:
        """Several quantiles where `probabilities` are given."""
        if fields.raw("probabilities", None) is None:
            return cls
        if fields.raw("probability", None) is not None:
            raise fields.error("probabilities", "must not be given beside probability", "leave one of them out")
        return Quantiles

    @classmethod
    def parse(cls, fields: Fields) -> Quantile:
        """The quantile in a table of a plan or a release."""
        probability = fields.number("probability")
        return cls(
            fields.text("column"), parse_grid(fields), probability, parse_nulls(fields), fields.text("where", None)
        )

    def plan_entries(self) -> dict[str, Any]:
        """Column, bounds, step, what a missing value is, and the share."""
        return NumberQuery.plan_entries(self) | {"probability": self.probability}

    def content(self) -> dict[str, Any]:
        """The same, as a release file has it."""
        return NumberQuery.content(self) | {"probability": str(self.probability)}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Column, grid, share, a grid value and its position."""
        return NumberQuery.schema() | {"probability": EXACT_SCHEMA, "position": POSITION_SCHEMA}

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """The loss of each position."""
        return self.losses(table.position_counts(setting.selection(self), self.values))

    def check_cells(self, number: int) -> None:
        """Refuse more losses in all cells than are worked out."""
        check_cell_grids(self.grid, number)

    def cell_answers(self, table: Table, setting: PrivacySetting, grouping: Grouping) -> list[ExactAnswer]:
        """The loss of each position in each cell."""
        cells = table.cell_position_counts(setting.selection(self), grouping, self.values)
        return [self.losses(counts) for counts in cells]

    def rank_answer(self, counts: list[int]) -> ExactAnswer:
        """The loss of each position."""
        return self.losses(counts)

    def losses(self, counts: list[int]) -> list[int]:
        """The loss of each position of the grid, from how many values are at each: whole numbers.

        >>> grid = Grid(Fraction(0), Fraction(3), Fraction(1))
        >>> Quantile("x", grid, Fraction(1, 2), None).losses([1, 0, 3, 0])
        [2, 2, 0, 4]
        """
        return rank_losses(counts, self.probability)

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Permute-and-flip at the rate ε/(2·sensitivity)."""
        return self._select(PermuteAndFlip, epsilon, setting)

    def select_stated_mechanism(
        self, stated: AnswerMechanism, epsilon: Fraction, setting: PrivacySetting
    ) -> SelectedMechanism:
        """The exponential mechanism at the same rate, where a file of an earlier version names it."""
        is_old = stated.name == ChoiceMechanism.name
        return self._select(ChoiceMechanism if is_old else PermuteAndFlip, epsilon, setting)

    def _select(self, choice: type[ChoiceMechanism], epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        sensitivity = self._sensitivity(setting)
        mechanism = choice(epsilon / (2 * sensitivity), self.grid.size + 1)
        return SelectedMechanism(mechanism, sensitivity, NO_CLAIM, "any")

    def _sensitivity(self, setting: PrivacySetting) -> int:
        denominator, numerator = self.probability.denominator, self.probability.numerator
        largest = max(numerator, denominator - numerator)
        replaced = 2 * largest if setting.grouped else denominator
        return (replaced if setting.replacing else largest) * setting.unit.bound

    def actual_epsilon(self, mechanism: ChoiceMechanism, setting: PrivacySetting) -> Fraction:
        """Twice the rate times the sensitivity."""
        return 2 * mechanism.rate * self._sensitivity(setting)

    def prepare_draw(self, mechanism: ChoiceMechanism) -> AnswerDraw:
        """A position, and the value that it stands for."""
        return partial(_draw_quantile, self.grid, prepare_choice(mechanism.rate))

    def value_room(self, mechanism: ChoiceMechanism) -> int:
        """Room for a grid value and its position."""
        return NUMBER_ROOM + 2 * len(f"{self.grid.low}{self.grid.high}{self.grid.step}")

    def error_law(self, mechanism: ChoiceMechanism) -> ErrorLaw:
        """How many rows lie on the wrong side."""
        self.check_step()
        return mechanism.error_law(self.loss_per_row)

    def confidence_law(self, mechanism: ChoiceMechanism, target: AccuracyTarget) -> ConfidenceLaw:
        """The probability, at least, that few rows lie on the wrong side."""
        return mechanism.confidence_law(target, self.loss_per_row)

    def face_value(self, mechanism: ChoiceMechanism, coverage: float) -> FaceValue:
        """The rows that lie on the wrong side, at most, with this probability."""
        rank = mechanism.rank_bound(self.loss_per_row, coverage)
        return FaceValue(
            QUANTILE_REMARK.format(decimal(100 * coverage, 4), plain_decimal(rank, 4, decimal_above)), rank
        )

    @classmethod
    def calibration_example(cls, options: Mapping[str, Any]) -> CalibrationExample:
        """The query that the options of the command describe."""
        grid, probability = grid_from_options(options), rational(options["probability"], "probability")
        query = cls("value", grid, probability, None)
        return CalibrationExample(query, "a quantile", {"probability": str(probability), **grid_content(grid)})

    def read_drawn(self, fields: Fields) -> Drawn:
        """The grid value and its position."""
        return Drawn(fields.number("value"), {"position": fields.integer("position")})

    def check_drawn(self, mechanism: ChoiceMechanism, drawn: Drawn) -> None:
        """Refuse a value that is not that of its position."""
        position = drawn.details["position"]
        if not (0 <= position <= self.grid.size and drawn.value == self.grid.value(position)):
            raise InputError("value must be that of its position on the grid, got another", "value", ALTERED)


def _draw_quantile(grid: Grid, choice: PreparedChoice, truth: ExactAnswer) -> Drawn:
    position = draw_permute_and_flip(truth, choice, system_source())
    return Drawn(grid.value(position), {"position": position})
