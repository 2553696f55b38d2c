"""FMPD23 Tables 4a, 5a, 6a and 7a: vertices, kernel mechanisms and capacities of four families of types, ε = ln 2."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from utmost.design import Capacity, capacity
from utmost.errors import SolverError
from utmost.exact import Level, Number, alpha, decimal, decimal_above
from utmost.papers.fmpd23.channels import half
from utmost.papers.items import Item, LabelledMatrix, Value, computed_item, rounds_to
from utmost.polytopes import count_kernels, count_vertices
from utmost.spaces import Space, cycle, discrete, grid, hamming, line

HEADER = ("vertices", "kernel mechanisms", "mult. capacity", "add. capacity")
MAX_VERTEX_COUNT_POINTS = 9  # points of a space whose vertices are counted
MAX_KERNEL_COUNT_POINTS = 8  # and whose kernel mechanisms are
NOT_COUNTED_TEXT = "not counted"


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A line of a table as printed: two counts, `-` or `> 10000` where there are none, and two rounded decimals."""

    name: str
    space: Space
    vertices: str
    kernels: str
    multiplicative: str
    additive: str


def items() -> tuple[Item, ...]:
    """In the order of the paper, and how the number of kernel mechanisms depends on α."""
    return table4a(), table5a(), table6a(), table7a(), kernels_by_level()


def table4a() -> Item:
    """Lines."""
    return table_item("Table 4a", "the type of counts, d₂ on a line of n", "n", line_rows())


def line_rows() -> list[PrintedRow]:
    """The rows of Table 4a."""
    printed = (
        "2 1 1.33 0.33",
        "4 2 1.67 0.5",
        "8 11 2 0.67",
        "16 187 2.33 0.75",
        "32 15346 2.67 0.83",
    )
    return [PrintedRow(str(n), line(n), *text.split()) for n, text in enumerate(printed, 2)]


def table5a() -> Item:
    """Discrete spaces."""
    return table_item("Table 5a", "the discrete type, d_D on n secrets", "n", discrete_rows())


def discrete_rows() -> list[PrintedRow]:
    """The rows of Table 5a."""
    printed = ("2 1 1.33 0.33", "6 5 1.5 0.4", "14 41 1.6 0.43", "30 1291 1.67 0.44")
    return [PrintedRow(str(n), discrete(n), *text.split()) for n, text in enumerate(printed, 2)]


def table6a() -> Item:
    """Grids: what the paper calls 1×1, 2×2, 3×3 are 2×2, 3×3, 4×4 places."""
    note = (
        "statement: 3×3 places have 4346 vertices (utmost type grid:3x3 --alpha 1/2 --vertices --count), exact in the"
        " square roots, and the same by placing one point after another (polytopes.vertices_by_growth). Where 4798 "
        "comes from we do not know: √8 rounded to less than 2√2 makes 4746. All capacities are right"
    )
    item = table_item(
        "Table 6a", "the Euclidean type on grids; its rows count steps, not places", "grid", grid_rows(), note
    )
    return replace(item, draw=_capacity_maps)


def grid_rows() -> list[PrintedRow]:
    """The rows of Table 6a."""
    return [
        PrintedRow("1×1: 2×2 places", grid(2, 2), "18", "403", "1.68", "0.48"),
        PrintedRow("2×2: 3×3 places", grid(3, 3), "4798", "> 10000", "2.5", "0.62"),
        PrintedRow("3×3: 4×4 places", grid(4, 4), "-", "-", "3.53", "0.79"),
    ]


def _capacity_maps() -> Any:
    from utmost import charts

    best = capacity(grid(3, 3), half()).multiplicative
    if best.channel is None:
        raise SolverError("the capacity of nine places must come with its mechanism")
    title = f"A guess among 3 × 3 places becomes {decimal_above(best.upper, 4)} times likelier, and no more"
    subtitle = "FMPD23 Table 6a, ε = ln 2 per unit of Euclidean distance: the mechanism that attains it"
    return charts.location_maps(best.channel, (3, 3), title, subtitle)


def table7a() -> Item:
    """Hamming cubes."""
    note = (
        "statement: 3 bits have 29213 kernel mechanisms (utmost type hamming:3 --alpha 1/2 --kernels --count), in "
        "whole numbers, and the same sets by another method, double description (polytopes.kernels_by_description). "
        "Why 29275 is printed we do not know; rounding could do it: all independent sets of eight vertices, solved in "
        "doubles, make 29213 if weights below 1e-14 count as 0, and 29291 if only those below 1e-15 do. All "
        "capacities are right"
    )
    return table_item("Table 7a", "the Hamming type on bitstrings", "bits", cube_rows(), note)


def cube_rows() -> list[PrintedRow]:
    """The rows of Table 7a."""
    return [
        PrintedRow("2 bits", hamming(2), "6", "4", "1.78", "0.56"),
        PrintedRow("3 bits", hamming(3), "38", "29275", "2.37", "0.70"),
        PrintedRow("4 bits", hamming(4), "-", "-", "3.16", "0.80"),
    ]


def count_correct_capacities() -> tuple[int, int]:
    """How many capacities the four tables print, and how many of them are the computed ones rounded."""
    verdicts = []
    for row in (*line_rows(), *discrete_rows(), *grid_rows(), *cube_rows()):
        capacities = capacity(row.space, half())
        verdicts += [
            capacity_rounds_to(capacities.multiplicative, row.multiplicative),
            capacity_rounds_to(capacities.additive, row.additive),
        ]
    return len(verdicts), sum(verdicts)


def table_item(name: str, caption: str, corner: str, rows: list[PrintedRow], note: str = "") -> Item:
    """Published beside computed; a count agrees when it is the same, a decimal when it is the value rounded."""
    computed, verdicts = zip(*(_compute_row(row) for row in rows), strict=True)
    published = [[row.vertices, row.kernels, row.multiplicative, row.additive] for row in rows]
    labels = [row.name for row in rows]
    return Item(
        name,
        f"{caption}, ε = ln 2",
        LabelledMatrix(corner, HEADER, labels, published).table(),
        LabelledMatrix(corner, HEADER, labels, computed).table(),
        all(verdicts),
        note,
    )


def _compute_row(row: PrintedRow) -> tuple[list[Value], bool]:
    size, capacities = len(row.space), capacity(row.space, half())
    vertices = str(count_vertices(row.space)) if size <= MAX_VERTEX_COUNT_POINTS else NOT_COUNTED_TEXT
    kernels = str(count_kernels(row.space, half())) if size <= MAX_KERNEL_COUNT_POINTS else NOT_COUNTED_TEXT
    pairs = ((row.multiplicative, capacities.multiplicative), (row.additive, capacities.additive))
    agrees = _counts_agree(row.vertices, vertices) and _counts_agree(row.kernels, kernels)
    return [vertices, kernels, *(capacity_text(value) for _, value in pairs)], agrees and all(
        capacity_rounds_to(value, printed) for printed, value in pairs
    )


def _counts_agree(printed: str, computed: str) -> bool:
    """Are two counts the same; what is not counted on one side contradicts nothing."""
    return computed == NOT_COUNTED_TEXT or not printed.isdigit() or printed == computed


def capacity_rounds_to(bounds: Capacity, printed: str) -> bool:
    """Is the printed decimal the capacity rounded to its digits, for every value within the proved bounds.

    >>> capacity_rounds_to(capacity(line(3), half()).multiplicative, "1.67")
    True
    """
    places = len(printed.partition(".")[2])
    return all(rounds_to(bound, Fraction(printed), places) for bound in (bounds.lower, bounds.upper))


def capacity_text(bounds: Capacity) -> str:
    """The exact value where it is a short fraction, and five digits."""
    text = str(bounds.value)
    return f"{text} = {decimal(bounds.value, 5)}" if _is_short(bounds.value, text) else decimal(bounds.value, 5)


def _is_short(value: Number, text: str) -> bool:
    return isinstance(value, Fraction) and value.denominator > 1 and len(text) <= 8


def kernels_by_level() -> Item:
    """The number of kernel mechanisms is no matter of the metric alone."""
    levels = [alpha(text) for text in ("1/10", "1/3", "1/2", "2/3", "9/10")]
    spaces = (line(4), line(5), discrete(4), cycle(4), cycle(5))
    cells = [list(kernel_counts(space, levels)) for space in spaces]
    return computed_item(
        "Section VI, kernels by α",
        "how many kernel mechanisms a type has, by its level",
        LabelledMatrix("type", [f"α = {level.alpha}" for level in levels], [space.name for space in spaces], cells),
        "the vertices do not depend on α (their exponents do not), which of them average to uniform does",
    )


def kernel_counts(space: Space, levels: Iterable[Level]) -> Iterable[Value]:
    """The number of kernel mechanisms at each level."""
    return (count_kernels(space, level) for level in levels)
