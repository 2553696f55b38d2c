"""Universal optimality decided: is a mechanism best for a loss whatever the prior (FMPD23 §IV, §VI).

Two independent methods: `universally_optimal` looks at the priors where the mechanism's loss bends, `simulation` at the
kernel mechanisms of the type. Both end in evidence that is checked without a solver.
"""

from utmost.design.universal.constructions import (
    binary_mechanism,
    closest_pair,
    isolating,
    nearest,
    pair_loss,
    pulled_back,
)
from utmost.design.universal.corners import corners
from utmost.design.universal.decide import universally_optimal
from utmost.design.universal.directs import Direct, Simulation, Step, cheapest, simulates, simulation
from utmost.design.universal.existence import Existence, universal_mechanism
from utmost.design.universal.extension import Extension, extension, retraction
from utmost.design.universal.question import uncertainty
from utmost.design.universal.trees import TreeProof, binary_proof, nib_proof, tree_mechanism
from utmost.design.universal.verdict import Corner, Objection, Verdict, verify

__all__ = [
    "Corner",
    "Direct",
    "Existence",
    "Extension",
    "Objection",
    "Simulation",
    "Step",
    "TreeProof",
    "Verdict",
    "binary_mechanism",
    "binary_proof",
    "cheapest",
    "closest_pair",
    "corners",
    "extension",
    "isolating",
    "nearest",
    "nib_proof",
    "pair_loss",
    "pulled_back",
    "retraction",
    "simulates",
    "simulation",
    "tree_mechanism",
    "uncertainty",
    "universal_mechanism",
    "universally_optimal",
    "verify",
]
