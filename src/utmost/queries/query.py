"""What a kind of query must supply. A kind is one module with a subclass of `Query`, and one line in `registry`.

Everything else asks the query: plan reader and writer, digest, preview, release file, readings, command line, studio
form and the table of kinds in docs/plan.md know no kind by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from utmost.data.candidates import ALL_ROWS, Candidates
from utmost.data.selection import Selection
from utmost.queries.answer_mechanisms.mechanism import AccuracyTarget, AnswerValue, ConfidenceLaw, Drawn, ErrorLaw
from utmost.queries.keys import key_name, key_to_json
from utmost.queries.moves import Moves

if TYPE_CHECKING:
    from utmost.data.cells import Cell, Grouping
    from utmost.data.found_cells import FoundKeys
    from utmost.data.row_sums import CellSums, Moments, RowSums
    from utmost.data.selection import Key, Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism
    from utmost.queries.calibration_form import CalibrationExample, CalibrationForm
    from utmost.queries.privacy_setting import PrivacySetting

METRIC_CLAIM = (
    "metric: the best mechanism for every prior and every legal loss among those that protect each step of the total "
    "with epsilon/sensitivity (GRS12 Thm 3.2 on the line of totals); nothing is claimed among all epsilon-private ones"
)
GAUSSIAN_CLAIM = (
    "none claimed: discrete Gaussian noise is taken for what many numbers cost together; that it is the best for any "
    "reader of one is not known"
)
UNIVERSAL_CANONICAL_CLAIM = (
    "universal: every reader who knows an upper end for this count, whatever the prior on it and the loss, if that "
    "does not fall away from the truth, loses as little as with any mechanism of the epsilon and the delta that this "
    "noise has, made for that reader alone (docs/canonical.md)"
)
PER_CELL_CANONICAL_CLAIM = (
    "per cell: each cell alone is answered as well as its epsilon and delta allow, for every reader of that cell "
    "(docs/canonical.md); for all cells at once nothing is claimed"
)
NO_CANONICAL_CLAIM = (
    "none claimed: canonical noise is known to be the best for every reader of a count that one unit moves by one alone"
)
NO_CLAIM = "none claimed: no mechanism is known to be the best for every reader of this query"
ALTERED = "this file was altered, ask for the one that utmost release wrote"

ValueRange = tuple[Fraction, Fraction]  # of values that the true one is among, with a stated probability
ExactAnswer = list[int]  # whole numbers that the mechanism adds noise to, or chooses by
AnswerDraw = Callable[[ExactAnswer], Drawn]


@dataclass(frozen=True, slots=True)
class QueryField:
    """A key of a plan that belongs to a kind of query, and its field in the studio's form.

    `input` is what is typed: a column, a column of numbers, several columns, a number, a text, public values of the
    column, columns with their public values, or a yes.
    `default` stands in the form at first. A field `instead_of` another is given where that one is left out.
    """

    name: str
    label: str
    input: Literal["column", "number column", "columns", "number", "text", "values", "keys", "truth"]
    hint: str = ""
    default: str = ""
    description: str = ""
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class SelectedMechanism:
    """How one query is answered: the mechanism, the sensitivity its ε is divided by, and the sense of optimality.

    `ledger_law` is what a ledger that composes privacy-loss distributions may assume: "geometric" where one lattice
    number moves by at most `sensitivity` steps, "canonical" where it does so with canonical noise, "gaussian" or
    "concentrated" of Gaussian noise, "any" otherwise. What Gaussian noise costs follows from the `moves` of the
    numbers.
    """

    mechanism: Any  # the AnswerMechanism that the kind's own methods take
    sensitivity: int
    optimal: str
    ledger_law: Literal["geometric", "any", "gaussian", "concentrated", "canonical"]
    moves: Moves | None = None  # of numbers with Gaussian noise

    @property
    def ledger_steps(self) -> int:
        """How far a number moves, in steps, as a ledger that composes privacy-loss distributions wants to know."""
        return self.sensitivity if self.moves is None else self.moves.steps


@dataclass(frozen=True, slots=True)
class FaceValue:
    """What a reader is told of an answer without a posterior; `rank` bounds the rows on the wrong side of its value."""

    remark: str
    rank: float | None = None


class Query(ABC):
    """A query of a plan: a frozen dataclass. Everything but `exact_answer` follows from public things; no row is read.

    `counts_rows` says that answers are numbers of rows, so that a reader holds every whole number possible.
    """

    __slots__ = ()

    kind: ClassVar[str]
    noun: ClassVar[str]  # what is asked for, in the words of an error
    fields: ClassVar[tuple[QueryField, ...]] = ()  # beside name, kind, where and epsilon
    calibration: ClassVar[CalibrationForm | None] = None  # how `utmost calibrate` asks about it, if it does
    counts_rows: ClassVar[bool] = False
    clamps_values: ClassVar[bool] = False  # values are changed before they are used
    needs_delta: ClassVar[bool] = False  # it is (ε, δ)-private with δ > 0
    takes_keys: ClassVar[bool] = False  # may be asked of each cell of a grouping (`queries.grouped`)
    drawn_keys: ClassVar[tuple[str, ...]] = ("value",)  # of what `read_drawn` reads

    where: str | None  # the predicate that its rows satisfy; a field of every kind
    delta: Fraction = Fraction(0)  # a field of kinds that need it: what may be spent, or was

    # Plans and releases

    @classmethod
    def forms(cls) -> tuple[type[Query], ...]:
        """The classes of the kind: it may have several forms."""
        return (cls,)

    @classmethod
    def form(cls, fields: Fields) -> type[Query]:
        """The form that reads these fields: forms are told apart by their keys."""
        return cls

    @classmethod
    def parse(cls, fields: Fields) -> Self:
        """The query in a table of a plan. Keys are read in the order in which missing ones are reported.

        Asked only of kinds that are registered.
        """
        raise NotImplementedError

    @classmethod
    def parse_content(cls, fields: Fields) -> Self:
        """The query in a table of a release file: what `content` wrote."""
        return cls.parse(fields)

    def plan_entries(self) -> dict[str, Any]:
        """What belongs to the kind in a plan, in the order in which it is written."""
        return {}

    def content(self) -> dict[str, Any]:
        """What belongs to the kind in a release file. Runs after the charge: it cannot fail."""
        return {}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schemas of the entries of `content` and of what is drawn, by key."""
        return {}

    def as_released(self) -> Query:
        """The query without what only a plan says of it."""
        return self

    # Tables

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it looks at beside those of `where`, unit and part."""
        return frozenset()

    @property
    def candidates(self) -> Candidates:
        """Which of the rows that satisfy `where` can be kept of a person, and which are one group; by default all."""
        return ALL_ROWS

    @property
    def drops_rows(self) -> bool:
        """Are rows left out, beside those that `where` leaves out, for what they hold."""
        return False

    def used_columns(self, unit: PrivacyUnit, part: Partition | None) -> set[str]:
        """All columns that it looks at."""
        return Selection(self.where, unit, part).columns | self.columns

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse what the table cannot answer: unknown columns, kinds and bounds that do not fit. Reads no row."""
        table.check_selection(Selection(self.where, unit, part))

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums | None:
        """The sums over rows that it is answered from, of each cell; None where it asks the table by itself."""
        return None

    def answer_from(self, moments: Moments, setting: PrivacySetting) -> ExactAnswer:
        """The true answer from the sums of one cell; asked only of a query with a `request`."""
        raise NotImplementedError

    def assemble(self, sums: CellSums, setting: PrivacySetting) -> ExactAnswer:
        """The true answer from the sums that were requested: secret."""
        return self.answer_from(sums.moments[0], setting)

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """The true answer as whole numbers, from the engine: secret. Overridden by kinds without a `request`."""
        request = self.request(setting)
        assert request is not None
        return self.assemble(table.row_sums([request])[0], setting)

    # Privacy

    def resolve(self, epsilon: Fraction, setting: PrivacySetting) -> Query:
        """The query with everything found that a plan may leave to be found once the setting is known."""
        return self

    def resolved_content(self) -> dict[str, str]:
        """What was found, and what from, as a preview has it."""
        return {}

    def resolved_sentence(self) -> str | None:
        """The same in a sentence; None where nothing was to be found."""
        return None

    def selection_sentence(self, mechanism: Any) -> str | None:
        """Which cells are told, of those that are found in the data; None where none are found."""
        return None

    def check_unit(self, unit: PrivacyUnit) -> None:  # noqa: B027
        """Refuse a unit that the query is not defined for; by default none."""

    @abstractmethod
    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """The mechanism for the query at this ε, and its sensitivity, whose formula the kind's docstring proves."""

    def select_stated_mechanism(
        self, stated: AnswerMechanism, epsilon: Fraction, setting: PrivacySetting
    ) -> SelectedMechanism:
        """The mechanism that a release file must name; a kind may read files that name one of an earlier version."""
        return self.select_mechanism(epsilon, setting)

    def select_gaussian(self, rho: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Discrete Gaussian noise that makes the answer ρ-zCDP; None where the kind has no such mechanism here."""
        return None

    def actual_rho(self, mechanism: Any, setting: PrivacySetting) -> Fraction:
        """The ρ that a mechanism with Gaussian noise has for this query, from the variance that is drawn."""
        raise NotImplementedError

    def select_canonical(self, epsilon: Fraction, delta: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Canonical noise that makes the answer (ε, δ)-private; None where the kind has no such mechanism here."""
        return None

    @abstractmethod
    def actual_epsilon(self, mechanism: Any, setting: PrivacySetting) -> Fraction:
        """The ε that the mechanism has for this query, recomputed from the law that is drawn."""

    def with_delta(self, delta: Fraction) -> Query:
        """The query with this δ; the same where it needs none."""
        return self

    def actual_delta(self, mechanism: Any, setting: PrivacySetting) -> Fraction:
        """The δ that the mechanism has for this query, recomputed from the law that is drawn."""
        return Fraction(0)

    @abstractmethod
    def prepare_draw(self, mechanism: Any) -> AnswerDraw:
        """The draw of an answer: everything that can fail is done here; the function that is returned cannot fail.

        It takes random words and computes with whole numbers; how many of either does not depend on the answer.
        """

    @abstractmethod
    def value_room(self, mechanism: Any) -> int:
        """More bytes than what is published of a draw takes in a release file, from public things."""

    # Cells: asked only of kinds with `takes_keys`, with a setting that is `grouped`

    def check_cells(self, number: int) -> None:  # noqa: B027
        """Refuse to be asked of so many cells; by default of none."""

    def cell_answers(self, table: Table, setting: PrivacySetting, grouping: Grouping) -> list[ExactAnswer]:
        """The true answer of each cell, all of one length: secret. For kinds without a `request`."""
        raise NotImplementedError

    def prepare_cells_draw(self, mechanism: Any, number: int) -> AnswerDraw:
        """The draw of the answers of so many cells from their exact ones, one after the other; it cannot fail."""
        return partial(_draw_each_cell, self.prepare_draw(mechanism), number)

    def found_answers(
        self, table: Table, setting: PrivacySetting, found_keys: FoundKeys
    ) -> tuple[list[int], tuple[Cell, ...], list[Any]]:
        """The numbers of rows of cells that have some, the cells, and their answers. For kinds without a `request`."""
        raise NotImplementedError

    # Accuracy

    @abstractmethod
    def error_law(self, mechanism: Any) -> ErrorLaw:
        """How far off an answer will be; refused where a double could not hold it."""

    @abstractmethod
    def confidence_law(self, mechanism: Any, target: AccuracyTarget) -> ConfidenceLaw:
        """The probability that an answer of this mechanism, selected for ε = 1, meets a target at other ε."""

    @classmethod
    def calibration_example(cls, options: Mapping[str, Any]) -> CalibrationExample:
        """The query that the options of `calibration` describe; asked only of kinds that have it."""
        raise NotImplementedError

    def check_error(self, error: Fraction) -> None:  # noqa: B027
        """Refuse an error that every answer meets; by default none."""

    def target_noun(self, unit: PrivacyUnit) -> str:
        """What an error is the distance from, without its limits."""
        return self.noun

    def bounds_contributions(self, unit: PrivacyUnit) -> bool:
        """Are rows of a person left out where there are more than the unit's bound."""
        return unit.column is not None

    def value_limits(self) -> list[str]:
        """What is done to values before they are used, in words."""
        return []

    def released_error(self, mechanism: Any, drawn: Drawn, error: ErrorLaw) -> ErrorLaw:
        """The error of an answer that is released, of which more may be known than `error`, known beforehand."""
        return error

    def same_error(self) -> Query:
        """A query with the same error at every ε, the same one for as many queries as possible."""
        return self

    # Released values

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that have a number each; none where the answer is one number."""
        return ()

    @property
    def cell_names(self) -> tuple[str, ...]:
        """The names of the cells: their keys, with a comma between the keys of one cell."""
        return tuple(",".join(key_name(key) for key in cell if key is not None) for cell in self.cells)

    @property
    def values_noun(self) -> str:
        """What the values of an answer with several of them are."""
        return "cells"

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The names of the keys in `value_cells`: columns of a table that has a row for each number."""
        return ()

    def value_cells(self, drawn: Drawn) -> tuple[tuple[Key, ...], ...]:
        """The keys of each number of an answer with several of them; by default those of its cells."""
        return tuple(tuple(key for key in cell if key is not None) for cell in self.cells)

    def value_names(self, drawn: Drawn) -> tuple[str, ...]:
        """The names of the cells that have a number each: those of the query, or those that were found."""
        return self.cell_names

    def named_values(self, value: AnswerValue) -> list[tuple[str, Any]]:
        """The numbers of an answer with several of them, each with the name of its cell."""
        return list(zip(self.cell_names, value, strict=True)) if isinstance(value, tuple) else []

    def face_value(self, mechanism: Any, coverage: float) -> FaceValue:
        """What is said of a value whose mechanism has no posterior, with this probability."""
        return FaceValue(f"A {self.kind} has no posterior for any prior: it is read at face value.")

    def value_range(
        self, mechanism: Any, value: Fraction, details: Mapping[str, Any], miss: Fraction
    ) -> ValueRange | None:
        """The range of a value read at face value that is missed with probability `miss` at most; None without one.

        `details` are those of its cell.
        """
        return None

    @abstractmethod
    def read_drawn(self, fields: Fields) -> Drawn:
        """What was drawn, from a table of a release file."""

    @abstractmethod
    def check_drawn(self, mechanism: Any, drawn: Drawn) -> None:
        """Refuse what the mechanism cannot have given, and a value that is not what its details stand for."""


def combine_drawn(drawn: Sequence[Drawn]) -> Drawn:
    """What was drawn for the cells, one entry for each cell. Runs after the charge: it cannot fail."""
    details = {key: [cell.details[key] for cell in drawn] for key in drawn[0].details}
    return Drawn(tuple(cell.value for cell in drawn), details)


def _draw_each_cell(draw: AnswerDraw, number: int, truth: ExactAnswer) -> Drawn:
    length = len(truth) // number
    return combine_drawn([draw(truth[start : start + length]) for start in range(0, len(truth), length)])


def drawn_content(drawn: Drawn) -> dict[str, Any]:
    """What was drawn as a release file has it. Runs after the charge: it cannot fail."""
    return {"value": _value_content(drawn.value), **drawn.details}


def _value_content(value: AnswerValue | Key) -> Any:
    """A number, a key, or a list of several: numbers of cells or shares, the keys of a cell."""
    if isinstance(value, tuple):
        return [_value_content(entry) for entry in value]
    return str(value) if isinstance(value, Fraction) else key_to_json(value)
