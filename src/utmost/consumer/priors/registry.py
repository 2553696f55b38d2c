"""The families of priors, in the order of help and forms, and the parser of what the command line names."""

from __future__ import annotations

import re

from utmost.consumer.priors.binomial import BINOMIAL
from utmost.consumer.priors.explicit import FILE, WEIGHTS, Explicit, Floating, names_weights, read_weights
from utmost.consumer.priors.poisson import POISSON
from utmost.consumer.priors.prior import Prior, PriorFamily
from utmost.consumer.priors.steps import STEPS
from utmost.consumer.priors.uniform import UNIFORM
from utmost.consumer.priors.zipf import ZIPF
from utmost.errors import InputError
from utmost.registry import MAX_QUOTED_CHARS, Registry

PRIORS: Registry[PriorFamily] = Registry("prior", [UNIFORM, BINOMIAL, POISSON, ZIPF, STEPS, WEIGHTS, FILE])

FILE_NAME = re.compile(r"^[^:]*(/[^:]*|\.[A-Za-z][A-Za-z0-9]{0,7})$")  # a path, or a name with an ending


def parse(text: str, size: int) -> Prior:
    """The prior over 0..size−1 that the command line names: one of `PRIORS.forms()`.

    >>> parse("1/4,0,3/4", 3).exact()[2], parse("binomial:0.3", 5).name
    (Fraction(3, 4), 'binomial:3/10')
    """
    family = named_family(text)
    if family is not None:
        with PRIORS.input_errors(text):
            return family.parse(size, text.strip().partition(":")[2])
    prior = listed(text)
    if prior.size != size:
        raise InputError(f"prior must have {size} weights, one for each secret in order, got {prior.size}", "prior")
    return prior


def listed(text: str) -> Explicit | Floating:
    """The prior whose weights a text lists, which sum to 1, or a file holds, which are divided by their sum."""
    if not names_weights(text):
        name = text.strip()
        if FILE_NAME.search(name):
            raise InputError(
                f"prior must name a file that exists, got {name[:MAX_QUOTED_CHARS]!r}", "prior", "no such file"
            )
        raise PRIORS.refusal(name)
    return read_weights(text)


def named_family(text: str) -> PriorFamily | None:
    """The family that a text names before its colon; None where it lists weights, names a file, or names nothing.

    >>> named_family("zipf:1").kind, named_family("1/4,3/4"), named_family("zipf")
    ('zipf', None, None)
    """
    kind, _, arguments = text.strip().partition(":")
    family = PRIORS.find(kind)
    if family is None or family.lists_weights or family.takes_text != bool(arguments):
        return None
    return family
