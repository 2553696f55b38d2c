"""Print how much planning a table gains, and how far it is from what no linear unbiased strategy can beat.

Variance of a workload from the cells alone over that from the best strategy that `utmost plan` looks at, and c. It
takes a minute.
"""

from __future__ import annotations

from typing import Any

from utmost.planning import compare_strategies

PRICES = {"ε": {"epsilon": "1/10"}, "ρ": {"rho": "1/200"}}
SHAPES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "prefix sums": ("prefix", [{"cells": 64}, {"cells": 512}, {"cells": 4096}]),
    "ranges": ("ranges", [{"cells": 64}, {"cells": 512}, {"cells": 4096}]),
    "marginals up to 2-way": ("marginals:2", [{"columns": [size] * ways} for size, ways in ((4, 3), (8, 3), (8, 4))]),
    "geography, levels equal": ("levels", [{"tree": tree} for tree in ([8, 8], [8, 8, 8], [16, 16, 16])]),
}


def main() -> None:
    """A row for each price and workload, a column for each number of cells."""
    print(f"{'gain / c':<28}{'n = 64':>16}{'512':>16}{'4096':>16}")
    for measure, price in PRICES.items():
        for name, (workload, shapes) in SHAPES.items():
            best = [compare_strategies(workload, **shape, **price).best for shape in shapes]
            cells = [f"{float(one.gain or 0):.3g} / {float(one.c or 0):.3f}" for one in best]
            print(f"{measure + ', ' + name:<28}" + "".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
