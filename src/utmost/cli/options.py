"""What commands share: options, and how their text becomes levels and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel, PrivacyLoss
    from utmost.exact import Level

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
AlphaOption = Annotated[str | None, typer.Option(metavar="A", help="Privacy level α = e^-ε, in [0, 1]: 1/2.")]
EpsilonOption = Annotated[str | None, typer.Option(metavar="E", help="Privacy level ε >= 0, instead of α: 0.1.")]
PlotOption = Annotated[str | None, typer.Option(metavar="FILE", help="Draw a picture: .svg, .png or .html.")]
OutputOption = Annotated[str | None, typer.Option(metavar="FILE", help="Save the mechanism: .csv or .json.")]

CHART_ENDINGS = (".svg", ".png", ".html")
CHANNEL_ENDINGS = (".csv", ".json")


def required_level(alpha: str | None, epsilon: str | None) -> Level:
    """The level given by exactly one of the two options."""
    level = optional_level(alpha, epsilon)
    if level is None:
        raise InputError("--alpha or --epsilon must be given, got neither: say for instance --alpha 1/2")
    return level


def optional_level(alpha: str | None, epsilon: str | None) -> Level | None:
    """The level given by at most one of the two options."""
    from utmost import exact

    if alpha is not None and epsilon is not None:
        raise InputError("--alpha and --epsilon must not both be given, got both: keep one, alpha is e^-epsilon")
    if alpha is not None:
        return exact.alpha(alpha)
    return None if epsilon is None else exact.epsilon(epsilon)


def least_level(privacy_loss: PrivacyLoss) -> Level | None:
    """The least level of a channel where it can be written exactly."""
    from utmost import exact

    if privacy_loss.exponent is not None:
        return exact.epsilon(privacy_loss.exponent)
    return None if privacy_loss.alpha is None else exact.alpha(privacy_loss.alpha)


def check_ending(path: str | None, endings: tuple[str, ...], option: str) -> str | None:
    """A path whose ending says what to write; refused before any work is done.

    >>> check_ending("a.svg", (".svg", ".png"), "--plot")
    'a.svg'
    """
    if path is None:
        return None
    if Path(path).suffix.lower() not in endings:
        kinds = " or ".join([", ".join(endings[:-1])] * (len(endings) > 1) + [endings[-1]])
        raise InputError(f'{option} must be a file that ends in {kinds}, got "{Path(path).name[:60]}": rename it')
    if Path(path).is_dir():
        raise InputError(f"{option} must be a file, got a folder: cannot write {Path(path).name[:60]}")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"{option} must be in a directory that exists, got one that does not: make it first")
    check_replaceable(path, option)
    return path


def check_replaceable(path: str | Path, option: str) -> None:
    """Refuse to replace a file that utmost did not write as its ending says, or one that the command reads."""
    from utmost.exact.command_files import record_output
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
