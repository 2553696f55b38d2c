"""Run a plan: check it, ask the ledger, answer exactly, charge, draw noise, write the release; in this order.

**After the charge nothing depends on the data but the values drawn**: whatever can fail fails before it. Mechanisms,
their ε, the tables that noise is drawn from and everything else that is written are prepared first (`prepare_answer`),
from public things; then the table is read, then the budget charged. After that integers are drawn, the ledger keeps the
release, and the file that was reserved is filled. So a crash can lose budget but leaves no noise that was not charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost import __version__, ledger
from utmost.data import sources
from utmost.data.engines import SourceIdentity
from utmost.data.frames import with_frame
from utmost.data.lookup import check_unchanged as check_lookup_unchanged
from utmost.data.source_identity import check_unchanged, identify_source
from utmost.errors import BudgetError, InputError, LedgerError, OutputError, UndecidedError
from utmost.exact.input_text import escape_control, file_error_reason
from utmost.notebook import Figure, draw_figure, report_html
from utmost.publish import noise_choice, output_files, plan_writer, plans, pricing, release_file
from utmost.publish.budget_outlook import budget_outlook, part_adds_up
from utmost.publish.plan_check import PlanCheck, PlannedAnswer
from utmost.publish.plan_model import Plan, QuerySpec, name_query_in_errors, used_columns
from utmost.publish.pricing import CANONICAL, GAUSSIAN
from utmost.publish.release_model import Answer, DataOrigin, LedgerEntry, LookupOrigin, Release, computed_guarantee
from utmost.publish.told_privacy import Definition, epsilon_at
from utmost.publish.unreadable_values import unreadable_sentences
from utmost.publish.wanted_errors import find_epsilon
from utmost.queries.answer_error import answer_error
from utmost.queries.exact_answers import exact_answers
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import AnswerDraw, ExactAnswer

if TYPE_CHECKING:
    from utmost.data.table import Table
    from utmost.ledger import Budget, Ledger, ReleaseCost

Progress = Callable[[str, int, int], None]  # what is done, how many queries are through, of how many
ENTRY_ROOM = 1 << 12  # bytes for what a ledger says of a charge
Amount = Fraction | None
PlanSource = Plan | Mapping[str, Any] | str | Path


MAX_REPR_QUERIES = 8


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """An answer that only lacks its value, and the draw of it, which cannot fail (`Query.prepare_draw`)."""

    frame: Answer
    draw: AnswerDraw
    room: int  # bytes that its value takes in a file, at most

    def draw_answer(self, truth: ExactAnswer) -> Answer:
        """The answer with its noisy value."""
        drawn = self.draw(truth)
        return replace(self.frame, value=drawn.value, details=drawn.details)


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """What a plan will cost and how good its answers will be: nothing is spent, no answer is computed.

    `spent` and `left` are the budget's before the release, `after` is what will be left; None where the budget is not
    open yet. `free` says that the ledger has this very release stored. `cost` is the ε of the plan by itself; what it
    takes from the budget, left − after, can be less where parts or privacy-loss distributions compose. `guesses` are
    columns of a CSV file whose kinds must be declared before anything is released. `part_adds_up` says why the plan's
    part does not compose in parallel with other parts, where it does not. `refusal` is what a release would raise for a
    budget that is short, and `open_command` opens a budget that is not open (`open_call` in Python). `delta_left`
    and `delta_after` are the same for δ, where the budget is open. `measure` is the symbol of what the budget counts.

    A preview from Python says more: `charged_before` which entry charged the same plan, `default_steps` which queries
    round to a step that was not given, and `unreadable` how many values of each column do not fit its kind.
    """

    plan: Plan
    engine: str
    setting: PrivacySetting
    planned_answers: tuple[PlannedAnswer, ...]
    cost: Fraction
    spent: Fraction | None
    left: Fraction | None
    after: Fraction | None
    free: bool
    guesses: Mapping[str, str]
    part_adds_up: str | None = None
    refusal: BudgetError | None = None
    open_command: str | None = None
    open_call: str | None = None
    delta_left: Fraction | None = None
    delta_after: Fraction | None = None
    measure: str = "ε"
    charged_before: str | None = None
    default_steps: tuple[str, ...] = ()
    unreadable: Mapping[str, int] | None = None

    @property
    def remarks(self) -> list[str]:
        """What a program must be told before it releases: an earlier charge, steps that were not given."""
        steps = "values are rounded to steps of 1, since no step was given"
        earlier = [] if self.charged_before is None else [f"Budget {self.plan.budget}: {self.charged_before}."]
        return [*earlier, *(f"{name}: {steps}" for name in self.default_steps)]

    @property
    def missing(self) -> Amount:
        """How much more the budget would need; None where it has enough, or is not open."""
        return None if self.refusal is None else self.refusal.missing

    def __repr__(self) -> str:
        """What it costs, and how far off each answer will be."""
        shown, hidden = self.planned_answers[:MAX_REPR_QUERIES], len(self.planned_answers[MAX_REPR_QUERIES:])
        lines = [f"{planned_answer.spec.name}: {planned_answer.error.words}" for planned_answer in shown]
        lines += [f"and {hidden} more queries"] if hidden else []
        left = f"budget {self.plan.budget} is not open yet" if self.left is None else f"{self.measure} {self.left} left"
        delta = f", δ {self.plan.delta}" if self.plan.delta else ""
        lines += [*self.remarks, *unreadable_sentences(self.unreadable or {})]
        return "\n".join([f"<Preview of ε {self.cost}{delta}, {left}>", *map(escape_control, lines)])

    def _repr_html_(self) -> str:
        return report_html(self, "preview")

    def plot(self) -> Figure:
        """A chart of how far off each answer will be."""
        return draw_figure(self, "preview")


@dataclass(frozen=True, slots=True)
class PreparedRelease:
    """A plan that can run: source and ledger open, everything checked, nothing spent yet."""

    preview: Preview
    table: Table
    budget_ledger: Ledger
    release_cost: ReleaseCost
    identity: SourceIdentity

    def spend(self, progress: Progress = lambda task, done, total: None) -> Release:
        """Charge, draw, store and write the release; a stored release is given again for free."""
        planned_answers, output = self.preview.planned_answers, self.preview.plan.output
        remembered_content = self.budget_ledger.find_release(self.release_cost)
        if remembered_content is not None:
            release = release_file.release_from_content(remembered_content)
            if output is not None:
                release_file.save_text(release_file.release_to_json(release), output)
            return release
        prepared_answers = [prepare_answer(planned_answer, self.preview.setting) for planned_answer in planned_answers]
        frame = self._prepare_frame(prepared_answers)
        size = _written_size(frame) + ENTRY_ROOM + sum(prepared_answer.room for prepared_answer in prepared_answers)
        room = min(size, release_file.MAX_RELEASE_BYTES)  # a longer file is no release that can be read
        with nullcontext() if output is None else release_file.ReservedFile(output, room) as output_file:
            release = self._charge_and_answer(frame, prepared_answers, progress)
            self._keep(release, output_file)
        return release

    def _charge_and_answer(
        self, frame: Release, prepared_answers: Sequence[PreparedAnswer], progress: Progress
    ) -> Release:
        planned_answers, setting = self.preview.planned_answers, self.preview.setting
        answered = 0

        def begin(places: Sequence[int]) -> None:
            nonlocal answered
            others = "" if len(places) == 1 else f" and {len(places) - 1} more"
            progress(f"counting {planned_answers[places[0]].spec.name}{others}", answered, len(planned_answers))
            answered += len(places)

        queries = [planned_answer.spec.query for planned_answer in planned_answers]
        truths = exact_answers(queries, self.table, setting, begin)
        self._check_source()
        entry = self.budget_ledger.charge(self.release_cost)
        answers = []
        for k, (prepared_answer, truth) in enumerate(zip(prepared_answers, truths, strict=True)):
            progress(f"drawing {prepared_answer.frame.name}", k, len(planned_answers))
            answers.append(prepared_answer.draw_answer(truth))
        progress("done", len(planned_answers), len(planned_answers))
        ledger_entry = LedgerEntry(self.release_cost.budget, entry.id, entry.spent, entry.left, entry.measure)
        return replace(frame, answers=tuple(answers), entry=ledger_entry)

    def _keep(self, release: Release, output_file: release_file.ReservedFile | None) -> None:
        """Store a release that was charged and write it: one is tried where the other fails."""
        document = release_file.release_to_json(release)
        failures = [_failure(lambda: self.budget_ledger.store_release(release.entry.number, document))]
        if output_file is not None:
            failures.append(_failure(lambda: output_file.fill(document)))
        _check_kept([failure for failure in failures if failure], document)

    def _check_source(self) -> None:
        """Refuse a source of a part that was written to since before its first row was read, and changed lookups."""
        plan = self.preview.plan
        for lookup, fingerprint in zip(plan.source.lookups, self.table.lookup_fingerprints, strict=True):
            check_lookup_unchanged(lookup, plan.folder, fingerprint)
        if plan.part is not None:
            check_unchanged(self.identity, plan.source, plan.folder)

    def _prepare_frame(self, prepared_answers: Sequence[PreparedAnswer]) -> Release:
        """The release but for its values and its entry."""
        plan, setting = self.preview.plan, self.preview.setting
        answers = tuple(prepared_answer.frame for prepared_answer in prepared_answers)
        guarantee = computed_guarantee(answers, setting, _told_definition(plan))
        return Release(
            title=plan.title,
            library=f"utmost {__version__}",
            source=_data_origin(plan, self.table),
            unit=setting.unit,
            neighbours=setting.neighbours,
            units=setting.units,
            part=setting.part,
            epsilon=guarantee.epsilon,
            guarantee=guarantee.words,
            entry=LedgerEntry(self.release_cost.budget, 0, Fraction(0), Fraction(0)),
            answers=answers,
            delta=guarantee.delta,
            definition=guarantee.definition,
            rho=guarantee.rho,
            tables=tuple(table.table for table in plan.tables),
        )


def _told_definition(plan: Plan) -> tuple[Definition, Fraction] | None:
    """By which definition a plan is told, and at which δ; None where ε and δ add up."""
    return None if plan.told is None else (plan.told.definition, plan.told.delta)


def _data_origin(plan: Plan, table: Table) -> DataOrigin:
    source = plan.source
    lookups = tuple(
        LookupOrigin(lookup.name, dict(lookup.on), dict(lookup.take), fingerprint)
        for lookup, fingerprint in zip(source.lookups, table.lookup_fingerprints, strict=True)
    )
    return DataOrigin(table.engine, source.name, plan.fingerprint, dict(source.derive), lookups)


def release(plan: PlanSource, progress: Progress | None = None, *, data: object = None) -> Release:
    """Answer a plan under its budget, and write the release to the plan's output, if it has one.

    `data` is a data frame for a plan that names no location.
    """
    with prepare_release(plan, data=data) as prepared_release:
        return prepared_release.spend(progress) if progress else prepared_release.spend()


def preview(plan: PlanSource, *, data: object = None) -> Preview:
    """What `release` would spend and how far off it would be; raises what it would raise before the charge.

    `data` is that of `release`.
    """
    with prepare_release(plan, dry_run=True, data=data) as prepared_release:
        if prepared_release.preview.refusal is not None:
            raise prepared_release.preview.refusal
        return prepared_release.preview


@contextmanager
def prepare_release(
    plan_source: PlanSource, dry_run: bool = False, charged_by: str | None = None, *, data: object = None
) -> Iterator[PreparedRelease]:
    """A plan with its source and its ledger open and everything checked that can be without spending.

    A dry run needs no open budget, and has the `refusal` of one that is short. `charged_by` is who the ledger says has
    charged; by default the system's user. `data` is a data frame for a plan that names no location.
    """
    plan = plans.load_plan(plan_source)
    if data is not None:
        plan = replace(plan, source=with_frame(plan.source, data))
    if plan.output is not None:
        output_files.check_release_output(plan)
        with release_file.ReservedFile(plan.output):
            pass  # it can be written
    identity = _source_identity(plan)  # of a file, before its first row is read
    with sources.open_table(plan.source, plan.folder, used_columns(plan)) as table:
        plan_check = replace(check_plan(plan, table, find_budget(plan)), charged_by=charged_by)
        if table.database is None:
            plan_check = replace(plan_check, identity=identity)
        plan, release_cost = plan_check.plan, plan_check.release_cost
        with ledger.open_ledger(plan.ledger, plan.folder) as budget_ledger:
            guesses = _guessed_kinds(plan, table, dry_run)
            outlook = budget_outlook(budget_ledger, plan_check, dry_run)
            plan_preview = Preview(
                plan=plan,
                engine=table.engine,
                setting=plan_check.setting,
                planned_answers=plan_check.planned_answers,
                cost=plan.epsilon,
                guesses=guesses,
                part_adds_up=part_adds_up(plan_check, budget_ledger),
                **outlook,
            )
            yield PreparedRelease(plan_preview, table, budget_ledger, release_cost, plan_check.identity)


def find_budget(plan: Plan) -> Budget | None:
    """The plan's budget, where what its amounts mean depends on it; None where it does not, or is not open yet."""
    if not plan.chooses_noise:
        return None
    with ledger.open_ledger(plan.ledger, plan.folder) as budget_ledger:
        return budget_ledger.budget(plan.budget) if budget_ledger.has_budget(plan.budget) else None


def check_plan(plan: Plan, table: Table, budget: Budget | None = None) -> PlanCheck:
    """How a table would answer a plan: its columns are checked, its units counted where they are public; no ledger.

    `budget` is the plan's, where it is known and the plan leaves the choice of noise.
    """
    setting = privacy_setting(plan, table)
    priced_plan = price_plan(plan, setting, budget)
    others = noise_choice.other_noises(plan, priced_plan.queries, setting)
    asked_noise = {query_spec.name: query_spec.noise for query_spec in plan.queries}
    planned_answers = tuple(
        replace(
            plan_answer(query_spec, setting),
            other=others.get(query_spec.name),
            keeps_mechanism=_missing_noise(asked_noise[query_spec.name], query_spec),
        )
        for query_spec in priced_plan.queries
    )
    for query_spec, planned_answer in zip(plan.queries, planned_answers, strict=True):
        if planned_answer.spec.query != query_spec.query:
            with name_query_in_errors(query_spec.name):
                planned_answer.spec.query.check(table, plan.unit, plan.part)
    return PlanCheck(
        replace(priced_plan, queries=tuple(planned_answer.spec for planned_answer in planned_answers)),
        setting,
        planned_answers,
        _source_identity(plan, table.database),
        None if plan.part is None else str(table.kinds[plan.part.column]),
        None if plan.unit.column is None else str(table.kinds[plan.unit.column]),
    )


def _missing_noise(asked: str, query_spec: QuerySpec) -> str | None:
    """The noise that was asked for and that a priced query has not; None where it has it, or none was."""
    return asked if asked in (GAUSSIAN, CANONICAL) and asked != query_spec.noise else None


def price_plan(plan: Plan, setting: PrivacySetting, budget: Budget | None = None) -> Plan:
    """The plan with its prices: the least for each wanted error, and what these leave of the plan's for the others."""
    if plan.chooses_noise:
        queries, told = noise_choice.price_noise(plan, setting, budget)
        return replace(plan, queries=queries, told=told)
    found: dict[str, Fraction] = {}
    for query_spec in plan.queries:
        if query_spec.wanted is not None:
            with name_query_in_errors(query_spec.name):
                found[query_spec.name] = find_epsilon(query_spec.query, setting, query_spec.wanted)
    return replace(plan, queries=pricing.price_queries(plan.queries, plan.price.epsilon, found))


def plan_answer(query_spec: QuerySpec, setting: PrivacySetting) -> PlannedAnswer:
    """How a query with this ε will be answered, from public things alone."""
    with name_query_in_errors(query_spec.name):
        query = query_spec.query.resolve(query_spec.epsilon, setting)
        selection = noise_choice.select(query_spec, setting)
        error = answer_error(selection.mechanism, query, setting.unit, setting.part)
        return PlannedAnswer(replace(query_spec, query=query), selection, error)


def _source_identity(plan: Plan, database: str | None = None) -> SourceIdentity:
    """What the rows of a plan with a part are recognised by; nobody asks where there is none."""
    if plan.part is None:
        return SourceIdentity(None)
    return identify_source(plan.source, plan.folder, plan.fingerprint, database)


def privacy_setting(plan: Plan, table: Table) -> PrivacySetting:
    """What the sensitivities of a plan rest on; refuses queries that the table cannot answer."""
    for query_spec in plan.queries:
        with name_query_in_errors(query_spec.name):
            query_spec.query.check(table, plan.unit, plan.part)
    units = table.units(plan.unit) if plan.neighbours == "replace" else None
    if units == 0:
        raise InputError(
            "source must have rows under replace, where their number is public, got none: is it the right table?",
            "source",
        )
    return PrivacySetting(plan.neighbours, plan.unit, plan.part, units)


def _guessed_kinds(plan: Plan, table: Table, dry_run: bool) -> dict[str, str]:
    """The kinds that were found in the rows: refused where something is to be released.

    One row could make all others mean something else, and no sensitivity would hold.
    """
    guesses: dict[str, str] = {}
    for query_spec in plan.queries:
        columns = query_spec.query.used_columns(plan.unit, plan.part)
        guesses |= {name: str(kind) for name, kind in table.guesses(columns).items()}
    if guesses and not dry_run:
        kinds = {**(plan_writer.source_columns(plan.source) or {}), **guesses}
        raise InputError(
            "columns must be declared for a CSV file, or one row could decide what all others mean",
            "columns",
            f"write {plan_writer.column_kinds(kinds)} in [source]",
        )
    return guesses


def prepare_answer(planned_answer: PlannedAnswer, setting: PrivacySetting) -> PreparedAnswer:
    """All of an answer but the draw, with the ε that its mechanism is found to have: from public things alone."""
    query_spec, query, mechanism = planned_answer.spec, planned_answer.spec.query, planned_answer.law.mechanism
    epsilon, delta, rho = _actual_amounts(planned_answer, setting)
    if epsilon > query_spec.epsilon or delta > query_spec.delta or (rho or 0) > (query_spec.rho or 0):
        raise UndecidedError(
            f"query {query_spec.name} must not tell more than was paid for, and would: a bug in utmost"
        )
    frame = Answer(
        name=query_spec.name,
        query=query.as_released().with_delta(delta),
        epsilon=epsilon,
        rho=rho,
        noise_delta=delta if query_spec.noise in (GAUSSIAN, CANONICAL) else Fraction(0),
        sensitivity=planned_answer.law.sensitivity,
        mechanism=mechanism,
        optimal=planned_answer.law.optimal,
        error=planned_answer.error,
        value=0,
    )
    return PreparedAnswer(frame, query.prepare_draw(mechanism), query.value_room(mechanism))


def _actual_amounts(
    planned_answer: PlannedAnswer, setting: PrivacySetting
) -> tuple[Fraction, Fraction, Fraction | None]:
    """The ε, δ and ρ that a mechanism is found to have; of Gaussian noise the (ε, δ) that its ρ converts to."""
    query_spec, query, mechanism = planned_answer.spec, planned_answer.spec.query, planned_answer.law.mechanism
    if query_spec.noise == CANONICAL:
        delta = mechanism.told_delta(planned_answer.law.sensitivity)
        return query.actual_epsilon(mechanism, setting), delta, None
    if query_spec.noise != GAUSSIAN:
        return query.actual_epsilon(mechanism, setting), query.actual_delta(mechanism, setting), None
    rho = query.actual_rho(mechanism, setting)
    return epsilon_at(rho, query_spec.noise_delta), query_spec.noise_delta, rho


def _written_size(frame: Release) -> int:
    """How many bytes a release takes in a file. What no file can hold is refused, and what nobody could read again."""
    try:
        size = len(release_file.release_to_json(frame).encode("utf-8"))
    except ValueError:
        raise InputError(
            "plan must have texts of Unicode characters only, got one with another", "plan", "leave it out"
        ) from None
    if size > release_file.MAX_RELEASE_BYTES:
        limit = f"{release_file.MAX_RELEASE_BYTES >> 20} MiB"
        raise InputError(f"plan must make a release of at most {limit}, got a larger one", "plan", "split it")
    return size


def _failure(action: Callable[[], None]) -> str | None:
    """Why a ledger or a file could not be written, if so."""
    try:
        action()
    except OSError as problem:
        return file_error_reason(problem)
    except LedgerError as problem:
        return str(problem)
    return None


def _check_kept(failures: Sequence[str], document: str) -> None:
    """Hand a release that could not be kept to the caller: its budget is spent, and its noise is drawn only once."""
    if failures:
        raise OutputError(
            f"the release must be stored and written, got {'; '.join(failures)}: the budget was charged, "
            "so keep the release, which is on standard output or in `document` of this error",
            document,
        )
