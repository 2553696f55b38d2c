"""What a privacy type contains: its capacities, and its members once a job has listed them."""

from __future__ import annotations

from fractions import Fraction

from pydantic import BaseModel, Field

from utmost import design
from utmost.exact import decimal
from utmost.studio import words
from utmost.studio.designer.asked import Question
from utmost.studio.designer.best import Matrix
from utmost.studio.numbers import Shown, shown
from utmost.studio.problems import FieldError

WRITTEN = 100  # points of a space whose capacities are found by a program, at once
LONGEST = 400  # digits of an exact capacity


class Bound(BaseModel):
    """A capacity: its value, and how it is proved."""

    value: Shown
    exact: bool
    gap: str
    how: str


class Capacity(BaseModel):
    """The most that any mechanism of a type can tell anybody."""

    space: str
    secrets: int
    level: str
    multiplicative: Bound = Field(description="An answer multiplies what a consumer can gain by at most this")
    additive: Bound = Field(description="An answer adds at most this to a gain between 0 and 1")


class Members(BaseModel):
    """What a type is made of: how many vertices and kernel mechanisms, and the first of each."""

    secrets: list[str]
    vertices: int
    posteriors: list[list[str]]
    kernels: int
    mechanisms: list[Matrix]


def capacity(asked: Question) -> Capacity:
    """Both capacities of the type; in closed form for homogeneous spaces of any size."""
    points, level = words.space(asked.space), asked.level()
    if points.profile is None and len(points) > WRITTEN:
        raise FieldError("space", f"space must have at most {WRITTEN} secrets, or be line, discrete, hamming or cycle")
    found = design.capacity(points, level)
    return Capacity(
        space=points.name,
        secrets=len(points),
        level=str(level),
        multiplicative=_bound(found.multiplicative),
        additive=_bound(found.additive),
    )


def _bound(one: design.capacities.Capacity) -> Bound:
    value = one.value
    if isinstance(value, Fraction) and value.denominator.bit_length() > 3 * LONGEST:
        value = Fraction(decimal(value, 12))
    gap = "0" if one.exact else decimal(one.gap, 2)
    return Bound(value=shown(value, 6), exact=one.exact, gap=gap, how=one.how)
