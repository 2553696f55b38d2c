"""FMM21 §II-D, §IV-C, Def. 4, §VII: mechanisms as printed, and the example's loss."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from utmost.channel import Channel, channel
from utmost.consumer import Consumer, losses, priors
from utmost.continuous.interval import interval
from utmost.continuous.pixelation import (
    PixelGrid,
    cell_laplace,
    grid_geometric,
    laplace_below,
    output_edges,
    pixel_grid,
)
from utmost.exact import Level, Number, alpha
from utmost.mechanisms.geometric import geometric, untruncated_law
from utmost.papers.items import Claim, Item, LabelledMatrix, claims_item, matrix_item, require_exact

SECTION_4C = ("2/3 1/6 1/12 1/24 1/24", "1/6 1/6 1/3 1/6 1/6", "1/24 1/24 1/12 1/6 2/3")
G_2 = ("4/5 3/20 1/20", "1/5 3/5 1/5", "1/20 3/20 4/5")
G_4 = (
    "2/3 1/6 1/12 1/24 1/24",
    "1/3 1/3 1/6 1/12 1/12",
    "1/6 1/6 1/3 1/6 1/6",
    "1/12 1/12 1/6 1/3 1/3",
    "1/24 1/24 1/12 1/6 2/3",
)


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        section2d1(),
        section2d2(),
        section4c(),
        section4c_loss(),
        section4c_tie(),
        definition4(),
        section7(2, G_2),
        section7(4, G_4),
        section7_ratios(),
        equation12(),
    )


def unit_grid(count: int) -> PixelGrid:
    """U_N on [0, 1]."""
    return pixel_grid(interval(0, 1), count)


def paper_level() -> Level:
    """The level of the paper's matrices: ε = 2 ln 4 = 4 ln 2."""
    return alpha("1/16")


def fraction_rows(rows: Sequence[str]) -> list[list[Fraction]]:
    """Published rows of fractions."""
    return [[Fraction(cell) for cell in row.split()] for row in rows]


def section2d1() -> Item:
    """What is left when n stays as it is."""
    level = alpha("1/2")
    unchanged_probability = untruncated_law(0, [0], level)[0]
    ratio = level.alpha
    lines: list[Claim] = [
        ("n is left as it is, (1−α)/(1+α)", (1 - ratio) / (1 + ratio), unchanged_probability),
        ("the remaining probability, 2α/(1−α)", 2 * ratio / (1 - ratio), 1 - unchanged_probability),
    ]
    return claims_item("Section II-D1", "the geometric distribution, α = 1/2", lines, "it is 2α/(1+α)")


def section2d2() -> Item:
    """The truncated row of 0 on (0..2)."""
    row = geometric(2, alpha("1/2")).law(0)
    printed = (Fraction(2, 3), Fraction(1, 6), Fraction(1, 6))
    lines: list[Claim] = [
        (f"G(0)({n})", p, probability) for n, (p, probability) in enumerate(zip(printed, row, strict=True))
    ]
    return claims_item("Section II-D2", "the geometric mechanism truncated to (0..2), α = 1/2", lines)


def example_channel() -> Channel:
    """M of §IV-C as printed."""
    return channel(fraction_rows(SECTION_4C), ("x0", "x1", "x2"), ("y0", "y1", "y2", "y3", "y4"))


def section4c() -> Item:
    """M is G_4 restricted to the inputs 0, 1/2 and 1."""
    restricted = grid_geometric(unit_grid(4), paper_level()).restrict(("0", "1/2", "1"))
    grid = LabelledMatrix("M", example_channel().outputs, example_channel().inputs, fraction_rows(SECTION_4C))
    note = "M is the geometric mechanism G_4 of §VII, for the inputs 0, 1/2 and 1 alone"
    return matrix_item("Section IV-C, the channel M", "an example of a mechanism", grid, restricted.rows.tolist(), note)


def max_ratio(source: Channel, first: str, second: str) -> Number:
    """e^d_D: the largest ratio between two rows, either way; over sets of outputs it is no larger."""
    ratios: list[Number] = [a / b for a, b in zip(source.row(first), source.row(second), strict=True)]
    return max(max(ratio, 1 / ratio) for ratio in ratios)


def section4c_loss() -> Item:
    """ln 4 and 1/3."""
    consumer = Consumer(priors.uniform(3), losses.binary)
    lines: list[Claim] = [
        ("e^d_D(M(x0), M(x1))", Fraction(4), max_ratio(example_channel(), "x0", "x1")),
        (
            "expected loss, uniform prior, Bayes risk",
            Fraction(1, 3),
            require_exact(consumer.expected_loss(example_channel())),
        ),
        ("the best reading of y0", "x0", " or ".join(best_readings(consumer, "y0"))),
    ]
    return claims_item("Section IV-C, the loss", "d_D = ln 4, and the loss of the example", lines)


def best_readings(consumer: Consumer, output: str) -> list[str]:
    """All readings of an output of M that cost least."""
    scores = consumer.scores(example_channel())[:, example_channel().outputs.index(output)]
    return [str(x) for x, score in zip(example_channel().inputs, scores, strict=True) if score == min(scores)]


def section4c_tie() -> Item:
    """Which two readings of y1 are equally good."""
    consumer = Consumer(priors.uniform(3), losses.binary)
    lines: list[Claim] = [("the best readings of y1", "x0 or x0", " or ".join(best_readings(consumer, "y1")))]
    return claims_item("Section IV-C, the tie", "uniform prior, Bayes risk", lines)


def definition4() -> Item:
    """The masses at the ends at x = 1/4, and what they come to with the density between them."""
    x, level = Fraction(1, 4), paper_level()
    end_masses = (laplace_below(x, Fraction(0), level), 1 - laplace_below(x, Fraction(1), level))
    printed_masses = (1 / level.power(x) / 2, 1 / level.power(1 - x) / 2)
    inner_mass = 1 - sum(end_masses)
    lines: list[Claim] = [
        ("mass at 0, printed as e^(εx)/2", printed_masses[0], end_masses[0]),
        ("mass at 1, printed as e^(ε(1−x))/2", printed_masses[1], end_masses[1]),
        ("total mass", inner_mass + sum(printed_masses), inner_mass + sum(end_masses)),
    ]
    note = "the signs of both exponents are lost: e^(−εx)/2 and e^(−ε(1−x))/2"
    return claims_item("Definition 4", "the truncated Laplace law at x = 1/4, ε = 4 ln 2", lines, note)


def section7(count: int, printed_rows: Sequence[str]) -> Item:
    """G_2 and G_4 at one ε."""
    mechanism = grid_geometric(unit_grid(count), paper_level())
    return matrix_item(
        f"Section VII, G_{count}",
        f"the geometric mechanism on U_{count}, ε = 4 ln 2",
        LabelledMatrix(f"G_{count}", mechanism.outputs, mechanism.inputs, fraction_rows(printed_rows)),
        mechanism.rows.tolist(),
    )


def section7_ratios() -> Item:
    """The ratios of neighbours in a column, as the text divides them."""
    lines: list[Claim] = [
        ("G_2: 4/5 ÷ 1/5", Fraction(4), Fraction(4, 5) / Fraction(1, 5)),
        ("G_2: 3/5 ÷ 3/20", Fraction(4), Fraction(3, 5) / Fraction(3, 20)),
        ("G_4: 2/3 ÷ 1/3", Fraction(2), Fraction(2, 3) / Fraction(1, 3)),
        ("G_4: 1/3 ÷ 1/2", Fraction(2), Fraction(1, 3) / Fraction(1, 2)),
    ]
    return claims_item(
        "Section VII, ratios", "neighbours in a column", lines, "1/3 ÷ 1/6 is meant: 1/2 is no entry of G_4"
    )


def equation12() -> Item:
    """The rows of ᵀL as printed, over all T + 1 points of U_T, and corrected, over T cells."""
    grid, cells, level = unit_grid(2), 4, paper_level()
    corrected = cell_laplace(grid, cells, level)
    edges = output_edges(grid, cells)
    lines: list[Claim] = [
        (f"ᵀL({x}): total", row[:-1].sum() + 2 * row[-1], row.sum())
        for x, row in zip(grid.points, corrected.rows, strict=True)
    ]
    lines.append(("outputs", Fraction(len(edges)), Fraction(len(corrected.outputs))))
    note = (
        "as printed y runs over U_T and both y = 1−1/T and y = 1 have the last cell's mass; there are T cells, and the "
        "first and the last of them hold the atoms"
    )
    return claims_item("Equation 12", "the T,N-Laplace mechanism, N = 2, T = 4, ε = 4 ln 2", lines, note)
