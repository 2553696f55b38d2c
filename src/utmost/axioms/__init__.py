"""What a privacy definition must satisfy, what a mechanism satisfies, what more it could tell (KL10)."""

from utmost.axioms.curves import Curve, Dent, Excess, Point, from_lines, from_points, minimum
from utmost.axioms.relation import Relation, from_pairs, from_space
from utmost.axioms.relation import read as relation_of

__all__ = [
    "Curve",
    "Dent",
    "Excess",
    "Point",
    "Relation",
    "from_lines",
    "from_pairs",
    "from_points",
    "from_space",
    "minimum",
    "relation_of",
]
