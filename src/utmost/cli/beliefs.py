"""What several consumers believe after one answer, as bars in the terminal and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.cli.demo import PersonaOutcome


def window(value: int, outcomes: Sequence[PersonaOutcome], margin: int) -> range:
    """The counts around the answer and the readings."""
    places = [value, *(found.estimate for found in outcomes)]
    return range(max(min(places) - margin, 0), min(max(places) + margin + 1, len(outcomes[0].belief)))


def belief_bars(value: int, outcomes: Sequence[PersonaOutcome], width: int) -> list[str]:
    """Beliefs as rows of blocks over the counts around the answer, each to its own scale, the reading marked below."""
    label = max(len(found.persona.name) for found in outcomes) + 2
    counts = window(value, outcomes, 24)
    step = -(-len(counts) // max(width - label, 10))
    cells = [range(k, min(k + step, counts.stop)) for k in range(counts.start, counts.stop, step)]
    lines = []
    for found in outcomes:
        lines.append(f"{found.persona.name:<{label}}{_blocks(found, cells)}".rstrip())
        lines.append(_mark(f"reads {found.estimate}", label + (found.estimate - counts.start) // step, width))
    return [*lines, _mark(f"the answer {value}", label + (value - counts.start) // step, width)]


def _blocks(found: PersonaOutcome, cells: Sequence[range]) -> str:
    heights = [sum(found.belief[k] for k in cell) for cell in cells]
    top = max(heights)
    return "".join(" ▁▂▃▄▅▆▇█"[round(8 * height / top)] for height in heights)


def _mark(text: str, place: int, width: int) -> str:
    """A mark at a place of a line, with its text on the side that has room."""
    return " " * place + f"▲ {text}" if place + len(text) + 2 <= width else f"{text} ▲".rjust(place + 1)


def draw_beliefs(value: int, outcomes: Sequence[PersonaOutcome], plot: str, asked_for: bool) -> None:
    """The picture; a default one that cannot be written is a remark, one that was asked for an error."""
    from utmost import charts
    from utmost.cli.output import print_remark

    counts = window(value, outcomes, 32)
    beliefs = [_belief(found, counts) for found in outcomes]
    title = f"One private answer, {value}, three readings"
    claim = "Bars: what each believes after the answer. Dashed: the answer. Solid: her best reading of it."
    try:
        charts.save_chart(charts.belief_chart(value, beliefs, title, claim), plot)
        print_remark(f"drew {plot}")
    except InputError as problem:
        if asked_for:
            raise
        print_remark(f"no picture, {problem}: --plot FILE puts it elsewhere")


def _belief(found: PersonaOutcome, counts: range) -> Any:
    from utmost.charts import BeliefPanel

    who = found.persona
    words = f"{who.name}: believes {who.believes}; minimises {who.minimises}; reads {found.estimate}"
    return BeliefPanel(words, tuple(counts), tuple(found.belief[k] for k in counts), found.estimate)
