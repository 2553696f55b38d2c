"""What a privacy definition must satisfy, what a mechanism satisfies, what more it could tell (KL10)."""

from utmost.axioms.curves import Curve, Dent, Excess, Point, from_lines, from_points, minimum

__all__ = [
    "Curve",
    "Dent",
    "Excess",
    "Point",
    "from_lines",
    "from_points",
    "minimum",
]
