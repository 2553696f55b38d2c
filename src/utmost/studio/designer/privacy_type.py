"""What a privacy type contains: its capacities, and its members once a job has listed them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from utmost import design
from utmost.errors import InputError
from utmost.reports import Report, Table
from utmost.reports.capacity import describe as describe_capacities
from utmost.reports.privacy_type import posterior_table
from utmost.studio import input_parser
from utmost.studio.designer.best_mechanism import ChannelMatrix
from utmost.studio.designer.forms import DesignQuestion
from utmost.studio.number_format import FormattedNumber

MAX_PROGRAM_POINTS = 100  # points of a space whose capacities are found by a program, at once


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

    def block(self) -> Table:
        """The posteriors as a table."""
        return posterior_table(self.secrets, self.posteriors)


def check_type(question: DesignQuestion) -> None:
    """Refuse a type whose secrets or level cannot be read."""
    question.points(), question.level()


def type_capacity(question: DesignQuestion) -> TypeCapacity:
    """Both capacities of the type; in closed form for homogeneous spaces of any size."""
    points, level = input_parser.parse_space(question.space), question.level()
    if points.profile is None and len(points) > MAX_PROGRAM_POINTS:
        raise InputError(
            f"space must have at most {MAX_PROGRAM_POINTS} secrets, or be line, discrete, hamming or cycle", "space"
        )
    capacities = design.capacity(points, level)
    report = describe_capacities(capacities)
    return TypeCapacity(
        space=points.name,
        secrets=len(points),
        level=str(level),
        multiplicative=_bound(capacities.multiplicative, report, "multiplicative"),
        additive=_bound(capacities.additive, report, "additive"),
    )


def _bound(capacity: design.Capacity, report: Report, name: str) -> Bound:
    """A capacity with the numbers of its report."""
    value, gap = FormattedNumber.of(report.numbers[name]), str(report.numbers[f"{name} gap"])
    return Bound(value=value, exact=capacity.exact, gap=gap, how=capacity.how)
