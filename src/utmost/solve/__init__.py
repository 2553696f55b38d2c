"""Linear programs with exact answers.

HiGHS guesses (`solve`), exact arithmetic decides (`close`): what leaves here is a `Certificate`, a rational point and
rational multipliers that anyone can check against the program (`verify`). `infeasibility` proves that there is no
feasible point, `unique` that there is no other optimal one.
"""

from utmost.solve.certificate import Certificate, close, optimum, verify
from utmost.solve.farkas import Farkas, infeasibility
from utmost.solve.program import Program, activity, reduced_costs
from utmost.solve.solver import Guess, solve
from utmost.solve.uniqueness import Uniqueness, unique

__all__ = [
    "Certificate",
    "Farkas",
    "Guess",
    "Program",
    "Uniqueness",
    "activity",
    "close",
    "infeasibility",
    "optimum",
    "reduced_costs",
    "solve",
    "unique",
    "verify",
]
