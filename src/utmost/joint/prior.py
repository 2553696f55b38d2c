"""The divisions prior: what a reader believes of a table of counts before any answer.

The total is flat: every whole number is as likely as every other. A count s of a cell with k parts that are not known
to be empty is divided among them by a Dirichlet-multinomial law with parameter a,

    Pr[x_1, …, x_k given s] = Γ(ka)·s!/Γ(s+ka) · Π Γ(x_i+a)/(x_i!·Γ(a)).

With a = 1 all C(s+k−1, k−1) divisions are equally likely; a smaller a expects few parts to hold most of a count, a
larger one parts of nearly equal size. So the prior is a product of one factor for each cell: as a part and as a whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import InputError
from utmost.exact import rational
from utmost.joint.laws import Floats

MIN_PARAMETER, MAX_PARAMETER = Fraction(1, 1000), Fraction(1000)
EVIDENCE_GRID = tuple(Fraction(2) ** power for power in range(-4, 4))  # parameters among which the evidence chooses


@dataclass(frozen=True, slots=True)
class Divisions:
    """The divisions prior with parameter `a`; None where the evidence is to choose it."""

    a: Fraction | None = Fraction(1)

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "divisions" if self.a == 1 else f"divisions:{'evidence' if self.a is None else self.a}"

    def log_factors(self, low: int, high: int, part_count: int, is_part: bool) -> Floats:
        """ln of the factor of a cell for each count from low to high, but for a constant.

        Ratios of neighbours are added up, so that large counts keep their digits: as a whole
        (x+1)/(x+ka), as a part (x+a)/(x+1).
        """
        steps = np.arange(low, high, dtype=np.float64)
        a, result = float(self.a or 1), np.zeros(high - low + 1)
        if part_count and part_count * a != 1:
            result[1:] -= np.cumsum(np.log1p((part_count * a - 1) / (steps + 1)))
        if is_part and a != 1:
            result[1:] += np.cumsum(np.log1p((a - 1) / (steps + 1)))
        return result

    def log_factor(self, count: int, part_count: int, is_part: bool) -> float:
        """The constant: ln of the whole factor at one count."""
        a, result = float(self.a or 1), 0.0
        if part_count:
            whole = part_count * a
            result += math.lgamma(whole) + math.lgamma(count + 1) - math.lgamma(count + whole)
        if is_part:
            result += math.lgamma(count + a) - math.lgamma(count + 1) - math.lgamma(a)
        return result


def parse_prior(value: Divisions | str) -> Divisions:
    """`divisions`, `divisions:a` with a rational a, or `divisions:evidence`.

    >>> parse_prior("divisions:1/2").a, parse_prior("divisions").name, parse_prior("divisions:evidence").a
    (Fraction(1, 2), 'divisions', None)
    """
    if isinstance(value, Divisions):
        return value
    kind, colon, argument = value.strip().partition(":")
    if kind != "divisions" or (colon and not argument):
        raise InputError(
            f"prior must be divisions, divisions:a or divisions:evidence for a table, got {value[:40]}", "prior"
        )
    if argument in ("", "evidence"):
        return Divisions(None if argument else Fraction(1))
    a = rational(argument, "prior")
    if not MIN_PARAMETER <= a <= MAX_PARAMETER:
        raise InputError("prior divisions:a must have an a from 1/1000 to 1000, got another", "prior")
    return Divisions(a)
