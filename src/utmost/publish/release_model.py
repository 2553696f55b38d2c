"""A release as data, and what it claims, computed from its queries and its setting.

A release as data: what was asked, which mechanism answered, what it guarantees, and the values.

Nothing in it depends on the secret but the values. `release_file` writes it as JSON and reads it back equal.

Compute what a release claims from its queries and its setting, and refuse a file that states anything else.

A mechanism and a sensitivity follow from query, ε, unit and neighbours (`Query.select_mechanism`); optimality, error
and guarantee follow from those. So none of them is believed because a file says so: what can be compared is compared,
and what is shown is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from utmost.errors import InputError
from utmost.exact import decimal_above
from utmost.exact.input_text import escape_control
from utmost.ledger.costs import QueryCost
from utmost.notebook import Figure, draw_figure, report_html
from utmost.publish.told_privacy import DEFINITIONS, Definition, epsilon_at, told_privacy
from utmost.queries.answer_error import answer_error
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism, AnswerValue, Drawn, ErrorLaw
from utmost.queries.privacy_setting import PrivacySetting, guarantee_sentence, short_epsilon
from utmost.queries.query import ALTERED, Query, SelectedMechanism
from utmost.tables import ResultTable, Tabular, value_text

if TYPE_CHECKING:
    from utmost.consumer.losses import Loss
    from utmost.consumer.priors import Prior
    from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
    from utmost.publish.estimate import Estimate
    from utmost.publish.reading.joint_table import ReleasedTable
    from utmost.queries.query import Query
    from utmost.queries.tables import CountTable

SCHEMA = "utmost-release/1"
SCHEMA_2 = "utmost-release/2"  # of a release with δ
SCHEMAS = (SCHEMA, SCHEMA_2)
TABLE_ENDINGS = (".csv", ".parquet")


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Tabular):
    """One query of a release with its answer. `details` is what else was drawn, as the release file has it.

    Gaussian noise has a `rho`; `epsilon` is what that converts to at `noise_delta`. Canonical noise has (`epsilon`,
    `noise_delta`).
    """

    name: str
    query: Query
    epsilon: Fraction
    sensitivity: int
    mechanism: AnswerMechanism
    optimal: str
    error: ErrorLaw
    value: AnswerValue
    details: Mapping[str, Any] = field(default_factory=dict)
    rho: Fraction | None = None
    noise_delta: Fraction = Fraction(0)

    @property
    def kind(self) -> str:
        """The kind of the query."""
        return self.query.kind

    @property
    def where(self) -> str | None:
        """The predicate that its rows satisfy."""
        return self.query.where

    @property
    def delta(self) -> Fraction:
        """The δ that its mechanism has."""
        return self.noise_delta or Fraction(self.query.delta)

    @property
    def price_text(self) -> str:
        """What it cost, as a line has it: its ε, or the ρ of Gaussian noise with what that converts to."""
        if self.rho is None:
            delta = f", δ ≤ {decimal_above(self.noise_delta)}" if self.noise_delta else ""
            return f"ε = {short_epsilon(self.epsilon)}{delta}"
        converted = f"ε ≤ {decimal_above(self.epsilon)} at δ = {decimal_above(self.noise_delta)}"
        return f"ρ = {decimal_above(self.rho)} ({converted})"

    @property
    def cell_names(self) -> tuple[str, ...]:
        """The names of the cells that have a value each: those that were found, or those of the query."""
        return self.query.value_names(self.drawn)

    @property
    def named_values(self) -> list[tuple[str, Any]]:
        """The numbers of an answer with several of them, each with the name of its cell."""
        if "cells" not in self.details:
            return self.query.named_values(self.value)
        assert isinstance(self.value, tuple)
        entries = (entry if isinstance(entry, tuple) else (entry,) for entry in self.value)
        return list(zip(self.cell_names, chain.from_iterable(entries), strict=True))

    @property
    def _numbers_per_entry(self) -> int:
        """How many numbers belong to one entry of the file: a list of quantiles has one for each share."""
        has_lists = isinstance(self.value, tuple) and self.value and isinstance(self.value[0], tuple)
        return len(self.value[0]) if has_lists else 1  # type: ignore[index]

    def cell_details(self, place: int) -> dict[str, Any]:
        """What else was drawn for the number at a place."""
        entry = place // self._numbers_per_entry
        return {key: entries[entry] for key, entries in self.details.items() if isinstance(entries, list)}

    @property
    def query_content(self) -> Mapping[str, Any]:
        """What belongs to its kind: column, bounds, keys."""
        return self.query.content()

    @property
    def parts(self) -> tuple[int, int] | None:
        """The noisy total and number of rows that a mean is the ratio of; None for other answers, and for cells."""
        parts = self.details.get("parts")
        return (parts["total"], parts["rows"]) if isinstance(parts, Mapping) else None

    @property
    def position(self) -> int | None:
        """The position of a quantile on its grid; None for other answers, and for cells."""
        position = self.details.get("position")
        return position if isinstance(position, int) else None

    @property
    def drawn(self) -> Drawn:
        """What was drawn."""
        return Drawn(self.value, self.details)

    @property
    def released_error(self) -> ErrorLaw:
        """How far off the answer is, as far as the release itself says: of a mean with its noisy number of rows."""
        return self.query.released_error(self.mechanism, self.drawn, self.error)

    def estimate(self, prior: Prior | str, loss: Loss | str, **options: Any) -> Estimate:
        """The best reading of this answer for a consumer with this prior and loss."""
        from utmost.publish.estimate import estimate

        return estimate(self, prior, loss, **options)

    def __repr__(self) -> str:
        """A line: what was asked, at what price, and the number, or how many there are."""
        count = len(self.named_values)
        value = f"{count} {self.query.values_noun}" if isinstance(self.value, tuple) else value_text(self.value)
        return f"<Answer {escape_control(self.name)}: {self.kind}, {self.price_text}: {value}>"

    def _repr_html_(self) -> str:
        return report_html(self, "answer")

    def plot(self) -> Figure:
        """A chart of its numbers with their intervals."""
        return draw_figure(self, "answer")

    def table(self, path: str | Path) -> None:
        """Write the numbers as a tidy table, by the ending of the path: .csv or .parquet."""
        from utmost.publish.tidy_table import write_table

        write_table((self,), path)

    def _result_table(self) -> ResultTable:
        from utmost.publish.tidy_table import tidy_table

        return tidy_table((self,)).result_table


@dataclass(frozen=True, slots=True)
class LookupOrigin:
    """A public table: its file's name and SHA-256, its key (our column: its column) and what was taken of it."""

    name: str
    on: Mapping[str, str]
    take: Mapping[str, str]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class DataOrigin:
    """Where the data came from: the engine, and the name of the table or file, without its path or password.

    `derive` has the expressions of the columns that the plan made, `lookups` the public tables it took columns from.
    """

    engine: str
    name: str
    fingerprint: str | None = None
    derive: Mapping[str, str] = field(default_factory=dict)
    lookups: tuple[LookupOrigin, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The charge in the ledger: its budget, its number there, and what the budget had spent and left after it.

    `measure` is the symbol of what the budget counts.
    """

    budget: str
    number: int
    spent: Fraction
    left: Fraction
    measure: str = "ε"


@dataclass(frozen=True, slots=True, repr=False)
class Release(Tabular):
    """All answers of one plan. `epsilon` is recomputed from the mechanisms that ran; `units` is public, or None.

    `definition` says how (`epsilon`, `delta`) follow from the answers: by sums under pure and approximate, from the sum
    of their ρ under zcdp, by privacy-loss distributions under pld. `remark` says of a release that a program has just
    got whether its plan was charged before, or nothing was charged; no file has it.
    """

    title: str | None
    library: str
    source: DataOrigin
    unit: PrivacyUnit
    neighbours: NeighbourRelation
    units: int | None
    part: Partition | None
    epsilon: Fraction
    guarantee: str
    entry: LedgerEntry
    answers: tuple[Answer, ...]
    delta: Fraction = Fraction(0)
    definition: str = "pure"
    rho: Fraction | None = None
    remark: str | None = field(default=None, compare=False)
    tables: tuple[CountTable, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the answers, in the order of the plan."""
        return [answer.name for answer in self.answers]

    def keys(self) -> list[str]:
        """The same, as a mapping calls them."""
        return self.names

    def __contains__(self, item: object) -> bool:
        """Whether it has an answer of this name, or this very answer."""
        return item in self.names if isinstance(item, str) else item in self.answers

    def __getitem__(self, name: str) -> Answer:
        """The answer of this name."""
        for answer in self.answers:
            if answer.name == name:
                return answer
        names = ", ".join(answer.name for answer in self.answers)
        raise InputError(f"query must be one of {names}, got {str(name)[:60]}", "query")

    def __iter__(self) -> Iterator[Answer]:
        """The answers in the order of the plan."""
        return iter(self.answers)

    def __len__(self) -> int:
        """How many answers there are."""
        return len(self.answers)

    def __repr__(self) -> str:
        """A line: the whole of it is in the file."""
        names = escape_control(", ".join(answer.name for answer in self.answers[:4]))
        more = ", …" if len(self) > 4 else ""
        delta = f", δ {decimal_above(self.delta)}" if self.delta else ""
        remark = "" if self.remark is None else f"; {self.remark}"
        return f"<Release of ε {self.epsilon}{delta}, {self.neighbours}: {names}{more}{remark}>"

    def _repr_html_(self) -> str:
        return report_html(self, "release")

    def plot(self) -> Figure:
        """A chart of its numbers with their intervals, a panel for each query."""
        return draw_figure(self, "release")

    @overload
    def table(self, path: Path) -> None: ...

    @overload
    def table(self, path: str) -> Any: ...

    def table(self, path: str | Path) -> ReleasedTable | None:
        """The table of this name, to be read as a whole (`[[table]]` in its plan).

        A path that ends in .csv or .parquet instead writes the numbers as a tidy table: a new file, or in place of a
        table that utmost wrote.
        """
        from utmost.publish.reading.joint_table import find_table
        from utmost.publish.tidy_table import write_table

        is_name = isinstance(path, str) and any(table.name == path for table in self.tables)
        if is_name or (isinstance(path, str) and self.tables and not path.lower().endswith(TABLE_ENDINGS)):
            return find_table(self, str(path))
        write_table(self, path)
        return None

    def _result_table(self) -> ResultTable:
        from utmost.publish.tidy_table import tidy_table

        return tidy_table(self).result_table


MAX_UNITS = 10**18
CONVERSION_PRECISION, COMPOSITION_PRECISION = Fraction(1, 10**9), Fraction(1, 1000)


@dataclass(frozen=True, slots=True)
class Statement:
    """What a file says of one answer."""

    query: Query
    epsilon: Fraction
    sensitivity: int
    mechanism: AnswerMechanism
    drawn: Drawn
    delta: Fraction = Fraction(0)  # of Gaussian or canonical noise


def check_units(setting: PrivacySetting) -> None:
    """Refuse a number of units that does not go with the neighbours: public under replace, secret under add-remove."""
    if setting.replacing and not (setting.units is not None and 1 <= setting.units <= MAX_UNITS):
        raise InputError(
            "units must be a number from 1 to 10^18 under replace, got another", "units", ALTERED, context="release"
        )
    if not setting.replacing and setting.units is not None:
        raise InputError("units must be null under add-remove, got a number", "units", ALTERED, context="release")


def computed_answer(name: str, statement: Statement, setting: PrivacySetting) -> Answer:
    """The answer with everything computed that follows from its query; refused where the file states otherwise."""
    query, drawn, label = statement.query, statement.drawn, f'release: query "{name[:60]}"'
    try:
        _check_unit(query, setting)
        selection, rho = _select_stated(statement, setting)
        error = answer_error(selection.mechanism, query, setting.unit, setting.part)
        _check_statement(statement, selection)
        if rho is None and not statement.delta:
            _check_delta(query, selection.mechanism, setting)
        query.check_drawn(selection.mechanism, drawn)
    except InputError as problem:
        raise problem.within(label) from None
    return Answer(
        name=name,
        query=query,
        epsilon=statement.epsilon if rho is None else epsilon_at(rho, statement.delta),
        sensitivity=selection.sensitivity,
        mechanism=selection.mechanism,
        optimal=selection.optimal,
        error=error,
        value=drawn.value,
        details=drawn.details,
        rho=rho,
        noise_delta=statement.delta,
    )


def _select_stated(statement: Statement, setting: PrivacySetting) -> tuple[SelectedMechanism, Fraction | None]:
    """The mechanism that a file must name, and the ρ of Gaussian noise, from the variance that is stated."""
    query, mechanism = statement.query, statement.mechanism
    if isinstance(mechanism, CanonicalLattice):
        return _select_canonical(statement, mechanism, setting), None
    if not isinstance(mechanism, GaussianLattice):
        if statement.delta:
            raise InputError("delta must be left out with this mechanism, got one", "delta", ALTERED)
        return query.select_stated_mechanism(mechanism, statement.epsilon, setting), None
    if not 0 < statement.delta < 1:
        raise InputError("delta must be > 0 and below 1 with Gaussian noise, got another", "delta", ALTERED)
    unit_rho = query.select_gaussian(Fraction(1), setting)
    if unit_rho is None or unit_rho.moves is None:
        raise InputError("mechanism must be another for this query, got Gaussian noise", "mechanism", ALTERED)
    rho = unit_rho.moves.squared / (2 * mechanism.variance)
    selection = query.select_gaussian(rho, setting)
    assert selection is not None
    return selection, rho


def _select_canonical(statement: Statement, mechanism: CanonicalLattice, setting: PrivacySetting) -> SelectedMechanism:
    """The canonical noise that a file must name: that of its ε and of the δ which its own reach tells."""
    query, steps = statement.query, statement.sensitivity
    if not 1 <= steps <= mechanism.reach:
        problem = "sensitivity must be from 1 to the reach of its noise, got another"
        raise InputError(problem, "sensitivity", ALTERED)
    if mechanism.epsilon * steps != statement.epsilon:
        problem = f"mechanism must have epsilon {statement.epsilon / steps} a step, got {str(mechanism.epsilon)[:40]}"
        raise InputError(problem, "mechanism", ALTERED)
    delta = mechanism.told_delta(steps)
    if statement.delta != delta:
        problem = f"delta must be {delta} for its mechanism, got {str(statement.delta)[:60]}"
        raise InputError(problem, "delta", ALTERED)
    selection = query.select_canonical(statement.epsilon, delta, setting)
    if selection is None:
        raise InputError("mechanism must be another for this query, got canonical noise", "mechanism", ALTERED)
    return selection


def _check_unit(query: Query, setting: PrivacySetting) -> None:
    """Refuse a unit for which no engine answers the query."""
    try:
        query.check_unit(setting.unit)
    except InputError as problem:
        raise InputError(problem.message, problem.field, ALTERED) from None


def _check_delta(query: Query, mechanism: AnswerMechanism, setting: PrivacySetting) -> None:
    """Refuse a δ that is not the one that the mechanism has."""
    delta = query.actual_delta(mechanism, setting)
    if query.delta != delta:
        raise InputError(f"delta must be {delta} for its mechanism, got {str(query.delta)[:60]}", "delta", ALTERED)


def _check_statement(statement: Statement, selection: SelectedMechanism) -> None:
    """Refuse another sensitivity than the query's, and a mechanism with other entries, with fewer or with more."""
    if statement.sensitivity != selection.sensitivity:
        raise InputError(
            f"sensitivity must be {selection.sensitivity} for this query, unit and neighbours, got "
            f"{str(statement.sensitivity)[:40]}",
            "sensitivity",
            ALTERED,
        )
    expected, stated = (_leaves(mechanism.content()) for mechanism in (selection.mechanism, statement.mechanism))
    for name in (*expected, *stated):
        if expected.get(name, ...) != stated.get(name, ...):  # an end that is null is not one that is missing
            words = (_entry_words(name, content.get(name)) for content in (expected, stated))
            raise InputError(
                f"mechanism must have {name[:60]} {next(words)} at epsilon {statement.epsilon}, got {next(words)}",
                "mechanism",
                ALTERED,
            )


def _entry_words(name: str, value: object) -> str:
    """The value of an entry of a mechanism; an end may be null, and is then none.

    >>> _entry_words("high", 300), _entry_words("rows.high", None), _entry_words("rate", None)
    ('300', 'null (no upper end)', 'none')
    """
    if value is not None:
        return str(value)[:40]
    end = {"low": "lower", "high": "upper"}.get(name.rpartition(".")[2])
    return "none" if end is None else f"null (no {end} end)"


def _leaves(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The entries of nested tables, by their dotted names."""
    leaves: dict[str, Any] = {}
    for key, value in content.items():
        leaves |= _leaves(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return leaves


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The (ε, δ) of a release, its ρ where that adds up, by which definition, and in words."""

    epsilon: Fraction
    delta: Fraction
    definition: str
    rho: Fraction | None
    words: str


def computed_guarantee(
    answers: Sequence[Answer], setting: PrivacySetting, told: tuple[Definition, Fraction] | None = None
) -> Guarantee:
    """What the answers guarantee together: sums of ε and δ, or what is told by a definition at a δ."""
    if told is None:
        epsilon = sum((answer.epsilon for answer in answers), Fraction(0))
        delta = sum((answer.delta for answer in answers), Fraction(0))
        definition = "approximate" if delta else "pure"
        return Guarantee(epsilon, delta, definition, None, guarantee_sentence(epsilon, setting, delta))
    costs = [answer_cost(answer, setting) for answer in answers]
    privacy = told_privacy(costs, told[1], told[0])
    own_delta = sum((cost.group(None).own_delta for cost in costs), Fraction(0))
    words = guarantee_sentence(privacy.epsilon, setting, privacy.delta, privacy.rho, own_delta)
    return Guarantee(privacy.epsilon, privacy.delta, privacy.definition, privacy.rho, words)


def answer_cost(answer: Answer, setting: PrivacySetting) -> QueryCost:
    """What an answer costs a ledger."""
    stated = (answer.query, answer.epsilon, answer.sensitivity, answer.mechanism, answer.drawn, answer.noise_delta)
    selection, rho = _select_stated(Statement(*stated), setting)
    numbers = 1 if selection.moves is None else selection.moves.numbers or 1
    law, steps = selection.ledger_law, selection.ledger_steps
    return QueryCost(answer.name, answer.epsilon, law, steps, answer.delta, rho, numbers)


def with_computed_guarantee(release: Release, setting: PrivacySetting) -> Release:
    """The release with its guarantee computed; refused where its ε or δ is another, its words ignored."""
    told = _stated_definition(release)
    guarantee = computed_guarantee(release.answers, setting, told)
    precision = _told_precision(release.answers, told)
    is_close = abs(release.epsilon - guarantee.epsilon) <= guarantee.epsilon * precision
    stated_epsilon = guarantee.epsilon if is_close else release.epsilon
    origin = "the sum of its queries'" if told is None else "what its queries are told as"
    amounts = (("epsilon", stated_epsilon, guarantee.epsilon), ("delta", release.delta, guarantee.delta))
    for name, stated, expected in (*amounts, ("rho", release.rho, guarantee.rho)):
        if stated != expected:
            raise InputError(
                f"guarantee must have {name} {expected}, {origin}, got {str(stated)[:40]}",
                "guarantee",
                ALTERED,
                context="release",
            )
    return replace(release, epsilon=guarantee.epsilon, guarantee=guarantee.words, definition=guarantee.definition)


def _stated_definition(release: Release) -> tuple[Definition, Fraction] | None:
    """By which definition, and at which δ, a file says that its answers are told; None where they add up."""
    if release.definition not in ("pure", "approximate", *DEFINITIONS):
        problem = "definition must be pure, approximate, zcdp or pld, got another"
        raise InputError(problem, "guarantee", ALTERED, context="release")
    for definition in DEFINITIONS:
        if release.definition == definition:
            if not 0 < release.delta < 1:
                problem = f"guarantee must have a delta > 0 and below 1 under {definition}, got another"
                raise InputError(problem, "guarantee", ALTERED, context="release")
            return definition, release.delta
    return None


def _told_precision(answers: Sequence[Answer], told: tuple[Definition, Fraction] | None) -> Fraction:
    """How far a stated ε may be from the computed one, relatively: what is shown is computed in any case.

    A float chooses the order of a conversion; another version of utmost may compose distributions on a finer grid.
    """
    if told is not None and told[0] == "pld":
        return COMPOSITION_PRECISION
    is_converted = told is not None or any(answer.rho is not None for answer in answers)
    return CONVERSION_PRECISION if is_converted else Fraction(0)
