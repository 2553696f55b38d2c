"""What a privacy type contains: its capacities, and its members once a job has listed them."""

from __future__ import annotations

from fractions import Fraction

from pydantic import BaseModel, Field

from utmost import design
from utmost.exact import decimal_above
from utmost.studio import input_parser
from utmost.studio.designer.best_mechanism import ChannelMatrix
from utmost.studio.designer.forms import DesignQuestion
from utmost.studio.form_errors import FieldError
from utmost.studio.number_format import FormattedNumber, format_above

MAX_PROGRAM_POINTS = 100  # points of a space whose capacities are found by a program, at once
MAX_CAPACITY_DIGITS = 400  # digits of an exact capacity


class Bound(BaseModel):
    """A capacity: its value, rounded up, and how it is proved."""

    value: FormattedNumber
    exact: bool
    gap: str
    how: str


class TypeCapacity(BaseModel):
    """The capacities of a type: the largest leakage of any of its mechanisms."""

    space: str
    secrets: int
    level: str
    multiplicative: Bound = Field(description="An answer multiplies what a consumer can gain by at most this")
    additive: Bound = Field(description="An answer adds at most this to a gain between 0 and 1")


class TypeMembers(BaseModel):
    """What a type is made of: how many vertices and kernel mechanisms, and the first of each."""

    secrets: list[str]
    vertices: int
    posteriors: list[list[str]]
    kernels: int
    mechanisms: list[ChannelMatrix]


def check_type(question: DesignQuestion) -> None:
    """Refuse a type whose secrets or level cannot be read."""
    question.points(), question.level()


def type_capacity(question: DesignQuestion) -> TypeCapacity:
    """Both capacities of the type; in closed form for homogeneous spaces of any size."""
    points, level = input_parser.parse_space(question.space), question.level()
    if points.profile is None and len(points) > MAX_PROGRAM_POINTS:
        raise FieldError(
            "space", f"space must have at most {MAX_PROGRAM_POINTS} secrets, or be line, discrete, hamming or cycle"
        )
    capacities = design.capacity(points, level)
    return TypeCapacity(
        space=points.name,
        secrets=len(points),
        level=str(level),
        multiplicative=_capacity_bound(capacities.multiplicative),
        additive=_capacity_bound(capacities.additive),
    )


def _capacity_bound(capacity: design.capacities.Capacity) -> Bound:
    value = capacity.upper
    if isinstance(value, Fraction) and value.denominator.bit_length() > 3 * MAX_CAPACITY_DIGITS:
        value = Fraction(decimal_above(value, 12))
    gap = "0" if capacity.exact else decimal_above(capacity.gap, 2)
    return Bound(value=format_above(value, 6), exact=capacity.exact, gap=gap, how=capacity.how)
