"""`utmost demo`: the main job on real people: a plan, its cost, the release, and what three consumers make of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utmost.cli.options import CHART_ENDINGS, JsonOption, check_ending, check_replaceable, save_plot
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.exact import Level
    from utmost.publish.execute import Preview
    from utmost.publish.release_model import Release
    from utmost.reports.demo import Persona, PersonaOutcome

EXAMPLES = "Examples: utmost demo;  utmost demo --plot beliefs.png;  utmost demo --json"
DEFAULT_FOLDER = "utmost-demo"
PLAN_FILE, CHART_FILE = "survey.toml", "readings.svg"
QUERY_NAME = "dole voters"
BUDGET_EPSILON = "1"
CLAIMED_COUNT = 400  # what the fact checker has read in the paper


def command(
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="Folder for plan, ledger and release.")
    ] = DEFAULT_FOLDER,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where the picture goes, instead of FOLDER: .svg, .png or .html."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Run the whole path once on a bundled survey.

    Releases a plan under a budget, then reads one answer for three analysts. FOLDER gets the plan, the ledger and the
    release. A second run costs nothing and gives the same answers: the ledger remembers them.
    """
    from utmost.cli.output import console, print_lines, print_report
    from utmost.publish import execute
    from utmost.reports.demo import describe, released_count

    check_ending(plot, CHART_ENDINGS, "--plot")
    folder_path = prepare_folder(Path(folder))
    with execute.prepare_release(folder_path / PLAN_FILE) as prepared_release:
        if not json:
            _print_introduction(prepared_release.preview)
        release = prepared_release.spend()
    outcomes, value = read_released_count(release), released_count(release, QUERY_NAME)
    draw_beliefs(value, outcomes, plot or str(folder_path / CHART_FILE), plot is not None)
    print_report(describe(release, QUERY_NAME, outcomes, console().width), json)
    if not json:
        release_path = folder_path / f"{Path(PLAN_FILE).stem}.release.json"
        command = f"utmost estimate {release_path} \\\n  --query '{QUERY_NAME}' --prior binomial:0.45"
        print_lines(f"\nRead it yourself:\n{command}")


def prepare_folder(folder: Path) -> Path:
    """The folder with the plan in it and a budget open; what is there already is kept."""
    from importlib.resources import files

    from utmost import ledger

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / PLAN_FILE).exists():
            (folder / PLAN_FILE).write_text((files("utmost.data") / PLAN_FILE).read_text("utf-8"), "utf-8")
    except OSError as problem:
        raise InputError(f"folder must be one that can be written to, got {type(problem).__name__}", "folder") from None
    with ledger.open_ledger("ledger.sqlite", folder) as opened_ledger:
        if not (folder / "ledger.sqlite").exists():
            opened_ledger.open(ledger.Budget("survey", Fraction(BUDGET_EPSILON)))
    return folder


def read_released_count(release: Release) -> list[PersonaOutcome]:
    """What the three consumers make of the released count."""
    from utmost import exact
    from utmost.reports.demo import released_count

    assert release.units is not None
    level, value = exact.epsilon(release[QUERY_NAME].epsilon), released_count(release, QUERY_NAME)
    return [persona_outcome(persona, level, value) for persona in personas(release.units + 1)]


def personas(size: int) -> list[Persona]:
    """Three consumers of a count from 0 to size − 1, each with a legal loss, so that GRS12 Thm 3.2 applies."""
    from utmost.consumer import Consumer, losses, priors
    from utmost.reports.demo import Persona

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
    from utmost.reports.demo import PersonaOutcome

    prior, loss = persona.consumer.prior, persona.consumer.loss
    all_readings = readings(prior, level, loss)
    belief = tuple(float(chance) for chance in posterior(prior, level, value))
    return PersonaOutcome(
        persona, belief, int(all_readings.remap[value]), all_readings.expected_loss, all_readings.face_value_loss
    )


def _print_introduction(preview: Preview) -> None:
    from utmost.cli.output import print_report, print_text
    from utmost.data import anes96
    from utmost.reports.preview import describe

    survey = anes96()
    print_text(f"{survey.title}: {len(survey.rows)} respondents; {survey.licence}. Source: {survey.source}.\n")
    print_report(describe(preview))


def draw_beliefs(value: int, outcomes: Sequence[PersonaOutcome], plot: str, is_required: bool) -> None:
    """Save the chart; one that cannot be written is an error if it `is_required`, else a remark."""
    from utmost.cli.output import print_remark
    from utmost.reports.demo import figure

    try:
        check_replaceable(plot, "the picture")
        save_plot(plot, lambda: figure(value, outcomes))
    except InputError as problem:
        if is_required:
            raise
        print_remark(f"no picture, {problem}: --plot FILE puts it elsewhere")
