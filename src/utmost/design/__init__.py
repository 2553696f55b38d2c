"""Designs: the best mechanism for a privacy type and a consumer, with its certificate."""

from utmost.design.derive import Derivation, derivation
from utmost.design.optimal import Certificate, Design, by_program, optimal
from utmost.design.signature import Finding, lemmas, remap_of, signature

__all__ = [
    "Certificate",
    "Derivation",
    "Design",
    "Finding",
    "by_program",
    "derivation",
    "lemmas",
    "optimal",
    "remap_of",
    "signature",
]
