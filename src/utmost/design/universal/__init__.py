"""Decide universal optimality: whether a mechanism is best for a loss whatever the prior (FMPD23 §IV, §VI).

Two independent methods: `universally_optimal` looks at the priors where the mechanism's loss bends, `simulation` at the
kernel mechanisms of the type. Both end in evidence that is checked without a solver.
"""

from utmost.design.universal.cell_corners import cell_corners
from utmost.design.universal.constructions import (
    binary_mechanism,
    closest_pair,
    isolating,
    nearest,
    pair_loss,
    pulled_back,
)
from utmost.design.universal.decision import Existence, universal_mechanism, universally_optimal
from utmost.design.universal.duality import check_restriction
from utmost.design.universal.extension import Extension, extension, retraction
from utmost.design.universal.kernel_simulation import (
    RemappedKernel,
    Simulation,
    SimulationStep,
    minimal_remaps,
    simulation,
    verify_simulation,
)
from utmost.design.universal.optimality_question import CornerProof, Counterexample, Verdict, uncertainty, verify
from utmost.design.universal.trees import TreeProof, binary_proof, nib_proof, tree_mechanism

__all__ = [
    "CornerProof",
    "Counterexample",
    "Existence",
    "Extension",
    "RemappedKernel",
    "Simulation",
    "SimulationStep",
    "TreeProof",
    "Verdict",
    "binary_mechanism",
    "binary_proof",
    "cell_corners",
    "check_restriction",
    "closest_pair",
    "extension",
    "isolating",
    "minimal_remaps",
    "nearest",
    "nib_proof",
    "pair_loss",
    "pulled_back",
    "retraction",
    "simulation",
    "tree_mechanism",
    "uncertainty",
    "universal_mechanism",
    "universally_optimal",
    "verify",
    "verify_simulation",
]
