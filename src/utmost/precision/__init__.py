"""Privacy of floating-point noise: formats, closeness, ε′ of Laplace and planar noise, attacks, exact laws (GMP13)."""

from utmost.precision import laplace, planar
from utmost.precision.attacks import Attack, run_attack
from utmost.precision.enumeration import exact_epsilon, wasserstein
from utmost.precision.guarantee import Closeness, Implementation, PrecisionGuarantee, implementation
from utmost.precision.laplace import certify_laplace, laplace_setting
from utmost.precision.number_formats import (
    BINARY16,
    BINARY32,
    BINARY64,
    NumberFormat,
    UniformGenerator,
    fixed_point_format,
    implemented_sensitivity,
    sum_error,
    uniform_generator,
)
from utmost.precision.remedies import (
    WrappedLaplace,
    WrappedPlanar,
    laplace_advice,
    planar_advice,
    sum_advice,
    wrap_laplace,
    wrap_planar,
    wrap_shifted,
)

__all__ = [
    "BINARY16",
    "BINARY32",
    "BINARY64",
    "Attack",
    "Closeness",
    "Implementation",
    "NumberFormat",
    "PrecisionGuarantee",
    "UniformGenerator",
    "WrappedLaplace",
    "WrappedPlanar",
    "certify_laplace",
    "exact_epsilon",
    "fixed_point_format",
    "implementation",
    "implemented_sensitivity",
    "laplace",
    "laplace_advice",
    "laplace_setting",
    "planar",
    "planar_advice",
    "run_attack",
    "sum_advice",
    "sum_error",
    "uniform_generator",
    "wasserstein",
    "wrap_laplace",
    "wrap_planar",
    "wrap_shifted",
]
