"""Decide universal optimality: whether a mechanism is best for a loss whatever the prior (FMPD23 §IV, §VI).

Two independent methods: `universally_optimal` looks at the priors where the mechanism's loss bends, `simulation` at the
kernel mechanisms of the type. Both end in evidence that is checked without a solver.
"""

from utmost.design.universal.constructions import (
    TreeProof,
    binary_mechanism,
    binary_proof,
    closest_pair,
    isolating,
    nearest,
    nib_proof,
    pair_loss,
    pulled_back,
    tree_mechanism,
)
from utmost.design.universal.decision import (
    CornerProof,
    Counterexample,
    Existence,
    Verdict,
    cell_corners,
    uncertainty,
    universal_mechanism,
    universally_optimal,
    verify,
)
from utmost.design.universal.second_proofs import (
    Extension,
    RemappedKernel,
    Simulation,
    SimulationStep,
    check_restriction,
    extension,
    minimal_remaps,
    retraction,
    simulation,
    verify_simulation,
)

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
