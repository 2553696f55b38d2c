"""A wanted error instead of an ε: `error = 5` in a query of a plan, and the least ε that reaches it.

The ε is searched on the decimals of `EPSILON_DIGITS` significant digits. A candidate is accepted if the half width of
the 95 % interval, as it is printed (4 digits, rounded up), is at most the error that is wanted: a preview never shows
more than was asked for. The answer meets the target and the next smaller candidate misses it.

It is the least of all candidates where half widths do not rise with ε. Those of geometric noise do not, since
2α^(t+1)/(1+α) rises with α = e^−ε for every t ≥ 0, nor does the bound of a quantile, which is a number divided by ε.
The half width of a ratio is computed in doubles, and a step that is found for an extra loss depends on ε: there it is
only known that the next smaller candidate misses the target.

The error is in the value's unit, for quantiles in rows of rank. The error of a mean whose number of rows is secret
falls with that number: `rows` says about how many there are, and is taken for granted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import decimal_above, plain_decimal
from utmost.exact.privacy_levels import MAX_EPSILON

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields
    from utmost.queries.answer_mechanisms.mechanism import ErrorLaw
    from utmost.queries.privacy_setting import PrivacySetting
    from utmost.queries.query import Query

EPSILON_DIGITS = 4  # significant digits of an ε that is found
PRINTED_DIGITS = 4  # of a half width
FIRST_DIGITS: int = 10 ** (EPSILON_DIGITS - 1)  # of a power of 10
CANDIDATES_PER_DECADE = 9 * FIRST_DIGITS
LOWEST_DECADE = -9  # no ε below 10^-9 is tried: nobody can use it
MAX_ASSUMED_ROWS = 10**12


@dataclass(frozen=True, slots=True)
class WantedError:
    """The largest half width of the 95 % interval that a plan accepts; `rows` is assumed where it is secret."""

    error: Fraction
    rows: int | None = None

    def sentence(self, epsilon: Fraction) -> str:
        """What was asked for and what it led to.

        >>> WantedError(Fraction(5)).sentence(Fraction("0.5382"))
        'error 5 → ε 0.5382'
        >>> WantedError(Fraction(1, 2), 900).sentence(Fraction(2))
        'error 0.5 for 900 rows, which is taken for granted → ε 2'
        """
        return f"{self.words()} → ε {_short_text(epsilon)}"

    def words(self) -> str:
        """What was asked for."""
        rows = "" if self.rows is None else f" for {self.rows} rows, which is taken for granted"
        return f"error {_short_text(self.error)}{rows}"

    def content(self) -> dict[str, str | int | None]:
        """The same as a document has it."""
        return {"error": str(self.error), "rows": self.rows}


def parse_wanted_error(fields: Fields) -> WantedError | None:
    """The wanted error in a table of a plan; None where it has an ε."""
    if fields.raw("error", None) is None:
        return None
    if fields.raw("epsilon", None) is not None:
        raise fields.error("error", "must not be given with epsilon", "keep one of the two: the error leads to the ε")
    error, rows = fields.number("error"), fields.integer("rows", None)
    if not error > 0:
        raise fields.error("error", f"must be > 0, got {error}")
    if rows is not None and not 1 <= rows <= MAX_ASSUMED_ROWS:
        raise fields.error("rows", "must be from 1 to 10^12, got another number")
    return WantedError(error, rows)


def find_epsilon(query: Query, setting: PrivacySetting, wanted: WantedError) -> Fraction:
    """The least ε of four digits with which the query's half width is at most the wanted error.

    >>> from utmost.publish.calibration import privacy_setting
    >>> from utmost.queries import Count
    >>> find_epsilon(Count("vote = 1"), privacy_setting(), WantedError(Fraction(5)))
    Fraction(2691, 5000)
    """
    query.check_error(wanted.error)
    rows = _check_rows(error_law_at(query, setting, Fraction(1)), wanted)
    return least_epsilon(lambda epsilon: error_law_at(query, setting, epsilon), wanted.error * rows)


def error_law_at(query: Query, setting: PrivacySetting, epsilon: Fraction) -> ErrorLaw:
    """The error law of a query at an ε: what a preview prints."""
    resolved_query = query.resolve(epsilon, setting)
    return resolved_query.error_law(resolved_query.select_mechanism(epsilon, setting).mechanism)


def _check_rows(error: ErrorLaw, wanted: WantedError) -> int:
    """The number that half widths are divided by: the assumed rows of a ratio, else 1."""
    if not error.over_rows:
        if wanted.rows is not None:
            raise InputError("rows must be left out where the error does not depend on it", "rows", "take it out")
        return 1
    if wanted.rows is None:
        raise InputError(
            "rows must be given with error for a mean of a secret number of rows",
            "rows",
            "say about how many there are, as in rows = 1000, or give epsilon instead of error",
        )
    return wanted.rows


def least_epsilon(error_law: Callable[[Fraction], ErrorLaw], half_width: Fraction) -> Fraction:
    """The least candidate at which the printed half width is at most this; refused where none is."""

    def meets(place: int) -> bool:
        return printed_half_width(error_law(candidate(place))) <= half_width

    low, high = _bracket(meets)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return candidate(high)


def _bracket(meets: Callable[[int], bool]) -> tuple[int, int]:
    """(a place that fails, one that meets the target), at most a decade apart."""
    place, last = 0, _last_place()
    if meets(place):
        while meets(place - CANDIDATES_PER_DECADE):
            place -= CANDIDATES_PER_DECADE
            if place <= LOWEST_DECADE * CANDIDATES_PER_DECADE:
                raise InputError("error must be smaller: any epsilon reaches it", "error", "ask for less error")
        return place - CANDIDATES_PER_DECADE, place
    while not meets(min(place + CANDIDATES_PER_DECADE, last)):
        place += CANDIDATES_PER_DECADE
        if place >= last:
            raise InputError(f"error must be larger: no epsilon up to {MAX_EPSILON} reaches it", "error", "accept more")
    return place, min(place + CANDIDATES_PER_DECADE, last)


def candidate(place: int) -> Fraction:
    """The decimals of four significant digits, in order; 1 is at place 0.

    >>> [str(candidate(place)) for place in (0, 1, 9000, -1)]
    ['1', '1001/1000', '10', '9999/10000']
    """
    decade, digits = divmod(place, CANDIDATES_PER_DECADE)
    return (FIRST_DIGITS + digits) * _power_of_10(decade - EPSILON_DIGITS + 1)


def round_down(epsilon: Fraction) -> Fraction:
    """The largest candidate that is at most this.

    >>> round_down(Fraction(1, 3)), round_down(Fraction(10)), round_down(Fraction("12.3456"))
    (Fraction(3333, 10000), Fraction(10, 1), Fraction(617, 50))
    """
    unit = _power_of_10(1 - EPSILON_DIGITS)
    while epsilon >= 10**EPSILON_DIGITS * unit:
        unit *= 10
    while epsilon < FIRST_DIGITS * unit:
        unit /= 10
    return epsilon // unit * unit


def printed_half_width(error: ErrorLaw) -> Fraction:
    """The half width as it is printed, not below itself."""
    half = error.half_width
    return Fraction(plain_decimal(half, PRINTED_DIGITS, decimal_above))


def _power_of_10(exponent: int) -> Fraction:
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)


def _last_place() -> int:
    """The last candidate that is an ε."""
    decade = len(str(MAX_EPSILON)) - 1
    first_digits = Fraction(MAX_EPSILON) / _power_of_10(decade - EPSILON_DIGITS + 1)
    return decade * CANDIDATES_PER_DECADE + int(first_digits) - FIRST_DIGITS


def _short_text(value: Fraction) -> str:
    """A number as plans have it: a decimal where that is exact."""
    from utmost.publish.plan_writer import toml_number

    return toml_number(value).strip('"')
