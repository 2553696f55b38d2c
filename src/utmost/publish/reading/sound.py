"""A release that somebody else wrote: numbers that no release can have are refused before anything is worked out."""

from __future__ import annotations

from fractions import Fraction

from utmost.errors import InputError
from utmost.exact import rational
from utmost.publish.release_model import Answer, ChoiceMechanism, LatticeMechanism, RatioMechanism

SLOWEST, FASTEST = Fraction(1, 10**30), Fraction(1000)  # of a rate, a step
FINEST, COARSEST = Fraction(1, 10**60), Fraction(10**60)  # of a unit
MAX_LATTICE_NUMBER = 10**60  # of a lattice number
MOST_CANDIDATES = 10**6
LARGEST_SHARE = 10**6  # denominator of a quantile's share


def check_answer(answer: Answer) -> None:
    """Refuse an answer whose numbers would not fit into doubles; every plan's do."""
    law = answer.mechanism
    if isinstance(law, LatticeMechanism):
        values = answer.value if isinstance(answer.value, tuple) else (answer.value,)
        sound = _lattice(law) and all(abs(law.number(Fraction(value))) <= MAX_LATTICE_NUMBER for value in values)
    elif isinstance(law, RatioMechanism):
        parts = answer.parts or (MAX_LATTICE_NUMBER + 1,)
        sound = _lattice(law.total) and _lattice(law.rows) and all(abs(part) <= MAX_LATTICE_NUMBER for part in parts)
    else:
        sound = _choice(answer, law)
    if not sound:
        raise InputError(f"query {answer.name[:60]} must have numbers that a release can have: this file was altered")


def _lattice(law: LatticeMechanism) -> bool:
    ends = [end for end in (law.low, law.high) if end is not None]
    fits = SLOWEST <= law.epsilon <= FASTEST and FINEST <= law.unit <= COARSEST and abs(law.origin) <= COARSEST
    return fits and all(abs(end) <= MAX_LATTICE_NUMBER for end in ends)


def _choice(answer: Answer, law: ChoiceMechanism) -> bool:
    share = rational(answer.asked["probability"], "probability")
    fits = SLOWEST <= law.rate <= FASTEST and 1 <= law.candidates <= MOST_CANDIDATES
    return fits and 0 <= share <= 1 and share.denominator <= LARGEST_SHARE
