"""`utmost precision`: measure the privacy that floating-point noise loses."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import (
    CHART_ENDINGS,
    AlphaOption,
    CommandGroup,
    EpsilonOption,
    JsonOption,
    PlotOption,
    check_ending,
    required_level,
    save_plot,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.precision import Implementation

EXAMPLES = (
    "Examples: utmost precision laplace --epsilon 1 --range 0,10 --round 1/1024;  "
    "utmost precision planar --epsilon 1 --range 0,10 --round 1/64;  "
    "utmost precision attack --sampler numpy.random:laplace"
)

app = typer.Typer(
    cls=CommandGroup,
    help="Measure the privacy that floating-point noise loses.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Measure the privacy that floating-point noise loses."""
    if context.invoked_subcommand is None:
        print(context.get_help())


RoundOption = Annotated[
    str | None, typer.Option("--round", metavar="L", help="Results are rounded to multiples of this step.")
]
SensitivityOption = Annotated[str, typer.Option(metavar="D", help="Largest distance of neighbouring answers.")]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="binary16, binary32, binary64 or fixed:DIGITS.")
]
GeneratorOption = Annotated[
    str | None,
    typer.Option(
        "--generator", metavar="N", help="Number of uniform values z/N; the usual one of the format if left out."
    ),
]
UlpsOption = Annotated[int, typer.Option(metavar="K", help="Error of log and cos in units of the last place.")]


@app.command("laplace", epilog=EXAMPLES)
def laplace_command(
    range_: Annotated[str, typer.Option("--range", metavar="LOW,HIGH", help="Range of answers and results.")],
    rounding: RoundOption = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    sensitivity: SensitivityOption = "1",
    numbers: FormatOption = "binary64",
    generator: GeneratorOption = None,
    ulps: UlpsOption = 1,
    terms: Annotated[
        str | None, typer.Option(metavar="M", help="Number of terms, if the answer is a sum in floats.")
    ] = None,
    bound: Annotated[str, typer.Option(metavar="B", help="Largest magnitude of a term.")] = "1",
    method: Annotated[str, typer.Option(metavar="HOW", help="naive, pairwise or fsum.")] = "naive",
    target: Annotated[
        str | None,
        typer.Option(metavar="E", help="Target ε′: chooses --epsilon and --round."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compute ε′ of Laplace noise drawn by inversion in floats."""
    from utmost.cli.output import print_report
    from utmost.exact import rational
    from utmost.precision import laplace, laplace_advice
    from utmost.reports.precision import PrecisionResult, describe

    implementation = _parse_implementation(numbers, generator, ulps)
    low, high = _parse_pair(range_, "--range")
    implemented_sensitivity = _implemented_sensitivity(sensitivity, implementation, terms, bound, method)
    if target is not None:
        if rounding is not None or epsilon is not None or alpha is not None:
            raise InputError(
                "--target chooses the level and the rounding itself, got one of them too", hint="leave it out"
            )
        setting, guarantee = laplace.plan_setting(target, implemented_sensitivity, low, high, implementation)
    else:
        setting = laplace.laplace_setting(
            required_level(alpha, epsilon), implemented_sensitivity, low, high, _require_rounding(rounding)
        )
        guarantee = laplace.certify_laplace(setting, implementation)
    result = PrecisionResult(
        setting,
        implementation,
        guarantee,
        laplace.inverse_slope(setting),
        laplace_advice(setting, implementation, guarantee, (low, high)),
        rational(sensitivity, "sensitivity"),
        (low, high),
        is_computed_sum=terms is not None,
    )
    print_report(describe(result), json)


@app.command("planar", epilog=EXAMPLES)
def planar_command(
    range_: Annotated[
        str, typer.Option("--range", metavar="LOW,HIGH[,LOW,HIGH]", help="Range of both coordinates, or of x and y.")
    ],
    rounding: RoundOption = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    sensitivity: SensitivityOption = "1",
    numbers: FormatOption = "binary64",
    generator: GeneratorOption = None,
    ulps: UlpsOption = 1,
    json: JsonOption = False,
) -> None:
    """Compute ε′ of planar Laplace noise drawn in floats."""
    from utmost.cli.output import print_report
    from utmost.exact import rational
    from utmost.precision import planar, planar_advice
    from utmost.reports.precision import PrecisionResult, describe

    implementation = _parse_implementation(numbers, generator, ulps)
    limits = range_.split(",")
    x, y = (",".join(limits[:2]), ",".join(limits[2:])) if len(limits) == 4 else (range_, range_)
    sides = _parse_pair(x, "--range"), _parse_pair(y, "--range")
    setting = planar.planar_setting(required_level(alpha, epsilon), sensitivity, *sides, _require_rounding(rounding))
    guarantee = planar.certify_planar(setting, implementation)
    result = PrecisionResult(
        setting,
        implementation,
        guarantee,
        planar.inverse_slope(setting),
        planar_advice(setting, implementation, guarantee, sides),
        rational(sensitivity, "sensitivity"),
        (*sides[0], *sides[1]),
    )
    print_report(describe(result), json)


@app.command("attack", epilog=EXAMPLES)
def attack_command(
    sampler: Annotated[
        str, typer.Option(metavar="SAMPLER", help="textbook, utmost, or MODULE:FUNCTION(secret, scale, count).")
    ] = "textbook",
    secrets: Annotated[str, typer.Option(metavar="A,B", help="Two answers to tell apart.")] = "0,1",
    scale: Annotated[str, typer.Option(metavar="B", help="Scale of the Laplace noise.")] = "1",
    draws: Annotated[int, typer.Option(metavar="K", help="Draws for each secret.")] = 1000,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Find results of a float sampler that reveal the secret."""
    from utmost.cli.output import print_report
    from utmost.exact import rational
    from utmost.precision import run_attack
    from utmost.precision.attacks import SUPPORT_TESTS, is_lattice_point, lattice_laplace
    from utmost.reports.precision import attack_figure, describe_attack

    check_ending(plot, CHART_ENDINGS, "--plot")
    first, second = (_to_double(end, "--secrets") for end in _parse_pair(secrets, "--secrets"))
    noise_scale, lattice_test = _to_double(rational(scale, "--scale"), "--scale"), {"lattice": is_lattice_point}
    support_tests = lattice_test if sampler == "utmost" else SUPPORT_TESTS
    attack = run_attack(_load_sampler(sampler), (first, second), noise_scale, draws, support_tests)
    utmost_attack = run_attack(
        lambda a, b, c: list(lattice_laplace(a, b, c)), (first, second), noise_scale, min(draws, 1000), lattice_test
    )
    save_plot(plot, lambda: attack_figure(attack, utmost_attack, sampler))
    print_report(describe_attack(attack, utmost_attack, sampler), json)


def _parse_pair(text: str, name: str) -> tuple[Fraction, Fraction]:
    from utmost.exact import rational

    numbers = text.split(",")
    if len(numbers) != 2:
        raise InputError(f'{name} must be two numbers such as 0,100, got "{text[:40]}"', name)
    return rational(numbers[0], name), rational(numbers[1], name)


def _to_double(value: Fraction, name: str) -> float:
    if abs(value) >= 2**1000:
        raise InputError(f"{name} must be a number that a double can hold, got a larger one", name)
    return float(value)


def _require_rounding(rounding: str | None) -> str:
    if rounding is None:
        raise InputError(
            "--round must be given, got none", "round", "say for instance --round 1/1024, or --target with an ε′"
        )
    return rounding


def _parse_implementation(numbers: str, generator: str | None, ulps: int) -> Implementation:
    from utmost.precision import implementation, uniform_generator
    from utmost.precision.number_formats import parse_format

    return implementation(parse_format(numbers), None if generator is None else uniform_generator(generator), ulps)


def _implemented_sensitivity(
    text: str, implementation: Implementation, terms: str | None, bound: str, method: str
) -> Fraction:
    """Δ, or Δ + 2δ_f where the answer is a computed sum."""
    from utmost.precision import implemented_sensitivity, sum_error

    error = Fraction(0) if terms is None else sum_error(implementation.format, terms, bound, method)
    return implemented_sensitivity(text, error)


def _load_sampler(name: str) -> Any:
    from utmost.precision import attacks

    built_in = {"textbook": attacks.textbook_laplace, "utmost": attacks.lattice_laplace}
    if name in built_in:
        return lambda secret, scale, count: list(built_in[name](secret, scale, count))
    if ":" not in name:
        raise InputError(f'--sampler must be textbook, utmost or MODULE:FUNCTION, got "{name[:40]}"', "sampler")
    if (directory := str(Path.cwd())) not in sys.path:
        sys.path.append(directory)  # the user's own sampler is a file in this directory
    return attacks.load_sampler(name)
