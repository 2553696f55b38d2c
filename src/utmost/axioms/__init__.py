"""What a privacy definition must satisfy, what a mechanism satisfies, what more it could tell (KL10)."""

from utmost.axioms.curves import Curve, Dent, Excess, Point, from_lines, from_points, minimum
from utmost.axioms.definition import (
    Definition,
    approximate,
    checked,
    curve_of,
    definition_of,
    identity,
    pure,
    subsampling,
    variation,
)
from utmost.axioms.relation import Relation, from_pairs, from_space
from utmost.axioms.relation import read as relation_of

__all__ = [
    "Curve",
    "Definition",
    "Dent",
    "Excess",
    "Point",
    "Relation",
    "approximate",
    "checked",
    "curve_of",
    "definition_of",
    "from_lines",
    "from_pairs",
    "from_points",
    "from_space",
    "identity",
    "minimum",
    "pure",
    "relation_of",
    "subsampling",
    "variation",
]
