"""Audit a sampler: how much privacy does a program really give?

python examples/audit_sampler.py draws from two programs that claim ε = 1. One adds floating-point Laplace noise and is
refuted; the other draws exact geometric noise and is not.
"""

import math
import random

import utmost as ut

CLAIM = ut.epsilon("1")


def laplace_in_floats(secret: int) -> float:
    """The textbook sampler: its low bits tell the secret."""
    uniform = random.random() - 0.5
    return secret - math.copysign(math.log1p(-2 * abs(uniform)), uniform)


def main(samples: int = 20_000) -> None:
    """Print a lower bound on ε for each program, with the event that shows it."""
    exact = ut.geometric(10, CLAIM)
    boxes = {
        "Laplace noise in floating point": ut.audit.function_box(laplace_in_floats),
        "exact geometric noise": lambda secrets, seconds: exact.draw(secrets),
    }
    for name, box in boxes.items():
        result = ut.audit.sampled_bound(box, (0, 1), samples=samples, confidence="0.9999", claimed=CLAIM)
        print(f"{name}: ε ≥ {result.lower:.3f}, claim ε = 1 {result.verdict} ({result.event})")


if __name__ == "__main__":
    main()
