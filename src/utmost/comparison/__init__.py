"""Mechanisms beside each other for one consumer: at one level (`compare`), and along many (`curve`)."""

from utmost.comparison.compare import MechanismComparison, compare
from utmost.comparison.measures import MeasuredMechanism
from utmost.comparison.privacy_curve import CurvePoint, PrivacyCurve, curve
from utmost.comparison.rivals import RefusedMechanism, rival_names

__all__ = [
    "CurvePoint",
    "MeasuredMechanism",
    "MechanismComparison",
    "PrivacyCurve",
    "RefusedMechanism",
    "compare",
    "curve",
    "rival_names",
]
