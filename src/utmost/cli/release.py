"""`utmost release`: what a plan costs and how good it will be, then the release itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import Json
from utmost.cli.show import document, facts, plain, remark, say, table

if TYPE_CHECKING:
    from utmost.publish.record import Answer, Error, Release
    from utmost.publish.run import Intended, Preview, Progress

EXAMPLES = """Examples:  utmost release survey.toml --dry-run
utmost release survey.toml"""
MOST_CELLS = 12  # of a histogram in the terminal


def command(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A plan: survey.toml.", show_default=False)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show cost and accuracy, and spend nothing.")] = False,
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where the release goes, instead of where the plan says.")
    ] = None,
    json: Json = False,
) -> None:
    """Answer a plan's queries on its table under its budget, and write one release file.

    Cost and accuracy are shown before anything is spent. The charge is in the ledger before noise is drawn.
    """
    from utmost.publish import plans, run

    wanted = plans.read(plan)
    if output is not None:
        wanted = replace(wanted, output=Path(output).absolute())
    with run.prepared(wanted) as ready:
        if dry_run:
            document(preview_document(ready.preview)) if json else show_preview(ready.preview)
            return
        if not json:
            show_preview(ready.preview)
        with progress() as report:
            made = ready.spend(report)
        if ready.preview.free:
            remark("the ledger remembers this release: nothing was spent, and the answers are the same")
    remark(f"wrote {os.path.relpath(wanted.output)}" if wanted.output else "")
    if json:
        from utmost.publish.encode import content

        document(content(made))
    else:
        show_release(made)


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda words, done, total: bar.update(task, description=words, completed=done, total=total)


def show_preview(seen: Preview) -> None:
    """What the plan costs and how far off its answers will be."""
    plan, setting = seen.plan, seen.setting
    public = "not public" if setting.units is None else f"{setting.units}, public"
    after = "nothing: the ledger remembers this release" if seen.free else f"ε {plain(seen.cost)}"
    facts(
        [
            ("Privacy", f"for {setting.unit}; neighbours: {plan.neighbours}; number of units: {public}"),
            (
                "Cost",
                f"{after}; budget {plan.budget}: ε {plain(seen.spent)} spent, ε {plain(seen.left)} left",
            ),
        ]
    )
    say()
    table(("query", "kind", "ε", "sensitivity", "error", "± (95 %)"), [_intended_row(one) for one in seen.intended], 2)
    if any(one.error.over_rows for one in seen.intended):
        say("/r: divided by the number of rows in the mean, which is not public.")
    if any(_kind(one.asked.query) == "quantile" for one in seen.intended):
        say("rows: at most so many lie on the wrong side of the quantile.")
    say()


def _intended_row(one: Intended) -> tuple[str, ...]:
    from utmost.data.asked import Quantile

    return (
        one.asked.name,
        _kind(one.asked.query),
        str(plain(one.asked.epsilon)),
        str(one.law.sensitivity),
        *_error(one.error, isinstance(one.asked.query, Quantile)),
    )


def _kind(query: Any) -> str:
    from utmost.publish.plans import KIND_OF

    return KIND_OF[type(query)]


def _error(error: Error, ranked: bool) -> tuple[str, str]:
    from utmost.exact import decimal

    mark = "/r" if error.over_rows else " rows" if ranked else ""
    return f"{decimal(error.expected, 4)}{mark}", f"{decimal(error.half_width, 4)}{mark}"


def preview_document(seen: Preview) -> dict[str, Any]:
    """The preview as JSON: what `--dry-run --json` prints."""
    from utmost.publish import encode

    return {
        "dry_run": True,
        "engine": seen.engine,
        "unit": str(seen.setting.unit),
        "neighbours": str(seen.setting.neighbours),
        "units": seen.setting.units,
        "cost": str(seen.cost),
        "free": seen.free,
        "ledger": {"budget": seen.plan.budget, "spent": str(seen.spent), "left": str(seen.left)},
        "queries": [_intended_document(one, encode) for one in seen.intended],
    }


def _intended_document(one: Intended, encode: Any) -> dict[str, Any]:
    return {
        "name": one.asked.name,
        "kind": _kind(one.asked.query),
        "epsilon": str(one.asked.epsilon),
        "sensitivity": one.law.sensitivity,
        "mechanism": encode.mechanism_content(one.law.mechanism),
        "optimal": one.law.optimal,
        "error": encode.error_content(one.error),
    }


def show_release(made: Release) -> None:
    """The values, and what they guarantee."""
    table(("query", "value", "± (95 %)", "best"), [_answer_row(answer) for answer in made], 1)
    say()
    say(f"Guarantee: {made.guarantee}.")
    say(f"Ledger: entry {made.entry.number} of budget {made.entry.budget}, ε {plain(made.entry.left)} left.")


def _answer_row(answer: Answer) -> tuple[str, ...]:
    return (
        answer.name,
        values(answer),
        _error(answer.error, answer.kind == "quantile")[1],
        answer.optimal.partition(":")[0],
    )


def values(answer: Answer) -> str:
    """The value for people: a fraction as a decimal, the first cells of a histogram."""
    from utmost.exact import decimal

    if not isinstance(answer.value, tuple):
        return str(answer.value) if isinstance(answer.value, int) else decimal(answer.value)
    shown = " ".join(str(value) for value in answer.value[:MOST_CELLS])
    return shown + (" …" if len(answer.value) > MOST_CELLS else "")
