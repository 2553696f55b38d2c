"""A plan: what to publish from which table, for whom it must be private, and what it may cost. Read from TOML.

Numbers are read exactly: `epsilon = 0.1` is 1/10. A key that is not known is refused, with the one it resembles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.data.derive import parse_derivations
from utmost.data.lookup import Lookup
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.data.sources import Source
from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.exact.files import check_no_named_pipe
from utmost.exact.input_text import Fields, check_plain_text, file_error_reason, parse_toml
from utmost.ledger.costs import MAX_AMOUNT_DIGITS, check_rho
from utmost.planning.shares import EPSILON, RHO
from utmost.publish import key_files, plan_tables, pricing
from utmost.publish.plan_model import Plan, PlanPrice, QuerySpec, name_query_in_errors
from utmost.publish.pricing import CANONICAL, GEOMETRIC, NOISES
from utmost.publish.table_specs import TableSpec, table_spec
from utmost.publish.wanted_errors import WantedError, parse_wanted_error
from utmost.queries import found_cells, registry
from utmost.queries.count import Count
from utmost.queries.keys import check_key
from utmost.queries.over import Over
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import Query
from utmost.queries.tables import TableLevel

MAX_PLAN_BYTES = 1 << 20  # bytes of a plan
MAX_QUERIES = 1000
MAX_LISTED_CELLS = 2 * 10**6  # cells and values of domains that all queries list: a release has each of them
MAX_NAME_CHARS = 100
MAX_LOOKUPS = 20
MAX_TABLES = 100
MAX_MARKERS = 100  # texts of a column that mean NULL
DEFAULT_LEDGER = "ledger.sqlite"
MAX_SHARE = 10**6
OVER_SUFFIX = ": over the bound"  # of the name of the query that counts the persons over the bound of another
DEFAULT_OVER_PART = Fraction(1, 10)  # of a query's price


def read_plan(path: str | Path) -> Plan:
    """The plan in a TOML file."""
    plan_path = Path(path)
    return with_output(parse_plan(read_plan_text(plan_path), plan_path.absolute().parent), plan_path)


def with_output(plan: Plan, plan_path: Path) -> Plan:
    """The plan of this file; where it names no output, its release goes beside it, under its name."""
    return replace(plan, output=plan.output or plan.folder / f"{plan_path.stem}.release.json")


def read_plan_text(plan_path: Path) -> str:
    """The text of a plan's file; refused where it is none."""
    check_no_named_pipe(plan_path, "plan")
    try:
        with plan_path.open("rb") as stream:
            raw = stream.read(MAX_PLAN_BYTES + 1)
        text = raw.decode("utf-8")
    except (OSError, ValueError) as problem:
        raise InputError(
            f"plan must name a readable text file, got {plan_path.name}: {file_error_reason(problem)}", "plan"
        ) from None
    if len(raw) > MAX_PLAN_BYTES:
        raise InputError(f"plan must be at most {MAX_PLAN_BYTES >> 20} MiB, got a larger file", "plan")
    return text


def parse_plan(text: str, folder: Path | None = None, *, with_key_files: bool = True) -> Plan:
    """The plan in a text of TOML; refused with one line that names the key.

    Files that its keys name are read, unless the plan must name none.

    >>> plan = parse_plan('''
    ... neighbours = "replace"
    ... budget = "survey"
    ... source = {location = "bundled:anes96"}
    ... [[query]]
    ... name = "dole"
    ... kind = "count"
    ... epsilon = 0.1
    ... where = "vote = 1"
    ... ''')
    >>> plan.epsilon, plan.queries[0].query
    (Fraction(1, 10), Count(where='vote = 1'))
    """
    content = parse_content(text)
    if not with_key_files:
        key_files.check_no_key_files(content)
    return plan_from_mapping(content, folder)


def parse_content(text: str) -> dict[str, Any]:
    """The tables of a plan in a text of TOML, none of them checked yet."""
    try:
        return parse_toml(text, "plan")
    except InputError:
        raise
    except (ValueError, RecursionError) as problem:
        hint = "this is a release, not a plan" if '"utmost-release/' in text[:200] else None
        raise InputError(f"plan must be TOML: {_shorten(str(problem))}", "plan", hint) from None


def plan_from_mapping(content: Mapping[str, Any], folder: Path | None = None) -> Plan:
    """The plan in a mapping, as TOML has it."""
    check_plain_text(content, "plan")
    base_folder = (folder or Path.cwd()).absolute()
    top = Fields(key_files.load_key_files(content, base_folder), "plan")
    head = _parse_head(top, base_folder)
    count_tables = _count_tables(top)
    tables = top.tables("query") if not count_tables or top.raw("query", None) is not None else []
    if not 1 <= len(tables) + len(count_tables) <= MAX_QUERIES:
        raise InputError(
            f"plan must have from 1 to {MAX_QUERIES} queries, got {len(tables)}", "query", "add [[query]] tables"
        )
    queries = _parse_tables(tables, head.price, head.noise)
    head = replace(head, tables=tuple(_parse_count_table(fields, head) for fields in count_tables))
    plan = with_queries(head, [*queries, *table_queries(head.tables)])
    top.finish()
    return plan


def _count_tables(top: Fields) -> list[Fields]:
    """The fields of each [[table]] of a plan."""
    tables = top.tables("table") if top.raw("table", None) is not None else []
    if len(tables) > MAX_TABLES:
        raise InputError(f"plan must have at most {MAX_TABLES} tables, got {len(tables)}", "table")
    return tables


def table_queries(tables: Sequence[TableSpec]) -> list[QuerySpec]:
    """The queries of all levels of tables."""
    return [query_spec for table in tables for query_spec in table.specs]


def plan_head(content: Mapping[str, Any], folder: Path | None = None) -> Plan:
    """The plan in a mapping without its queries, which `parse_query_table` and `with_queries` add."""
    check_plain_text(content, "plan")
    top = Fields(content, "plan")
    head = _parse_head(top, (folder or Path.cwd()).absolute())
    top.raw("query", None)
    top.raw("table", None)
    top.finish()
    return head


def _parse_head(top: Fields, base_folder: Path) -> Plan:
    output, price, noise = top.text("output", None), _parse_price(top), _parse_noise(top)
    return Plan(
        title=top.text("title", None),
        neighbours=_parse_neighbours(top.text("neighbours")),
        budget=top.text("budget"),
        ledger=top.text("ledger", DEFAULT_LEDGER),
        output=None if output is None else base_folder / output,
        **_parse_source(top.table("source", {}), top.table("derive", {}), _lookup_tables(top)),
        unit=_parse_unit(top.table("unit", {})),
        part=_parse_part(top.table("part", None)),
        queries=(),
        folder=base_folder,
        price=price,
        noise=noise,
    )


def _parse_neighbours(word: str) -> NeighbourRelation:
    try:
        return NeighbourRelation(word)
    except ValueError:
        raise InputError(
            f'neighbours must be "replace" or "add-remove", got "{_shorten(word)}"', "neighbours"
        ) from None


def _lookup_tables(top: Fields) -> list[Fields]:
    tables = top.tables("lookup") if top.raw("lookup", None) is not None else []
    if len(tables) > MAX_LOOKUPS:
        raise InputError(f"plan must have at most {MAX_LOOKUPS} lookups, got {len(tables)}", "lookup")
    return tables


def _parse_lookup(fields: Fields) -> Lookup:
    location, on_fields = fields.text("location"), fields.table("on")
    on = {column: on_fields.text(column) for column in on_fields.columns()}
    columns, missing = _parse_columns(fields)
    lookup = Lookup(location, on, _parse_take(fields), columns, missing)
    fields.finish()
    return lookup


def _parse_take(fields: Fields) -> dict[str, str]:
    """Columns of a public table and their new names: a table, or a list where they keep their names."""
    if isinstance(fields.raw("take"), dict):
        names = fields.table("take")
        return {column: names.text(column) for column in names.columns()}
    columns = fields.items("take")
    if not all(isinstance(column, str) for column in columns) or len(set(columns)) < len(columns):
        raise fields.error("take", "must be a list of different texts, or a table", 'write ["tz"] or { tz = "zone" }')
    return {column: column for column in columns}


def _parse_source(fields: Fields, derive_fields: Fields, lookup_tables: list[Fields]) -> dict[str, Any]:
    location, table, engine = fields.text("location", ""), fields.text("table", None), fields.text("engine", None)
    columns, missing = _parse_columns(fields)
    fingerprint = fields.text("fingerprint", None)
    fields.finish()
    derive = {name: derive_fields.text(name) for name in derive_fields.columns()}
    parse_derivations(derive)
    lookups = tuple(_parse_lookup(lookup_fields) for lookup_fields in lookup_tables)
    source = Source(location, table, engine, columns, derive, missing, lookups)
    return {"source": source, "fingerprint": fingerprint}


def _parse_columns(fields: Fields) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The kinds of columns, and the texts that mean that a value is missing.

    A column is `name = "kind"`, or `name = { kind = …, missing = [...] }`, or a table with its name in a list.
    """
    columns: dict[str, str] = {}
    missing: dict[str, tuple[str, ...]] = {}
    for name, column_fields in _column_tables(fields).items():
        if isinstance(column_fields, str):
            columns[name] = column_fields
            continue
        columns[name] = column_fields.text("kind")
        missing |= _parse_markers(name, column_fields)
        column_fields.finish()
    return columns, missing


def _column_tables(fields: Fields) -> dict[str, str | Fields]:
    """What `columns` says of each column: a kind, or a table."""
    if isinstance(fields.raw("columns", {}), list):
        tables = fields.tables("columns")
        names = [table.text("column") for table in tables]
        if len(set(names)) < len(names):
            raise fields.error("columns", "must name each column once")
        return dict(zip(names, tables, strict=True))
    table = fields.table("columns", {})
    return {
        name: table.table(name) if isinstance(table.raw(name), dict) else table.text(name) for name in table.columns()
    }


def _parse_markers(name: str, fields: Fields) -> dict[str, tuple[str, ...]]:
    """The texts that mean that a value of a column is missing, if there are any."""
    markers = fields.items("missing") if fields.raw("missing", None) is not None else []
    if not all(isinstance(marker, str) for marker in markers) or len(markers) > MAX_MARKERS:
        raise fields.error("missing", f"must be a list of at most {MAX_MARKERS} texts", 'write ["NA", "."]')
    return {name: tuple(markers)} if markers else {}


def _parse_unit(fields: Fields) -> PrivacyUnit:
    unit = PrivacyUnit(fields.text("column", None), fields.integer("rows", None), fields.integer("groups", None))
    fields.finish()
    return unit


def _parse_part(fields: Fields | None) -> Partition | None:
    if fields is None:
        return None
    part = Partition(fields.text("column"), check_key(fields.value("equals"), "part equals", "part.equals"))
    fields.finish()
    return part


def _parse_price(top: Fields) -> PlanPrice:
    """The plan's own `epsilon` and `delta`, or its `rho`."""
    epsilon = parse_epsilon(top) if "epsilon" in top.columns() else None
    delta = found_cells.parse_delta(top) if "delta" in top.columns() else None
    _check_digits(top, "delta", delta or Fraction(0))
    rho = _parse_rho(top)
    if rho is not None and epsilon is not None:
        raise top.error("rho", "must not be given with epsilon", "keep one of the two")
    return PlanPrice(epsilon, delta, rho)


def _parse_rho(fields: Fields) -> Fraction | None:
    """A ρ that a ledger can hold; None where it is left out."""
    if "rho" not in fields.columns():
        return None
    rho = fields.number("rho")
    try:
        return check_rho(rho, "rho")
    except InputError as problem:
        raise fields.locate(problem, "rho") from None


def _parse_noise(fields: Fields, default: str = GEOMETRIC) -> str:
    """The noise that a plan or a query asks for."""
    noise = str(fields.text("noise", default))
    if noise not in NOISES:
        raise fields.error("noise", f'must be geometric, gaussian, canonical or best, got "{_shorten(noise)}"')
    return noise


def parse_query_table(head: Plan, table: Mapping[str, Any]) -> tuple[QuerySpec, ...]:
    """The query in one table of a plan, and the count of the persons over its bound where it asks for it.

    `head` is the plan without its queries. Files that its keys name are read.
    """
    return _parse_query(Fields(_load_entry(head, "query", table), "query"), head.price, head.noise)


def parse_count_table(head: Plan, table: Mapping[str, Any]) -> TableSpec:
    """The table in one [[table]] of a plan; `head` is the plan without its queries."""
    return _parse_count_table(Fields(_load_entry(head, "table", table), "table"), head)


def _load_entry(head: Plan, section: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry of a plan with the keys of the files that it names."""
    check_plain_text(entry, section, section)
    location = head.source.location
    content = {"source": {"location": location} if location else {}, section: [entry]}
    loaded: Mapping[str, Any] = key_files.load_key_files(content, head.folder)[section][0]
    return loaded


def with_queries(head: Plan, queries: Sequence[QuerySpec]) -> Plan:
    """The plan with these queries, at the prices that can be known without the table."""
    _check_listed_size(sum(_listed_size(query_spec.query) for query_spec in queries if query_spec.over is None))
    _check_names([table.name for table in head.tables], "table")
    _check_names([query_spec.name for query_spec in queries])
    price = head.price
    if any(query_spec.noise != GEOMETRIC for query_spec in queries):
        return replace(head, queries=tuple(queries))  # priced when it is known how the budget composes
    if price.rho is not None:
        raise InputError("rho must be left out where all noise is geometric", "rho", 'add noise = "best"')
    split_queries = _split_delta(queries, price.delta)
    if any(query_spec.wanted is not None for query_spec in split_queries):
        return replace(head, queries=split_queries)
    return replace(head, queries=pricing.price_queries(split_queries, price.epsilon))


def _parse_tables(tables: list[Fields], price: PlanPrice, noise: str) -> list[QuerySpec]:
    """The queries one by one, until they list more cells than a plan may have."""
    queries: list[QuerySpec] = []
    listed_size = 0
    for fields in tables:
        queries += _parse_query(fields, price, noise)
        listed_size += _listed_size(queries[-1].query)
        _check_listed_size(listed_size)
    return queries


def _listed_size(query: Query) -> int:
    """How many cells and values of a domain a query lists."""
    return len(query.cells) if isinstance(query, TableLevel) else query.candidates.listed_size


def _check_listed_size(listed_size: int) -> None:
    if listed_size > MAX_LISTED_CELLS:
        problem = f"plan must list at most {MAX_LISTED_CELLS} cells and values in all queries, got more"
        raise InputError(problem, "query", "split it into several plans")


def _check_names(names: Sequence[str], what: str = "query") -> None:
    """Refuse two queries or tables of one name, and more queries than a release may have."""
    if len(names) > MAX_QUERIES:
        raise InputError(
            f"plan must have at most {MAX_QUERIES} queries with those that over adds, got {len(names)}", "query"
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f'{what} names must differ, got "{name}" twice', what)
        seen.add(name)


def _split_delta(queries: Sequence[QuerySpec], total: Fraction | None) -> tuple[QuerySpec, ...]:
    """The queries with their δ: what the plan's leaves is split over those that need one and name none."""
    if not total:
        return tuple(queries)
    asked = [query_spec for query_spec in queries if query_spec.query.needs_delta]
    requests = [pricing.PriceRequest(query_spec.name, query_spec.delta or None) for query_spec in asked]
    deltas = iter(pricing.split_price(total, requests, "delta"))
    return tuple(
        replace(query_spec, query=query_spec.query.with_delta(next(deltas)), splits_delta=not query_spec.delta)
        if query_spec.query.needs_delta
        else query_spec
        for query_spec in queries
    )


def _parse_query(fields: Fields, price: PlanPrice, plan_noise: str) -> tuple[QuerySpec, ...]:
    """The query in a table of a plan, and the count of the persons over its bound where `over` asks for it."""
    name = parse_query_name(fields)
    query_fields = fields.with_label(f'query "{name}"')
    kind = registry.parse_kind(query_fields)
    query_spec = _parse_prices(name, query_fields, price, plan_noise)
    part = _parse_over(query_fields, kind)
    with name_query_in_errors(name):
        query = registry.parse_query(kind, query_fields)
    query_spec = replace(query_spec, query=query)
    if not query.needs_delta and query_spec.noise != GEOMETRIC:
        query_spec = replace(query_spec, noise_delta=found_cells.parse_delta(query_fields))
    query_fields.finish()
    _check_digits(query_fields, "delta", query_spec.delta)
    if query.needs_delta and not (query.delta or price.delta):
        raise query_fields.error("delta", "must be given: by needs delta", "say for instance delta = 1e-6")
    return (query_spec,) if part is None else _add_over(query_spec, part)


def _parse_prices(name: str, fields: Fields, price: PlanPrice, plan_noise: str) -> QuerySpec:
    """What a table of a plan says of its price and its noise: a query that lacks what is asked, and its δ."""
    wanted = parse_wanted_error(fields)
    noise, inherits_noise = _parse_noise(fields, plan_noise), "noise" not in fields.columns()
    rho = _parse_own_rho(fields, noise, wanted)
    share = None if rho is not None else _parse_share(fields, price, wanted)
    is_priced = wanted is None and share is None and rho is None
    epsilon = parse_epsilon(fields) if is_priced else Fraction(0)
    return QuerySpec(name, epsilon, Count(), wanted, share, False, None, noise, inherits_noise, rho)


def _parse_count_table(fields: Fields, head: Plan) -> TableSpec:
    """A [[table]] of a plan."""
    name = parse_query_name(fields)
    table_fields = fields.with_label(f'table "{name}"')
    spec = _parse_prices(name, table_fields, head.price, head.noise)
    table, entries, shares, workload = plan_tables.parse_count_table(name, table_fields)
    if spec.wanted is not None and shares is not None:
        raise table_fields.error("shares", "must not be given with error", "every level gets the error that is wanted")
    if spec.noise != GEOMETRIC:
        spec = replace(spec, noise_delta=found_cells.parse_delta(table_fields))
    table_fields.finish()
    _check_digits(table_fields, "delta", spec.noise_delta)
    for query_name in table.query_names:
        parse_query_name(Fields({"name": query_name}, table_fields.label))
    setting = PrivacySetting(head.neighbours, head.unit, head.part, None)
    has_rho = spec.rho is not None or (spec.share is not None and head.price.rho is not None)
    measure = RHO if has_rho else EPSILON
    return table_spec(table, entries, spec, shares, workload, setting, measure=measure)


def _parse_own_rho(fields: Fields, noise: str, wanted: WantedError | None) -> Fraction | None:
    """The ρ of a query that says its own; None where its price is another."""
    rho = _parse_rho(fields)
    if rho is None:
        return None
    if noise in (GEOMETRIC, CANONICAL):
        raise fields.error("rho", f"must be left out with {noise} noise", 'give epsilon, or take noise = "gaussian"')
    if wanted is not None or "epsilon" in fields.columns() or "share" in fields.columns():
        raise fields.error("rho", "must be given without epsilon, share and error", "keep one of them")
    return rho


def _parse_over(fields: Fields, kind: type[Query]) -> Fraction | None:
    """The part of a query's price for the count of the persons over its bound; None where that is not asked for."""
    value = fields.raw("over", None)
    if value is None or value is False:
        return None
    if kind is Over:
        raise fields.error("over", "must be left out where the persons over the bound are asked for", "take it out")
    part = DEFAULT_OVER_PART if value is True else fields.number("over", ", or true")
    _check_digits(fields, "over", part)
    if not 0 < part < 1:
        raise fields.error("over", f"must be true, or a part of the query's price between 0 and 1, got {part}")
    return part


def _add_over(query_spec: QuerySpec, part: Fraction) -> tuple[QuerySpec, ...]:
    """A query, and the count of the persons over its bound at a part of its price."""
    name = query_spec.name + OVER_SUFFIX
    if len(name) > MAX_NAME_CHARS:
        room = MAX_NAME_CHARS - len(OVER_SUFFIX)
        raise InputError(f"query name must be at most {room} characters with over, got more", "name", "shorten it")
    over = QuerySpec(name, Fraction(0), Over.of(query_spec.query), over=part)
    return pricing.PricedPair(query_spec, over).with_price(query_spec.epsilon)


def _parse_share(fields: Fields, price: PlanPrice, wanted: WantedError | None) -> Fraction | None:
    """How much of the plan's ε a query gets, beside the others; None where its ε follows from something else."""
    if wanted is not None and "share" in fields.columns():
        raise fields.error("share", "must not be given with error", "keep one of the two: the error leads to the ε")
    if "epsilon" in fields.columns() and "share" in fields.columns():
        raise fields.error("share", "must not be given with epsilon", "give either share or epsilon")
    if wanted is not None or "epsilon" in fields.columns():
        return None
    if price.epsilon is None and price.rho is None:
        if "share" in fields.columns():
            raise fields.error("share", "is of the plan's epsilon, which is missing", "add epsilon at the plan's top")
        return None
    share = fields.number("share") if "share" in fields.columns() else Fraction(1)
    _check_digits(fields, "share", share)
    if not 0 < share <= MAX_SHARE:
        raise fields.error("share", f"must be > 0 and at most {MAX_SHARE}, got {share}")
    return share


def parse_query_name(fields: Fields) -> str:
    """The name of a query in a table of a plan or a release: two that look alike differ in characters one can see."""
    name = fields.text("name")
    if not name.isprintable() or not 1 <= len(name) <= MAX_NAME_CHARS:
        raise InputError(f"query name must be 1 to {MAX_NAME_CHARS} printable characters", "name")
    return str(name)


def parse_epsilon(fields: Fields) -> Fraction:
    """The ε of a query: a number > 0 that a ledger can hold."""
    value = fields.number("epsilon")
    if not value > 0:
        raise fields.error("epsilon", f"must be > 0, got {value}")
    _check_digits(fields, "epsilon", value)
    try:
        level_of(value)
    except InputError as problem:
        raise fields.locate(problem, "epsilon") from None
    return value


def _check_digits(fields: Fields, key: str, value: Fraction) -> None:
    """Refuse a number that is longer than an amount in a ledger."""
    if max(abs(value.numerator), value.denominator) >= 10**MAX_AMOUNT_DIGITS:
        raise fields.error(key, f"must be a number of at most {MAX_AMOUNT_DIGITS} digits", "round it")


def load_plan(plan: Plan | Mapping[str, Any] | str | Path) -> Plan:
    """The plan itself, or the one in a mapping or in the file of this name."""
    if isinstance(plan, Plan):
        return plan
    return plan_from_mapping(plan) if isinstance(plan, Mapping) else read_plan(plan)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
