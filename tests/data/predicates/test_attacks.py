"""Hostile texts, names, rows and sizes, on the engines themselves."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.predicates.engines import (
    answers,
    compile_text,
    disagreements,
    duckdb_table,
    postgres_table,
    quote_name,
    spark_table,
)
from data.predicates.strategies import COLUMN_SORTS, COMMON_SORTS, LETTERS, single, write_constant
from spark import quiet
from utmost.data.engines.schema import ColumnKind
from utmost.data.predicates import check_types, parse_predicate
from utmost.errors import InputError

pytestmark = quiet

MAKE_TABLE = {"duckdb": duckdb_table, "postgres": postgres_table, "pyspark": spark_table}

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


def misread_texts(backend: Any, texts: list[str]) -> list[str]:
    """Those texts of a table that a predicate does not find exactly where they are, by = or by in."""
    table = MAKE_TABLE[backend.name](backend, [{"s": text} for text in texts], {"s": COLUMN_SORTS["name"]})
    predicates = {f"p{i}": f"s = {write_constant(text)}" for i, text in enumerate(texts)}
    predicates["even"] = f"s in ({', '.join(write_constant(text) for text in texts[::2])})"
    engine_answers = answers(
        backend,
        table,
        {name: compile_text(p, table) for name, p in predicates.items()},
    )
    even = engine_answers.pop("even")
    return [
        text
        for i, text in enumerate(texts)
        if engine_answers[f"p{i}"] != [text == row_text for row_text in texts] or even[i] != (i % 2 == 0)
    ]


def test_hostile_texts_are_only_ever_themselves(engine: Any) -> None:
    assert misread_texts(engine, TEXTS) == []


@settings(max_examples=40)
@given(st.lists(st.text(LETTERS, max_size=12) | st.text("'\\\"`$ {}%n\n;-"), min_size=1, max_size=20, unique=True))
def test_any_text_is_itself_on_duckdb(duckdb: Any, texts: list[str]) -> None:
    assert misread_texts(duckdb, texts) == []


@settings(max_examples=20)
@given(st.lists(st.text(LETTERS, max_size=12) | st.text("'\\\"`$ {}%n\n;-"), min_size=1, max_size=20, unique=True))
def test_any_text_is_itself_on_postgresql(postgres: Any, texts: list[str]) -> None:
    assert misread_texts(postgres, texts) == []


@settings(max_examples=5)
@given(st.lists(st.text(LETTERS, max_size=12) | st.text("'\\\"`$ {}%n\n;-"), min_size=10, max_size=20, unique=True))
def test_any_text_is_itself_on_spark(spark: Any, texts: list[str]) -> None:
    assert misread_texts(spark, texts) == []


def test_hostile_column_names_are_only_ever_names(engine: Any) -> None:
    sorts = dict.fromkeys(NAMES, COLUMN_SORTS["middle"])
    rows = [{name: index if index == row else -1 for index, name in enumerate(NAMES)} for row in range(len(NAMES))]
    table = MAKE_TABLE[engine.name](engine, rows, sorts)
    predicates = {f"p{i}": compile_text(f"{quote_name(name)} = {i}", table) for i, name in enumerate(NAMES)}
    expected = {f"p{i}": [row == i for row in range(len(NAMES))] for i in range(len(NAMES))}
    assert answers(engine, table, predicates) == expected


LARGEST, SMALLEST, INF, NAN = 1.7976931348623157e308, 5e-324, float("inf"), float("nan")
EDGE_VALUES = {
    "small": [-128, 127],
    "middle": [-(2**31), 2**31 - 1],
    "big": [-(2**63), 2**63 - 1],
    "price": [Decimal("-99999999.99"), Decimal("99999999.99")],
    "share": [Decimal("-0.999999"), Decimal("0.999999")],
    "double": [LARGEST, -LARGEST, SMALLEST, -SMALLEST, 1e60, 1e-60, INF, NAN, 1e200],
    "single": [single(3.4028234663852886e38), single(1e-45), -INF],
}
CHAINED_ARITHMETIC = [
    "double * double * double * double > 0",
    "double * double + double * double < 1",
    "single * single * single * single >= 0",
    "double * 1e-150 > 0",
    "-small * -small = 16384",
    "big * big - big * big = 0",
    "-big - 1 >= big",
]


def test_rows_at_the_ends_of_their_types_fail_in_no_arithmetic(engine: Any) -> None:
    sorts = {name: COMMON_SORTS[name] for name in EDGE_VALUES}
    rows = [{name: edge_values[i % len(edge_values)] for name, edge_values in EDGE_VALUES.items()} for i in range(18)]
    pairs = [f"{left} {sign} {right} > 0.5" for sign in "+-*" for left in sorts for right in sorts if left <= right]
    predicates = [parse_predicate(text).tree for text in pairs + CHAINED_ARITHMETIC]
    assert not disagreements(engine, MAKE_TABLE[engine.name](engine, rows, sorts), rows, predicates)


LONG_PREDICATES = [
    " or ".join(f"i = {n}" for n in range(900)),
    f"i in ({', '.join(map(str, range(1800)))})",
    f"f in ({', '.join(map(str, range(1800)))})",
    f"s in ({', '.join(repr(str(n)) for n in range(1200))})",
    " and ".join(["f * f + i > 0"] * 500),
]
DEEP_PREDICATES = [
    "i" + " + i" * 17 + " > 1",
    "f" + " + f" * 48 + " > 1",
    "not " * 48 + "b",
    "(" * 23 + "b" + " = b) " * 23,
    "(" * 23 + "b" + " is null) " * 23,
    "(" * 23 + "b" + " or not b) " * 23,
    "(b in (b, " * 23 + "b" + ")) " * 23,
]


def agrees_with_reference(backend: Any, text: str) -> bool:
    sorts = {
        "i": COLUMN_SORTS["big"],
        "f": COLUMN_SORTS["double"],
        "s": COLUMN_SORTS["name"],
        "b": COLUMN_SORTS["flag"],
    }
    rows = [{"i": 1, "f": 1.0, "s": "1", "b": True}, dict.fromkeys("ifsb")]
    table = MAKE_TABLE[backend.name](backend, rows, sorts)
    return not disagreements(backend, table, rows, [parse_predicate(text).tree], none_refused=True)


@pytest.mark.parametrize("text", DEEP_PREDICATES)
def test_the_deepest_predicates_run(engine: Any, text: str) -> None:
    assert agrees_with_reference(engine, text)


@pytest.mark.few
@pytest.mark.parametrize("text", LONG_PREDICATES, ids=["or", "integers", "floats", "texts", "and"])
def test_the_longest_predicates_run(duckdb: Any, text: str) -> None:
    assert agrees_with_reference(duckdb, text)


@pytest.mark.slow
def test_what_stands_before_a_long_list_is_not_repeated_without_bound(duckdb: Any) -> None:
    assert agrees_with_reference(duckdb, f"f{' + f' * 40} in ({', '.join(map(str, range(1800)))})")
    assert agrees_with_reference(duckdb, f"f * 1 in ({', '.join(['f'] * 600)})")
    with pytest.raises(InputError, match="too many columns"):
        parse_predicate(f"f{' + f' * 40} in ({', '.join(['f'] * 600)})")


def test_long_predicates_run_on_spark(spark: Any) -> None:
    assert all(agrees_with_reference(spark, text) for text in (LONG_PREDICATES[1], LONG_PREDICATES[3]))


@given(st.text(st.characters(exclude_categories=[]), max_size=40), st.text(max_size=200))
def test_an_error_repeats_at_most_a_piece_of_the_predicate_on_one_line(name: str, text: str) -> None:
    for predicate in (f'"{name}" = 1', f"a = '{text}'", f"{text} = a", text):
        try:
            check_types(parse_predicate(predicate), {"a": ColumnKind.INTEGER, name: ColumnKind.TEXT})
        except InputError as problem:
            message = str(problem)
            assert message.isprintable()
            assert len(message) < 400
