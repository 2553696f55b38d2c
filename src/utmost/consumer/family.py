"""What a family of priors or losses tells a form: its line in the list of choices, and its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from utmost.registry import Family

Content: TypeAlias = Literal["number", "numbers", "pairs", "file"]  # pairs are a:b between commas


@dataclass(frozen=True, slots=True)
class Slider:
    """The range of a slider; `high` None is the number of points of the prior. Scale "log" spreads small values."""

    low: str
    high: str | None
    step: str = "any"
    scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One input of a form.

    `name` is its name in an address, `content` what its text must be. `suggest` makes a default from the released
    value, where that is a whole number, and a round step about as large as half of the noise.
    """

    name: str
    label: str
    description: str
    content: Content = "number"
    default: str = ""
    hint: str = ""
    slider: Slider | None = None
    suggest: Callable[[int | None, Fraction], str] | None = None


@dataclass(frozen=True, kw_only=True)
class ConsumerFamily(Family):
    """A family that a form can offer: `choice` is its line in the list of choices, empty if it is not offered."""

    choice: str = ""
    parameters: tuple[Parameter, ...] = ()
