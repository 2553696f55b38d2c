"""Comparisons of two values: unknown where one of them is, decided by the engine on values of one type."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from utmost.data.predicates import readings
from utmost.data.predicates.doubles import as_double
from utmost.data.predicates.folding import DOUBLE, SIGNS, SINGLE, TURNED, on_floats, on_lattice
from utmost.data.predicates.values import CONSTANT, Column, Double, Fixed, Moment, Plain, Unbounded, Value, Whole
from utmost.data.predicates.wholes import aligned, as_unbounded, shifted
from utmost.data.predicates.words import refusal

MICROSECONDS = 6  # digits of a second
NANOSECONDS = 9
START = datetime(1970, 1, 1)


def compared(sign: str, left: Value, right: Value, at: int) -> Any:
    """left sign right."""
    import ibis

    if not isinstance(left, CONSTANT):
        return _against(sign, left, right, at) if isinstance(right, CONSTANT) else _columns(sign, left, right, at)
    if isinstance(right, CONSTANT):
        return ibis.literal(bool(SIGNS[sign](left, right)))
    return _against(TURNED[sign], right, left, at)


def within(left: Value, items: list[Value], at: int) -> list[Any]:
    """Parts that are true together or in turn where left equals one of the items: join them by or."""
    constants = [item for item in items if isinstance(item, CONSTANT)]
    if isinstance(left, Whole | Fixed) or (isinstance(left, Plain) and constants and isinstance(constants[0], str)):
        others = [item for item in items if not isinstance(item, CONSTANT)]
        parts = [_listed(left, constants)] if constants else []
        return parts + [compared("=", left, item, at) for item in others]
    return [compared("=", left, item, at) for item in items]


def _listed(left: Whole | Fixed | Plain, constants: list[Any]) -> Any:
    """left in (constants), without those that its type cannot hold."""
    if isinstance(left, Plain):
        return left.held.isin([readings.text(text) for text in dict.fromkeys(constants)])
    folded = {on_lattice("=", number * 10**left.scale, left.low, left.high) for number in constants}
    kept = sorted(found[1] for found in folded if not isinstance(found, bool))
    return left.held.isin([left.literal(value) for value in kept]) if kept else _settled(left.held, False)


def _against(sign: str, value: Column, constant: Any, at: int) -> Any:
    """A column's value against a constant of its kind."""
    match value:
        case Whole(held, low, high, scale, _) | Fixed(held, low, high, scale):
            folded = on_lattice(sign, constant * 10**scale, low, high)
            return (
                _settled(held, folded) if isinstance(folded, bool) else SIGNS[folded[0]](held, value.literal(folded[1]))
            )
        case Unbounded(held):
            return SIGNS[sign](held, readings.decimal(*shifted(constant), held.type()))
        case Double(held, single):
            found = on_floats(sign, constant, SINGLE if single else DOUBLE)
            return (
                _settled(held, found) if isinstance(found, bool) else SIGNS[found[0]](held, readings.double(found[1]))
            )
        case Moment(held):
            return _at_time(sign, held, constant)
        case Plain(held):
            return SIGNS[sign](held, _literal(constant))


def _columns(sign: str, left: Column, right: Column, at: int) -> Any:
    """Two values that both come from columns."""
    compare = SIGNS[sign]
    if isinstance(left, Double) or isinstance(right, Double):
        return compare(as_double(left, at), as_double(right, at))
    if isinstance(left, Moment) and isinstance(right, Moment) and not _same_type(left, right):
        problem = "the two times are not of one type: one has a time zone, or counts finer"
        raise refusal(at, problem, "compare each with a time, or convert one where the table is made")
    if isinstance(left, Plain | Moment) or _same_type(left, right):
        return compare(left.held, right.held)
    if isinstance(left, Unbounded) or isinstance(right, Unbounded):
        return compare(as_unbounded(left, at), as_unbounded(right, at))
    one, other = aligned(left, right, at)
    return compare(one.held, other.held)


def _same_type(left: Column, right: Column) -> bool:
    """Is a native comparison one of two equal types. Nullability is no matter."""
    if isinstance(left, Whole) and isinstance(right, Whole) and left.scale != right.scale:
        return False
    one, other = left.held.type(), right.held.type()
    return type(left) is type(right) and bool(one.copy(nullable=True) == other.copy(nullable=True))


def _at_time(sign: str, held: Any, constant: datetime) -> Any:
    """A time against a constant, in the column's own unit: DuckDB's conversions between units can fail on a row."""
    dtype = held.type()
    scale = MICROSECONDS if dtype.scale is None else dtype.scale
    microseconds = (constant - START) // timedelta(microseconds=1)
    if scale == NANOSECONDS and abs(microseconds) > (2**63 - 1) // 1000:
        return _beyond(sign, held, microseconds > 0)
    folded = on_lattice(sign, Fraction(microseconds, 10 ** (MICROSECONDS - min(scale, MICROSECONDS))))
    if isinstance(folded, bool):
        return _settled(held, folded)
    value = START + timedelta(microseconds=folded[1] * 10 ** (MICROSECONDS - min(scale, MICROSECONDS)))
    return SIGNS[folded[0]](held, readings.moment(value.isoformat(" "), dtype))


def _beyond(sign: str, held: Any, is_late: bool) -> Any:
    """A time of nanoseconds against a constant that they do not reach; infinity they do."""
    if sign in ("=", "!="):
        return _settled(held, sign == "!=")
    if is_late:
        return SIGNS["<" if sign in ("<", "<=") else ">="](held, readings.moment("infinity", held.type()))
    return SIGNS[">" if sign in (">", ">=") else "<="](held, readings.moment("-infinity", held.type()))


def _settled(held: Any, answer: bool) -> Any:
    """The answer for every row that has a value, unknown for the others."""
    import ibis

    return held.isnull().ifelse(ibis.null("boolean"), ibis.literal(answer))


def _literal(constant: str | bool | date) -> Any:
    import ibis

    if isinstance(constant, bool):
        return ibis.literal(constant)
    return readings.text(constant) if isinstance(constant, str) else readings.day(constant)
