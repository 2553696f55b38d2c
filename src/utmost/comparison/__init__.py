"""Mechanisms beside each other for one consumer: at one level (`compare`), and along many (`curve`).

`shared_optimum` is the mechanism that several consumers share at the least price.
"""

from utmost.comparison.compare import MechanismComparison, compare
from utmost.comparison.measures import MeasuredMechanism
from utmost.comparison.privacy_curve import CurvePoint, PrivacyCurve, curve
from utmost.comparison.rivals import RefusedMechanism, rival_names
from utmost.comparison.shared_optimum import SharedOptimum, shared_optimum

__all__ = [
    "CurvePoint",
    "MeasuredMechanism",
    "MechanismComparison",
    "PrivacyCurve",
    "RefusedMechanism",
    "SharedOptimum",
    "compare",
    "curve",
    "rival_names",
    "shared_optimum",
]
