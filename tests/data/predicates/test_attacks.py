"""Hostile texts, names, rows and sizes, on the engines themselves."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.predicates.drawn import EVERYWHERE, LETTERS, SORTS, constant, single
from data.predicates.engines import (
    answers,
    disagreements,
    duckdb_table,
    kinds,
    postgres_table,
    quoted,
    spark_table,
)
from spark import quiet
from utmost.data.column_kinds import ColumnKind
from utmost.data.predicates import check_types, compile_predicate, parse_predicate
from utmost.errors import InputError

pytestmark = quiet

MAKE = {"duckdb": duckdb_table, "postgres": postgres_table, "pyspark": spark_table}

# What a quote, an escape, a placeholder, a comment or a replacement does in some dialect.
TEXTS = [
    *("'", "''", "'; DROP TABLE t; --", "' OR 1=1 --", "\\", "\\'", "\\\\'", "\\'; DROP TABLE t; --", "\\n", "\n"),
    *(
        "\r\n",
        "\\u0041",
        "\\x41",
        "\\101",
        "\\%",
        "\\_",
        "%",
        "%s",
        "%(a)s",
        "%%",
        "$1",
        ":a",
        "?",
        "@a",
        "{x}",
        "{{x}}",
    ),
    *("${env:HOME}", "$${env:HOME}", "${spark.app.name}", "${", "$\\{x}", "${${env:HOME}}", "${system:user}"),
    *('"', '""', "`", "``", "[a]", "--", "/*", "*/", "#", ";", "E'a'", "N'a'", "x'00'", "\t", " ", "  ", "$$", "$a$"),
    *("\u00a0", "\u2003", "\u200b", "\ufeff", "\u2028", "\x01", "\x7f", "\x85", "é", "e\u0301", "ß", "SS", "ı", "🦆"),
    *("\U0010ffff", "NULL", "null", "nan", "a", "A", "a ", " a", "", "0", "00", "1e0", "CAST", "a" * 500),
]
NAMES = [
    *('"', '""', '"; DROP TABLE t; --', "`", "``; DROP TABLE t", "'", "a b", "a.b", "a;b", "a\\b", "\\", "select"),
    *("and", "null", "é", "🦆", "%s", "%", "$1", ":a", "?", "{x}", "[x]", "a\u00a0b", "tab\there", "--", "/* */", "1"),
    *("1a", "a-b", "*", "(", ",", "date", "time", "__x", "t.place", "x" * 60),
]


def strings(backend: Any, texts: list[str]) -> list[str]:
    """Those texts of a table that a predicate does not find exactly where they are, by = or by in."""
    table = MAKE[backend.name](backend, [{"s": text} for text in texts], {"s": SORTS["name"]})
    asked = {f"p{i}": f"s = {constant(text)}" for i, text in enumerate(texts)}
    asked["even"] = f"s in ({', '.join(constant(text) for text in texts[::2])})"
    found = answers(
        backend, table, {name: compile_predicate(parse_predicate(p), table, kinds(table)) for name, p in asked.items()}
    )
    even = found.pop("even")
    return [
        text
        for i, text in enumerate(texts)
        if found[f"p{i}"] != [text == other for other in texts] or even[i] != (i % 2 == 0)
    ]


def test_hostile_texts_are_only_ever_themselves(engine: Any) -> None:
    assert strings(engine, TEXTS) == []


@settings(max_examples=40)
@given(st.lists(st.text(LETTERS, max_size=12) | st.text("'\\\"`$ {}%n\n;-"), min_size=1, max_size=20, unique=True))
def test_any_text_is_itself_on_duckdb(duckdb: Any, texts: list[str]) -> None:
    assert strings(duckdb, texts) == []


@settings(max_examples=20)
@given(st.lists(st.text(LETTERS, max_size=12) | st.text("'\\\"`$ {}%n\n;-"), min_size=1, max_size=20, unique=True))
def test_any_text_is_itself_on_postgresql(postgres: Any, texts: list[str]) -> None:
    assert strings(postgres, texts) == []


@settings(max_examples=5)
@given(st.lists(st.text(LETTERS, max_size=12) | st.text("'\\\"`$ {}%n\n;-"), min_size=10, max_size=20, unique=True))
def test_any_text_is_itself_on_spark(spark: Any, texts: list[str]) -> None:
    assert strings(spark, texts) == []


def test_hostile_column_names_are_only_ever_names(engine: Any) -> None:
    sorts = dict.fromkeys(NAMES, SORTS["middle"])
    rows = [{name: place if place == row else -1 for place, name in enumerate(NAMES)} for row in range(len(NAMES))]
    table = MAKE[engine.name](engine, rows, sorts)
    asked = {
        f"p{i}": compile_predicate(parse_predicate(f"{quoted(name)} = {i}"), table, kinds(table))
        for i, name in enumerate(NAMES)
    }
    expected = {f"p{i}": [row == i for row in range(len(NAMES))] for i in range(len(NAMES))}
    assert answers(engine, table, asked) == expected


LARGEST, TINY, INF, NAN = 1.7976931348623157e308, 5e-324, float("inf"), float("nan")
ENDS = {
    "small": [-128, 127],
    "middle": [-(2**31), 2**31 - 1],
    "big": [-(2**63), 2**63 - 1],
    "price": [Decimal("-99999999.99"), Decimal("99999999.99")],
    "share": [Decimal("-0.999999"), Decimal("0.999999")],
    "double": [LARGEST, -LARGEST, TINY, -TINY, 1e60, 1e-60, INF, NAN, 1e200],
    "single": [single(3.4028234663852886e38), single(1e-45), -INF],
}
CHAINS = [
    "double * double * double * double > 0",
    "double * double + double * double < 1",
    "single * single * single * single >= 0",
    "double * 1e-150 > 0",
    "-small * -small = 16384",
    "big * big - big * big = 0",
    "-big - 1 >= big",
]


def test_rows_at_the_ends_of_their_types_fail_in_no_arithmetic(engine: Any) -> None:
    sorts = {name: EVERYWHERE[name] for name in ENDS}
    rows = [{name: ends[i % len(ends)] for name, ends in ENDS.items()} for i in range(18)]
    pairs = [f"{one} {sign} {other} > 0.5" for sign in "+-*" for one in sorts for other in sorts if one <= other]
    predicates = [parse_predicate(text).tree for text in pairs + CHAINS]
    assert not disagreements(engine, MAKE[engine.name](engine, rows, sorts), rows, predicates)


LONG = [
    " or ".join(f"i = {n}" for n in range(900)),
    f"i in ({', '.join(map(str, range(1800)))})",
    f"f in ({', '.join(map(str, range(1800)))})",
    f"s in ({', '.join(repr(str(n)) for n in range(1200))})",
    " and ".join(["f * f + i > 0"] * 500),
]
DEEP = [
    "i" + " + i" * 17 + " > 1",
    "f" + " + f" * 48 + " > 1",
    "not " * 48 + "b",
    "(" * 23 + "b" + " = b) " * 23,
    "(" * 23 + "b" + " is null) " * 23,
    "(" * 23 + "b" + " or not b) " * 23,
    "(b in (b, " * 23 + "b" + ")) " * 23,
]


def runs(backend: Any, text: str) -> bool:
    sorts = {"i": SORTS["big"], "f": SORTS["double"], "s": SORTS["name"], "b": SORTS["flag"]}
    rows = [{"i": 1, "f": 1.0, "s": "1", "b": True}, dict.fromkeys("ifsb")]
    table = MAKE[backend.name](backend, rows, sorts)
    return not disagreements(backend, table, rows, [parse_predicate(text).tree], none_refused=True)


@pytest.mark.parametrize("text", DEEP)
def test_the_deepest_predicates_run(engine: Any, text: str) -> None:
    assert runs(engine, text)


@pytest.mark.parametrize("text", LONG, ids=["or", "integers", "floats", "texts", "and"])
def test_the_longest_predicates_run(duckdb: Any, text: str) -> None:
    assert runs(duckdb, text)


def test_what_stands_before_a_long_list_is_not_repeated_without_bound(duckdb: Any) -> None:
    assert runs(duckdb, f"f{' + f' * 40} in ({', '.join(map(str, range(1800)))})")
    assert runs(duckdb, f"f * 1 in ({', '.join(['f'] * 600)})")
    with pytest.raises(InputError, match="too many columns"):
        parse_predicate(f"f{' + f' * 40} in ({', '.join(['f'] * 600)})")


def test_long_predicates_run_on_spark(spark: Any) -> None:
    assert all(runs(spark, text) for text in (LONG[1], LONG[3]))


@given(st.text(st.characters(exclude_categories=[]), max_size=40), st.text(max_size=200))
def test_an_error_repeats_at_most_a_piece_of_the_predicate_on_one_line(name: str, text: str) -> None:
    for predicate in (f'"{name}" = 1', f"a = '{text}'", f"{text} = a", text):
        try:
            check_types(parse_predicate(predicate), {"a": ColumnKind.INTEGER, name: ColumnKind.TEXT})
        except InputError as problem:
            said = str(problem)
            assert said.isprintable()
            assert len(said) < 400
