"""What a visitor asks of a number format, and what is found: ε′ over the rounding step, and two supports."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from utmost import exact
from utmost.errors import InputError
from utmost.exact import rational
from utmost.precision import implementation, laplace, laplace_advice, uniform
from utmost.precision.certificate import inner
from utmost.precision.formats import parse
from utmost.precision.supports import Supports, supports
from utmost.studio.problems import about

if TYPE_CHECKING:
    from utmost.precision import Certificate, Implementation
    from utmost.precision.laplace import Setting

STEPS = 24  # powers of two on the curve
FINEST = 22  # the finest step of the curve is this power of two below the range
KEPT = 64  # answers
ENUMERATING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Question:
    """A format, a level, a range and a rounding step, as typed."""

    format: str
    epsilon: str
    sensitivity: str
    low: str
    high: str
    round: str

    def run(self) -> Implementation:
        """The machine."""
        with about("format"):
            return implementation(parse(self.format))

    def task(self, rounding: Fraction | None = None) -> Setting:
        """What is released on it; with another rounding step if one is given."""
        with about("epsilon"):
            level = inner(exact.epsilon(self.epsilon))
        ends = []
        for name, text in (("low", self.low), ("high", self.high)):
            with about(name):
                ends.append(rational(text, name))
        with about("sensitivity"):
            width = rational(self.sensitivity, "sensitivity")
            if width <= 0:
                raise InputError("sensitivity must be > 0, got a number that is not: say how far answers can move")
        with about("high" if ends[0] >= ends[1] else "round"):
            return laplace.setting(level, width, ends[0], ends[1], self.round if rounding is None else rounding)


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its certificate and what to do about it."""

    task: Setting
    made: Certificate
    advice: str


def judged(question: Question) -> Judged:
    """ε′ of the textbook sampler on this machine, and the advice of the command line."""
    run, task = question.run(), question.task()
    made = laplace.certify(task, run)
    return Judged(task, made, laplace_advice(task, run, made))


@lru_cache(maxsize=KEPT)
def curve(question: Question) -> list[tuple[Fraction, Fraction | None]]:
    """(step, ε′) for steps that are powers of two from 2^−22 of the range upwards; None where no ε′ is finite."""
    run, asked = question.run(), question.task()
    width = asked.high - asked.low
    top = width.numerator.bit_length() - width.denominator.bit_length()
    steps = [Fraction(2) ** (top - FINEST + k) for k in range(STEPS)]
    return [(step, laplace.certify(question.task(step), run).epsilon_prime) for step in steps]


def both_supports(question: Question, bits: int, first: str, second: str) -> Supports:
    """What either secret can give on a machine whose generator has 2^bits values.

    The picture and the numbers beside it ask at once: one of them works it out, the other waits for it.
    """
    with ENUMERATING:
        return _both_supports(question, bits, first, second)


@lru_cache(maxsize=KEPT)
def _both_supports(question: Question, bits: int, first: str, second: str) -> Supports:
    secrets = []
    for name, text in (("first", first), ("second", second)):
        with about(name):
            secrets.append(rational(text, name))
    with about("format"):
        small = implementation(parse(question.format), uniform(2**bits))
    with about("first"):
        return supports(question.task(), small, (secrets[0], secrets[1]))
