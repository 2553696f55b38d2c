"""The points that a reader believes in: evenly spaced values, one weight of her prior for each."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from utmost.consumer import priors
from utmost.consumer.files import content, listed
from utmost.consumer.priors import LARGEST, Prior
from utmost.data.asked import Grid
from utmost.errors import InputError
from utmost.exact import decimal
from utmost.publish.record import Lattice

LATTICE = 1_000_001  # points up to which a sum or a mean is read on its own lattice
FEWEST, MOST = 1001, 100_001  # points of a grid that nobody asked for
FURTHEST = 10**30  # that a bound may be from 0
PER_NOISE = 8  # of its points to one 1/ε of noise
FAMILIES = ("uniform", "binomial", "poisson", "zipf")


@dataclass(frozen=True, slots=True)
class Axis:
    """The values first, first + step, …: `size` of them.

    >>> axis = Axis(Fraction(0), Fraction(1, 2), 5)
    >>> axis.last, axis.nearest(Fraction(3, 5)), axis.nearest(Fraction(9))
    (Fraction(2, 1), 1, 4)
    """

    first: Fraction
    step: Fraction
    size: int

    @property
    def last(self) -> Fraction:
        """The largest value."""
        return self.value(self.size - 1)

    def value(self, place: int) -> Fraction:
        """The value at a place 0 … size − 1."""
        return self.first + place * self.step

    def nearest(self, value: Fraction) -> int:
        """The place of the value nearest to this one, the smaller of two."""
        return min(max(math.ceil((value - self.first) / self.step - Fraction(1, 2)), 0), self.size - 1)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a reader says of her points herself: the least and the largest value she holds possible, and how many."""

    at_least: Fraction | None = None
    at_most: Fraction | None = None
    grid: int | None = None

    def __post_init__(self) -> None:
        """Check that they are points."""
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise InputError(f"at-least must not be above at-most, got {self.at_least} and {self.at_most}: swap them")
        if any(abs(end) > FURTHEST for end in (self.at_least, self.at_most) if end is not None):
            raise InputError("at-least and at-most must be within ±10^30, got more")
        if self.grid is not None and not 2 <= self.grid <= LARGEST:
            raise InputError(f"grid must be from 2 to {LARGEST} points, got {self.grid}")


def listed_prior(prior: Prior | str) -> Prior | None:
    """The prior that brings its own number of points: an object, listed weights or a file. None for a named family."""
    if not isinstance(prior, str):
        return prior
    text = prior.strip()
    if text.partition(":")[0] in FAMILIES:
        return None
    if not (os.path.isfile(text) or "," in text or text[:1].isdigit()):
        raise InputError(f"prior must be {priors.FORMS}, got {text[:60]!r}")
    written = content(Path(text), "prior") if os.path.isfile(text) else text
    return priors.explicit(listed(written, "prior") or [w for w in re.split(r"[,\n\r]", written) if w.strip()])


def of_lattice(law: Lattice, kind: str, wish: Wish, weights: int | None) -> Axis:
    """The points for a number of this lattice: its own where they are few enough, else a grid between the same ends.

    `weights` is how many points the prior brings, None for a family. A count's points are its lattice's; where it has
    no public upper end, her prior's length or her at-most gives it.
    """
    own = kind in ("count", "histogram") and wish.grid is None
    low, high = _ends(law, kind, wish, weights if own else None)
    most = high - low + 1
    size = wish.grid or (None if own else weights) or _default(law, most, LARGEST if own else LATTICE)
    if own and size == most and weights not in (None, most):
        raise InputError(f"prior must have {most} weights, one for each {kind} from {low} to {high}, got {weights}")
    if size < min(most, 2):
        raise InputError("prior must have at least 2 weights, one for each point from end to end, got 1")
    if size > most:
        raise InputError(f"grid must be at most {most} points here, one for each value there is, got {size}")
    step = Fraction(high - low, size - 1) if size > 1 else Fraction(1)
    return Axis(law.value(low), law.unit * step, size)


def _ends(law: Lattice, kind: str, wish: Wish, weights: int | None) -> tuple[int, int]:
    """The first and the last lattice number that she holds possible: her own ends and the public ones, the tighter."""
    low, high = law.low, law.high
    if wish.at_least is not None:
        least = math.ceil((wish.at_least - law.origin) / law.unit)
        low = least if low is None else max(low, least)
    if wish.at_most is not None:
        most = math.floor((wish.at_most - law.origin) / law.unit)
        high = most if high is None else min(high, most)
    if low is None:
        raise InputError(_open(kind, "at-least", "lower", "least"))
    if high is None and weights is not None:
        high = low + weights - 1
    if high is None:
        raise InputError(_open(kind, "at-most", "upper", "largest"))
    if low > high:
        raise InputError(f"at-least and at-most must leave a value of this {kind}, got none: widen them")
    return low, high


def _open(kind: str, name: str, side: str, extreme: str) -> str:
    why = f"{name} must be given for a {kind} without a public {side} end"
    return f"{why}: say --{name} N, the {extreme} you hold possible"


def _default(law: Lattice, most: int, largest: int) -> int:
    return most if most <= largest else resolving(float(law.epsilon) * (most - 1))


def resolving(noises: float) -> int:
    """Points for a range of this many 1/ε of noise: from 1001 to 100001."""
    return int(min(max(PER_NOISE * noises + 1, FEWEST), MOST))


def round_size(steps: int, noises: float) -> int:
    """Points for a range of this many steps and this much noise: 1, 2, 5, 10, 20, … to a step where that fits.

    >>> round_size(73, 944.0), round_size(73, 10.0)
    (14601, 1461)
    """
    wanted = resolving(noises)
    parts = (digit * 10**power for power in range(6) for digit in (1, 2, 5))
    return next((steps * part + 1 for part in parts if wanted <= steps * part + 1 <= MOST), wanted)


def between(grid: Grid, wish: Wish, size: int) -> Axis:
    """The points for a value between public bounds, or her own within them."""
    first = grid.low if wish.at_least is None else max(grid.low, wish.at_least)
    last = grid.high if wish.at_most is None else min(grid.high, wish.at_most)
    if size < 2:
        raise InputError("prior must have at least 2 weights, one for each point from end to end, got 1")
    if not first < last:
        whole = f"{decimal(grid.low)} to {decimal(grid.high)}"
        raise InputError(f"at-least and at-most must leave a range within {whole}, got none: widen them")
    return Axis(first, (last - first) / (size - 1), size)


def prior_on(axis: Axis, prior: Prior | str, listed: Prior | None) -> Prior:
    """Her prior over these points: position by position."""
    if listed is None:
        return priors.parse(str(prior), axis.size)
    if listed.size != axis.size:
        raise InputError(f"prior must have {axis.size} weights, one for each point, got {listed.size}")
    return listed
