"""Quantitative information flow: hypers, vulnerabilities, leakage, capacities of a channel, refinement.

A prior through a channel is a hyper; a measure of the hyper, less that of the prior, is leakage; the most of it is the
channel's capacity; and one channel refines another when it leaks no more to anybody.
"""

from utmost.flow.capacity import Capacity, Miracle, capacity, miracle_additive, miracle_multiplicative
from utmost.flow.enclosure import Enclosure
from utmost.flow.hyper import Hyper, hyper
from utmost.flow.measures import (
    Gain,
    Leakage,
    Loss,
    Measure,
    Shannon,
    bayes,
    guessing,
    leakage,
    min_entropy,
    shannon,
)
from utmost.flow.refinement import Refinement, refinement
from utmost.flow.transport import Move, hyper_distance, hyper_distance_float, line_distance, refining_move
from utmost.flow.vulnerability import (
    posterior_uncertainty,
    posterior_vulnerability,
    remap,
    strategy,
    uncertainty,
    vulnerability,
)
from utmost.flow.witness import Witness

__all__ = [
    "Capacity",
    "Enclosure",
    "Gain",
    "Hyper",
    "Leakage",
    "Loss",
    "Measure",
    "Miracle",
    "Move",
    "Refinement",
    "Shannon",
    "Witness",
    "bayes",
    "capacity",
    "guessing",
    "hyper",
    "hyper_distance",
    "hyper_distance_float",
    "leakage",
    "line_distance",
    "min_entropy",
    "miracle_additive",
    "miracle_multiplicative",
    "posterior_uncertainty",
    "posterior_vulnerability",
    "refinement",
    "refining_move",
    "remap",
    "shannon",
    "strategy",
    "uncertainty",
    "vulnerability",
]
