"""Tables and predicates to try: rows full of ends and oddities, predicates written out from trees."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from data.predicates.reference import engine_text
from utmost.data.predicates import syntax as t


@dataclass(frozen=True)
class Sort:
    """A sort of column: its type in each engine, what the reference calls it, and the values to try."""

    family: str
    duckdb: str
    postgres: str | None
    spark: str | None
    values: st.SearchStrategy[Any]
    floats: str = "exact"


def single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def integers(low: int, high: int) -> st.SearchStrategy[int]:
    edge_values = [low, low + 1, high - 1, high, 0, 1, 2, 3, 7]
    return st.one_of(st.sampled_from([value for value in edge_values if low <= value <= high]), st.integers(low, high))


def decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    return integers(-(10**digits) + 1, 10**digits - 1).map(lambda k: Decimal(f"{k}e-{scale}"))


DOUBLES = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 0.1, 0.5, 1.0, 3.0, 5e-324, 1.7976931348623157e308, 1e60, 1e61, 1e-60, 1e-61, 2.0**53, 2.0**63]
    ),
    st.sampled_from([float("nan"), float("inf"), float("-inf"), -1.5, 1e-200, -1e200]),
    st.floats(),
    st.integers(-10, 10).map(float),
)
SINGLES = st.one_of(
    st.sampled_from([single(v) for v in (0.1, 0.5, 3.4028234663852886e38, 1e-45, 16777216.0, 1.0, -0.0, 0.3)]),
    st.sampled_from([float("nan"), float("inf"), float("-inf")]),
    st.floats(width=32),
)
LETTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "north",
            "North",
            "O'Neill",
            "a\\",
            "\\'",
            "${env:HOME}",
            "$${x}",
            "%s",
            "a\nb",
            "é",
            "é",
            "🦆",
            " a ",
            "null",
            "--",
            "\t",
            '"',
            "`",
        ]
    ),
    st.text(LETTERS, max_size=6),
)
DATES = st.one_of(st.sampled_from([date.min, date.max, date(2020, 2, 29)]), st.dates())
TIMES = st.one_of(
    st.sampled_from(
        [datetime.min, datetime.max, datetime(2020, 1, 31, 12), datetime(1969, 12, 31, 23, 59, 59, 999999)]
    ),
    st.datetimes(),
)
NANOSECONDS = st.datetimes(datetime(1677, 9, 22), datetime(2262, 4, 11))
SECONDS = TIMES.map(lambda time: time.replace(microsecond=0))

COLUMN_SORTS = {
    "small": Sort("exact", "TINYINT", "SMALLINT", "TINYINT", integers(-128, 127)),
    "middle": Sort("exact", "INTEGER", "INTEGER", "INT", integers(-(2**31), 2**31 - 1)),
    "big": Sort("exact", "BIGINT", "BIGINT", "BIGINT", integers(-(2**63), 2**63 - 1)),
    "other big": Sort("exact", "BIGINT", "BIGINT", "BIGINT", integers(-(2**63), 2**63 - 1)),
    "byte": Sort("exact", "UTINYINT", None, None, integers(0, 255)),
    "unsigned": Sort("exact", "UBIGINT", None, None, integers(0, 2**64 - 1)),
    "huge": Sort("exact", "HUGEINT", None, None, integers(-(10**38) + 1, 10**38 - 1)),
    "price": Sort("exact", "DECIMAL(10, 2)", "NUMERIC(10, 2)", "DECIMAL(10, 2)", decimals(10, 2)),
    "ratio": Sort("exact", "DECIMAL(38, 20)", "NUMERIC(38, 20)", "DECIMAL(38, 20)", decimals(38, 20)),
    "share": Sort("exact", "DECIMAL(6, 6)", "NUMERIC(6, 6)", "DECIMAL(6, 6)", decimals(6, 6)),
    "double": Sort("float", "DOUBLE", "DOUBLE PRECISION", "DOUBLE", DOUBLES, "double"),
    "other double": Sort("float", "DOUBLE", "DOUBLE PRECISION", "DOUBLE", DOUBLES, "double"),
    "single": Sort("float", "FLOAT", "REAL", "FLOAT", SINGLES, "single"),
    "name": Sort("text", "VARCHAR", "TEXT", "STRING", TEXTS),
    'odd "name"; --': Sort("text", "VARCHAR", "TEXT", "STRING", TEXTS),
    "flag": Sort("truth", "BOOLEAN", "BOOLEAN", "BOOLEAN", st.booleans()),
    "day": Sort("date", "DATE", "DATE", "DATE", DATES),
    "other day": Sort("date", "DATE", "DATE", "DATE", DATES),
    "moment": Sort("time", "TIMESTAMP", "TIMESTAMP", "TIMESTAMP_NTZ", TIMES),
    "instant": Sort("time", "TIMESTAMPTZ", "TIMESTAMPTZ", "TIMESTAMP", TIMES),
    "second": Sort("time", "TIMESTAMP_S", None, None, SECONDS),
    "nanosecond": Sort("time", "TIMESTAMP_NS", None, None, NANOSECONDS),
}
COMMON_SORTS = {name: sort for name, sort in COLUMN_SORTS.items() if sort.postgres and sort.spark}
FLOAT_KINDS = {name: sort.floats for name, sort in COLUMN_SORTS.items()}


def rows(sorts: Mapping[str, Sort], size: int = 12) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries({name: st.none() | sort.values | sort.values for name, sort in sorts.items()})
    return st.lists(row, min_size=1, max_size=size)


def numbers() -> st.SearchStrategy[t.Node]:
    """Constants: near the ends of the types, plain ones, fine ones, absurd ones."""
    edge_values = [127, 128, -128, -129, 255, 2**31, -(2**31) - 1, 2**53 + 1, 2**63, 2**64, 10**38, 16777217]
    decimal_texts = [
        "0",
        "1",
        "0.5",
        "-1",
        "0.1",
        "2.999",
        "1e400",
        "-1e400",
        "1e-400",
        "1e39",
        "3.5e38",
        "1e60",
        "99999999.99",
        "1e-20",
    ]
    scaled_integers = st.builds(
        lambda k, exponent: Fraction(k) * Fraction(10) ** exponent, st.integers(-(10**20), 10**20), st.integers(-25, 20)
    )
    edge_numbers = st.sampled_from(
        [Fraction(value) for value in edge_values] + [Fraction(text) for text in decimal_texts]
    )
    return st.one_of(edge_numbers, scaled_integers, st.integers(-10, 10).map(Fraction)).map(t.Literal)


CONSTANTS = {
    "exact": numbers(),
    "float": numbers() | DOUBLES.filter(lambda v: abs(v) < 1e300).map(lambda v: t.Literal(Fraction(repr(v)))),
    "text": TEXTS.map(t.Literal),
    "truth": st.booleans().map(t.Literal),
    "date": DATES.map(t.Literal),
    "time": TIMES.map(t.Literal),
}


@st.composite
def values(draw: st.DrawFn, sorts: Mapping[str, Sort], family: str, depth: int = 2) -> t.Node:
    """A value of a family. Exact columns occur among floats as well."""
    exact_names = [name for name, sort in sorts.items() if sort.family == "exact" and name not in ("huge", "ratio")]
    names = [
        name for name, sort in sorts.items() if sort.family == family or (family == "float" and name in exact_names)
    ]
    choice = draw(st.integers(0, 7))
    if depth and choice >= 6:
        return draw(functions(sorts, family, names, depth - 1))
    if depth and family in ("exact", "float") and choice >= 4:
        sides = [draw(values(sorts, family, depth - 1)) for _ in range(2)]
        if choice == 5 and draw(st.booleans()) and not isinstance(sides[0], t.Literal):
            return t.Minus(sides[0])
        return t.Arithmetic(draw(st.sampled_from("+-*")), *sides)
    return draw(CONSTANTS[family]) if choice == 3 else t.Column(draw(st.sampled_from(names)))


WIDTH_TEXTS = ["1", "2", "7", "0.5", "0.1", "100", "1e10", "0.000001", "3.7"]
WIDTHS = st.sampled_from(WIDTH_TEXTS).map(lambda width: t.Literal(Fraction(width)))
LENGTHS = st.sampled_from([1, 2, 5]).map(lambda n: t.Literal(Fraction(n)))
MOMENTS = {name: ["day", "other day", "moment", "instant"] for name in ("year", "month", "day", "weekday")}
MOMENTS["hour"] = ["moment", "instant"]
FORMS = {
    "exact": ["bin", "div", "abs", "part", "least"],
    "float": ["bin", "abs", "least"],
    "text": ["text"],
    "date": ["least"],
    "time": ["least"],
    "truth": [],
}


@st.composite
def functions(draw: st.DrawFn, sorts: Mapping[str, Sort], family: str, names: list[str], depth: int) -> t.Node:
    """A function or a case of a family. The first of several floats is a float column, the times are of one column."""
    own_names = [name for name in names if sorts[name].family == family]
    first = t.Column(draw(st.sampled_from(["moment"] if family == "time" else own_names)))
    others = CONSTANTS["time"] | st.just(first) if family == "time" else values(sorts, family, depth)
    form = draw(st.sampled_from([*FORMS[family], "coalesce", "case"]))
    if form in ("bin", "div", "abs"):
        operand = draw(others) if family == "exact" else first
        return t.Call(form, (operand,) if form == "abs" else (operand, draw(WIDTHS)))
    if form == "part":
        name = draw(st.sampled_from(list(MOMENTS)))
        return t.Call(name, (t.Column(draw(st.sampled_from(MOMENTS[name]))),))
    if form == "text":
        name = draw(st.sampled_from(["lower", "upper", "trim", "prefix"]))
        return t.Call(name, (draw(others), draw(LENGTHS)) if name == "prefix" else (draw(others),))
    operands = [first, *draw(st.lists(others, min_size=1, max_size=2))]
    if form == "case":
        conditions = [draw(atoms(sorts, depth)) for _ in operands]
        return t.Case(tuple(conditions), tuple(operands), draw(st.sampled_from([None, first])))
    name = draw(st.sampled_from(["least", "greatest"])) if form == "least" else "coalesce"
    return t.Call(name, tuple(operands))


@st.composite
def atoms(draw: st.DrawFn, sorts: Mapping[str, Sort], depth: int = 2) -> t.Node:
    """Comparisons, in, is null, and truths that stand alone."""
    family = draw(st.sampled_from(["exact", "exact", "float", "float", "text", "truth", "date", "time"]))
    left = draw(values(sorts, family, depth))
    side = CONSTANTS["time"] if family == "time" else values(sorts, family, depth)
    form = draw(st.sampled_from(["compare", "compare", "compare", "within", "missing", "between", "alone"]))
    if form == "compare" or (form == "alone" and family != "truth"):
        signs = ["=", "!="] if family in ("text", "truth") else ["=", "!=", "<", "<=", ">", ">="]
        return t.Comparison(draw(st.sampled_from(signs)), left, draw(side))
    if form == "between" and family not in ("text", "truth"):
        return t.And((t.Comparison(">=", left, draw(side)), t.Comparison("<=", left, draw(side))))
    if form in ("within", "between") and (family != "truth" or isinstance(left, t.Column | t.Literal)):
        return t.In(left, tuple(draw(st.lists(side | CONSTANTS[family], min_size=1, max_size=4))))
    return left if form == "alone" and family == "truth" else t.IsNull(left)


def trees(sorts: Mapping[str, Sort]) -> st.SearchStrategy[t.Node]:
    def grow(operand: st.SearchStrategy[t.Node]) -> st.SearchStrategy[t.Node]:
        operands = st.lists(operand, min_size=2, max_size=3).map(tuple)
        equalities = st.builds(t.Comparison, st.sampled_from(["=", "!="]), operand, operand)
        return st.one_of(operands.map(t.And), operands.map(t.Or), operand.map(t.Not), operand.map(t.IsNull), equalities)

    return st.recursive(atoms(sorts), grow, max_leaves=4)


def derivations(sorts: Mapping[str, Sort]) -> st.SearchStrategy[t.Node]:
    """Expressions of derived columns, of every kind but times, which engines return in types of their own."""
    families = st.sampled_from(["exact", "exact", "float", "text", "date"])
    return families.flatmap(lambda family: values(sorts, family, 3)) | atoms(sorts)


def draw_many(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """So many examples, for a test that gives them to an engine at one go. None is made smaller when it fails."""
    drawn: list[Any] = []

    @settings(max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def keep(example: Any) -> None:
        drawn.append(example)

    keep()
    return drawn


def write_predicate(node: t.Node, min_level: int = 0) -> str:
    """The predicate of a tree, with no more parentheses than needed: `min_level` is how loose a sign may stand bare."""
    level, text = _write_node(node)
    return f"({text})" if level < min_level else text


def _write_node(node: t.Node) -> tuple[int, str]:
    match node:
        case t.Column(name):
            return 7, name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
        case t.Literal(value):
            return 6 if isinstance(value, Fraction) and value < 0 else 7, write_constant(value)
        case t.Minus(operand):
            return 6, f"- {write_predicate(operand, 6)}"
        case t.Arithmetic(sign, left, right):
            level = 5 if sign == "*" else 4
            return level, f"{write_predicate(left, level)} {sign} {write_predicate(right, level + 1)}"
        case t.Call("div", (left, right)):
            return 5, f"{write_predicate(left, 5)} // {write_predicate(right, 6)}"
        case t.Call(name, arguments):
            return 7, f"{name}({', '.join(write_predicate(argument) for argument in arguments)})"
        case t.Case(conditions, results, default):
            pairs = zip(conditions, results, strict=True)
            whens = " ".join(f"when {write_predicate(c)} then {write_predicate(v)}" for c, v in pairs)
            return 7, f"case {whens}{'' if default is None else ' else ' + write_predicate(default)} end"
        case t.Comparison(sign, left, right):
            return 3, f"{write_predicate(left, 4)} {sign} {write_predicate(right, 4)}"
        case t.In(left, items):
            return 3, f"{write_predicate(left, 4)} in ({', '.join(write_predicate(item, 4) for item in items)})"
        case t.IsNull(operand):
            return 3, f"{write_predicate(operand, 4)} is null"
        case t.Not(operand):
            return 2, f"not {write_predicate(operand, 2)}"
        case t.And(operands):
            return 1, " and ".join(write_predicate(operand, 2) for operand in operands)
        case t.Or(operands):
            return 0, " or ".join(write_predicate(operand, 1) for operand in operands)
    raise AssertionError


def write_constant(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        return f"time '{engine_text(value)}'"
    if isinstance(value, date):
        return f"date '{value}'"
    return write_fraction(value)


def write_fraction(value: Fraction) -> str:
    """A decimal fraction, written out."""
    scale = 0
    while (value * 10**scale).denominator != 1:
        scale += 1
    return f"{int(value * 10**scale)}e-{scale}" if scale else str(value)
