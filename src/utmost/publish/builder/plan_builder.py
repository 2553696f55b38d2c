"""A plan that is written query by query; each is checked when it is added, as far as that needs no data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from utmost.data.frames import with_frame
from utmost.errors import InputError
from utmost.exact import decimal_above
from utmost.exact.input_text import Fields, escape_control
from utmost.notebook import report_html
from utmost.publish import plan_writer, plans
from utmost.publish.builder.query_methods import QueryMethods
from utmost.publish.builder.values import Noise, Number, plain
from utmost.publish.plan_model import Plan, PlanPrice, QuerySpec, used_columns
from utmost.queries import registry
from utmost.queries.query import Query
from utmost.registry import similar_name

if TYPE_CHECKING:
    from utmost.publish.execute import Preview, Progress
    from utmost.publish.inspection import Inspection
    from utmost.publish.release_model import Release
    from utmost.publish.table_specs import TableSpec
    from utmost.queries.tables import CountTable

MIN_DEFAULT_STEPS = 10  # from low to high, where a step of 1 is taken without being asked for
SHOWN_NAMES = 5
TRUTH_KEYS = ("other", "over")
KEYS_HINT = 'write keys={"carrier": ["UA", "AA"]}'
FRAME_REMARK = "# Its table is a data frame, which is given as data when the plan is read or released.\n\n"


class PlanBuilder(QueryMethods):
    """A plan for a table: queries, their prices, and the budget that they are charged to.

    Each method adds a query and returns the plan, so that calls may follow each other or stand by themselves. A query
    with the name of another is refused, unless it is the very same, so that a cell of a notebook can be run again;
    ``plan.remove(name)`` takes one out. `preview` spends nothing; `release` charges the budget, each time it is called.

    There is a method for each kind of query. All of them take these arguments:

    - ``name``: what the answer is called in previews and releases; of its own in a plan.
    - ``where``: a predicate; only the rows that satisfy it count.
    - ``epsilon``: what the query may cost; or its ``share`` of what the plan's ε leaves (1 by default); or the
      ``error`` that is wanted, the largest half width of the 95 % interval; or ``rho``, with Gaussian noise.
    - ``delta``: its own δ, where it needs one; by default its part of the plan's.
    - ``noise``: "geometric", "gaussian", "canonical", or "best" for whichever errs less; by default the plan's.
    - ``over``: True to ask in addition, for a tenth of the price, how many persons have more rows than are kept; or
      another part of the price.

    Most take ``keys`` or ``by`` and are then asked of each cell. ``keys`` lists the public values of columns: a list, a
    range as in ``range(1, 13)`` or "1..12", or ``{"location": "carriers.csv", "column": "carrier"}``; ``other=True``
    adds one more cell for all other rows. ``by`` names columns whose values are found in the data, which needs a δ.

    Numbers are exact: a text, a ``Fraction`` or a ``Decimal`` is what it says, and a float is the shortest decimal that
    reads back as it, so ``0.1`` is 1/10.
    """

    def __init__(self, head: Plan) -> None:
        """Start a plan from one without queries."""
        self._head = replace(head, queries=())
        self._queries: dict[str, tuple[QuerySpec, ...]] = {}
        self._default_steps: set[str] = set()
        self._tables: dict[str, TableSpec] = {}

    def add(self, kind: str, name: str, **keys: Any) -> Self:
        """Add a query of a registered kind, with the keys that it has in a plan.

        A step of 1 is taken where the bounds are whole numbers at least 10 apart, and missing values drop their rows.
        """
        if not isinstance(keys.get("keys", {}), Mapping | None):
            raise InputError("keys must be a mapping of columns to their values", "keys", KEYS_HINT)
        plain_keys = {key: plain(value, key) for key, value in keys.items()}
        entries = {key: value for key, value in plain_keys.items() if not _is_left_out(key, value)}
        if isinstance(entries.get("by"), str):
            entries["by"] = [entries["by"]]
        table = {"name": plain(name), "kind": kind, **entries}
        complete = _with_defaults(table)
        self.add_table(complete)
        if "step" in complete and "step" not in table:
            self._default_steps.add(complete["name"])
        return self

    def add_table(self, table: Mapping[str, Any]) -> Self:
        """Add a query as a plan's file has it, without defaults."""
        specs = plans.parse_query_table(self._head, table)
        used_columns(replace(self._head, queries=specs))  # reads the predicates
        name = specs[0].name
        known = self._queries.get(name)
        if known is not None and known != specs:
            problem = f'name must be of its own, got "{name}", which another query of the plan has'
            raise InputError(problem, "name", f"choose another, or call remove({name!r}) before")
        if known is None and self.price.rho is None:  # with ρ, prices are known when all queries are
            plans.with_queries(self._head, [*self.specs, *specs])
        self._queries[name] = specs
        self._default_steps.discard(name)
        return self

    def table(
        self,
        name: str,
        *,
        keys: Mapping[str, Any],
        levels: Iterable[Iterable[str]] | str,
        other: bool = False,
        where: str | None = None,
        totals: Iterable[Mapping[str, Any]] = (),
        zeros: Iterable[Mapping[str, Any]] = (),
        workload: str | None = None,
        shares: Iterable[Number] | str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
    ) -> Self:
        """Counts at several levels that belong together, such as regions and their towns, at one price.

        ``keys`` lists the public values of columns, as in a query; or the combinations that there are, as in
        ``{"columns": ["region", "town"], "cells": pairs}`` or ``{"columns": …, "location": "towns.csv"}``. ``levels``
        names the columns of each level, ``[]`` those of the grand total; "marginals:2" stands for all levels of up to
        two columns. ``totals`` and ``zeros`` are what everybody knows: ``[{"keys": {"region": "north"}, "rows": 80}]``
        and ``[{"region": "north", "town": "a"}]``. ``workload`` says what the shares of the levels are chosen for
        ("levels", "cells", "prefix", "ranges", "marginals:2"), unless ``shares`` gives them.
        """
        arguments = {key: value for key, value in locals().items() if key not in ("self", "name")}
        entries = {key: plain(value, key) for key, value in arguments.items()}
        given = {key: value for key, value in entries.items() if not (value is None or value is False or value == [])}
        return self.add_count_table({"name": plain(name), "levels": entries["levels"], **given})

    def add_count_table(self, table: Mapping[str, Any]) -> Self:
        """Add a [[table]] as a plan's file has it."""
        spec = plans.parse_count_table(self._head, table)
        used_columns(replace(self._head, queries=spec.specs))  # reads the predicate
        known = self._tables.get(spec.name)
        if known is not None and known != spec:
            problem = f'name must be of its own, got "{spec.name}", which another table of the plan has'
            raise InputError(problem, "name", f"choose another, or call remove({spec.name!r}) before")
        if known is None and self.price.rho is None:
            plans.with_queries(self._head, [*self.specs, *spec.specs])
        self._tables[spec.name] = spec
        return self

    def remove(self, name: str) -> Self:
        """Take the query or the table of this name out of the plan."""
        if not isinstance(name, str) or name not in {*self._queries, *self._tables}:
            similar = similar_name(str(name), [*self._queries, *self._tables])
            hint = "see plan.queries" if similar is None else f'did you mean "{similar}"?'
            raise InputError("name must be that of a query of the plan, got another", "name", hint)
        self._queries.pop(name, None)
        self._tables.pop(name, None)
        self._default_steps.discard(name)
        return self

    @property
    def tables(self) -> dict[str, CountTable]:
        """The tables, by name, in the order in which they were added."""
        return {name: spec.table for name, spec in self._tables.items()}

    @property
    def queries(self) -> dict[str, Query]:
        """What is asked, by name, in the order in which it was added."""
        return {name: specs[0].query for name, specs in self._queries.items()}

    @property
    def default_steps(self) -> list[str]:
        """The queries whose step is 1 because none was given, in the order in which they were added."""
        return [name for name in self._queries if name in self._default_steps]

    @property
    def specs(self) -> list[QuerySpec]:
        """The queries with what each says of its price, and those that count persons over their bound."""
        queries = [query_spec for specs in self._queries.values() for query_spec in specs]
        return [*queries, *plans.table_queries(list(self._tables.values()))]

    @property
    def price(self) -> PlanPrice:
        """The price of the whole plan, as far as it has one."""
        return self._head.price

    @property
    def budget(self) -> str:
        """The name of the budget that a release is charged to."""
        return self._head.budget

    def __copy__(self) -> PlanBuilder:
        """A plan of the same queries, to which others may be added."""
        twin = PlanBuilder(self._head)
        twin._queries, twin._default_steps = dict(self._queries), set(self._default_steps)
        return twin

    def __len__(self) -> int:
        """How many queries and tables were added."""
        return len(self._queries) + len(self._tables)

    def to_plan(self) -> Plan:
        """The plan as its file would make it; refused without queries."""
        if not len(self):
            raise InputError("plan must have at least one query, got none", "query", 'add one: plan.count("rows")')
        return plans.with_queries(replace(self._head, tables=tuple(self._tables.values())), self.specs)

    def to_toml(self) -> str:
        """The file of this plan: `ut.read_plan` and `utmost release` read it. Its output is left out.

        Paths in it are relative to the working folder in which the table was named; that of a ledger is absolute,
        unless it is `ledger.sqlite` there. A data frame has no path: give it again, as in
        `ut.release("plan.toml", data=frame)`.
        """
        remark, plan = "" if self._head.source.data is None else FRAME_REMARK, self.to_plan()
        return remark + plan_writer.write_plan(replace(plan, ledger=_whole_path(plan.ledger, plan.folder)))

    def preview(self) -> Preview:
        """What a release would cost and how far off its answers would be; spends nothing and needs no open budget."""
        from utmost.publish.builder.runs import preview

        return preview(self)

    def release(self, progress: Progress | None = None) -> Release:
        """Charge the budget, answer the queries, and return the release; write it, where the plan has an output."""
        from utmost.publish.builder.runs import release

        return release(self, progress)

    def inspect(self) -> Inspection:
        """How the table fits the plan, in exact numbers: for the curator alone, never for publication."""
        from utmost.publish.inspection import inspect_plan

        return inspect_plan(self.to_plan())

    def __repr__(self) -> str:
        """Its budget, its price and the names of its queries."""
        names = [*self._queries, *self._tables]
        more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
        text = ", ".join(names[:SHOWN_NAMES]) + more if names else "no queries yet"
        return escape_control(f"<PlanBuilder of budget {self.budget}{self._price_text()}: {text}>", frozenset())

    def _price_text(self) -> str:
        price = self.price
        amounts = {"ε": price.epsilon, "δ": price.delta, "ρ": price.rho}
        return "".join(f", {symbol} {_amount(value)}" for symbol, value in amounts.items() if value is not None)

    def _repr_html_(self) -> str:
        return report_html(self, "plan_builder")


def read_plan(path: str | Path, *, data: object = None) -> PlanBuilder:
    """The plan in a TOML file, to look at, add to and release; as in `ut.release(path)`, its release goes beside it.

    ``data`` is a data frame for a plan that names no location.
    """
    plan_path = Path(path)
    content = plans.parse_content(plans.read_plan_text(plan_path))
    head = plans.plan_head(content, plan_path.absolute().parent)
    if data is not None:
        head = replace(head, source=with_frame(head.source, data))
    builder = PlanBuilder(plans.with_output(head, plan_path))
    for section, add in (("query", builder.add_table), ("table", builder.add_count_table)):
        if section in content or not content.keys() & {"query", "table"}:
            Fields(content, "plan").tables(section)
            for table in content[section]:
                add(table)
    return builder


def _whole_path(ledger: str, folder: Path) -> str:
    """A ledger as a file says it that may be saved elsewhere: the default one of the folder by its name alone."""
    return ledger if "://" in ledger or ledger == plans.DEFAULT_LEDGER else str(folder / ledger)


def _is_left_out(key: str, value: Any) -> bool:
    """Is a key of a query as if it had not been given."""
    return value is None or (key in TRUTH_KEYS and value is False)


def _with_defaults(table: dict[str, Any]) -> dict[str, Any]:
    """A query with what Python need not say: how finely values are rounded, and what a missing one is."""
    kind = registry.QUERY_KINDS.get(str(table["kind"]))
    fields = set() if kind is None else {field.name for field in kind.fields}
    if "nulls" in fields:
        table = {"nulls": "drop", **table}
    if "step" not in fields or any(table.get(key) is not None for key in ("step", "extra_loss")):
        return table
    return {**table, "step": _default_step(Fields(table, f'query "{str(table["name"])[:60]}"'))}


def _default_step(fields: Fields) -> int:
    """1 where the bounds are whole numbers with enough steps between them; refused elsewhere."""
    low, high = fields.number("low"), fields.number("high")
    if low.denominator != 1 or high.denominator != 1 or 0 < high - low < MIN_DEFAULT_STEPS:
        problem = f"must be given unless low and high are whole numbers at least {MIN_DEFAULT_STEPS} apart"
        raise fields.error("step", problem, "say to multiples of what values are rounded, as in step=0.01")
    return 1


def _amount(value: Fraction) -> str:
    return str(decimal_above(value, 12))
