"""`utmost demo`: the main job on real people: a plan, its cost, the release, and what three consumers make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHART_ENDINGS, JsonOption, check_ending
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.consumer import Consumer
    from utmost.exact import Level
    from utmost.publish.release_model import Release

EXAMPLES = "Examples: utmost demo;  utmost demo --plot beliefs.png;  utmost demo --json"
FOLDER = "utmost-demo"
PLAN, PICTURE = "survey.toml", "readings.svg"
QUERY = "dole voters"
BUDGET = "1"
CLAIM = 400  # what the fact checker has read in the paper


@dataclass(frozen=True, slots=True)
class Persona:
    """A consumer with a name, and her prior and loss in words."""

    name: str
    believes: str
    minimises: str
    consumer: Consumer


@dataclass(frozen=True, slots=True)
class PersonaOutcome:
    """What a persona makes of the answer: her belief given it, her reading, its expected loss and face value's."""

    persona: Persona
    belief: tuple[float, ...]
    estimate: int
    expected_loss: float
    face_value_loss: float


def command(
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Where plan, ledger and release go.")] = FOLDER,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where the picture goes, instead of FOLDER: .svg, .png or .html."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """The main job on a real survey: a plan is released under a budget, and three consumers read one of its answers.

    Makes FOLDER with a plan and a ledger. Run again, it costs nothing and gives the same answers: the ledger remembers.
    """
    from utmost.publish import execute

    check_ending(plot, CHART_ENDINGS, "--plot")
    place = prepared(Path(folder))
    with execute.prepare_release(place / PLAN) as ready:
        if not json:
            _introduction(ready.preview)
        made = ready.spend()
    outcomes = read(made)
    draw_beliefs(_value(made), outcomes, plot or str(place / PICTURE), plot is not None)
    _document(made, outcomes) if json else _text(made, outcomes, place)


def prepared(folder: Path) -> Path:
    """The folder with the plan in it and a budget open; what is there already is kept."""
    from importlib.resources import files

    from utmost import ledger

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / PLAN).exists():
            (folder / PLAN).write_text((files("utmost.data") / PLAN).read_text("utf-8"), "utf-8")
    except OSError as problem:
        raise InputError(f"folder must be one that can be written to, got {type(problem).__name__}") from None
    with ledger.open_ledger("ledger.sqlite", folder) as books:
        if not (folder / "ledger.sqlite").exists():
            books.open(ledger.Budget("survey", Fraction(BUDGET)))
    return folder


def read(made: Release) -> list[PersonaOutcome]:
    """What the three consumers make of the released count."""
    from utmost import exact

    assert made.units is not None
    level = exact.epsilon(made[QUERY].epsilon)
    return [outcome(persona, level, _value(made)) for persona in personas(made.units + 1)]


def _value(made: Release) -> int:
    value = made[QUERY].value
    assert isinstance(value, int)
    return value


def personas(size: int) -> list[Persona]:
    """Three consumers of a count from 0 to size − 1, each with a legal loss, so that GRS12 Thm 3.2 speaks of her."""
    from utmost.consumer import Consumer, losses, priors

    rest = Fraction(1, 2 * (size - 1))
    claim = priors.Explicit(tuple(Fraction(1, 2) if k == CLAIM else rest for k in range(size)), f"half on {CLAIM}")
    poll = priors.binomial(size, "0.45")
    return [
        Persona("journalist", "nothing (uniform)", "absolute error", Consumer(priors.uniform(size), losses.absolute)),
        Persona("pollster", "a poll: 45 in 100", "squared error", Consumer(poll, losses.squared)),
        Persona("fact checker", f"{CLAIM}, at even odds", "being wrong", Consumer(claim, losses.binary)),
    ]


def outcome(persona: Persona, level: Level, value: int) -> PersonaOutcome:
    """What a persona makes of the answer `value`."""
    from utmost.consumer.counts import posterior, readings

    prior, loss = persona.consumer.prior, persona.consumer.loss
    every = readings(prior, level, loss)
    belief = tuple(float(chance) for chance in posterior(prior, level, value))
    return PersonaOutcome(persona, belief, int(every.remap[value]), every.expected_loss, every.face_value_loss)


def _introduction(seen: Any) -> None:
    from utmost.cli import output
    from utmost.cli.release_output import show_preview
    from utmost.data import anes96

    survey = anes96()
    output.print_text(f"{survey.title}: {len(survey.rows)} respondents; {survey.licence}. Source: {survey.source}.\n")
    show_preview(seen)


def _document(made: Release, outcomes: Sequence[PersonaOutcome]) -> None:
    from utmost.cli import output
    from utmost.publish.release_encoder import release_content

    consumers = [
        {
            "name": found.persona.name,
            "prior": found.persona.consumer.prior.name,
            "loss": found.persona.consumer.loss.name,
            "estimate": found.estimate,
            "expected_loss": output.json_value(found.expected_loss),
            "face_value_loss": output.json_value(found.face_value_loss),
        }
        for found in outcomes
    ]
    output.print_json({"query": QUERY, "value": _value(made), "consumers": consumers, "release": release_content(made)})


def _text(made: Release, outcomes: Sequence[PersonaOutcome], folder: Path) -> None:
    from utmost.cli import output
    from utmost.cli.release_output import show_release

    show_release(made)
    output.print_text(f"\nThree consumers read the same count, {QUERY}. Losses are expected ones, over all answers:")
    _table(outcomes)
    output.print_text()
    for line in belief_bars(_value(made), outcomes, min(output.console().width, 100)):
        output.print_text(line)
    if all(found.persona.consumer.legality().legal for found in outcomes):
        output.print_text(
            f"\nNo other mechanism with ε = {made[QUERY].epsilon} can give any of them a smaller expected loss, "
            "whatever she believes: GRS12 Theorem 3.2, whose condition on losses was checked for each."
        )
    release = folder / f"{Path(PLAN).stem}.release.json"
    print(f"\nRead it yourself:\nutmost estimate {release} \\\n  --query '{QUERY}' --prior binomial:0.45")


def _table(outcomes: Sequence[PersonaOutcome]) -> None:
    from utmost.cli import output
    from utmost.exact import decimal

    rows = [
        [
            found.persona.name,
            found.persona.believes,
            found.persona.minimises,
            str(found.estimate),
            decimal(found.expected_loss, 4),
            decimal(found.face_value_loss, 4),
        ]
        for found in outcomes
    ]
    output.print_table(["", "believes", "minimises", "reads", "her loss", "at face value"], rows, left=3)


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
