"""What a designer asks: secrets, a level and a consumer, as typed; and whether it is answered at once or by a job."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Query

from utmost import exact
from utmost.consumer import Consumer, losses
from utmost.design.optimal import is_line
from utmost.errors import InputError
from utmost.studio import words
from utmost.studio.problems import FieldError, about

if TYPE_CHECKING:
    from utmost.exact import Level
    from utmost.spaces import Space

MOST = 400  # points of a space that a mechanism is designed for here
LIVE_LINE, LIVE = 40, 12  # points, on a line and elsewhere, that are answered at once if α is rational
FIELDS = ("space", "alpha", "epsilon", "prior", "loss")
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Question:
    """Secrets, a level (α, or ε if that is not empty), a prior and a loss, as typed."""

    space: str
    alpha: str
    epsilon: str
    prior: str
    loss: str

    def points(self) -> Space:
        """The secrets; at most 400, since a mechanism has a row and a column for each."""
        found = words.space(self.space)
        if len(found) > MOST:
            raise FieldError("space", f"space must have at most {MOST} secrets here, got {len(found)}: take fewer")
        return found

    def level(self) -> Level:
        """The level: by ε where that is given."""
        if self.epsilon.strip():
            with about("epsilon"):
                return exact.epsilon(self.epsilon)
        with about("alpha"):
            return exact.alpha(self.alpha)

    def reader(self) -> Consumer:
        """The consumer over the secrets' distances."""
        points = self.points()
        belief, fear = words.prior(self.prior, len(points)), words.loss(self.loss)
        with about("loss"):
            return Consumer(belief, losses.over(fear, points))

    @property
    def live(self) -> bool:
        """Is it small enough to be answered while the visitor waits."""
        points, level = self.points(), self.level()
        rational = not level.is_inner or isinstance(level.alpha, Fraction)
        return rational and len(points) <= (LIVE_LINE if is_line(points) else LIVE)


def question(
    space: Annotated[
        str, Query(max_length=LONGEST, description="The secrets: line:6, discrete:4, grid:3x3")
    ] = "line:6",
    alpha: Annotated[str, Query(max_length=40, description="The level α = e^−ε, from 0 to 1")] = "1/2",
    epsilon: Annotated[str, Query(max_length=40, description="The level ε instead, if not empty")] = "",
    prior: Annotated[str, Query(max_length=8000, description="uniform, binomial:0.3, or weights")] = "uniform",
    loss: Annotated[str, Query(max_length=LONGEST, description="absolute, squared, binary, power:1.5")] = "absolute",
) -> Question:
    """The question as typed."""
    return Question(space, alpha, epsilon, prior, loss)


Asked = Annotated[Question, Depends(question)]


def checked(asked: Question) -> Question:
    """The same question, once everything in it has been read."""
    asked.level()
    asked.reader()
    return asked


def refuse_waiting(asked: Question) -> None:
    """Refuse what must be a job."""
    if not asked.live:
        how = "press Design it, which begins a job, or post it to /api/designer/best/job"
        raise InputError(f"space must be smaller to be answered at once: {how}")
