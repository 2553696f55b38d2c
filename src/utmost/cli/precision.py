"""`utmost precision`: what a machine's arithmetic does to ε, and the leaks, shown."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import (
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    PlotOption,
    check_ending,
    required_level,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.precision import Certificate, Implementation
    from utmost.precision.laplace import LaplaceSetting
    from utmost.precision.planar import PlanarSetting

EXAMPLES = (
    "Examples: utmost precision laplace --epsilon 1 --range 0,10 --round 1/1024;  "
    "utmost precision planar --epsilon 1 --range 0,10 --round 1/64;  "
    "utmost precision attack --sampler numpy.random:laplace"
)

app = typer.Typer(
    help="What finite precision costs; the leaks, shown.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """What finite precision costs; the leaks, shown."""
    if context.invoked_subcommand is None:
        print(context.get_help())


RoundOption = Annotated[str | None, typer.Option("--round", metavar="L", help="Results are multiples of this step.")]
SensitivityOption = Annotated[str, typer.Option(metavar="D", help="How far neighbouring answers are apart.")]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="binary16, binary32, binary64 or fixed:DIGITS.")
]
GeneratorOption = Annotated[
    str | None, typer.Option("--generator", metavar="N", help="Uniform values z/N, z < N; else the format's usual.")
]
UlpsOption = Annotated[int, typer.Option(metavar="K", help="Units in the last place that log, cos, … may be wrong.")]


@app.command("laplace", epilog=EXAMPLES)
def laplace_command(
    range_: Annotated[str, typer.Option("--range", metavar="LOW,HIGH", help="Answers and results are kept within.")],
    rounding: RoundOption = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    sensitivity: SensitivityOption = "1",
    numbers: FormatOption = "binary64",
    generator: GeneratorOption = None,
    ulps: UlpsOption = 1,
    terms: Annotated[str | None, typer.Option(metavar="M", help="The answer is a computed sum of M terms.")] = None,
    bound: Annotated[str, typer.Option(metavar="B", help="Each of at most this magnitude.")] = "1",
    method: Annotated[str, typer.Option(metavar="HOW", help="naive, pairwise or fsum.")] = "naive",
    target: Annotated[
        str | None,
        typer.Option(metavar="E", help="Choose ε and L so that ε′ is at most this; without --epsilon, --round."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """ε′ of Laplace noise drawn by inverting its distribution."""
    from utmost.exact import rational
    from utmost.precision import laplace, laplace_advice

    implementation = _parse_implementation(numbers, generator, ulps)
    low, high = _parse_pair(range_, "--range")
    implemented_sensitivity = _implemented_sensitivity(sensitivity, implementation, terms, bound, method)
    request = _Request(rational(sensitivity, "sensitivity"), (low, high), terms is not None)
    if target is not None:
        if rounding is not None or epsilon is not None or alpha is not None:
            raise InputError("--target chooses the level and the rounding itself, got one of them too: leave it out")
        setting, certificate = laplace.plan_setting(target, implemented_sensitivity, low, high, implementation)
    else:
        setting = laplace.laplace_setting(
            required_level(alpha, epsilon), implemented_sensitivity, low, high, _require_rounding(rounding)
        )
        certificate = laplace.certify_laplace(setting, implementation)
    advice = laplace_advice(setting, implementation, certificate, (low, high))
    _print_certificate(request, setting, implementation, (certificate, laplace.inverse_slope(setting)), advice, json)


@app.command("planar", epilog=EXAMPLES)
def planar_command(
    range_: Annotated[
        str, typer.Option("--range", metavar="LOW,HIGH[,LOW,HIGH]", help="Both coordinates, or x then y.")
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
    """ε′ of planar Laplace noise drawn by radius and angle."""
    from utmost.exact import rational
    from utmost.precision import planar, planar_advice

    implementation = _parse_implementation(numbers, generator, ulps)
    limits = range_.split(",")
    x, y = (",".join(limits[:2]), ",".join(limits[2:])) if len(limits) == 4 else (range_, range_)
    sides = _parse_pair(x, "--range"), _parse_pair(y, "--range")
    setting = planar.planar_setting(required_level(alpha, epsilon), sensitivity, *sides, _require_rounding(rounding))
    certificate = planar.certify_planar(setting, implementation)
    request = _Request(rational(sensitivity, "sensitivity"), (*sides[0], *sides[1]))
    _print_certificate(
        request,
        setting,
        implementation,
        (certificate, planar.inverse_slope(setting)),
        planar_advice(setting, implementation, certificate, sides),
        json,
    )


@app.command("attack", epilog=EXAMPLES)
def attack_command(
    sampler: Annotated[
        str, typer.Option(metavar="SAMPLER", help="textbook, utmost, or MODULE:FUNCTION called (secret, scale, count).")
    ] = "textbook",
    secrets: Annotated[str, typer.Option(metavar="A,B", help="The two answers to tell apart.")] = "0,1",
    scale: Annotated[str, typer.Option(metavar="B", help="Scale of the Laplace noise.")] = "1",
    draws: Annotated[int, typer.Option(metavar="K", help="Results of each secret.")] = 1000,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Which results of a float sampler give the secret away."""
    from utmost.cli import attack_output
    from utmost.exact import rational
    from utmost.precision import run_attack
    from utmost.precision.attacks import SUPPORT_TESTS, is_lattice_point
    from utmost.precision.unsafe_samplers import lattice_laplace

    check_ending(plot, CHART_ENDINGS, "--plot")
    first, second = (_to_double(end, "--secrets") for end in _parse_pair(secrets, "--secrets"))
    noise_scale, lattice_test = _to_double(rational(scale, "--scale"), "--scale"), {"lattice": is_lattice_point}
    support_tests = lattice_test if sampler == "utmost" else SUPPORT_TESTS
    attack = run_attack(_load_sampler(sampler), (first, second), noise_scale, draws, support_tests)
    utmost_attack = run_attack(
        lambda a, b, c: list(lattice_laplace(a, b, c)), (first, second), noise_scale, min(draws, 1000), lattice_test
    )
    attack_output.draw_attack(attack, utmost_attack, sampler, plot)
    print_report = attack_output.print_attack_json if json else attack_output.print_attack
    print_report(attack, utmost_attack, sampler)


def _parse_pair(text: str, name: str) -> tuple[Fraction, Fraction]:
    from utmost.exact import rational

    numbers = text.split(",")
    if len(numbers) != 2:
        raise InputError(f'{name} must be two numbers such as 0,100, got "{text[:40]}"')
    return rational(numbers[0], name), rational(numbers[1], name)


def _to_double(value: Fraction, name: str) -> float:
    if abs(value) >= 2**1000:
        raise InputError(f"{name} must be a number that a double can hold, got a larger one")
    return float(value)


def _require_rounding(rounding: str | None) -> str:
    if rounding is None:
        raise InputError("--round must be given, got none: say for instance --round 1/1024, or --target with an ε′")
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
    from utmost.precision import attacks, unsafe_samplers

    built_in = {"textbook": unsafe_samplers.textbook_laplace, "utmost": unsafe_samplers.lattice_laplace}
    if name in built_in:
        return lambda secret, scale, count: list(built_in[name](secret, scale, count))
    if ":" not in name:
        raise InputError(f'--sampler must be textbook, utmost or MODULE:FUNCTION, got "{name[:40]}"')
    if (directory := str(Path.cwd())) not in sys.path:
        sys.path.append(directory)  # the user's own sampler is a file in this directory
    return attacks.load_sampler(name)


@dataclass(frozen=True, slots=True)
class _Request:
    """The options as given, before the sum's error is added to the sensitivity and the range's ends are moved."""

    sensitivity: Fraction
    range_ends: tuple[Fraction, ...]
    computed: bool = False  # is the answer a computed sum


def json_upper_bound(value: Fraction | None) -> float | str | None:
    """A bound as a document has it: 12 digits that, as written, are not below it; "inf" if there is no bound.

    >>> json_upper_bound(Fraction(1, 3)), json_upper_bound(None), json_upper_bound(Fraction(10) ** 400)
    (0.333333333334, 'inf', '1e+400')
    """
    from utmost.exact import json_above

    return json_above(value)


def _json_number(value: Fraction) -> float | str | None:
    """An exact number as a document has it; one with many digits as a bound."""
    return str(value) if len(str(value)) <= 40 else json_upper_bound(value)


def _range_ends(setting: LaplaceSetting | PlanarSetting) -> tuple[Fraction, ...]:
    low, high = setting.low, setting.high
    if isinstance(low, tuple) and isinstance(high, tuple):
        return low[0], high[0], low[1], high[1]
    return low, high  # type: ignore[return-value]


def _certificate_document(
    request: _Request,
    setting: LaplaceSetting | PlanarSetting,
    implementation: Implementation,
    certificate: Certificate,
    slope: Fraction | None,
) -> dict[str, Any]:
    closeness, level = certificate.closeness, setting.level
    return {
        "epsilon": level.epsilon if level.exponent is None else str(level.exponent),
        "sensitivity": _json_number(request.sensitivity),
        "sensitivity_implemented": json_upper_bound(setting.sensitivity)
        if request.computed
        else _json_number(request.sensitivity),
        "range": [str(end) for end in request.range_ends],
        "range_used": [str(end) for end in _range_ends(setting)],
        "format": implementation.format.name,
        "generator": str(implementation.generator.count),
        "delta0": json_upper_bound(implementation.delta0),
        "delta_n": None if closeness is None else json_upper_bound(closeness.delta_n),
        "k": json_upper_bound(slope if closeness is None else closeness.k),
        "delta_t": json_upper_bound(None if closeness is None else closeness.delta_t),
        "R": json_upper_bound(certificate.robustness),
        "L": str(certificate.rounding),
        "diameter": json_upper_bound(certificate.diameter),
        "epsilon_prime": json_upper_bound(certificate.epsilon_prime),
        "epsilon_theorem": json_upper_bound(certificate.theorem),
        "epsilon_sharp": None if certificate.sharp is None else json_upper_bound(certificate.sharp),
    }


def _print_certificate(
    request: _Request,
    setting: LaplaceSetting | PlanarSetting,
    implementation: Implementation,
    certificate_and_slope: tuple[Certificate, Fraction | None],
    advice: str,
    json: bool,
) -> None:
    from utmost.cli import output
    from utmost.precision import sum_advice

    if request.computed:
        advice += " " + sum_advice(request.sensitivity, setting.sensitivity)
    if json:
        output.print_json(
            {**_certificate_document(request, setting, implementation, *certificate_and_slope), "advice": advice}
        )
        return
    output.print_facts(_request_facts(request, setting) + _bound_facts(setting, implementation, *certificate_and_slope))
    output.print_text(advice)


def _request_facts(request: _Request, setting: LaplaceSetting | PlanarSetting) -> list[tuple[str, str]]:
    """The options as given, and the sensitivity and range used for them."""
    from utmost.exact import decimal_above

    level, sensitivity_text = setting.level, decimal_above(setting.sensitivity)
    facts = [("ε", f"{level.epsilon if level.exponent is None else level.exponent} at distance {sensitivity_text}")]
    if request.computed:
        extra = decimal_above(setting.sensitivity - request.sensitivity)
        change = f"{decimal_above(request.sensitivity)} → {sensitivity_text} (2δ_f = {extra})"
        facts.append(("Δ", f"sensitivity {change}: the noise's scale must be {sensitivity_text}/ε"))
    range_text = ", ".join(map(str, request.range_ends))
    if _range_ends(setting) != request.range_ends:
        range_text += f", used as {', '.join(map(str, _range_ends(setting)))}: the ends are moved out to multiples of L"
    return [*facts, ("range", range_text)]


def _bound_facts(
    setting: LaplaceSetting | PlanarSetting,
    implementation: Implementation,
    certificate: Certificate,
    slope: Fraction | None,
) -> list[tuple[str, str]]:
    """Every bound, rounded up, with its name."""
    from utmost.precision.bound_text import epsilon_text

    closeness, bits = certificate.closeness, implementation.generator.count.bit_length() - 1
    count = f"2^{bits}" if implementation.generator.count == 2**bits else str(implementation.generator.count)

    def bound_text(bound: Fraction | None) -> str:
        return "∞ (none)" if bound is None else epsilon_text(setting.level, bound)

    delta_n = "-" if closeness is None else _format_bound(closeness.delta_n)
    k = _format_bound(closeness.k if closeness else slope)
    delta_t = _format_bound(closeness.delta_t if closeness else None)
    facts = [
        ("δ₀", f"{_format_bound(implementation.delta0)}  the generator, {count} values, against a uniform number"),
        ("δ_n", f"{delta_n}  rounding in {implementation.format.name}"),
        ("k", f"{k}  how much the noise stretches an error of the generator"),
        ("δ_t", f"{delta_t}  = kδ₀ + δ_n, how far the noise is from the noise meant"),
        ("L", f"{certificate.rounding}  results are multiples of this"),
        ("R", f"{_format_bound(certificate.robustness)}  of a cell that δ_t can move across its edge"),
        ("ε′", f"{bound_text(certificate.epsilon_prime)}  what this implementation promises"),
    ]
    if certificate.sharp is not None:
        facts.append(("", f"{bound_text(certificate.theorem)}  by the paper's theorem, put right"))
        facts.append(("", f"{bound_text(certificate.sharp)}  by the sharper bound for Laplace noise"))
    return facts


def _format_bound(value: Fraction | None) -> str:
    from utmost.exact import decimal_above

    return "∞ (none)" if value is None else decimal_above(value, 9)
