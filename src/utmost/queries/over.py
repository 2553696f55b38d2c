"""How many persons have more rows than are kept of each: what the bound of the unit leaves out, told privately.

Let k be the bound of the unit, and let a person be *over* it if they have more than k of the rows that a query can keep
(`Candidates`), or rows in more than k of its groups. Which rows these are depends on each row alone, so whether a
person is over depends on that person's rows alone: the number is a sum over persons of 0 or 1.

**Sensitivity 1.** A person who comes or goes adds or takes one summand, which is 0 or 1. One who is replaced changes
one summand from 0 or 1 to 0 or 1. So the number moves by at most 1 under both relations, whatever k is. ∎

Every whole number from 0 to the number of persons and the next are those of two neighbours, since whether a person is
over is independent of everybody else. So it is a count of persons in the sense of GRS12, and Thm 3.2 applies to it as
to a count of rows that a unit moves by 1.

With `groups = k` nobody can be over where a person can be in no more than k groups; that is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data.candidates import ALL_ROWS, Candidates
from utmost.data.cells import Grouping
from utmost.errors import InputError
from utmost.queries import found_cells
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.count import UNBOUNDED_COUNT_CLAIM, UNIVERSAL_CLAIM
from utmost.queries.distinct import DOMAIN_SCHEMA, Distinct, check_domain, domain_from_content, parse_domain
from utmost.queries.grouped import KEYS_SCHEMA, keys_from_content, parse_grouping
from utmost.queries.keys import key_to_json
from utmost.queries.lattice_query import LatticeQuery
from utmost.queries.query import ExactAnswer, Query, QueryField, SelectedMechanism

if TYPE_CHECKING:
    from utmost.data.selection import Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting


@dataclass(frozen=True, slots=True)
class Over(LatticeQuery):
    """How many persons have more of the `candidates` that satisfy `where` than the unit keeps of each."""

    kind: ClassVar[str] = "over"
    noun: ClassVar[str] = "number of persons over the bound"
    counts_rows: ClassVar[bool] = True
    fields: ClassVar[tuple[QueryField, ...]] = Distinct.fields

    candidates: Candidates = ALL_ROWS
    where: str | None = None

    def __post_init__(self) -> None:
        """Check the domain, which is one of a column."""
        check_domain(self.candidates.domain)
        if self.candidates.domain is not None and self.candidates.column is None:
            raise InputError("column must be given with domain", "column", "add it, or leave the domain out")

    @classmethod
    def of(cls, query: Query) -> Over:
        """The persons over the bound of the rows that another query is asked of.

        >>> from utmost.queries.count import Count
        >>> Over.of(Count("age > 65")) == Over(where="age > 65")
        True
        """
        return cls(query.candidates, query.where)

    @classmethod
    def parse(cls, fields: Fields) -> Over:
        """The query in a table of a plan. Keys without a column are none: a form may have them."""
        by = () if fields.raw("by", None) is None else found_cells.parse_by(fields)
        grouping = parse_grouping(fields) if fields.raw("keys", None) else None
        column, domain = fields.text("column", None), parse_domain(fields)
        return cls(Candidates(grouping, by, column, domain), fields.text("where", None))

    @classmethod
    def parse_content(cls, fields: Fields) -> Over:
        """The query in a table of a release file."""
        by = () if fields.raw("by", None) is None else found_cells.parse_by(fields)
        listed = fields.raw("keys", None) is not None
        grouping = Grouping(keys_from_content(fields), fields.truth("other", False)) if listed else None
        column, domain = fields.text("column", None), domain_from_content(fields)
        return cls(Candidates(grouping, by, column, domain), fields.text("where", None))

    def plan_entries(self) -> dict[str, Any]:
        """What decides which rows can be kept, as far as there is something."""
        candidates, grouping = self.candidates, self.candidates.grouping
        entries: dict[str, Any] = {} if candidates.column is None else {"column": candidates.column}
        entries |= {} if candidates.domain is None else {"domain": list(candidates.domain)}
        entries |= {"by": list(candidates.by)} if candidates.by else {}
        if grouping is not None:
            entries["keys"] = {column: list(values) for column, values in grouping.keys.items()}
            entries |= {"other": True} if grouping.other else {}
        return entries

    def content(self) -> dict[str, Any]:
        """The same, as a release file has it."""
        content, grouping = self.plan_entries(), self.candidates.grouping
        if self.candidates.domain is not None:
            content["domain"] = [key_to_json(key) for key in self.candidates.domain]
        if grouping is not None:
            keys = {column: [key_to_json(key) for key in values] for column, values in grouping.keys.items()}
            content["keys"] = keys
        return content

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """What decides which rows can be kept, and a whole number."""
        column = {"column": {"type": "string"}, "domain": DOMAIN_SCHEMA}
        cells = {"keys": KEYS_SCHEMA, "other": {"type": "boolean"}, "by": found_cells.cells_schema()["by"]}
        return LatticeQuery.schema() | column | cells

    @property
    def columns(self) -> frozenset[str]:
        """The columns that decide which rows can be kept."""
        return self.candidates.columns

    def check_unit(self, unit: PrivacyUnit) -> None:
        """Refuse rows as units, and a bound that nobody can be over."""
        if unit.column is None:
            raise InputError(
                "unit must name persons where those over their bound are counted, got each row",
                "unit",
                "add [unit] with a column, or leave over out",
            )
        groups = self.candidates.max_groups
        if unit.groups is not None and groups is not None and groups <= unit.groups:
            problem = f"unit must keep fewer groups than the {groups} that a person can have rows in, got {unit.groups}"
            raise InputError(f"{problem}: nobody can be over that", "unit.groups", "lower it, or leave over out")

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse columns that are not there, and keys that no value of their column can equal."""
        Query.check(self, table, unit, part)
        self.check_unit(unit)
        candidates = self.candidates
        for column, keys in () if candidates.grouping is None else candidates.grouping.keys.items():
            table.check_keys(column, keys)
        found_cells.check_by(table, candidates.by)
        if candidates.column is not None:
            table.check_column(candidates.column)
            if candidates.domain is not None or unit.groups is not None:
                table.check_distinct(candidates.column, candidates.domain)

    def exact_answer(self, table: Table, setting: PrivacySetting) -> ExactAnswer:
        """The number of persons over the bound."""
        return [table.count_persons(setting.selection(self), self.candidates).over]

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Geometric noise of ε, between 0 and the number of persons where that is public."""
        claim = UNIVERSAL_CLAIM if setting.replacing else UNBOUNDED_COUNT_CLAIM
        return SelectedMechanism(GeometricLattice(epsilon, 0, setting.units), 1, claim, "geometric")

    def target_noun(self, unit: PrivacyUnit) -> str:
        """The number of persons, and the bound."""
        number, noun = (unit.rows, "row") if unit.groups is None else (unit.groups, "group")
        return f"number of persons with more than {number} {noun}{'' if number == 1 else 's'}"

    def bounds_contributions(self, unit: PrivacyUnit) -> bool:
        """Nothing of a person is left out: they are over the bound or not."""
        return False

    def same_error(self) -> Query:
        """Its error does not depend on what is asked."""
        return Over()
