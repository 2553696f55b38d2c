"""Linear programs with exact answers.

HiGHS solves a program in floats (`solve`), and exact arithmetic certifies its answer (`certify_guess`). The result is a
`Certificate`, a rational point and rational multipliers, which can be checked against the program
(`verify_certificate`). `infeasibility` proves
that there is no feasible point, `is_unique` that there is no other optimal one.
"""

from utmost.lp.certificate import Bounds, Certificate, ProgramCertificate, ProgramProof, Proof, verify_certificate
from utmost.lp.linear_program import LinearProgram, activity
from utmost.lp.optimum import Farkas, Uniqueness, certified_optimum, certify_guess, infeasibility, is_unique
from utmost.lp.solver import SolverGuess, solve

__all__ = [
    "Bounds",
    "Certificate",
    "Farkas",
    "LinearProgram",
    "ProgramCertificate",
    "ProgramProof",
    "Proof",
    "SolverGuess",
    "Uniqueness",
    "activity",
    "certified_optimum",
    "certify_guess",
    "infeasibility",
    "is_unique",
    "solve",
    "verify_certificate",
]
