"""What a privacy definition must satisfy, what a mechanism satisfies, what more it could tell (KL10)."""

from utmost.axioms.closure import Closure, closure
from utmost.axioms.composition import composed, repeated
from utmost.axioms.convexity import Gap
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
from utmost.axioms.definition_files import candidate_of, definition_in
from utmost.axioms.dobrushin import (
    Ascent,
    Ergodicity,
    ascent,
    best_mechanism,
    best_value,
    ergodicity,
    is_best,
    least_overlap,
)
from utmost.axioms.failures import Mixture, Processing, forced
from utmost.axioms.generality import (
    Generalization,
    Maximality,
    Step,
    at_least_as_general,
    canonical,
    equivalent,
    generalize,
    maximally_general,
)
from utmost.axioms.measures import (
    Measure,
    Refutation,
    Trial,
    absolute_determinant,
    negative_expected_loss,
    refutation,
    reread,
    tried,
)
from utmost.axioms.odds import Odds
from utmost.axioms.predicate import Predicate
from utmost.axioms.predicate_grammar import parse as predicate
from utmost.axioms.profile import Profile, profile, profiles
from utmost.axioms.relation import Relation, from_pairs, from_space
from utmost.axioms.relation import read as relation_of
from utmost.axioms.rowgraphs import Limits, RowGraph, limits, row_graph, row_graphs
from utmost.axioms.sampled import Sampled
from utmost.axioms.satisfaction import Satisfaction, satisfaction
from utmost.axioms.soundness import Candidate, Verdict, soundness
from utmost.axioms.splitting import halves, peeled

__all__ = [
    "Ascent",
    "Candidate",
    "Closure",
    "Curve",
    "Definition",
    "Dent",
    "Ergodicity",
    "Excess",
    "Gap",
    "Generalization",
    "Limits",
    "Maximality",
    "Measure",
    "Mixture",
    "Odds",
    "Point",
    "Predicate",
    "Processing",
    "Profile",
    "Refutation",
    "Relation",
    "RowGraph",
    "Sampled",
    "Satisfaction",
    "Step",
    "Trial",
    "Verdict",
    "absolute_determinant",
    "approximate",
    "ascent",
    "at_least_as_general",
    "best_mechanism",
    "best_value",
    "candidate_of",
    "canonical",
    "checked",
    "closure",
    "composed",
    "curve_of",
    "definition_in",
    "definition_of",
    "equivalent",
    "ergodicity",
    "forced",
    "from_lines",
    "from_pairs",
    "from_points",
    "from_space",
    "generalize",
    "halves",
    "identity",
    "is_best",
    "least_overlap",
    "limits",
    "maximally_general",
    "minimum",
    "negative_expected_loss",
    "peeled",
    "predicate",
    "profile",
    "profiles",
    "pure",
    "refutation",
    "relation_of",
    "repeated",
    "reread",
    "row_graph",
    "row_graphs",
    "satisfaction",
    "soundness",
    "subsampling",
    "tried",
    "variation",
]
