"""Designs: the best mechanism for a privacy type and a consumer, with its certificate."""

from utmost.design.capacities import Capacities, Capacity, capacity
from utmost.design.count_mechanism import Derivation, LemmaFinding, derivation, lemmas, remap_of, signature
from utmost.design.optimal import Design, by_program, optimal

__all__ = [
    "Capacities",
    "Capacity",
    "Derivation",
    "Design",
    "LemmaFinding",
    "by_program",
    "capacity",
    "derivation",
    "lemmas",
    "optimal",
    "remap_of",
    "signature",
]
