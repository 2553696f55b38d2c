"""KL10 App. B: one output split into two, with ρ₁, ρ₂, a and b, and what its proof takes for granted."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from utmost.axioms import privacy_constraints, row_graph, row_graphs, split_output
from utmost.axioms.definition import parse_relation
from utmost.mechanisms import geometric
from utmost.papers.items import Claim, Item, LabelledMatrix, claims_item, matrix_item
from utmost.papers.kl10.graphs import half

OUTPUT_COLUMN = tuple(Fraction(k, 32) for k in (16, 8, 6, 3))
COMPONENTS = ((0, 1), (2, 3))
RATE = Fraction(2)  # e^ε


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return construction(), all_pairs(), same_graphs()


def ratios(pairs: Iterable[tuple[int, int]]) -> tuple[Fraction, Fraction]:
    """ρ₁ and ρ₂ of eq. (3) and (4), over some pairs (s, t) in C₁ × C₂."""
    pair_list = list(pairs)
    return max(OUTPUT_COLUMN[s] / OUTPUT_COLUMN[t] for s, t in pair_list), max(
        OUTPUT_COLUMN[t] / OUTPUT_COLUMN[s] for s, t in pair_list
    )


def weights(first_factor: Fraction, second_factor: Fraction) -> tuple[Fraction, Fraction]:
    """a and b from E₁ = e^ε/ρ₁ and E₂ = e^ε/ρ₂, as printed."""
    return (second_factor - 1) / (first_factor * second_factor - 1), (first_factor - 1) / (
        first_factor * second_factor - 1
    )


def construction() -> Item:
    """The printed formulas, with ρ over related pairs, beside the columns of `split_output`."""
    privacy = privacy_constraints(parse_relation("line:4"), half())
    first_factor, second_factor = (RATE / ratio for ratio in ratios([(1, 2)]))
    a, b = weights(first_factor, second_factor)
    first = [value * (a * first_factor if x in COMPONENTS[0] else a) for x, value in enumerate(OUTPUT_COLUMN)]
    second = [value * (b if x in COMPONENTS[0] else b * second_factor) for x, value in enumerate(OUTPUT_COLUMN)]
    split_columns = split_output(OUTPUT_COLUMN, row_graph(OUTPUT_COLUMN, privacy, "o"), privacy)
    grid = LabelledMatrix("output", parse_relation("line:4").labels, ("o₁", "o₂"), [first, second])
    note = (
        f"ρ₁ = {ratios([(1, 2)])[0]}, ρ₂ = {ratios([(1, 2)])[1]}, a = {a}, b = {b}: o₁ + o₂ = o; both are private and "
        "have the edge 1–2 besides those of o"
    )
    caption = (
        "the column (16, 8, 6, 3)/32 on a line of four, e^ε = 2, with parts {0, 1} and {2, 3}; ρ over related pairs"
    )
    return matrix_item("Appendix B, the construction", caption, grid, [list(column) for column in split_columns], note)


def all_pairs() -> Item:
    """ρ₁ and ρ₂ as printed, over all s in C₁ and t in C₂."""
    first_ratio, second_ratio = ratios(product(*COMPONENTS))
    lines: list[Claim] = [
        ("ρ₁ < e^ε = 2", True, first_ratio < RATE),
        ("ρ₂ < e^ε = 2", True, second_ratio < RATE),
        (
            "(e^ε/ρ₁)·(e^ε/ρ₂) − 1, by which a and b divide, is not 0",
            True,
            (RATE / first_ratio) * (RATE / second_ratio) != 1,
        ),
    ]
    note = (
        f"statement: over all pairs ρ₁ = {first_ratio}, ρ₂ = {second_ratio}, and a and b are 0-divisions. "
        "Only pairs of R may count: two that are not related may differ by more than e^ε"
    )
    caption = "the same column; ρ₁ and ρ₂ over all s in C₁, t in C₂"
    return claims_item("Appendix B, as printed", caption, lines, note)


def same_graphs() -> Item:
    """The second half of the proof merges outputs until no two row graphs are the same."""
    graphs = row_graphs(geometric(3, half()), parse_relation("line:4"), half())
    edge_sets = {frozenset(frozenset(edge) for edge in graph.edges) for graph in graphs}
    columns = geometric(3, half()).channel().rows.T.tolist()
    directions = {tuple(value / max(column) for value in column) for column in columns}
    lines: list[Claim] = [
        ("outputs that are proportional to another", 0, len(graphs) - len(directions)),
        ("different row graphs, for 4 outputs", 4, len(edge_sets)),
    ]
    note = (
        "proof: proportional outputs have the same graph, but not conversely; with merged proportional ones graphs can "
        "still be the same. Likelihoods, or graphs with directions, do it: no two of these are the same"
    )
    return claims_item("Appendix B, equal row graphs", "the geometric mechanism on a line of four", lines, note)
