"""A kind of query for tests: how many rows have a number within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from utmost.data.selection import Partition, PrivacyUnit, Selection
from utmost.data.table import Table
from utmost.errors import InputError
from utmost.exact.input_text import Fields
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.answer_mechanisms.mechanism import EXACT_SCHEMA
from utmost.queries.calibration_form import CalibrationExample, CalibrationForm, CalibrationOption
from utmost.queries.lattice_query import LatticeQuery
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import NO_CLAIM, ExactAnswer, QueryField, SelectedMechanism

PLAN = """
neighbours = "add-remove"
budget = "b"
output = "out.json"

[source]
location = "people.csv"
columns = { age = "integer", region = "text" }

[[query]]
name = "middle"
kind = "between"
column = "age"
low = 30
high = 49
where = "region = 'n'"
epsilon = 2
"""

TABLE = "age,region\n" + "".join(f"{20 + k % 50},{'ns'[k % 2]}\n" for k in range(400))


@dataclass(frozen=True, slots=True)
class Between(LatticeQuery):
    """How many rows have a number from `low` to `high`: a unit moves it by at most its kept rows."""

    kind: ClassVar[str] = "between"
    noun: ClassVar[str] = "count within bounds"
    counts_rows: ClassVar[bool] = True
    fields: ClassVar[tuple[QueryField, ...]] = (
        QueryField("column", "Column", "number column"),
        QueryField("low", "From", "number", "The least that counts."),
        QueryField("high", "To", "number", "The largest that counts."),
    )
    calibration: ClassVar[CalibrationForm | None] = CalibrationForm(
        "Find the least ε for a count within bounds.", (CalibrationOption("people", "How many there are.", "N", int),)
    )

    column: str
    low: Fraction
    high: Fraction
    where: str | None = None

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InputError(f"low must not be above high, got {self.low} and {self.high}", "low", "swap them")

    @classmethod
    def parse(cls, fields: Fields) -> Between:
        return cls(fields.text("column"), fields.number("low"), fields.number("high"), fields.text("where", None))

    def plan_entries(self) -> dict[str, Any]:
        return {"column": self.column, "low": self.low, "high": self.high}

    def content(self) -> dict[str, Any]:
        return {"column": self.column, "low": str(self.low), "high": str(self.high)}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        bounds = {"low": EXACT_SCHEMA, "high": EXACT_SCHEMA}
        return {"column": {"type": "string"}, **bounds, "value": {"type": "integer"}}

    @property
    def predicate(self) -> str:
        bounds = f"{self.column} >= {self.low} and {self.column} <= {self.high}"
        return bounds if self.where is None else f"({self.where}) and {bounds}"

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.column])

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        table.check_selection(Selection(self.predicate, unit, part))

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        return [table.count(Selection(self.predicate, setting.unit, setting.part))]

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        bound = setting.unit.bound
        return SelectedMechanism(GeometricLattice(epsilon / bound, 0, setting.units), bound, NO_CLAIM, "geometric")

    @classmethod
    def calibration_example(cls, options: Any) -> CalibrationExample:
        return CalibrationExample(cls("x", Fraction(0), Fraction(1)), "a count within bounds", units=options["people"])
