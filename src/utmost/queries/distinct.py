"""How many different values a column has.

Of a unit at most k rows are kept, k = 1 where rows are units. The values that are in the table are those of the other
units and at most k of this one's. So a unit that comes or goes moves their number by at most k, and one that is
replaced too: the number lies between that of the others and k more, before and after. With a unit of groups at most k
different values of a person are kept, and the same holds.

**In cells** the numbers of all cells together move by at most k when a unit comes or goes. One that is replaced takes
at most k values from some cells and brings at most k to others: 2k.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data.candidates import Candidates
from utmost.data.cells import MAX_CELLS
from utmost.data.selection import Key
from utmost.errors import InputError
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.keys import KEY_SCHEMA, key_from_json, key_to_json, parse_keys
from utmost.queries.lattice_query import LatticeQuery
from utmost.queries.moves import Moves
from utmost.queries.query import METRIC_CLAIM, NO_CLAIM, ExactAnswer, Query, QueryField, SelectedMechanism

if TYPE_CHECKING:
    from utmost.data.cells import Cell, Grouping
    from utmost.data.found_cells import FoundKeys
    from utmost.data.selection import Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

DOMAIN_SCHEMA = {"type": "array", "items": KEY_SCHEMA}


@dataclass(frozen=True, slots=True)
class Distinct(LatticeQuery):
    """How many different values `column` has among the rows that satisfy `where`; NULL is none.

    With a `domain` only its values count, and there are at most as many.
    """

    kind: ClassVar[str] = "distinct"
    noun: ClassVar[str] = "number of different values"
    counts_rows: ClassVar[bool] = True
    takes_keys: ClassVar[bool] = True
    fields: ClassVar[tuple[QueryField, ...]] = (
        QueryField("column", "Column", "column"),
        QueryField("domain", "Values that count", "values", "As in 1..12; leave it empty for all."),
    )

    column: str
    domain: tuple[Key, ...] | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        """Check that the values of the domain are some, and different."""
        check_domain(self.domain)

    @classmethod
    def parse(cls, fields: Fields) -> Distinct:
        """The query in a table of a plan."""
        domain = parse_domain(fields)
        return cls(fields.text("column"), domain, fields.text("where", None))

    @classmethod
    def parse_content(cls, fields: Fields) -> Distinct:
        """The query in a table of a release file."""
        domain = domain_from_content(fields)
        return cls(fields.text("column"), domain, fields.text("where", None))

    def plan_entries(self) -> dict[str, Any]:
        """The column and the domain."""
        return {"column": self.column} | ({} if self.domain is None else {"domain": list(self.domain)})

    def content(self) -> dict[str, Any]:
        """The same, as a release file has it."""
        domain = {} if self.domain is None else {"domain": [key_to_json(key) for key in self.domain]}
        return {"column": self.column} | domain

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Column, domain and a whole number."""
        return LatticeQuery.schema() | {"column": {"type": "string"}, "domain": DOMAIN_SCHEMA}

    @property
    def columns(self) -> frozenset[str]:
        """The column."""
        return frozenset([self.column])

    @property
    def drops_rows(self) -> bool:
        """Rows without a value are left out."""
        return True

    @property
    def candidates(self) -> Candidates:
        """The rows with a value, of the domain if there is one."""
        return Candidates(column=self.column, domain=self.domain)

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse a column whose values are no keys, and a domain that it cannot have."""
        Query.check(self, table, unit, part)
        table.check_distinct(self.column, self.domain)

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """The number of values."""
        return [table.distinct_count(setting.selection(self), self.column, self.domain)]

    def cell_answers(self, table: Table, setting: PrivacySetting, grouping: Grouping) -> list[ExactAnswer]:
        """The number of values in each cell."""
        counts = table.cell_distinct_counts(setting.selection(self), grouping, self.column, self.domain)
        return [[count] for count in counts]

    def found_answers(
        self, table: Table, setting: PrivacySetting, found_keys: FoundKeys
    ) -> tuple[list[int], tuple[Cell, ...], list[Any]]:
        """The number of values in each cell that has some."""
        selection = setting.selection(self)
        rows, cells, counts = table.found_distinct_counts(selection, found_keys, self.column, self.domain)
        return rows, cells, [[count] for count in counts]

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Geometric noise of ε/k, for cells ε/2k under replace, between 0 and the most values there can be.

        Best for every reader among mechanisms that protect each step of the number with ε/k, as for every whole number.
        That it is so among all of this ε, as for a count of rows, is not known.
        """
        bound = setting.unit.bound
        sensitivity = 2 * bound if setting.grouped and setting.replacing else bound
        ends = [] if self.domain is None else [len(self.domain)]
        ends += [] if setting.units is None else [setting.units * bound]
        mechanism = GeometricLattice(epsilon / sensitivity, 0, min(ends, default=None))
        if not setting.grouped:
            return SelectedMechanism(mechanism, sensitivity, METRIC_CLAIM, "geometric")
        return SelectedMechanism(mechanism, sensitivity, NO_CLAIM, "geometric" if sensitivity == 1 else "any")

    def moves(self, setting: PrivacySetting) -> Moves:
        """k values of one cell."""
        if not setting.grouped:
            return LatticeQuery.moves(self, setting)
        return Moves.of_cells(setting.unit.bound, 1, setting.replacing)


def check_domain(domain: tuple[Key, ...] | None) -> None:
    """Refuse a domain without values, of several types, or with one value twice."""
    if domain is None:
        return
    if not 1 <= len(domain) <= MAX_CELLS:
        raise InputError(f"domain must list at least one value and at most {MAX_CELLS}", "domain")
    if len({type(value) for value in domain}) > 1:
        raise InputError("domain must have values of one type: all numbers, or all texts", "domain")
    if len(set(domain)) < len(domain):
        raise InputError("domain must be distinct values, got one twice", "domain", "take one out")


def parse_domain(fields: Fields) -> tuple[Key, ...] | None:
    """The domain in a table of a plan, if it has one."""
    return None if fields.raw("domain", None) is None else parse_keys(fields, "domain")


def domain_from_content(fields: Fields) -> tuple[Key, ...] | None:
    """The same in a release file."""
    return None if fields.raw("domain", None) is None else tuple(map(key_from_json, fields.items("domain")))
