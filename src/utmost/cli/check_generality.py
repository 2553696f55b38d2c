"""What `check` says of generality: row graphs, maximal or not and why, Dobrushin's coefficient and the best one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.axioms.constraint_graphs import RowGraph
    from utmost.axioms.dobrushin import Ergodicity
    from utmost.axioms.generality import Maximality
    from utmost.channel import Channel, PrivacyLoss
    from utmost.exact import Level, Number
    from utmost.spaces import Space

MAX_CHANNEL_SIZE = 100  # inputs and outputs of a channel that is looked at
MAX_SHOWN_ROWS = 12  # of either in the terminal


@dataclass(frozen=True, slots=True)
class GeneralityReport:
    """What was found; a part that does not apply is None, and all are for floats and for large channels."""

    level: Level | None
    labels: tuple[Any, ...]
    graphs: tuple[RowGraph, ...] | None
    maximality: Maximality | None
    ergodicity: Ergodicity | None
    best: Number | None


def examine_generality(source: Channel, space: Space, leak: PrivacyLoss, level: Level | None) -> GeneralityReport:
    """All of it; of a channel that is not private at the level only its coefficient."""
    from utmost import axioms
    from utmost.axioms import constraint_graphs, dobrushin, generality

    labels = tuple(source.inputs)
    if not source.exact or max(len(source.inputs), len(source.outputs)) > MAX_CHANNEL_SIZE:
        return GeneralityReport(level, labels, None, None, None, None)
    found = dobrushin.ergodicity(source)
    if level is None or not leak.within(level):
        return GeneralityReport(level, labels, None, None, found, None)
    graphs = constraint_graphs.row_graphs(source, space, level)
    step = _unit(space)
    best = (
        None if step is None else dobrushin.best_coefficient(axioms.relation_from_space(space), _per_step(level, step))
    )
    return GeneralityReport(level, labels, graphs, generality.maximality(graphs, labels), found, best)


def _unit(space: Space) -> Number | None:
    """The distance of all neighbours, if it is one; only then the closed form of the best coefficient applies."""
    lengths = {str(length): length for length in (space.distance(x, y) for x, y in space.edges)}
    return next(iter(lengths.values())) if len(lengths) == 1 else None


def _per_step(level: Level, length: Number) -> Level:
    from utmost.exact import alpha

    return level if length == 1 else alpha(level.power(length))


def generality_document(found: GeneralityReport) -> dict[str, Any]:
    """`general` and `dobrushin`, None where they were not decided."""
    return {"general": _general(found), "dobrushin": _coefficient(found)}


def _general(found: GeneralityReport) -> dict[str, Any] | None:
    maximal = found.maximality
    if maximal is None or found.graphs is None:
        return None
    return {
        "maximal": maximal.holds,
        "output": maximal.output,
        "parts": [list(part) for part in maximal.parts],
        "row_graphs": [graph_document(graph, found.labels) for graph in found.graphs],
    }


def graph_document(graph: RowGraph, labels: tuple[Any, ...]) -> dict[str, Any]:
    """A row graph by labels: edges from the likelier secret, parts, and exponents of α where it is connected."""
    heights = graph.heights
    return {
        "output": graph.output,
        "edges": [[labels[high], labels[low]] for high, low in graph.edges],
        "parts": [[labels[x] for x in part] for part in graph.parts],
        "heights": None if heights is None else [[labels[x], str(height)] for x, height in heights],
    }


def _coefficient(found: GeneralityReport) -> dict[str, Any] | None:
    from utmost.cli import output

    measured = found.ergodicity
    if measured is None:
        return None
    best = found.best
    return {
        "value": output.json_value(measured.value),
        "pair": list(measured.pair),
        "best": output.json_value(best),
        "optimal": None if best is None else bool(measured.value == best),
    }


def print_generality(found: GeneralityReport) -> None:
    """The same in words."""
    from utmost.cli import output

    if found.graphs is not None and found.maximality is not None:
        if len(found.graphs) <= MAX_SHOWN_ROWS and len(found.labels) <= MAX_SHOWN_ROWS:
            output.print_text("Row graphs (KL10), the parts that tight pairs join; connected ones are likelihoods α^k:")
            graph_table(found.graphs, found.labels)
        if found.maximality:
            why = "no private mechanism tells all that this one does and more"
            output.print_text(f"Maximally general at {found.level}: {why}, since {found.maximality.reason}.")
        else:
            more = "utmost generalize makes a private one that tells all this one does and more"
            output.print_text(
                f"NOT maximally general at {found.level}: {shorten_text(found.maximality.reason)}; {more}."
            )
    if found.ergodicity is not None:
        output.print_text(coefficient_sentence(found.ergodicity, found.best))


def graph_table(graphs: tuple[RowGraph, ...], labels: tuple[Any, ...]) -> None:
    """A row for each output: its parts, and its likelihood function where it has one part."""
    from utmost.cli import output

    rows = []
    for graph in graphs:
        heights = dict(graph.heights or ())
        parts = " | ".join(", ".join(str(labels[x]) for x in part) for part in graph.parts)
        powers = ", ".join(str(heights.get(x, "–")) for x in range(len(labels))) if heights else ""
        rows.append(
            [str(graph.output), "never occurs" if not graph.parts else shorten_text(parts), shorten_text(powers)]
        )
    output.print_table(["output", "parts", "k for each input"], rows, left=3)
    output.print_text()


def coefficient_sentence(measured: Ergodicity, best: Number | None) -> str:
    """μ_Dob, where it is attained, and how good it is."""
    first, second = measured.pair
    start = f"Dobrushin's coefficient μ = {short_number(measured.value)}"
    if first != second:
        start += f": the laws of {first} and {second}, told apart best, overlap by {short_number(-measured.value)}"
    if best is None:
        return f"{start}."
    verdict = "no private mechanism has a better one" if measured.value == best else f"the best is {short_number(best)}"
    return f"{start}; {verdict}."


def short_number(value: Number) -> str:
    """An exact number as it is if it is short, else a decimal."""
    from utmost.cli.output import MAX_FRACTION_CHARS
    from utmost.exact import decimal

    words = str(value)
    return words if len(words) <= 2 * MAX_FRACTION_CHARS else f"≈ {decimal(value)}"


def shorten_text(words: str, most: int = 160) -> str:
    """Of a long text the beginning."""
    return words if len(words) <= most else f"{words[:most]} …"
