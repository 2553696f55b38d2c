"""Read one released number with three priors: each reader gets the best reading for a belief and a cost of errors.

python examples/read_release.py survey.release.json reads the file that release_table.py wrote. The data is not needed.
"""

import sys
from pathlib import Path

import utmost as ut

READERS = {
    "journalist": ("uniform", "absolute"),  # believes nothing; every vote of error costs the same
    "pollster": ("binomial:0.45", "squared"),  # a poll said 45 in 100; large errors cost more
    "sceptic": ("binomial:0.2", "asymmetric:3,1"),  # expects few; too low costs three times as much as too high
}


def main(path: Path) -> None:
    """Print the reading, its 95 % interval and the expected loss for each reader."""
    release = ut.read_release(path)  # checked: a file that was altered is refused
    answer = release["dole voters"]
    print(f"released: {answer.value} (ε = {answer.epsilon})")
    for name, (prior, loss) in READERS.items():
        estimate = answer.estimate(prior, loss)
        low, high = estimate.interval
        print(
            f"{name}: reads {estimate.estimate}, 95 % from {low} to {high}, expected loss {estimate.loss.expected:.4g}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "survey.release.json"))
