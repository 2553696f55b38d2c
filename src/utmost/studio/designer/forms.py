"""What a designer asks: secrets, a level and a consumer, as typed; and whether it is answered at once or by a job."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Query

from utmost import exact
from utmost.consumer import Consumer, losses
from utmost.consumer.losses import LOSSES
from utmost.consumer.priors import PRIORS
from utmost.design.optimal import is_line
from utmost.errors import InputError
from utmost.spaces.registry import forms as space_forms
from utmost.studio import forms
from utmost.studio.forms import errors_for_field

if TYPE_CHECKING:
    from utmost.exact import Level
    from utmost.spaces import Space

MAX_SPACE_POINTS = 400  # points of a space that a mechanism is designed for here
MAX_QUICK_LINE_POINTS, MAX_QUICK_POINTS = (
    40,
    12,
)  # points, on a line and elsewhere, that are answered at once if α is rational
QUESTION_FIELDS = ("space", "alpha", "epsilon", "prior", "loss")
MAX_FIELD_CHARS = 200


@dataclass(frozen=True, slots=True)
class DesignInput:
    """Secrets, a level (α, or ε if that is not empty), a prior and a loss, as typed."""

    space: str
    alpha: str
    epsilon: str
    prior: str
    loss: str

    def points(self) -> Space:
        """The secrets; at most 400, since a mechanism has a row and a column for each."""
        space = forms.parse_space(self.space)
        if len(space) > MAX_SPACE_POINTS:
            raise InputError(
                f"space must have at most {MAX_SPACE_POINTS} secrets here, got {len(space)}: take fewer", "space"
            )
        return space

    def level(self) -> Level:
        """The level: by ε where that is given."""
        if self.epsilon.strip():
            with errors_for_field("epsilon"):
                return exact.epsilon(self.epsilon)
        with errors_for_field("alpha"):
            return exact.alpha(self.alpha)

    def consumer(self) -> Consumer:
        """The consumer over the secrets' distances."""
        points = self.points()
        prior, loss = forms.parse_prior(self.prior, len(points)), forms.parse_loss(self.loss)
        with errors_for_field("loss"):
            return Consumer(prior, losses.over(loss, points), points.labels)

    @property
    def is_quick(self) -> bool:
        """Is it small enough to be answered while the visitor waits."""
        points, level = self.points(), self.level()
        rational = not level.is_inner or isinstance(level.alpha, Fraction)
        return rational and len(points) <= (MAX_QUICK_LINE_POINTS if is_line(points) else MAX_QUICK_POINTS)


def design_input(
    space: Annotated[
        str, Query(max_length=MAX_FIELD_CHARS, description=f"The secrets: {space_forms(files=False)}")
    ] = "line:6",
    alpha: Annotated[str, Query(max_length=40, description="The level α = e^−ε, from 0 to 1")] = "1/2",
    epsilon: Annotated[str, Query(max_length=40, description="The level ε instead, if not empty")] = "",
    prior: Annotated[str, Query(max_length=8000, description=PRIORS.forms(files=False))] = "uniform",
    loss: Annotated[str, Query(max_length=MAX_FIELD_CHARS, description=LOSSES.forms(files=False))] = "absolute",
) -> DesignInput:
    """The input as typed."""
    return DesignInput(space, alpha, epsilon, prior, loss)


DesignForm = Annotated[DesignInput, Depends(design_input)]


def check_question(question: DesignInput) -> DesignInput:
    """The same question, once everything in it has been read."""
    question.level()
    question.consumer()
    return question


@dataclass(frozen=True, slots=True)
class DesignSize:
    """Whether a question is answered at once, and whether its posteriors can be drawn as a triangle."""

    is_quick: bool
    has_triangle: bool


def question_size(question: DesignInput) -> DesignSize:
    """The size of a question, once everything in it has been read."""
    check_question(question)
    return DesignSize(question.is_quick, len(question.points()) == 3 and question.level().is_inner)


def require_quick(question: DesignInput) -> None:
    """Refuse what must be a job."""
    if not question.is_quick:
        advice = "press Design it, which begins a job, or post it to /api/designer/best/job"
        raise InputError("space must be smaller to be answered at once", "space", advice)
