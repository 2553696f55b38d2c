"""A plan as TOML: what `plans.parse_plan` reads back equal.

Decimals are written as decimals and other fractions as texts, so that no number is rounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from utmost.data.lookup import Lookup
from utmost.data.selection import Key
from utmost.data.sources import Source
from utmost.publish.plan_model import Plan, QuerySpec
from utmost.publish.plans import DEFAULT_LEDGER, DEFAULT_OVER_PART
from utmost.publish.pricing import GEOMETRIC, PricedPair, pair_queries
from utmost.publish.table_specs import TableSpec
from utmost.queries.tables import TableLevel

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")  # a key that TOML takes without quotes
MAX_DECIMALS = 30  # decimals of a number that is written as one


def write_plan(plan: Plan) -> str:
    """The TOML of a plan. Its output is left out: whoever runs it says where the release goes.

    >>> from utmost.publish.plans import parse_plan
    >>> plan = parse_plan('''
    ... neighbours = "replace"
    ... budget = "survey"
    ... source = {location = "bundled:anes96"}
    ... query = [{name = "dole", kind = "count", epsilon = "1/10", where = "vote = 1"}]
    ... ''')
    >>> print(write_plan(plan))
    neighbours = "replace"
    budget = "survey"
    <BLANKLINE>
    [source]
    location = "bundled:anes96"
    <BLANKLINE>
    [[query]]
    name = "dole"
    kind = "count"
    where = "vote = 1"
    epsilon = 0.1
    <BLANKLINE>
    """
    unit, part = plan.unit, plan.part
    ledger = None if plan.ledger == DEFAULT_LEDGER else plan.ledger
    names = {"title": plan.title, "neighbours": str(plan.neighbours), "budget": plan.budget, "ledger": ledger}
    price = {"epsilon": plan.price.epsilon, "delta": plan.price.delta, "rho": plan.price.rho}
    noise = {"noise": None if plan.noise == GEOMETRIC else plan.noise}
    source = plan.source
    location = {"location": source.location or None, "table": source.table, "engine": source.engine}
    sections = [
        _toml_table("", {**names, **price, **noise}),
        _toml_table("[source]", {**location, "columns": source_columns(source), "fingerprint": plan.fingerprint}),
        _toml_table("[derive]", {_toml_key(name): text for name, text in source.derive.items()}),
        *(_toml_table("[[lookup]]", lookup_entries(lookup)) for lookup in source.lookups),
        _toml_table("[unit]", {"column": unit.column, "rows": unit.rows, "groups": unit.groups}),
        _toml_table("[part]", {} if part is None else {"column": part.column, "equals": part.equals}),
        *(_toml_table("[[query]]", _query_entries(pair, plan.noise)) for pair in pair_queries(_own_queries(plan))),
        *(_toml_table("[[table]]", _table_entries(table, plan.noise)) for table in plan.tables),
    ]
    return "\n".join(section for section in sections if section)


def lookup_entries(lookup: Lookup) -> dict[str, Any]:
    """A lookup as a plan has it."""
    entries = {"location": lookup.location, "on": dict(lookup.on), "take": dict(lookup.take)}
    columns = source_columns(lookup)
    return entries if columns is None else {**entries, "columns": columns}


def source_columns(source: Source | Lookup) -> dict[str, Any] | None:
    """The columns of a source as a plan has them: kinds, and tables where texts mean that a value is missing."""
    missing = source.missing
    return {
        name: {"kind": kind, "missing": list(missing[name])} if name in missing else kind
        for name, kind in source.columns.items()
    } or None


def column_kinds(kinds: Mapping[str, Any]) -> str:
    """Declared columns as a plan has them.

    >>> column_kinds({"age": "integer", "the city": "text"})
    'columns = { age = "integer", "the city" = "text" }'
    """
    return f"columns = {_toml_value(dict(kinds))}"


def _toml_table(header: str, entries: Mapping[str, Any]) -> str:
    """A table with those of its entries that are not None; nothing where there are none."""
    lines = [f"{name} = {_toml_value(value)}" for name, value in entries.items() if value is not None]
    return "".join(f"{line}\n" for line in ([header] if header else []) + lines) if lines else ""


def _query_entries(pair: PricedPair, plan_noise: str) -> dict[str, Any]:
    query_spec, query = pair.query, pair.query.query
    first, where = {"name": query_spec.name, "kind": query.kind}, {"where": query.where}
    entries = {
        **first,
        **query.plan_entries(),
        **where,
        **_price_entries(pair),
        **_noise_entries(query_spec, plan_noise),
    }
    return {**entries, "delta": None} if query_spec.splits_delta else entries


def _own_queries(plan: Plan) -> list[QuerySpec]:
    """The queries that are no levels of tables."""
    return [query_spec for query_spec in plan.queries if not isinstance(query_spec.query, TableLevel)]


def _table_entries(table: TableSpec, plan_noise: str) -> dict[str, Any]:
    price = _price_entries(PricedPair(table.price))
    return {"name": table.name, **table.entries, **price, **_noise_entries(table.price, plan_noise)}


def _noise_entries(query_spec: QuerySpec, plan_noise: str) -> dict[str, Any]:
    """What a query says of its noise, where that is not the plan's, and of the δ of it."""
    is_default = query_spec.inherits_noise or query_spec.noise == plan_noise == GEOMETRIC
    delta = {"delta": query_spec.noise_delta} if query_spec.noise_delta else {}
    return delta if is_default else {"noise": query_spec.noise, **delta}


def _price_entries(pair: PricedPair) -> dict[str, Any]:
    """What a query says of its ε, and of the part for the persons over its bound; a share of 1 goes without saying."""
    wanted, share = pair.query.wanted, pair.query.share
    part = True if pair.part == DEFAULT_OVER_PART else pair.part
    over = {} if pair.over is None else {"over": part}
    if wanted is not None:
        return {"error": wanted.error, "rows": wanted.rows, **over}
    if pair.query.rho is not None and share is None:
        return {"rho": pair.query.rho, **over}
    return ({"epsilon": pair.price} if share is None else {"share": None if share == 1 else share}) | over


def _toml_value(value: Key | Fraction | list[Any] | dict[str, Any]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return toml_number(value)
    if isinstance(value, int | date):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(_toml_value(item) for item in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_key(name)} = {_toml_value(item)}" for name, item in value.items()) + " }"
    return _toml_string(value)


def toml_number(value: Fraction) -> str:
    """A number as TOML: whole, a decimal, or a fraction in quotes.

    >>> [toml_number(Fraction(n)) for n in ("3", "-1/8", "1/3", "1e-7")]
    ['3', '-0.125', '"1/3"', '0.0000001']
    """
    if value.denominator == 1:
        return str(value) if abs(value) < 2**63 else f'"{value}"'
    scaled = value * 10**MAX_DECIMALS
    if scaled.denominator != 1:
        return f'"{value}"'
    integer, decimals = divmod(abs(int(scaled)), 10**MAX_DECIMALS)
    return f"{'-' if value < 0 else ''}{integer}.{str(decimals).zfill(MAX_DECIMALS).rstrip('0')}"


def _toml_key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _toml_string(name)


def _toml_string(text: str) -> str:
    """A text in quotes. JSON's escapes are TOML's, which wants the character 127 escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
