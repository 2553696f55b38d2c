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

MAX_CHANNEL_SIZE = 100  # inputs and outputs of a channel whose generality is decided
MAX_SHOWN_ROWS = 12  # graphs or inputs up to which the terminal shows row graphs


@dataclass(frozen=True, slots=True)
class GeneralityReport:
    """Generality of a channel; a field that does not apply is None, and all are for floats and large channels."""

    level: Level | None
    labels: tuple[Any, ...]
    graphs: tuple[RowGraph, ...] | None
    maximality: Maximality | None
    ergodicity: Ergodicity | None
    best: Number | None


def examine_generality(
    source: Channel, space: Space, privacy_loss: PrivacyLoss, level: Level | None
) -> GeneralityReport:
    """The report; for a channel that is not private at the level only its coefficient."""
    from utmost import axioms
    from utmost.axioms import constraint_graphs, dobrushin, generality

    labels = tuple(source.inputs)
    if not source.exact or max(len(source.inputs), len(source.outputs)) > MAX_CHANNEL_SIZE:
        return GeneralityReport(level, labels, None, None, None, None)
    ergodicity = dobrushin.ergodicity(source)
    if level is None or not privacy_loss.within(level):
        return GeneralityReport(level, labels, None, None, ergodicity, None)
    graphs = constraint_graphs.row_graphs(source, space, level)
    edge_length = _common_edge_length(space)
    best = (
        None
        if edge_length is None
        else dobrushin.best_coefficient(axioms.relation_from_space(space), _level_per_edge(level, edge_length))
    )
    return GeneralityReport(level, labels, graphs, generality.maximality(graphs, labels), ergodicity, best)


def _common_edge_length(space: Space) -> Number | None:
    """The distance of all neighbours, if it is one; only then the closed form of the best coefficient applies."""
    lengths = {str(length): length for length in (space.distance(x, y) for x, y in space.edges)}
    return next(iter(lengths.values())) if len(lengths) == 1 else None


def _level_per_edge(level: Level, length: Number) -> Level:
    from utmost.exact import alpha

    return level if length == 1 else alpha(level.power(length))


def generality_document(report: GeneralityReport) -> dict[str, Any]:
    """`general` and `dobrushin`, None where they were not decided."""
    return {"general": _maximality_document(report), "dobrushin": _coefficient_document(report)}


def _maximality_document(report: GeneralityReport) -> dict[str, Any] | None:
    maximality = report.maximality
    if maximality is None or report.graphs is None:
        return None
    return {
        "maximal": maximality.holds,
        "output": maximality.output,
        "parts": [list(part) for part in maximality.parts],
        "row_graphs": [graph_document(graph, report.labels) for graph in report.graphs],
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


def _coefficient_document(report: GeneralityReport) -> dict[str, Any] | None:
    from utmost.cli import output

    ergodicity = report.ergodicity
    if ergodicity is None:
        return None
    best = report.best
    return {
        "value": output.json_value(ergodicity.value),
        "pair": list(ergodicity.pair),
        "best": output.json_value(best),
        "optimal": None if best is None else bool(ergodicity.value == best),
    }


def print_generality(report: GeneralityReport) -> None:
    """Print the report as sentences and a table."""
    from utmost.cli import output

    if report.graphs is not None and report.maximality is not None:
        if len(report.graphs) <= MAX_SHOWN_ROWS and len(report.labels) <= MAX_SHOWN_ROWS:
            output.print_text("Row graphs (KL10), the parts that tight pairs join; connected ones are likelihoods α^k:")
            print_graph_table(report.graphs, report.labels)
        if report.maximality:
            meaning = "no private mechanism tells all that this one does and more"
            output.print_text(f"Maximally general at {report.level}: {meaning}, since {report.maximality.reason}.")
        else:
            advice = "utmost generalize makes a private one that tells all this one does and more"
            output.print_text(
                f"NOT maximally general at {report.level}: {shorten_text(report.maximality.reason)}; {advice}."
            )
    if report.ergodicity is not None:
        output.print_text(coefficient_sentence(report.ergodicity, report.best))


def print_graph_table(graphs: tuple[RowGraph, ...], labels: tuple[Any, ...]) -> None:
    """Print a row for each output: its parts, and its likelihood function where it has one part."""
    from utmost.cli import output

    rows = []
    for graph in graphs:
        heights = dict(graph.heights or ())
        parts = " | ".join(", ".join(str(labels[x]) for x in part) for part in graph.parts)
        powers = ", ".join(str(heights.get(x, "–")) for x in range(len(labels))) if heights else ""
        rows.append(
            [str(graph.output), "never occurs" if not graph.parts else shorten_text(parts), shorten_text(powers)]
        )
    output.print_table(["output", "parts", "k for each input"], rows, text_columns=3)
    output.print_text()


def coefficient_sentence(ergodicity: Ergodicity, best: Number | None) -> str:
    """Dobrushin's coefficient μ, the pair that attains it, and the best possible one."""
    first, second = ergodicity.pair
    start = f"Dobrushin's coefficient μ = {short_number(ergodicity.value)}"
    if first != second:
        start += f": the laws of {first} and {second}, told apart best, overlap by {short_number(-ergodicity.value)}"
    if best is None:
        return f"{start}."
    verdict = (
        "no private mechanism has a better one" if ergodicity.value == best else f"the best is {short_number(best)}"
    )
    return f"{start}; {verdict}."


def short_number(value: Number) -> str:
    """An exact number as it is if it is short, else a decimal."""
    from utmost.cli.output import MAX_FRACTION_CHARS
    from utmost.exact import decimal

    text = str(value)
    return text if len(text) <= 2 * MAX_FRACTION_CHARS else f"≈ {decimal(value)}"


def shorten_text(text: str, max_chars: int = 160) -> str:
    """The first `max_chars` characters of a longer text."""
    return text if len(text) <= max_chars else f"{text[:max_chars]} …"
