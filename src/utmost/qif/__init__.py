"""Quantitative information flow: hypers, vulnerabilities, leakage, capacities of a channel, refinement.

A prior through a channel is a hyper; a measure of the hyper, less that of the prior, is leakage; the largest leakage is
the channel's capacity; and one channel refines another when it leaks no more to any consumer.
"""

from utmost.qif.exact_algebra import Enclosure
from utmost.qif.hyper import Hyper, hyper
from utmost.qif.kantorovich_distance import KantorovichDistance, kantorovich
from utmost.qif.leakage_measures import (
    Capacity,
    Gain,
    Leakage,
    Loss,
    Measure,
    Miracle,
    Shannon,
    bayes,
    best_remap,
    best_strategy,
    capacity,
    guessing,
    leakage,
    min_entropy,
    miracle_additive,
    miracle_multiplicative,
    posterior_uncertainty,
    posterior_vulnerability,
    shannon,
    uncertainty,
    vulnerability,
)
from utmost.qif.prior_estimate import PriorEstimate, iterative_bayesian_update
from utmost.qif.refinement import Refinement, refinement
from utmost.qif.refinement_programs import Witness
from utmost.qif.transport import TransportPlan, hyper_distance, hyper_distance_float, line_distance, refining_move

__all__ = [
    "Capacity",
    "Enclosure",
    "Gain",
    "Hyper",
    "KantorovichDistance",
    "Leakage",
    "Loss",
    "Measure",
    "Miracle",
    "PriorEstimate",
    "Refinement",
    "Shannon",
    "TransportPlan",
    "Witness",
    "bayes",
    "best_remap",
    "best_strategy",
    "capacity",
    "guessing",
    "hyper",
    "hyper_distance",
    "hyper_distance_float",
    "iterative_bayesian_update",
    "kantorovich",
    "leakage",
    "line_distance",
    "min_entropy",
    "miracle_additive",
    "miracle_multiplicative",
    "posterior_uncertainty",
    "posterior_vulnerability",
    "refinement",
    "refining_move",
    "shannon",
    "uncertainty",
    "vulnerability",
]
