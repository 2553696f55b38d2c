"""What commands share: options, help that lists registered families, and text as levels and files.

Help texts that list registered families, such as `{priors}`: the lists are made when help is asked for.

Registries load the packages that compute, so the command line must not load them to run `utmost --help`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.exact import Level


def _prior_forms() -> str:
    from utmost.consumer.priors import PRIORS

    return PRIORS.forms()


def _loss_forms() -> str:
    from utmost.consumer.losses import LOSSES

    return LOSSES.forms()


def _space_forms() -> str:
    from utmost.spaces.registry import forms

    return forms()


def _density_forms() -> str:
    from utmost.continuous.densities import DENSITIES

    return DENSITIES.forms()


def _continuous_loss_forms() -> str:
    from utmost.continuous.losses import CONTINUOUS_LOSSES

    return CONTINUOUS_LOSSES.forms()


FORM_LISTS: dict[str, Callable[[], str]] = {
    "{priors}": _prior_forms,
    "{losses}": _loss_forms,
    "{spaces}": _space_forms,
    "{densities}": _density_forms,
    "{interval losses}": _continuous_loss_forms,
}


def fill_forms(text: str) -> str:
    """The text with its placeholders replaced by lists of what may be written.

    >>> fill_forms("{priors}.")[:31]
    'uniform, binomial:0.3, poisson:'
    """
    for placeholder, forms in FORM_LISTS.items():
        if placeholder in text:
            text = text.replace(placeholder, forms())
    return text


class FamilyCommand(TyperCommand):
    """A command whose help fills in the placeholders of its options, anew each time."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of this command."""
        parameters: list[Any] = [p for p in self.params if isinstance(getattr(p, "help", None), str)]
        templates = [parameter.help for parameter in parameters]
        try:
            for parameter in parameters:
                parameter.help = fill_forms(parameter.help)
            super().format_help(ctx, formatter)
        finally:
            for parameter, template in zip(parameters, templates, strict=True):
                parameter.help = template


JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
AlphaOption = Annotated[str | None, typer.Option(metavar="A", help="Privacy level α = e^-ε, in [0, 1]: 1/2.")]
EpsilonOption = Annotated[str | None, typer.Option(metavar="E", help="Privacy level ε >= 0, instead of α: 0.1.")]
PlotOption = Annotated[str | None, typer.Option(metavar="FILE", help="Draw a picture: .svg, .png or .html.")]
PriorOption = Annotated[str, typer.Option(metavar="PRIOR", help="What you believe before the answer: {priors}.")]
LossOption = Annotated[str, typer.Option(metavar="LOSS", help="What an error costs you: {losses}.")]
DensityOption = Annotated[str, typer.Option(metavar="PRIOR", help="What you believe of the truth: {densities}.")]
IntervalLossOption = Annotated[str, typer.Option(metavar="LOSS", help="What an error costs you: {interval losses}.")]
SpaceArgument = Annotated[str, typer.Argument(metavar="SPACE", help="The secrets and their distances: {spaces}.")]
OutputOption = Annotated[str | None, typer.Option(metavar="FILE", help="Save the mechanism: .csv or .json.")]


class CommandGroup(TyperGroup):
    """Commands under their panels, each with the first sentence of its help, never cut off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each panel, in the order of registration."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            entry = (name, command.get_short_help_str(limit=MAX_SENTENCE_CHARS))
            panels.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append(entry)
        for panel, entries in panels.items():
            with formatter.section(panel):
                formatter.write_dl(entries)


MAX_SENTENCE_CHARS = 1000
CHART_ENDINGS = (".svg", ".png", ".html")
CHANNEL_ENDINGS = (".csv", ".json")


def required_level(alpha: str | None, epsilon: str | None) -> Level:
    """The level given by exactly one of the two options."""
    level = optional_level(alpha, epsilon)
    if level is None:
        raise InputError("--alpha or --epsilon must be given, got neither", "alpha", "say for instance --alpha 1/2")
    return level


def optional_level(alpha: str | None, epsilon: str | None) -> Level | None:
    """The level given by at most one of the two options."""
    from utmost import exact

    if alpha is not None and epsilon is not None:
        raise InputError(
            "--alpha and --epsilon must not both be given, got both", "alpha", "keep one, alpha is e^-epsilon"
        )
    if alpha is not None:
        return exact.alpha(alpha)
    return None if epsilon is None else exact.epsilon(epsilon)


def check_ending(path: str | None, endings: tuple[str, ...], option: str) -> str | None:
    """A path whose ending says what to write; refused before any work is done.

    >>> check_ending("a.svg", (".svg", ".png"), "--plot")
    'a.svg'
    """
    if path is None:
        return None
    if Path(path).suffix.lower() not in endings:
        kinds = " or ".join([", ".join(endings[:-1])] * (len(endings) > 1) + [endings[-1]])
        raise InputError(
            f'{option} must be a file that ends in {kinds}, got "{Path(path).name[:60]}"', option, "rename it"
        )
    if Path(path).is_dir():
        raise InputError(f"{option} must be a file, got a folder: cannot write {Path(path).name[:60]}", option)
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"{option} must be in a directory that exists, got one that does not", option, "make it first")
    check_replaceable(path, option)
    return path


def check_replaceable(path: str | Path, option: str) -> None:
    """Refuse to replace a file that utmost did not write as its ending says, or one that the command reads."""
    from utmost.exact.files import record_output
    from utmost.publish import output_files

    output_path = Path(path)
    record_output(output_path, option)
    output_files.check_output(output_path, option, output_files.KIND_BY_ENDING[output_path.suffix.lower()], {})


def save_channel(channel: Channel, path: str | None) -> None:
    """Save a channel if a path is given, and say so."""
    from utmost.channel import files
    from utmost.cli.output import print_remark

    if path is not None:
        files.write_channel(channel, path)
        print_remark(f"saved {path}")


def save_plot(path: str | None, make_chart: Callable[[], alt.TopLevelMixin]) -> None:
    """Draw a chart and save it if a path is given, and say so."""
    from utmost.charts import save_chart
    from utmost.cli.output import print_remark

    if path is not None:
        save_chart(make_chart(), path)
        print_remark(f"drew {path}")
