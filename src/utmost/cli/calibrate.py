"""`utmost calibrate`: the least ε that makes an answer as good as asked, before anything is spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from utmost.cli.options import CommandGroup, FamilyCommand, JsonOption, LossOption, PriorOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.publish.calibration_search import Calibration
    from utmost.queries.calibration_form import CalibrationExample, CalibrationOption
    from utmost.queries.query import Query

EXAMPLES = (
    "Examples: utmost calibrate count --error 5 --confidence 0.95;  "
    "utmost calibrate count --size 944 --prior binomial:0.45 --loss absolute --expected-loss 5;  "
    "utmost calibrate mean --low 18 --high 91 --step 1 --rows 944 --error 1;  "
    "utmost calibrate survey.toml --epsilon 1"
)


class KindGroup(CommandGroup):
    """A group that has a command for each kind of query, made when one is asked for.

    The registry of kinds loads the packages that compute, so `utmost --help` must not load it.
    """

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """The commands written here, and those of the kinds."""
        return {**self._commands, **kind_commands()}

    @commands.setter
    def commands(self, commands: MutableMapping[str, Any]) -> None:
        self._commands = commands

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named; a file that ends in .toml is a plan, and stands for `plan FILE`."""
        is_plan = bool(args) and args[0].lower().endswith(".toml")
        return super().resolve_command(ctx, ["plan", *args] if is_plan else args)


app = typer.Typer(
    cls=KindGroup,
    help="Find the least ε that reaches an accuracy.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Find the least ε that reaches an accuracy."""
    if context.invoked_subcommand is None:
        print(context.get_help())


ConfidenceOption = Annotated[
    str, typer.Option("--confidence", metavar="P", help="Probability that the error is at most that.")
]
KeptOption = Annotated[str, typer.Option(metavar="K", help="Rows kept of each person; 1 if each row is a unit.")]
NeighboursOption = Annotated[str, typer.Option("--neighbours", metavar="HOW", help="replace or add-remove.")]
NoiseOption = Annotated[
    str, typer.Option("--noise", metavar="NOISE", help="geometric, canonical, or gaussian: the least ρ.")
]
DeltaOption = Annotated[
    str | None,
    typer.Option("--delta", metavar="D", help="Of canonical noise, or that ρ of Gaussian noise is told at."),
]
DigitsOption = Annotated[int, typer.Option(metavar="D", help="Significant digits of ε.")]


@app.command("count", cls=FamilyCommand, epilog=EXAMPLES)
def count_command(
    error: Annotated[str | None, typer.Option(metavar="E", help="Largest error of the count.")] = None,
    confidence: ConfidenceOption = "0.95",
    sensitivity: Annotated[str, typer.Option(metavar="K", help="Most that one unit moves the count.")] = "1",
    expected: Annotated[
        str | None,
        typer.Option("--expected-loss", metavar="X", help="Target expected loss of an analyst, instead of --error."),
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="N", help="Largest possible count.")] = None,
    prior: PriorOption = "uniform",
    loss: LossOption = "absolute",
    noise: NoiseOption = "geometric",
    delta: DeltaOption = None,
    digits: DigitsOption = 6,
    json: JsonOption = False,
) -> None:
    """Find the least ε for a count.

    The target is an error at a confidence, or the expected loss of an analyst with a prior.
    """
    from utmost.publish import calibration
    from utmost.queries import Count

    if (error is None) == (expected is None):
        raise InputError(
            "--error or --expected-loss must be given, one of the two", "error", "say for instance --error 5"
        )
    if expected is None:
        result = calibration.calibrate_error(
            Count("some"),
            calibration.privacy_setting(kept=sensitivity),
            error,
            confidence,
            digits=digits,
            noise=noise,
            delta=delta,
        )
        request = {"kind": "count", "error": error, "sensitivity": sensitivity, **_noise_request(noise, delta)}
        return _print_calibration(result, "a count", request, json)
    if noise != "geometric" or delta is not None:
        raise InputError("--noise and --delta must be given with --error", "noise", "leave them out")
    if size is None:
        raise InputError("--size must be given with --expected-loss", "size", "say the count's upper end")
    result = calibration.calibrate_loss(size, expected, prior, loss, sensitivity=sensitivity, digits=digits)
    request = {"kind": "count", "size": size, "prior": prior, "loss_function": loss, "sensitivity": sensitivity}
    return _print_calibration(result, f"a reader of a count up to {size}", request, json)


@app.command("plan", epilog=EXAMPLES)
def plan_command(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The plan: survey.toml.", show_default=False)],
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="Total ε of all its queries: 1.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="Not with geometric noise: the δ beside ε.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="R", help="With Gaussian noise: total ρ, instead of both.")] = None,
    json: JsonOption = False,
) -> None:
    """Propose how to split ε over the queries of a plan.

    Equally, in the plan's proportions, and so that relative errors are balanced. Spends nothing; `utmost calibrate
    PLAN.toml` is short for it.
    """
    from utmost.cli.output import print_report
    from utmost.exact import rational
    from utmost.publish.plan_splits import propose_splits
    from utmost.reports.plan_splits import describe

    if epsilon is None and rho is None:
        raise InputError("--epsilon is missing", "epsilon", "say for instance --epsilon 1")
    amounts = {"--epsilon": epsilon, "--delta": delta, "--rho": rho}
    total, *others = (None if text is None else rational(text, name) for name, text in amounts.items())
    print_report(describe(propose_splits(plan, total, delta=others[0], rho=others[1])), json)


def kind_commands() -> MutableMapping[str, Any]:
    """The commands of the kinds of queries that say how they are calibrated, by name."""
    from utmost.queries.registry import QUERY_KINDS

    kinds = typer.Typer(cls=TyperGroup, rich_markup_mode=None)
    kinds.callback()(lambda: None)
    for kind in QUERY_KINDS.values():
        if kind.calibration is not None:
            kinds.command(kind.kind, epilog=EXAMPLES, help=kind.calibration.help)(_kind_command(kind))
    return typer.main.get_group(kinds).commands


def _kind_command(kind: type[Query]) -> Callable[..., None]:
    """The command of one kind: its own options, and those that all kinds have."""
    form = kind.calibration
    assert form is not None
    own_options = [_parameter(option) for option in form.options]
    error_option = Annotated[str, typer.Option(metavar=form.error_metavar, help=form.error_help)]
    shared_options = [
        Parameter("error", Parameter.KEYWORD_ONLY, annotation=error_option),
        Parameter("confidence", Parameter.KEYWORD_ONLY, default="0.95", annotation=ConfidenceOption),
        Parameter("kept", Parameter.KEYWORD_ONLY, default="1", annotation=KeptOption),
        Parameter("neighbours", Parameter.KEYWORD_ONLY, default="replace", annotation=NeighboursOption),
        Parameter("noise", Parameter.KEYWORD_ONLY, default="geometric", annotation=NoiseOption),
        Parameter("delta", Parameter.KEYWORD_ONLY, default=None, annotation=DeltaOption),
        Parameter("digits", Parameter.KEYWORD_ONLY, default=6, annotation=DigitsOption),
        Parameter("json", Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption),
    ]

    def command(**options: Any) -> None:
        _calibrate_kind(kind, kind.calibration_example(options), options)

    command.__signature__ = Signature(own_options + shared_options)  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in own_options + shared_options}
    return command


def _parameter(option: CalibrationOption) -> Parameter:
    names = [f"--{option.name}"] if option.type is bool else []
    option_type: Any = option.type
    annotation = Annotated[option_type, typer.Option(*names, metavar=option.metavar, help=option.help)]
    default = Parameter.empty if option.default is None else option.default
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _calibrate_kind(kind: type[Query], example: CalibrationExample, options: Mapping[str, Any]) -> None:
    from utmost.publish import calibration

    kept, neighbours, error = options["kept"], options["neighbours"], options["error"]
    result = calibration.calibrate_error(
        example.query,
        calibration.privacy_setting(neighbours, kept, example.units),
        error,
        options["confidence"],
        digits=options["digits"],
        together=example.together,
        rows=example.rows,
        noise=options["noise"],
        delta=options["delta"],
    )
    request = {"kind": kind.kind, "error": error, **example.asked, "kept": kept, "neighbours": neighbours}
    request |= _noise_request(options["noise"], options["delta"])
    _print_calibration(result, example.subject, request, options["json"])


def _noise_request(noise: str, delta: str | None) -> dict[str, Any]:
    """What was asked of the noise, where it is not geometric."""
    return {} if noise == "geometric" else {"noise": noise, "delta": delta}


def _print_calibration(calibration: Calibration, subject: str, request: dict[str, Any], json: bool) -> None:
    from utmost.cli.output import print_report
    from utmost.reports.calibration import describe

    print_report(describe(calibration, subject, request), json)
