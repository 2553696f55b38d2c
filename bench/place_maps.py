"""Draw certified optimal mechanisms on 225 and on 400 places for docs/images, and print what they took.

`python bench/place_maps.py 15` draws the map of 15×15 places, `20` that of 400; without a number both. The problems are
those of `bench/optimal.py` with a random prior. One side in a process of its own gives its peak memory.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import measuring
import optimal

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIDES = (15, 20)


def solve(side: int) -> tuple[Any, dict[str, float]]:
    """The design, and the processor's seconds, peak memory and gap."""
    import utmost as ut

    points, level, reader = optimal.design_problem(side, "random")
    start = time.process_time()
    design = ut.optimal(points, level, reader)
    seconds = time.process_time() - start
    design.certificate.check()
    gap = float(design.certificate.gap / design.loss)
    return design, {"seconds": seconds, "megabytes": measuring.peak_megabytes(), "gap": gap}


def draw(design: Any, side: int, file: Path) -> None:
    """Maps for a corner, the middle of a side and the centre."""
    import utmost as ut
    from utmost.exact import decimal_above, decimal_below

    certificate = design.certificate
    bounds = f"{decimal_below(certificate.lower, 10)} to {decimal_above(certificate.upper, 10)}"
    title = f"The best mechanism on {side * side} places, α = 1/2 a step, random prior"
    claim = f"The least expected distance of any private mechanism is proved to be from {bounds}"
    ut.charts.save_chart(ut.charts.location_maps(design.channel, (side, side), title, claim), file)


def main(sides: list[int]) -> None:
    """Solve, draw, print."""
    for side in sides:
        design, measurement = solve(side)
        draw(design, side, IMAGES / f"places-{side}.svg")
        used = sum(bool(column.any()) for column in design.channel.rows.T)
        print(
            f"{side}×{side}, random prior: {measurement['seconds']:.0f} s of the processor, "
            f"{measurement['megabytes'] / 1000:.2g} GB, gap {measurement['gap']:.0e} of the loss, "
            f"{used} places reported",
            flush=True,
        )


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or list(SIDES))
