"""Weights given one by one: exact ones, doubles, shares of counts among samples, a text or a file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from utmost.consumer.family import Parameter, json_list, read_text
from utmost.consumer.priors.prior import Floats, Prior, PriorFamily, check_size, normalise, short_text
from utmost.errors import InputError
from utmost.exact import Number, Real, number, rational, sign
from utmost.result_values import short_repr

SUM_TOLERANCE = 1e-9  # how far from 1 float weights may sum


@dataclass(frozen=True, slots=True)
class Explicit(Prior):
    """Exact weights, one by one."""

    __repr__ = short_repr

    weights: tuple[Number, ...]
    name: str = "explicit"

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.weights)

    def proportions(self) -> tuple[Number, ...]:
        """The weights."""
        return self.weights

    def exact(self) -> tuple[Number, ...]:
        """The weights."""
        return self.weights

    def logs(self) -> Floats:
        """The logarithm of each weight, right to a few units in the last place."""
        return np.array([_log(weight) for weight in self.weights])


@dataclass(frozen=True, slots=True)
class Floating(Prior):
    """Weights that were given as doubles; there is nothing exact about them."""

    __repr__ = short_repr

    weights: tuple[float, ...]
    name: str = field(default="explicit (floats)", init=False)

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.weights)

    @property
    def is_exact(self) -> bool:
        """Never."""
        return False

    def proportions(self) -> tuple[Number, ...]:
        """Refused."""
        raise InputError(
            "prior must have exact weights here, got floats", "prior", 'write them as text, for instance "1/3"'
        )

    def logs(self) -> Floats:
        """Logarithms of the weights, divided by their sum."""
        weights = np.array(self.weights)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(weights) - math.log(math.fsum(self.weights)))


def explicit(weights: Iterable[object]) -> Explicit | Floating:
    """These weights: exact ones must sum to exactly 1; if one is a float, to 1 within 10⁻⁹.

    >>> explicit(["1/4", 0, "3/4"]).exact()
    (Fraction(1, 4), Fraction(0, 1), Fraction(3, 4))
    """
    values = list(weights)
    check_size(len(values))
    if any(isinstance(value, float) for value in values):
        return _float_prior(values)
    exacts = tuple(number(int(v) if isinstance(v, np.integer) else v, "prior") for v in values)
    if any(sign(weight) < 0 for weight in exacts):
        raise InputError("prior must have weights >= 0, got a negative one", "prior", "a weight is a probability")
    total = sum(exacts, Fraction(0))
    if total != 1:
        raise InputError(f"prior must sum to 1, got {short_text(total)}", "prior", "divide each weight by that")
    return Explicit(exacts)


def normalised(weights: Iterable[object]) -> Explicit:
    """Weights of any sum > 0, each divided by it, exactly.

    >>> normalised([1, "0.5", "1/2"]).exact()
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    """
    exacts = [number(value, "prior") for value in weights]
    if any(sign(weight) < 0 for weight in exacts) or not any(exacts):
        raise InputError(
            "prior must have weights >= 0, and one above 0", "prior", "a weight is a probability, up to a factor"
        )
    return Explicit(normalise(exacts))


def from_data(samples: Iterable[int], size: int, smoothing: object = 0) -> Explicit:
    """The share of each count among `samples`, after adding `smoothing` to each of the `size` tallies.

    >>> from_data([0, 2, 2], 3).exact(), from_data([0, 2, 2], 3, smoothing=1).exact()[1]
    ((Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)), Fraction(1, 6))
    """
    pseudo_count = rational(smoothing, "smoothing")
    if pseudo_count < 0:
        raise InputError(f"smoothing must be >= 0, got {pseudo_count}", "smoothing")
    counts = np.asarray(list(samples) if not isinstance(samples, np.ndarray) else samples)
    if counts.size and (counts.dtype.kind not in "iu" or counts.ndim != 1):
        raise InputError("samples must be a flat list of whole numbers", "samples", "count before, round nothing")
    if counts.size and not (counts.min() >= 0 and counts.max() < check_size(size)):
        raise InputError(
            f"samples must be counts from 0 to {size - 1}, got one outside", "samples", "raise size or drop it"
        )
    total = counts.size + pseudo_count * check_size(size)
    if not total:
        raise InputError(
            "samples must not be empty without smoothing", "samples", "add smoothing=1 for a uniform prior"
        )
    tallies = np.bincount(counts.astype(np.int64), minlength=size).tolist()
    return Explicit(tuple((tally + pseudo_count) / total for tally in tallies), "data")


def _float_prior(values: Sequence[object]) -> Floating:
    weights = tuple(float(v) if isinstance(v, float | int) else float(number(v, "prior")) for v in values)
    if not all(0 <= weight <= 2 for weight in weights):
        raise InputError(
            "prior must have finite weights in [0, 1], got one outside", "prior", "a weight is a probability"
        )
    total = math.fsum(weights)
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError(
            f"prior must sum to 1 within {SUM_TOLERANCE}, got {total!r}", "prior", "divide each weight by that"
        )
    return Floating(weights)


def _log(weight: Number) -> float:
    """The logarithm of an exact weight, however small; −∞ of 0."""
    if isinstance(weight, Real):
        value = float(weight)
        return math.log(value) if value > 1e-300 else float(weight.ball(4096).log().mid())
    top, bottom = weight.numerator, weight.denominator
    if not top:
        return -math.inf
    shift = bottom.bit_length() - top.bit_length()
    ratio = (top << shift) / bottom if shift >= 0 else top / (bottom << -shift)
    return math.log(ratio) - shift * math.log(2)


def read_weights(text: str) -> Explicit | Floating:
    """The prior whose weights a text lists, which sum to 1, or a file holds, which are divided by their sum."""
    name = text.strip()
    if os.path.isfile(name):  # unlike Path.is_file, False for a name that no file can have
        return normalised(_split_weights(read_text(Path(name), "prior")))
    return explicit(_split_weights(name))


def names_weights(text: str) -> bool:
    """Is a text a list of numbers, by its first characters, or the name of a file.

    >>> names_weights(".5, sqrt(1/4)"), names_weights("binomial:0.3")
    (True, False)
    """
    name = text.strip()
    is_word = name[:1].isalpha() and not name.startswith(("exp(", "sqrt("))
    return os.path.isfile(name) or (not is_word and ("," in name or name[:1].isdigit()))


def _split_weights(text: str) -> list[object]:
    """The weights of a text: one a line, between commas, or a JSON list."""
    return json_list(text, "prior") or [cell for line in text.splitlines() for cell in line.split(",") if cell.strip()]


WEIGHTS = PriorFamily(
    kind="weights",
    example="1/4,0,3/4",
    phrase="weights such as 1/4,0,3/4",
    meaning="these weights, which must sum to exactly 1",
    choice="weights that I type",
    lists_weights=True,
    parameters=(
        Parameter(
            name="weights",
            label="Weights, between commas",
            description="one for each value, between commas, up to a factor",
            content="numbers",
            hint="One for each value; they are divided by their sum",
        ),
    ),
    parse=lambda _, text: read_weights(text),
)
FILE = PriorFamily(
    kind="file",
    example="FILE",
    phrase="a file of weights",
    meaning="weights from a file",
    choice="weights from a file",
    lists_weights=True,
    reads_files=True,
    parameters=(
        Parameter(
            name="kept",
            label="A file of weights",
            description="the id of weights that were uploaded",
            content="file",
            hint="One a line, between commas, or a JSON list; one for each value.",
        ),
    ),
    parse=lambda _, text: read_weights(text),
)
