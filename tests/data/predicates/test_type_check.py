"""Kinds: which comparisons fit, and what an error says."""

from __future__ import annotations

from itertools import product

import ibis
import pytest

from utmost.data.engines.schema import ColumnKind, column_kind
from utmost.data.predicates import check_types, parse_predicate
from utmost.errors import InputError

KINDS = {f"{kind}_{i}": kind for kind in ColumnKind for i in (1, 2)}
ORDERED = {ColumnKind.INTEGER, ColumnKind.NUMBER, ColumnKind.DATE, ColumnKind.TIME}
NUMERIC = {ColumnKind.INTEGER, ColumnKind.NUMBER}


def refusal(text: str, kinds: dict[str, ColumnKind] | None = None) -> str:
    with pytest.raises(InputError) as error_info:
        check_types(parse_predicate(text), KINDS if kinds is None else kinds)
    assert "\n" not in str(error_info.value)
    return str(error_info.value)


@pytest.mark.parametrize(
    ("left", "right", "sign"), list(product(ColumnKind, ColumnKind, ["=", "!=", "<", ">=", "in", "between"]))
)
def test_exactly_values_of_a_kind_compare_and_only_ordered_kinds_by_order(
    left: ColumnKind, right: ColumnKind, sign: str
) -> None:
    sides = {"in": "({0})", "between": "{0} and {0}"}.get(sign, "{0}").format(f"{right}_2")
    fits = (left is right or {left, right} <= NUMERIC) and ColumnKind.OTHER not in (left, right)
    if fits and (sign in ("=", "!=", "in") or {left, right} <= ORDERED):
        check_types(parse_predicate(f"{left}_1 {sign} {sides}"), KINDS)
    else:
        assert refusal(f"{left}_1 {sign} {sides}").startswith("where, at character")


@pytest.mark.parametrize("kind", list(ColumnKind))
def test_is_null_can_be_asked_of_every_kind_and_only_a_truth_stands_alone(kind: ColumnKind) -> None:
    check_types(parse_predicate(f"{kind}_1 is null and not {kind}_2 is not null"), KINDS)
    if kind is ColumnKind.TRUTH:
        check_types(parse_predicate("truth_1 and (truth_2 or not truth_1)"), KINDS)
    else:
        assert "must be true or false of a row" in refusal(f"{kind}_1")
        for text in (f"{kind}_1 and truth_1", f"truth_1 or {kind}_1", f"not {kind}_1"):
            assert "takes truths" in refusal(text)


@pytest.mark.parametrize(("left", "right"), list(product(ColumnKind, ColumnKind)))
def test_arithmetic_takes_numbers_only(left: ColumnKind, right: ColumnKind) -> None:
    if {left, right} <= NUMERIC:
        check_types(parse_predicate(f"{left}_1 * 2 + {right}_1 - -{left}_2 > 0"), KINDS)
    else:
        assert "takes numbers" in refusal(f"{left}_1 + {right}_1 > 0")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("integer_1 = '65'", "leave the quotes away"),
        ("text_1 = 65", "put single quotes around a text"),
        ("'65' = number_1", "leave the quotes away"),
        ("truth_1 = 1", "write true or false"),
        ("truth_1 in ('true')", "write true or false"),
        ("date_1 > '2020-01-31'", "write date '2020-01-31'"),
        ("date_1 > 'yesterday'", "write date '2020-01-31'"),
        ("time_1 > '2020-01-31 10:00'", "write time '2020-01-31 10:00'"),
        ("time_1 > date '2020-01-31'", "write time '2020-01-31 12:00:00'"),
        ("date_1 > time '2020-01-31 12:00'", "write date '2020-01-31'"),
        ("text_1 < 'm'", "the order of texts differs between engines; use =, != or in"),
        ("truth_1 > truth_2", "truths have no order"),
        ("other_1 = 3", "ask only whether it is null"),
        ("(truth_1 = truth_2) in (true, truth_1)", "write it with = and or"),
        ("integer_1", "for instance integer_1 = 1"),
    ],
)
def test_a_clash_comes_with_what_was_probably_meant(text: str, advice: str) -> None:
    assert advice in refusal(text)


def test_an_unknown_column_is_named_with_a_guess_and_the_columns_there_are() -> None:
    kinds = {"age": ColumnKind.INTEGER, "Income": ColumnKind.NUMBER, "region": ColumnKind.TEXT}
    assert "did you mean age? the columns are age, Income, region" in refusal("aeg > 3", kinds)
    assert "did you mean Income?" in refusal("income > 3", kinds)
    assert "a text stands between single quotes" in refusal('region = "north"', kinds)
    assert "at character 10" in refusal('region = "north"', kinds)
    assert "the columns are none" in refusal("a", {})


def test_at_most_twenty_columns_are_listed_and_odd_names_are_shown_on_one_line() -> None:
    message = refusal("absent = 1", {f"column {i}\n'\"": ColumnKind.INTEGER for i in range(30)})
    assert '"column 19\\n\'""' in message
    assert "and 10 more" in message
    assert "column 20" not in message
    assert len(refusal("absent = 1", {"x" * 10_000: ColumnKind.TEXT})) < 300


def test_a_name_that_spark_would_replace_is_refused() -> None:
    assert "rename it" in refusal('"${env:HOME}" = 1', {"${env:HOME}": ColumnKind.INTEGER})


def test_every_type_has_a_kind() -> None:
    expected = {
        "integer": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
        "number": ["float32", "float64", "decimal", "decimal(38, 0)", "decimal(10, 2)"],
        "text": ["string"],
        "truth": ["boolean"],
        "date": ["date"],
        "time": ["timestamp", "timestamp('UTC')", "timestamp(9)"],
        "other": [
            "time",
            "interval('s')",
            "binary",
            "json",
            "uuid",
            "array<int64>",
            "struct<a: int8>",
            "null",
            "float16",
        ],
    }
    assert {kind: [str(column_kind(ibis.dtype(name))) for name in names] for kind, names in expected.items()} == {
        kind: [kind] * len(names) for kind, names in expected.items()
    }
