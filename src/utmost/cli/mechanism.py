"""`utmost mechanism`: show, save, plot or sample a mechanism."""

from __future__ import annotations

from functools import cache
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from utmost.cli.options import (
    CHANNEL_ENDINGS,
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    OutputOption,
    PlotOption,
    check_ending,
    required_level,
    save_channel,
    save_plot,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.mechanisms.mechanism_kind import BuiltMechanism, Option

EXAMPLES = (
    "Examples: utmost mechanism geometric --size 5 --alpha 1/2;  "
    "utmost mechanism geometric --size 20 --epsilon 0.1 --plot heat.svg --output heat.csv;  "
    "utmost mechanism laplace --range 0,100 --granularity 1/2 --sensitivity 1 --epsilon 1 --sample 3 --input 41.5;  "
    "utmost mechanism planar --step 1/10 --epsilon 2 --sample 3 --input 0.3,1.7;  "
    "utmost mechanism saved.csv --sample 10 --input yes"
)
MAX_SAMPLES = 10**7
SAMPLES_PER_CHUNK = 1 << 18  # draws between two lines of progress
OptionalText = str | None


class MechanismCommand(TyperCommand):
    """The command with the options of all mechanisms. They are looked up when it is parsed: they load the mathematics.

    Their values come to `command` in `context.obj`, by the names of the options.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """The name, the options of the mechanisms, then those of every mechanism."""
        from utmost.mechanisms import registry

        name, *common = super().get_params(ctx)
        name.help = f"{', '.join(registry.names())}, or a channel: .csv or .json."  # type: ignore[attr-defined]
        return [name, *_parsed_options(tuple(registry.options())), *common]

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        from utmost.mechanisms import registry

        values = {option.name: ctx.params.pop(_parameter_name(option)) for option in registry.options()}
        given = {name: value for name, value in values.items() if value is not None and value is not False}
        ctx.obj = {name: "yes" if value is True else value for name, value in given.items()}
        return super().invoke(ctx)


COMMAND_CLASS = MechanismCommand


@cache
def _parsed_options(options: tuple[Option, ...]) -> list[Any]:
    """Options as the parser has them: those of a command with one parameter for each."""

    def function() -> None: ...

    parameters = [
        Parameter(_parameter_name(option), Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for option in options
        for default, annotation in [_option_annotation(option)]
    ]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False)
    app.command()(function)
    return typer.main.get_command(app).params


def _option_annotation(option: Option) -> tuple[Any, Any]:
    """Default and annotation of a parameter."""
    if option.placeholder is None:
        return False, Annotated[bool, typer.Option(f"--{option.name}", help=option.help)]
    return None, Annotated[OptionalText, typer.Option(f"--{option.name}", metavar=option.placeholder, help=option.help)]


def _parameter_name(option: Option) -> str:
    return f"mechanism_{option.name}"


def command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A mechanism, or a channel: .csv or .json.")],
    space: Annotated[OptionalText, typer.Option(metavar="SPACE", help="Distances of the inputs of a file.")] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    sample: Annotated[OptionalText, typer.Option(metavar="K", help="Draw K exact samples for --input.")] = None,
    point: Annotated[
        OptionalText, typer.Option("--input", metavar="X", help="True value: 3, or 0.3,1.7 in a plane.")
    ] = None,
    plot: PlotOption = None,
    output: OutputOption = None,
    json: JsonOption = False,
) -> None:
    """Show, save, plot or sample a mechanism.

    Its ε is recomputed from its exact entries.
    """
    from utmost.cli.output import print_report
    from utmost.reports import mechanism as report

    check_ending(plot, CHART_ENDINGS, "--plot")
    check_ending(output, CHANNEL_ENDINGS, "--output")
    count = _parse_count(sample, point, plot or output)
    mechanism = _choose_mechanism(name, context.obj, space, alpha, epsilon)
    if count:
        if epsilon is not None and mechanism.level is not None and mechanism.level.alpha == 1:
            raise InputError(
                "epsilon must be > 0 to draw, got 0: for answers that tell nothing say --alpha 1", "epsilon"
            )
        _print_samples(mechanism, count, point, json)
        return
    channel = mechanism.channel()
    privacy_loss = mechanism.privacy_loss(channel)
    save_channel(channel, output)
    save_plot(plot, lambda: report.figure(mechanism, channel))
    print_report(report.describe(mechanism, channel, privacy_loss), json)


def _choose_mechanism(
    name: str, options: dict[str, str], space: str | None, alpha: str | None, epsilon: str | None
) -> BuiltMechanism:
    """The mechanism by its name, or in a file, which is the whole mechanism."""
    from utmost.mechanisms import registry
    from utmost.mechanisms.channel_file import read_mechanism

    if name.lower().endswith(CHANNEL_ENDINGS):
        levels = {"alpha": alpha, "epsilon": epsilon}
        for option in [*options, *(key for key, value in levels.items() if value is not None)]:
            raise InputError(f"--{option} must not be given for {name[-40:]}: the file is the whole mechanism")
        return read_mechanism(name, space)
    kind = registry.find(name)
    registry.check_options(kind, options if space is None else {**options, "space": space})
    return kind.build(options, required_level(alpha, epsilon))


def _parse_count(sample: str | None, point: str | None, file: str | None) -> int:
    """How many samples; 0 for none."""
    from utmost.exact import integer

    if sample is None:
        if point is not None:
            raise InputError("--input must come with --sample, got none", "input", "say for instance --sample 10")
        return 0
    if file is not None:
        raise InputError(
            "--sample must come without --plot and --output", "sample", "save the mechanism in a run of its own"
        )
    count = integer(sample, "--sample")
    if not 1 <= count <= MAX_SAMPLES:
        count_text = count if abs(count) < 10**15 else "more"
        raise InputError(
            f"--sample must be from 1 to {MAX_SAMPLES}, got {count_text}", "sample", "draw the rest in another run"
        )
    return count


def _print_samples(mechanism: BuiltMechanism, count: int, point: str | None, json: bool) -> None:
    """Draw, then print all at once: a run that fails has printed no sample."""
    from utmost.cli import output
    from utmost.reports.mechanism import describe_samples

    if point is None:
        raise InputError("--input must be given to draw samples, got none: it is the true value", "input")
    x = mechanism.parse_input(point)
    samples: list[Any] = []
    while len(samples) < count:
        samples += mechanism.draw(x, min(SAMPLES_PER_CHUNK, count - len(samples)))
        if count > SAMPLES_PER_CHUNK:
            output.print_remark(f"drawn {len(samples)} of {count}")
    output.print_report(describe_samples(mechanism, samples), json)
