"""Designs: the best mechanism for a privacy type and a consumer, with its certificate."""

from utmost.design.capacities import Capacities, Capacity, capacity
from utmost.design.derive import Derivation, derivation
from utmost.design.optimal import Certificate, Design, by_program, optimal
from utmost.design.signature import Finding, lemmas, remap_of, signature

__all__ = [
    "Capacities",
    "Capacity",
    "Certificate",
    "Derivation",
    "Design",
    "Finding",
    "by_program",
    "capacity",
    "derivation",
    "lemmas",
    "optimal",
    "remap_of",
    "signature",
]
