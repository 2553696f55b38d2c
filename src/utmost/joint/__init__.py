"""Joint readings: all counts of a table read together, from every release of it."""

from utmost.joint.draws import CellSum
from utmost.joint.estimate import LinearEstimate, TableEstimate, estimate_table
from utmost.joint.laws import CanonicalNoise, FoundNoise, GaussianNoise, GeometricNoise, NoiseLaw, UntoldNoise
from utmost.joint.least_squares import LeastSquares, least_squares
from utmost.joint.posterior import Posterior
from utmost.joint.prior import Divisions
from utmost.joint.tree import CountTree, NoisyCount, hierarchy
from utmost.joint.two_way import TwoWayEstimate, TwoWayTable, two_way, two_way_least_squares

__all__ = [
    "CanonicalNoise",
    "CellSum",
    "CountTree",
    "Divisions",
    "FoundNoise",
    "GaussianNoise",
    "GeometricNoise",
    "LeastSquares",
    "LinearEstimate",
    "NoiseLaw",
    "NoisyCount",
    "Posterior",
    "TableEstimate",
    "TwoWayEstimate",
    "TwoWayTable",
    "UntoldNoise",
    "estimate_table",
    "hierarchy",
    "least_squares",
    "two_way",
    "two_way_least_squares",
]
