"""GRS12 Figures 1, 3, 4 and 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, channel, is_private
from utmost.consumer import Consumer, losses, priors
from utmost.design import by_program, derivation, optimal, signature
from utmost.design.privacy_program import privacy_program
from utmost.exact import Level, alpha
from utmost.lp import LinearProgram, activity, certified_optimum, is_unique
from utmost.mechanisms.geometric import geometric, untruncated_law
from utmost.papers.items import Item, LabelledMatrix, claims_item, matrix_item, require_exact
from utmost.spaces import line

CORNER = "input/output"
FIGURE_1A = (
    "1/6 1/3 1/6 1/12 1/24 1/48 1/96 1/192",
    "1/12 1/6 1/3 1/6 1/12 1/24 1/48 1/96",
    "1/24 1/12 1/6 1/3 1/6 1/12 1/24 1/48",
    "1/48 1/24 1/12 1/6 1/3 1/6 1/12 1/24",
    "1/96 1/48 1/24 1/12 1/6 1/3 1/6 1/12",
    "1/192 1/96 1/48 1/24 1/12 1/6 1/3 1/6",
)
FIGURE_1B = (
    "2/3 1/6 1/12 1/24 1/48 1/48",
    "1/3 1/3 1/6 1/12 1/24 1/24",
    "1/6 1/6 1/3 1/6 1/12 1/12",
    "1/12 1/12 1/6 1/3 1/6 1/6",
    "1/24 1/24 1/12 1/6 1/3 1/3",
    "1/48 1/48 1/24 1/12 1/6 2/3",
)
FIGURE_3A = (
    "2/3 0 1/4 1/24 1/48 1/48",
    "1/3 0 1/2 1/12 1/24 1/24",
    "1/6 0 1/2 1/6 1/12 1/12",
    "1/12 0 1/4 1/3 1/6 1/6",
    "1/24 0 1/8 1/6 1/3 1/3",
    "1/48 0 1/16 1/12 1/6 2/3",
)
FIGURE_3B = ("↓0↑↑↑↑", "↓0S↑↑↑", "↓0↓↑↑↑", "↓0↓↓↑↑", "↓0↓↓↓↑")
FIGURE_4 = ("↓↑↑↑↑↑", "↓↓↑↑↑↑", "↓↓↓↑↑↑", "↓↓↓↓↑↑", "↓↓↓↓↓↑")
FIGURE_5A = ("1/3 1/3 1/3 0", "2/3 1/6 1/6 0", "1/3 1/3 1/3 0", "1/6 1/6 2/3 0")
FIGURE_5B = ("1 0 0 1", "0 1 1 0", "0 0 1 1", "1 1 0 1")


def items() -> tuple[Item, ...]:
    """The figures in order."""
    return (figure1a(), figure1b(), figure3a(), figure3b(), figure3_claims(), figure4(), figure5a(), figure5_claims())


def fraction_rows(rows: Sequence[str]) -> list[list[Fraction]]:
    """Published rows of fractions."""
    return [[Fraction(cell) for cell in row.split()] for row in rows]


def count_grid(rows: Sequence[Sequence[Fraction]] | Sequence[str], first: int = 0) -> LabelledMatrix:
    """A published matrix over the counts; its outputs start at `first`."""
    return LabelledMatrix(CORNER, range(first, first + len(rows[0])), range(len(rows)), [list(row) for row in rows])


def half() -> Level:
    """The level of all the figures."""
    return alpha("1/2")


def figure1a() -> Item:
    """The geometric mechanism, outputs −1 … 6 of all the integers."""
    computed = [untruncated_law(x, range(-1, 7), half()) for x in range(6)]
    caption = "the 1/2-geometric mechanism, n = 5 (outputs -1 to 6 of all integers)"
    return matrix_item("Figure 1(a)", caption, count_grid(fraction_rows(FIGURE_1A), -1), computed)


def figure1b() -> Item:
    """The truncated geometric mechanism."""
    computed = geometric(5, half()).channel().rows.tolist()
    return matrix_item(
        "Figure 1(b)", "the truncated 1/2-geometric mechanism, n = 5", count_grid(fraction_rows(FIGURE_1B)), computed
    )


def figure3_consumer() -> Consumer:
    """Prior (1/4, 0, 1/4, 0, 1/4, 1/4) and loss |i − j|^1.5."""
    return Consumer(priors.parse("1/4,0,1/4,0,1/4,1/4", 6), losses.power("1.5"))


def figure3a() -> Item:
    """An optimal mechanism, by the remapped geometric one and its exact multipliers."""
    design = optimal(line(6), half(), figure3_consumer())
    caption = "an optimal 1/2-private mechanism for the prior 1/4,0,1/4,0,1/4,1/4 and the loss |i - j|^1.5"
    note = f"the geometric mechanism read as {design.remap}, optimal with gap {design.certificate.gap}"
    return matrix_item("Figure 3(a)", caption, count_grid(fraction_rows(FIGURE_3A)), design.channel.rows.tolist(), note)


def figure3b() -> Item:
    """Its signature."""
    symbols = signature(optimal(line(6), half(), figure3_consumer()).channel, half())
    return matrix_item(
        "Figure 3(b)", "the signature of that mechanism", count_grid(FIGURE_3B), [list(row) for row in symbols]
    )


def figure3_claims() -> Item:
    """The mechanism as printed: private, and as good as the program's bounds allow."""
    consumer, printed = figure3_consumer(), channel(fraction_rows(FIGURE_3A))
    program = by_program(line(6), half(), consumer).certificate
    loss = require_exact(consumer.face_value_loss(printed))
    lines = [
        ("is private", True, is_private(printed, line(6), half())),
        ("the consumer reads it at face value", True, consumer.is_direct(printed)),
        ("its loss is within the program's bounds", True, bool(program.lower <= loss <= program.upper)),
    ]
    note = f"its loss is exactly {loss}; the program runs between rational bounds of the irrational losses"
    return claims_item("Figure 3", "what is said of the mechanism as printed", lines, note)


def figure4() -> Item:
    """The signature of the truncated geometric mechanism."""
    symbols = signature(geometric(5, half()).channel(), half())
    caption = "the signature of the truncated geometric mechanism, n = 5"
    return matrix_item("Figure 4", caption, count_grid(FIGURE_4), [list(row) for row in symbols])


def figure5a() -> Item:
    """The vertex, found again as the only private mechanism with the same tight constraints."""
    printed = channel(fraction_rows(FIGURE_5A))
    program = tight_program(printed, half())
    certificate = certified_optimum(program)
    computed = np.array(certificate.proof.x, dtype=object).reshape(4, 4).tolist()
    note = "computed: the only private mechanism for which every constraint binds that binds in the published one"
    if not is_unique(program, certificate).unique:
        note = "the tight constraints do not determine it: not a vertex"
    return matrix_item("Figure 5(a)", "a vertex for n = 3", count_grid(fraction_rows(FIGURE_5A)), computed, note)


def tight_program(mechanism: Channel, level: Level) -> LinearProgram:
    """Minimises the sum of the slacks of the constraints that are tight at the mechanism, over private mechanisms.

    The minimum is 0 and is attained where the same constraints bind; the mechanism is a vertex exactly when it is the
    only point that attains it.
    """
    base = privacy_program(line(len(mechanism.inputs)), level, np.full(mechanism.rows.shape, Fraction(0), dtype=object))
    point = [Fraction(value) for value in mechanism.rows.ravel()]
    tight = [not equal and not slack for equal, slack in zip(base.equality, activity(base, point), strict=True)]
    cost = [Fraction(not value) for value in point]
    for row, column, value in zip(base.rows, base.columns, base.values, strict=True):
        cost[column] += value if tight[row] else 0
    return replace(base, cost=cost)


def figure5_consumer() -> Consumer:
    """A uniform prior and the loss of Figure 5(b)."""
    return Consumer(priors.uniform(4), losses.matrix(fraction_rows(FIGURE_5B)))


def figure5_claims() -> Item:
    """What is said of Figure 5: optimal for its user, a vertex, not a remap of the geometric mechanism."""
    printed, consumer = channel(fraction_rows(FIGURE_5A)), figure5_consumer()
    best = by_program(line(4), half(), consumer)
    program = tight_program(printed, half())
    derived = derivation(printed, half())
    geometric_loss = consumer.expected_loss(geometric(3, half()))
    lines = [
        ("is a vertex", True, is_unique(program, certified_optimum(program)).unique),
        ("is a remap of the geometric mechanism", False, derived.derivable),
        ("is optimal for the user of (b)", True, consumer.face_value_loss(printed) == best.loss),
        ("the loss of (b) is legal", False, consumer.legality().legal),
        ("the geometric mechanism is optimal for this user", False, geometric_loss == best.loss),
    ]
    note = (
        f"least loss {best.loss}, from the geometric mechanism {geometric_loss}; T^-1 X has the entry {derived.value} "
        f"at answer {derived.answer}, reading {derived.reading}"
    )
    return claims_item("Figure 5", "what is said of the vertex and the illegal loss", lines, note)
