"""Axioms of privacy definitions, profiles of mechanisms, and generality of mechanisms (KL10)."""

from utmost.axioms.composition import compose_profiles, compose_repeated
from utmost.axioms.constraint_graphs import PrivacyConstraints, RowGraph, privacy_constraints, row_graph, row_graphs
from utmost.axioms.counterexamples import Mixture, Processing, allowed_range
from utmost.axioms.curves import (
    ConcavityGap,
    Curve,
    CurveExcess,
    Point,
    curve_from_lines,
    curve_from_points,
    pointwise_minimum,
)
from utmost.axioms.definition import (
    Definition,
    approximate,
    check_bound,
    definition_of,
    identity,
    parse_bound,
    pure,
    subsampling,
    variation,
)
from utmost.axioms.definition_files import parse_candidate, parse_definition
from utmost.axioms.dobrushin import (
    Ergodicity,
    SteepestPath,
    best_coefficient,
    best_mechanism,
    ergodicity,
    is_dobrushin_optimal,
    least_overlap,
    steepest_path,
)
from utmost.axioms.generality import (
    Generalization,
    Maximality,
    Step,
    at_least_as_general,
    canonical,
    equivalent,
    generalize,
    maximally_general,
    peel_extreme_ray,
    split_output,
)
from utmost.axioms.posterior_odds import Odds, odds_bounds, odds_law, odds_tails
from utmost.axioms.predicate import Predicate
from utmost.axioms.predicate_parser import parse_privacy_predicate as predicate
from utmost.axioms.profile import Profile, delta_at_epsilon, epsilon_at_delta, profile, profiles
from utmost.axioms.region_convexity import ConvexityGap
from utmost.axioms.relation import Relation, relation_from_pairs, relation_from_space
from utmost.axioms.relation import parse_relation as relation_of
from utmost.axioms.sampled_predicate import SampledPredicate
from utmost.axioms.satisfaction import Satisfaction, satisfaction
from utmost.axioms.soundness import Candidate, Closure, Verdict, closure, soundness
from utmost.axioms.utility_measures import (
    Measure,
    Refutation,
    Trial,
    absolute_determinant,
    check_measure,
    negative_expected_loss,
    remap_counterexample,
    rename_counterexample,
)

__all__ = [
    "Candidate",
    "Closure",
    "ConcavityGap",
    "ConvexityGap",
    "Curve",
    "CurveExcess",
    "Definition",
    "Ergodicity",
    "Generalization",
    "Maximality",
    "Measure",
    "Mixture",
    "Odds",
    "Point",
    "Predicate",
    "PrivacyConstraints",
    "Processing",
    "Profile",
    "Refutation",
    "Relation",
    "RowGraph",
    "SampledPredicate",
    "Satisfaction",
    "SteepestPath",
    "Step",
    "Trial",
    "Verdict",
    "absolute_determinant",
    "allowed_range",
    "approximate",
    "at_least_as_general",
    "best_coefficient",
    "best_mechanism",
    "canonical",
    "check_bound",
    "check_measure",
    "closure",
    "compose_profiles",
    "compose_repeated",
    "curve_from_lines",
    "curve_from_points",
    "definition_of",
    "delta_at_epsilon",
    "epsilon_at_delta",
    "equivalent",
    "ergodicity",
    "generalize",
    "identity",
    "is_dobrushin_optimal",
    "least_overlap",
    "maximally_general",
    "negative_expected_loss",
    "odds_bounds",
    "odds_law",
    "odds_tails",
    "parse_bound",
    "parse_candidate",
    "parse_definition",
    "peel_extreme_ray",
    "pointwise_minimum",
    "predicate",
    "privacy_constraints",
    "profile",
    "profiles",
    "pure",
    "relation_from_pairs",
    "relation_from_space",
    "relation_of",
    "remap_counterexample",
    "rename_counterexample",
    "row_graph",
    "row_graphs",
    "satisfaction",
    "soundness",
    "split_output",
    "steepest_path",
    "subsampling",
    "variation",
]
