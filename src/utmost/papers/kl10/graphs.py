"""KL10 Def. 3.3.1 and 3.3.2, Thm 3.3.3: the geometric mechanism, row graphs, maximally general mechanisms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.axioms import generalize, maximally_general, row_graphs
from utmost.axioms.definition import relation_from_pairs, relation_from_space
from utmost.axioms.generality import at_least_as_general
from utmost.channel import Channel, channel
from utmost.exact import Level, alpha
from utmost.mechanisms import geometric, response
from utmost.papers.items import (
    Claim,
    Item,
    LabelledMatrix,
    Value,
    claims_item,
    computed_item,
    matrix_item,
    statement_item,
)
from utmost.papers.kl10.matrices import stack_matrices
from utmost.papers.kl10.utility import figure5_channel
from utmost.polytopes import vertices
from utmost.spaces import Space, cycle, discrete, line

LAST_INPUT = 4  # the inputs of Def. 3.3.1 are 1 … 4


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return definition331(), definition332(), theorem333(), before_and_after(), unconnected_relation(), spanning_trees()


def half() -> Level:
    """e^−ε = 1/2."""
    return alpha("1/2")


def geometric_probability(i: int, z: int) -> Fraction:
    """P(z | i) of Def. 3.3.1: e^−ε|i−z|, over its sum; what is below 1 or above n is put there."""
    rate, total = half().alpha, 3  # Σ 2^−|k| over the integers
    assert isinstance(rate, Fraction)
    if 1 < z < LAST_INPUT:
        return rate ** abs(i - z) / total
    tail = rate ** abs(i - z) / (1 - rate)  # z, and all beyond it
    return tail / total


def definition331() -> Item:
    """The geometric mechanism summed from its definition, beside the closed form."""
    inputs = range(1, LAST_INPUT + 1)
    published = LabelledMatrix("i", inputs, inputs, [[geometric_probability(i, z) for z in inputs] for i in inputs])
    rows = geometric(LAST_INPUT - 1, half()).channel().rows.tolist()
    note = "misprint: R must hold both directions, as Thm 3.3.3 asks, and so must R_n: see Lemma 3.3.5, one direction"
    return matrix_item("Definition 3.3.1", "the geometric mechanism on 1 … 4, e^ε = 2", published, rows, note)


def padded_response() -> Channel:
    """Randomised response that says nothing a quarter of the time."""
    return channel([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]], outputs=["no", "yes", "?"])


def examples() -> dict[str, tuple[Channel, Space]]:
    """Mechanisms at α = 1/2 and the secrets they are private on."""
    return {
        "geometric": (geometric(3, half()).channel(), line(4)),
        "GRS12 Figure 5(a)": (figure5_channel(), line(4)),
        "response": (response(3, half()).channel(), discrete(3)),
        "padded response": (padded_response(), line(2)),
        "a coarse geometric": (geometric(2, alpha("3/4")).channel(), line(3)),
        "silence": (channel([[1]] * 4, outputs=["?"]), cycle(4)),
    }


def definition332() -> Item:
    """Row graphs: which related pairs are as far apart as they may be, output by output."""
    labels: list[str] = []
    rows: list[list[Value]] = []
    for name, (source, space) in examples().items():
        for graph in row_graphs(source, relation_from_space(space), half()):
            edges = ", ".join(f"{high}→{low}" for high, low in graph.edges)
            components_text = " | ".join(" ".join(str(x) for x in component) for component in graph.parts)
            labels.append(name)
            rows.append([str(graph.output), edges, components_text, graph.connected])
    item = computed_item(
        "Definition 3.3.2",
        "row graphs at α = 1/2: edges from the likelier secret to the one half as likely, and what they connect",
        LabelledMatrix("mechanism", ("output", "edges", "parts", "connected"), labels, rows),
    )
    return replace(item, draw=lambda: _row_graph_chart(*examples()["geometric"], "geometric mechanism"))


def _row_graph_chart(source: Channel, space: Space, name: str) -> Any:
    """The row graphs, side by side."""
    from utmost import charts

    labels = tuple(str(x) for x in space.labels)
    graphs = row_graphs(source, relation_from_space(space), half())
    panels = [charts.RowGraphPanel(f"output {graph.output}", graph.edges, labels) for graph in graphs]
    positions = charts.point_positions(len(labels), space.edges)
    title = "Outputs of a maximally general mechanism have connected row graphs"
    subtitle = f"KL10 Def. 3.3.2, Thm 3.3.3: {name} on {space.name}, α = 1/2; arrows lead to the secret half as likely"
    return charts.row_graph_panels(positions, space.edges, panels, title, subtitle)


def is_made_of_vertices(source: Channel, space: Space) -> bool:
    """Is every column a multiple of a vertex of the type: those are listed without looking at the mechanism."""
    vertex_columns = {tuple(half().power(k) for k in exponents) for exponents in vertices(space)}
    columns = [column for column in source.rows.T.tolist() if any(column)]
    return all(tuple(value / max(column) for value in column) in vertex_columns for column in columns)


def theorem333() -> Item:
    """Connected row graphs, extreme columns, and a strictly more general mechanism where there is one."""
    rows: list[list[Value]] = []
    for source, space in examples().values():
        graphs = row_graphs(source, relation_from_space(space), half())
        general_channel = generalize(source, space, half()).channel
        strictly = not at_least_as_general(general_channel, source).refines
        rows.append([all(g.connected for g in graphs), is_made_of_vertices(source, space), strictly])
    columns = ("row graphs connected", "columns are extreme", "a more general one was made")
    return statement_item(
        "Theorem 3.3.3",
        "mechanisms at α = 1/2; extreme: multiples of the listed vertices of the privacy type",
        "maximally general exactly when every row graph is connected",
        LabelledMatrix("mechanism", columns, list(examples()), rows),
        all(row[0] == row[1] != row[2] for row in rows),
        "for connected R. Where a more general one was made, a consumer tells the two apart (qif.refinement)",
    )


def before_and_after() -> Item:
    """What `generalize` makes of a padded mechanism, and the way back."""
    source = padded_response()
    generalization = generalize(source, line(2), half())
    after = all(graph.connected for graph in row_graphs(generalization.channel, line(2), half()))
    item = computed_item(
        "Theorem 3.3.3, before and after",
        "response that says “?” a quarter of the time, α = 1/2: App. B's construction and the way back",
        stack_matrices([("after", generalization.channel), ("back", generalization.post_processing)]),
        f"row graphs connected after: {'yes' if after else 'no'}; the product is the mechanism: "
        f"{'yes' if generalization.channel.then(generalization.post_processing) == source else 'no'}",
    )
    silent_channel = channel([[1]] * 4, outputs=["?"])
    maximal_channel = generalize(silent_channel, cycle(4), half()).channel
    return replace(item, draw=lambda: _row_graph_chart(maximal_channel, cycle(4), "what is made of silence"))


def unconnected_relation() -> Item:
    """A relation that is not connected: no row graph is, and maximally general mechanisms exist."""
    relation = relation_from_pairs([("a", "b"), ("b", "a")], labels=("a", "b", "c"))
    best = generalize(channel([[1]] * 3, "abc", ["?"]), relation, half()).channel
    connects_all = [len(graph.parts) == 1 and len(graph.parts[0]) == 3 for graph in row_graphs(best, relation, half())]
    lines: list[Claim] = [
        ("some mechanism is maximally general", True, bool(maximally_general(best, relation, half()))),
        ("all its row graphs connect {a, b, c}", True, all(connects_all)),
    ]
    note = (
        "statement: R must be connected, or S_con is empty. Component by component the theorem holds; here the "
        f"mechanism has {len(best.outputs)} outputs and tells c outright"
    )
    return claims_item("Theorem 3.3.3, R not connected", "R = {(a, b), (b, a)} on {a, b, c}", lines, note)


def spanning_trees() -> Item:
    """The number of spanning trees bounds neither the outputs nor the steps."""
    lines: list[Claim] = []
    for size in (3, 4):
        count = relation_from_space(line(size)).spanning_trees
        generalization = generalize(channel([[1]] * size), line(size), half())
        kinds = {
            "outputs of the geometric mechanism": len(geometric(size - 1, half()).channel().outputs),
            "outputs made of silence": len(generalization.channel.outputs),
            "steps from silence": len(generalization.steps),
        }
        lines += [(f"line of {size}: {n} {kind} ≤ {count} tree", True, n <= count) for kind, n in kinds.items()]
    note = (
        "statement: an output is a spanning tree with a direction on each edge; a line of n has 2^(n−1) of these and "
        "one tree. The bound on steps in App. B fails for the same reason"
    )
    return claims_item(
        "§3.3, spanning trees", "the number of spanning trees bounds the outputs, and the steps", lines, note
    )
