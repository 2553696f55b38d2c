"""Linear programs with exact answers.

HiGHS guesses (`solve`), exact arithmetic decides (`certify_guess`): what leaves here is a `Certificate`, a rational
point and rational multipliers that anyone can check against the program (`verify_certificate`). `infeasibility` proves
that there is no feasible point, `is_unique` that there is no other optimal one.
"""

from utmost.lp.certificate import Certificate, certified_optimum, certify_guess, verify_certificate
from utmost.lp.farkas import Farkas, infeasibility
from utmost.lp.linear_program import LinearProgram, activity, reduced_costs
from utmost.lp.solver import SolverGuess, solve
from utmost.lp.uniqueness import Uniqueness, is_unique

__all__ = [
    "Certificate",
    "Farkas",
    "LinearProgram",
    "SolverGuess",
    "Uniqueness",
    "activity",
    "certified_optimum",
    "certify_guess",
    "infeasibility",
    "is_unique",
    "reduced_costs",
    "solve",
    "verify_certificate",
]
