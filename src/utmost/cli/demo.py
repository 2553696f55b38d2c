"""`utmost demo`: the main job on real people: a plan, its cost, the release, and what three consumers make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHART_ENDINGS, JsonOption, check_ending, check_replaceable
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.consumer import Consumer
    from utmost.exact import Level
    from utmost.publish.release_model import Release

EXAMPLES = "Examples: utmost demo;  utmost demo --plot beliefs.png;  utmost demo --json"
DEFAULT_FOLDER = "utmost-demo"
PLAN_FILE, CHART_FILE = "survey.toml", "readings.svg"
QUERY_NAME = "dole voters"
BUDGET_EPSILON = "1"
CLAIMED_COUNT = 400  # what the fact checker has read in the paper


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


def command(
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="Where plan, ledger and release go.")
    ] = DEFAULT_FOLDER,
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
    folder_path = prepare_folder(Path(folder))
    with execute.prepare_release(folder_path / PLAN_FILE) as prepared_release:
        if not json:
            _print_introduction(prepared_release.preview)
        release = prepared_release.spend()
    outcomes = read_released_count(release)
    draw_beliefs(_released_count(release), outcomes, plot or str(folder_path / CHART_FILE), plot is not None)
    _print_json(release, outcomes) if json else _print_text(release, outcomes, folder_path)


def prepare_folder(folder: Path) -> Path:
    """The folder with the plan in it and a budget open; what is there already is kept."""
    from importlib.resources import files

    from utmost import ledger

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / PLAN_FILE).exists():
            (folder / PLAN_FILE).write_text((files("utmost.data") / PLAN_FILE).read_text("utf-8"), "utf-8")
    except OSError as problem:
        raise InputError(f"folder must be one that can be written to, got {type(problem).__name__}") from None
    with ledger.open_ledger("ledger.sqlite", folder) as opened_ledger:
        if not (folder / "ledger.sqlite").exists():
            opened_ledger.open(ledger.Budget("survey", Fraction(BUDGET_EPSILON)))
    return folder


def read_released_count(release: Release) -> list[PersonaOutcome]:
    """What the three consumers make of the released count."""
    from utmost import exact

    assert release.units is not None
    level = exact.epsilon(release[QUERY_NAME].epsilon)
    return [persona_outcome(persona, level, _released_count(release)) for persona in personas(release.units + 1)]


def _released_count(release: Release) -> int:
    value = release[QUERY_NAME].value
    assert isinstance(value, int)
    return value


def personas(size: int) -> list[Persona]:
    """Three consumers of a count from 0 to size − 1, each with a legal loss, so that GRS12 Thm 3.2 applies."""
    from utmost.consumer import Consumer, losses, priors

    other_weight = Fraction(1, 2 * (size - 1))
    claim_prior = priors.Explicit(
        tuple(Fraction(1, 2) if k == CLAIMED_COUNT else other_weight for k in range(size)), f"half on {CLAIMED_COUNT}"
    )
    poll_prior = priors.binomial(size, "0.45")
    return [
        Persona("journalist", "nothing (uniform)", "absolute error", Consumer(priors.uniform(size), losses.absolute)),
        Persona("pollster", "a poll: 45 in 100", "squared error", Consumer(poll_prior, losses.squared)),
        Persona("fact checker", f"{CLAIMED_COUNT}, at even odds", "being wrong", Consumer(claim_prior, losses.binary)),
    ]


def persona_outcome(persona: Persona, level: Level, value: int) -> PersonaOutcome:
    """What a persona makes of the answer `value`."""
    from utmost.consumer.counts import posterior, readings

    prior, loss = persona.consumer.prior, persona.consumer.loss
    all_readings = readings(prior, level, loss)
    belief = tuple(float(chance) for chance in posterior(prior, level, value))
    return PersonaOutcome(
        persona, belief, int(all_readings.remap[value]), all_readings.expected_loss, all_readings.face_value_loss
    )


def _print_introduction(preview: Any) -> None:
    from utmost.cli import output
    from utmost.cli.release_output import print_preview
    from utmost.data import anes96

    survey = anes96()
    output.print_text(f"{survey.title}: {len(survey.rows)} respondents; {survey.licence}. Source: {survey.source}.\n")
    print_preview(preview)


def _print_json(release: Release, outcomes: Sequence[PersonaOutcome]) -> None:
    from utmost.cli import output
    from utmost.publish.release_encoder import release_content

    consumers = [
        {
            "name": outcome.persona.name,
            "prior": outcome.persona.consumer.prior.name,
            "loss": outcome.persona.consumer.loss.name,
            "estimate": outcome.estimate,
            "expected_loss": output.json_value(outcome.expected_loss),
            "face_value_loss": output.json_value(outcome.face_value_loss),
        }
        for outcome in outcomes
    ]
    output.print_json(
        {
            "query": QUERY_NAME,
            "value": _released_count(release),
            "consumers": consumers,
            "release": release_content(release),
        }
    )


def _print_text(release: Release, outcomes: Sequence[PersonaOutcome], folder: Path) -> None:
    from utmost.cli import output
    from utmost.cli.release_output import print_release

    print_release(release)
    output.print_text(
        f"\nThree consumers read the same count, {QUERY_NAME}. Losses are expected ones, over all answers:"
    )
    _print_outcomes(outcomes)
    output.print_text()
    for line in belief_bars(_released_count(release), outcomes, min(output.console().width, 100)):
        output.print_text(line)
    if all(outcome.persona.consumer.legality().legal for outcome in outcomes):
        output.print_text(
            f"\nNo other mechanism with ε = {release[QUERY_NAME].epsilon} can give any of them a smaller expected "
            "loss, "
            "whatever she believes: GRS12 Theorem 3.2, whose condition on losses was checked for each."
        )
    release_path = folder / f"{Path(PLAN_FILE).stem}.release.json"
    output.print_lines(
        f"\nRead it yourself:\nutmost estimate {release_path} \\\n  --query '{QUERY_NAME}' --prior binomial:0.45"
    )


def _print_outcomes(outcomes: Sequence[PersonaOutcome]) -> None:
    from utmost.cli import output
    from utmost.exact import decimal

    rows = [
        [
            outcome.persona.name,
            outcome.persona.believes,
            outcome.persona.minimises,
            str(outcome.estimate),
            decimal(outcome.expected_loss, 4),
            decimal(outcome.face_value_loss, 4),
        ]
        for outcome in outcomes
    ]
    output.print_table(["", "believes", "minimises", "reads", "her loss", "at face value"], rows, text_columns=3)


def counts_around(value: int, outcomes: Sequence[PersonaOutcome], margin: int) -> range:
    """The counts around the answer and the readings."""
    centres = [value, *(outcome.estimate for outcome in outcomes)]
    return range(max(min(centres) - margin, 0), min(max(centres) + margin + 1, len(outcomes[0].belief)))


def belief_bars(value: int, outcomes: Sequence[PersonaOutcome], width: int) -> list[str]:
    """Beliefs as rows of blocks over the counts around the answer, each to its own scale, the reading marked below."""
    label_width = max(len(outcome.persona.name) for outcome in outcomes) + 2
    counts = counts_around(value, outcomes, 24)
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


def draw_beliefs(value: int, outcomes: Sequence[PersonaOutcome], plot: str, is_required: bool) -> None:
    """Save the chart; one that cannot be written is an error if it `is_required`, else a remark."""
    from utmost import charts
    from utmost.cli.output import print_remark

    counts = counts_around(value, outcomes, 32)
    beliefs = [_belief_panel(outcome, counts) for outcome in outcomes]
    title = f"One private answer, {value}, three readings"
    claim = "Bars: what each believes after the answer. Dashed: the answer. Solid: her best reading of it."
    try:
        check_replaceable(plot, "the picture")
        charts.save_chart(charts.belief_chart(value, beliefs, title, claim), plot)
        print_remark(f"drew {plot}")
    except InputError as problem:
        if is_required:
            raise
        print_remark(f"no picture, {problem}: --plot FILE puts it elsewhere")


def _belief_panel(outcome: PersonaOutcome, counts: range) -> Any:
    from utmost.charts import BeliefPanel

    persona = outcome.persona
    caption = f"{persona.name}: believes {persona.believes}; minimises {persona.minimises}; reads {outcome.estimate}"
    return BeliefPanel(caption, tuple(counts), tuple(outcome.belief[k] for k in counts), outcome.estimate)
