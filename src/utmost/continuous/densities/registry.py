"""The families of densities, in the order of help, and the parser of what the command line names."""

from __future__ import annotations

from utmost.continuous.densities.beta import BETA
from utmost.continuous.densities.density import Density, DensityFamily
from utmost.continuous.densities.normal import NORMAL
from utmost.continuous.densities.piecewise_linear import HISTOGRAM, LINEAR, UNIFORM
from utmost.continuous.interval import Interval
from utmost.registry import Registry

DENSITIES: Registry[DensityFamily] = Registry("prior", [UNIFORM, BETA, NORMAL, HISTOGRAM, LINEAR])


def parse_density(text: str, interval: Interval) -> Density:
    """The density that the command line names: one of `DENSITIES.forms()`.

    A histogram's file has a bin a line, `from,to,weight`; the bins touch, and the weights are divided by their sum. A
    broken line's file has a point a line, `x,height`; the heights are divided by their integral. Both may be JSON lists
    of lists, and both lie within the interval.

    >>> from utmost.continuous.interval import interval
    >>> parse_density("beta:2,5", interval(0, 1)).name
    'beta:2,5'
    """
    kind, _, arguments = text.strip().partition(":")
    family = DENSITIES.find(kind)
    with DENSITIES.input_errors(text):
        is_whole = family is not None and family.takes_text == bool(arguments)
        density = family.parse(arguments, interval) if family is not None and is_whole else None
    if density is None:
        raise DENSITIES.refusal(text)
    return density
