"""Describe the demo: one released count, read by three consumers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.exact import json_number
from utmost.publish.release_file import release_content
from utmost.reports.blocks import Cell, Paragraph, Report, Table, Verbatim
from utmost.reports.numbers import quantity
from utmost.reports.release import describe as describe_release

if TYPE_CHECKING:
    import altair as alt

    from utmost.charts import BeliefPanel
    from utmost.consumer import Consumer
    from utmost.publish.release_model import Release

BAR_MARGIN, FIGURE_MARGIN = 24, 32  # counts shown beside the answer and the readings
MAX_WIDTH = 100  # characters of the bars


@dataclass(frozen=True, slots=True)
class Persona:
    """A consumer with a name, and the prior and the loss in words."""

    name: str
    believes: str
    minimises: str
    consumer: Consumer


@dataclass(frozen=True, slots=True)
class PersonaOutcome:
    """What a persona makes of the answer: belief, reading, the expected loss of reading so and of face value."""

    persona: Persona
    belief: tuple[float, ...]
    estimate: int
    expected_loss: float
    face_value_loss: float


def describe(release: Release, query: str, outcomes: Sequence[PersonaOutcome], width: int) -> Report:
    """The release, the three readings in a table and as bars of so many characters, and why nothing is better."""
    value = released_count(release, query)
    rows = tuple(_outcome_row(outcome) for outcome in outcomes)
    return Report(
        {
            **describe_release(release).blocks,
            "readings heading": Paragraph(
                f"\nThree consumers read the same count, {query}. Losses are expected ones, over all answers:"
            ),
            "readings": Table(("", "believes", "minimises", "reads", "loss", "at face value"), rows, text_columns=3),
            "bars space": Paragraph(),
            "bars": Verbatim("\n".join(belief_bars(value, outcomes, min(width, MAX_WIDTH)))),
            "theorem": _theorem_paragraph(release, query, outcomes),
        },
        {
            "query": query,
            "value": value,
            "consumers": [_outcome_document(outcome) for outcome in outcomes],
            "release": release_content(release),
        },
    )


def _theorem_paragraph(release: Release, query: str, outcomes: Sequence[PersonaOutcome]) -> Paragraph | None:
    if not all(outcome.persona.consumer.legality().legal for outcome in outcomes):
        return None
    return Paragraph(
        f"\nNo other mechanism with ε = {release[query].epsilon} can give any of them a smaller expected loss, "
        "whatever the prior: GRS12 Theorem 3.2, whose condition on losses was checked for each."
    )


def released_count(release: Release, query: str) -> int:
    """The released count of this name."""
    value = release[query].value
    assert isinstance(value, int)
    return value


def _outcome_row(outcome: PersonaOutcome) -> tuple[Cell, ...]:
    persona = outcome.persona
    numbers = (quantity(outcome.estimate), quantity(outcome.expected_loss), quantity(outcome.face_value_loss))
    return persona.name, persona.believes, persona.minimises, *numbers


def _outcome_document(outcome: PersonaOutcome) -> dict[str, Any]:
    consumer = outcome.persona.consumer
    return {
        "name": outcome.persona.name,
        "prior": consumer.prior.name,
        "loss": consumer.loss.name,
        "estimate": outcome.estimate,
        "expected_loss": json_number(outcome.expected_loss),
        "face_value_loss": json_number(outcome.face_value_loss),
    }


def _counts_around(value: int, outcomes: Sequence[PersonaOutcome], margin: int) -> range:
    """The counts around the answer and the readings."""
    centres = [value, *(outcome.estimate for outcome in outcomes)]
    return range(max(min(centres) - margin, 0), min(max(centres) + margin + 1, len(outcomes[0].belief)))


def belief_bars(value: int, outcomes: Sequence[PersonaOutcome], width: int) -> list[str]:
    """Beliefs as rows of blocks over the counts around the answer, each to its own scale, the reading marked below."""
    label_width = max(len(outcome.persona.name) for outcome in outcomes) + 2
    counts = _counts_around(value, outcomes, BAR_MARGIN)
    step = -(-len(counts) // max(width - label_width, 10))
    cells = [range(k, min(k + step, counts.stop)) for k in range(counts.start, counts.stop, step)]
    lines = []
    for outcome in outcomes:
        lines.append(f"{outcome.persona.name:<{label_width}}{_block_row(outcome, cells)}".rstrip())
        lines.append(
            _marker_line(f"reads {outcome.estimate}", label_width + (outcome.estimate - counts.start) // step, width)
        )
    return [*lines, _marker_line(f"the answer {value}", label_width + (value - counts.start) // step, width)]


def _block_row(outcome: PersonaOutcome, cells: Sequence[range]) -> str:
    heights = [sum(outcome.belief[k] for k in cell) for cell in cells]
    top = max(heights)
    return "".join(" ▁▂▃▄▅▆▇█"[round(8 * height / top)] for height in heights)


def _marker_line(text: str, column: int, width: int) -> str:
    """A line with a mark in `column`, its text on the side that has room."""
    return " " * column + f"▲ {text}" if column + len(text) + 2 <= width else f"{text} ▲".rjust(column + 1)


def figure(value: int, outcomes: Sequence[PersonaOutcome]) -> alt.TopLevelMixin:
    """What each persona believes after the answer, and how each reads it."""
    from utmost.charts import belief_chart

    counts = _counts_around(value, outcomes, FIGURE_MARGIN)
    panels = [_belief_panel(outcome, counts) for outcome in outcomes]
    title = f"One private answer, {quantity(value).typeset}, three readings"
    claim = "Bars: what each believes after the answer. Dashed: the answer. Solid: the best reading of it."
    return belief_chart(value, panels, title, claim)


def _belief_panel(outcome: PersonaOutcome, counts: range) -> BeliefPanel:
    from utmost.charts import BeliefPanel

    persona, reading = outcome.persona, quantity(outcome.estimate).typeset
    caption = f"{persona.name}: believes {persona.believes}; minimises {persona.minimises}; reads {reading}"
    return BeliefPanel(caption, tuple(counts), tuple(outcome.belief[k] for k in counts), outcome.estimate)
