"""What finite precision costs: formats, closeness, ε′ of Laplace and planar noise, attacks, the exact truth (GMP13)."""

from utmost.precision import laplace, planar
from utmost.precision.advice import laplace_advice, planar_advice, sum_advice
from utmost.precision.attacks import Attack, attack
from utmost.precision.certificate import Certificate, Implementation, implementation
from utmost.precision.closeness import Closeness
from utmost.precision.formats import BINARY16, BINARY32, BINARY64, Format, Generator, fixed, uniform
from utmost.precision.sums import implemented_sensitivity, sum_error
from utmost.precision.truth import exact_epsilon, wasserstein
from utmost.precision.wrapper import Wrapped, WrappedPlanar, wrap, wrap_planar, wrap_shifted

__all__ = [
    "BINARY16",
    "BINARY32",
    "BINARY64",
    "Attack",
    "Certificate",
    "Closeness",
    "Format",
    "Generator",
    "Implementation",
    "Wrapped",
    "WrappedPlanar",
    "attack",
    "exact_epsilon",
    "fixed",
    "implementation",
    "implemented_sensitivity",
    "laplace",
    "laplace_advice",
    "planar",
    "planar_advice",
    "sum_advice",
    "sum_error",
    "uniform",
    "wasserstein",
    "wrap",
    "wrap_planar",
    "wrap_shifted",
]
