"""Describe how general a channel is, and a more general one: row graphs, maximality, Dobrushin's coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.exact import json_number
from utmost.reports.blocks import Block, Cell, Matrix, Paragraph, Report, Table
from utmost.reports.mechanism import channel_document, json_epsilon, privacy_paragraph
from utmost.reports.numbers import short

if TYPE_CHECKING:
    import altair as alt

    from utmost.axioms.constraint_graphs import RowGraph, Secrets
    from utmost.axioms.dobrushin import Ergodicity
    from utmost.axioms.examination import GeneralityExamination
    from utmost.axioms.generality import Generalization
    from utmost.channel import PrivacyLoss
    from utmost.exact import Level, Number

MAX_SHOWN_ROWS = 12  # graphs or inputs up to which row graphs are shown
MAX_SHOWN_STEPS = 12
MAX_TEXT_CHARS, MAX_LABEL_CHARS = 160, 60


def generality_blocks(examination: GeneralityExamination) -> dict[str, Block | None]:
    """Row graphs, the verdict, and the coefficient; those that were decided."""
    blocks: dict[str, Block | None] = {}
    graphs, maximality, labels = examination.graphs, examination.maximality, examination.labels
    if graphs is not None and maximality is not None:
        if len(graphs) <= MAX_SHOWN_ROWS and len(labels) <= MAX_SHOWN_ROWS:
            legend = "Row graphs (KL10), the parts that tight pairs join; connected ones are likelihoods α^k:"
            blocks |= {"row graph legend": Paragraph(legend), "row graphs": _graph_table(graphs, labels)}
            blocks["row graph end"] = Paragraph("")
        blocks["maximal"] = Paragraph(_maximality_sentence(examination))
    if examination.ergodicity is not None:
        blocks["coefficient"] = _coefficient_paragraph(examination.ergodicity, examination.best)
    return blocks


def _maximality_sentence(examination: GeneralityExamination) -> str:
    maximality = examination.maximality
    assert maximality is not None
    if maximality:
        meaning = "no private mechanism tells all that this one does and more"
        return f"Maximally general at {examination.level}: {meaning}, since {maximality.reason}."
    advice = "utmost generalize makes a private one that tells all this one does and more"
    return f"NOT maximally general at {examination.level}: {_shorten(maximality.reason)}; {advice}."


def _graph_table(graphs: tuple[RowGraph, ...], labels: tuple[Any, ...]) -> Table:
    """A row for each output: its parts, and its likelihood function where it has one part."""
    rows = []
    for graph in graphs:
        heights = dict(graph.heights or ())
        parts = " | ".join(", ".join(str(labels[x]) for x in part) for part in graph.parts)
        powers = ", ".join(str(heights.get(x, "–")) for x in range(len(labels))) if heights else ""
        rows.append((str(graph.output), "never occurs" if not graph.parts else _shorten(parts), _shorten(powers)))
    return Table(("output", "parts", "k for each input"), tuple(rows), text_columns=3)


def _coefficient_paragraph(ergodicity: Ergodicity, best: Number | None) -> Paragraph:
    """Dobrushin's coefficient μ, the pair that attains it, and the best possible one."""
    first, second = ergodicity.pair
    value, overlap = short(ergodicity.value), short(-ergodicity.value)
    parts: list[Cell] = [f"Dobrushin's coefficient μ {value.sign} ", value]
    if first != second:
        parts += [f": the laws of {first} and {second}, told apart best, overlap by ", overlap]
    if best is not None and ergodicity.value == best:
        parts.append("; no private mechanism has a better one")
    elif best is not None:
        parts += ["; the best is ", short(best)]
    return Paragraph(*parts, ".")


def generality_document(examination: GeneralityExamination) -> dict[str, Any]:
    """`general` and `dobrushin`, None where they were not decided."""
    return {"general": _maximality_document(examination), "dobrushin": _coefficient_document(examination)}


def _maximality_document(examination: GeneralityExamination) -> dict[str, Any] | None:
    maximality = examination.maximality
    if maximality is None or examination.graphs is None:
        return None
    return {
        "maximal": maximality.holds,
        "output": maximality.output,
        "parts": [list(part) for part in maximality.parts],
        "row_graphs": [_graph_document(graph, examination.labels) for graph in examination.graphs],
    }


def _graph_document(graph: RowGraph, labels: tuple[Any, ...]) -> dict[str, Any]:
    """A row graph by labels: edges from the likelier secret, parts, and exponents of α where it is connected."""
    heights = graph.heights
    return {
        "output": graph.output,
        "edges": [[labels[high], labels[low]] for high, low in graph.edges],
        "parts": [[labels[x] for x in part] for part in graph.parts],
        "heights": None if heights is None else [[labels[x], str(height)] for x, height in heights],
    }


def _coefficient_document(examination: GeneralityExamination) -> dict[str, Any] | None:
    ergodicity, best = examination.ergodicity, examination.best
    if ergodicity is None:
        return None
    return {
        "value": json_number(ergodicity.value),
        "pair": list(ergodicity.pair),
        "best": json_number(best),
        "optimal": None if best is None else bool(ergodicity.value == best),
    }


@dataclass(frozen=True, slots=True)
class GeneralizationProblem:
    """The secrets with their name as given, the level, and the ε of the new channel; None over a bare relation."""

    secrets: Secrets
    name: str
    level: Level
    privacy_loss: PrivacyLoss | None


def describe(generalization: Generalization, problem: GeneralizationProblem) -> Report:
    """A maximally general channel, the steps to it, and the way back to the given one."""
    source = generalization.source
    shape = f"{len(source.inputs)} inputs, {len(source.outputs)} outputs"
    title = f"A channel on {_shorten(problem.name, MAX_LABEL_CHARS)}: {shape}, private at {problem.level}."
    blocks: dict[str, Block | None] = {"title": Paragraph(title)}
    if generalization.steps:
        blocks |= _step_blocks(generalization, problem)
    else:
        verdict = "It is maximally general: the row graph of every output is connected. Merged where proportional:"
        blocks |= {"verdict": Paragraph(verdict), "channel": Matrix(generalization.channel)}
    return Report(blocks, lambda: _document(generalization, problem))


def _step_blocks(generalization: Generalization, problem: GeneralizationProblem) -> dict[str, Block | None]:
    from utmost.axioms.dobrushin import ergodicity
    from utmost.axioms.generality import maximally_general

    reason = maximally_general(generalization.source, problem.secrets, problem.level).reason
    before, after = (short(ergodicity(channel).value) for channel in (generalization.source, generalization.channel))
    count, privacy_loss = len(generalization.channel.outputs), problem.privacy_loss
    return {
        "verdict": Paragraph(f"Not maximally general: {_shorten(reason)}."),
        "steps": Paragraph("\n".join(_step_lines(generalization))),
        "heading": Paragraph(f"Strictly more general and maximally so, at the same level ({count} outputs):"),
        "channel": Matrix(generalization.channel),
        "privacy": None if privacy_loss is None else privacy_paragraph(privacy_loss, problem.level),
        "back heading": Paragraph(
            "The way back: its answers (rows) processed in this way are the channel's (columns), exactly."
        ),
        "back": Matrix(generalization.post_processing),
        "coefficient": Paragraph("Dobrushin's coefficient: ", before, " before, ", after, " after."),
    }


def _step_lines(generalization: Generalization) -> list[str]:
    lines = []
    for step in generalization.steps[:MAX_SHOWN_STEPS]:
        first, second = (_shorten(str(label), MAX_LABEL_CHARS) for label in step.names)
        lines.append(f"  {_shorten(str(step.output), MAX_LABEL_CHARS)} is told as {first} and {second}.")
    hidden = len(generalization.steps) - MAX_SHOWN_STEPS
    return [*lines, f"  … and {hidden} more steps of the same kind."] if hidden > 0 else lines


def _document(generalization: Generalization, problem: GeneralizationProblem) -> dict[str, Any]:
    from utmost.axioms.constraint_graphs import row_graphs
    from utmost.axioms.dobrushin import ergodicity

    level, channel, privacy_loss = problem.level, generalization.channel, problem.privacy_loss
    labels = tuple(channel.inputs)
    return {
        "space": problem.name,
        "alpha": json_number(level.alpha),
        "epsilon": None if privacy_loss is None else json_epsilon(privacy_loss, level),
        **channel_document(channel),
        "maximal": not generalization.steps,
        "steps": [{"output": step.output, "into": list(step.names)} for step in generalization.steps],
        "back": channel_document(generalization.post_processing),
        "row_graphs": [_graph_document(graph, labels) for graph in row_graphs(channel, problem.secrets, level)],
        "dobrushin": {
            "before": json_number(ergodicity(generalization.source).value),
            "after": json_number(ergodicity(channel).value),
        },
    }


def figure(generalization: Generalization, problem: GeneralizationProblem) -> alt.TopLevelMixin:
    """The row graph of every output of the new channel."""
    from utmost import charts
    from utmost.axioms.constraint_graphs import row_graphs

    secrets = problem.secrets
    labels = tuple(_shorten(str(label), 12) for label in secrets.labels)
    panels = [
        charts.RowGraphPanel(_shorten(f"output {graph.output}", 30), graph.edges, labels)
        for graph in row_graphs(generalization.channel, secrets, problem.level)
    ]
    title = "Every output is a likelihood function: its tight pairs connect the secrets"
    caption = (
        f"On {_shorten(problem.name, 40)} at {problem.level}; an arrow leads to a secret that is as much less "
        "likely as may be"
    )
    positions = charts.point_positions(len(labels), secrets.edges)
    return charts.row_graph_panels(positions, secrets.edges, panels, title, caption)


def _shorten(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    return text if len(text) <= max_chars else f"{text[:max_chars]} …"
