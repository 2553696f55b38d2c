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


Round = Annotated[str | None, typer.Option("--round", metavar="L", help="Results are multiples of this step.")]
Sensitivity = Annotated[str, typer.Option(metavar="D", help="How far neighbouring answers are apart.")]
Numbers = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="binary16, binary32, binary64 or fixed:DIGITS.")
]
Values = Annotated[
    str | None, typer.Option("--generator", metavar="N", help="Uniform values z/N, z < N; else the format's usual.")
]
Ulps = Annotated[int, typer.Option(metavar="K", help="Units in the last place that log, cos, … may be wrong.")]


@app.command("laplace", epilog=EXAMPLES)
def laplace_command(
    range_: Annotated[str, typer.Option("--range", metavar="LOW,HIGH", help="Answers and results are kept within.")],
    rounding: Round = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    sensitivity: Sensitivity = "1",
    numbers: Numbers = "binary64",
    generator: Values = None,
    ulps: Ulps = 1,
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

    run = _implementation(numbers, generator, ulps)
    low, high = _pair(range_, "--range")
    width = _sensitivity(sensitivity, run, terms, bound, method)
    asked = _Asked(rational(sensitivity, "sensitivity"), (low, high), terms is not None)
    if target is not None:
        if rounding is not None or epsilon is not None or alpha is not None:
            raise InputError("--target chooses the level and the rounding itself, got one of them too: leave it out")
        task, made = laplace.plan_setting(target, width, low, high, run)
    else:
        task = laplace.laplace_setting(required_level(alpha, epsilon), width, low, high, _required(rounding))
        made = laplace.certify_laplace(task, run)
    advice = laplace_advice(task, run, made, (low, high))
    _show(asked, task, run, (made, laplace.inverse_slope(task)), advice, json)


@app.command("planar", epilog=EXAMPLES)
def planar_command(
    range_: Annotated[
        str, typer.Option("--range", metavar="LOW,HIGH[,LOW,HIGH]", help="Both coordinates, or x then y.")
    ],
    rounding: Round = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    sensitivity: Sensitivity = "1",
    numbers: Numbers = "binary64",
    generator: Values = None,
    ulps: Ulps = 1,
    json: JsonOption = False,
) -> None:
    """ε′ of planar Laplace noise drawn by radius and angle."""
    from utmost.exact import rational
    from utmost.precision import planar, planar_advice

    run = _implementation(numbers, generator, ulps)
    ends = range_.split(",")
    x, y = (",".join(ends[:2]), ",".join(ends[2:])) if len(ends) == 4 else (range_, range_)
    sides = _pair(x, "--range"), _pair(y, "--range")
    task = planar.planar_setting(required_level(alpha, epsilon), sensitivity, *sides, _required(rounding))
    made = planar.certify_planar(task, run)
    asked = _Asked(rational(sensitivity, "sensitivity"), (*sides[0], *sides[1]))
    _show(asked, task, run, (made, planar.inverse_slope(task)), planar_advice(task, run, made, sides), json)


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
    from utmost.precision.attacks import SUPPORT_TESTS, lattice_points
    from utmost.precision.float_samplers import lattice_laplace

    check_ending(plot, CHART_ENDINGS, "--plot")
    first, second = (_double(end, "--secrets") for end in _pair(secrets, "--secrets"))
    spread, known = _double(rational(scale, "--scale"), "--scale"), {"lattice": lattice_points}
    judges = known if sampler == "utmost" else SUPPORT_TESTS
    found = run_attack(_sampler(sampler), (first, second), spread, draws, judges)
    ours = run_attack(lambda a, b, c: list(lattice_laplace(a, b, c)), (first, second), spread, min(draws, 1000), known)
    attack_output.draw_attack(found, ours, sampler, plot)
    attack_output.attack_document(found, ours, sampler) if json else attack_output.print_attack(found, ours, sampler)


def _pair(text: str, name: str) -> tuple[Fraction, Fraction]:
    from utmost.exact import rational

    parts = text.split(",")
    if len(parts) != 2:
        raise InputError(f'{name} must be two numbers such as 0,100, got "{text[:40]}"')
    return rational(parts[0], name), rational(parts[1], name)


def _double(value: Fraction, name: str) -> float:
    if abs(value) >= 2**1000:
        raise InputError(f"{name} must be a number that a double can hold, got a larger one")
    return float(value)


def _required(rounding: str | None) -> str:
    if rounding is None:
        raise InputError("--round must be given, got none: say for instance --round 1/1024, or --target with an ε′")
    return rounding


def _implementation(numbers: str, generator: str | None, ulps: int) -> Implementation:
    from utmost.precision import implementation, uniform_generator
    from utmost.precision.number_formats import parse_format

    return implementation(parse_format(numbers), None if generator is None else uniform_generator(generator), ulps)


def _sensitivity(text: str, run: Implementation, terms: str | None, bound: str, method: str) -> Fraction:
    """Δ, or Δ + 2δ_f where the answer is a computed sum."""
    from utmost.precision import implemented_sensitivity, sum_error

    error = Fraction(0) if terms is None else sum_error(run.format, terms, bound, method)
    return implemented_sensitivity(text, error)


def _sampler(name: str) -> Any:
    from utmost.precision import attacks, float_samplers

    built_in = {"textbook": float_samplers.textbook_laplace, "utmost": float_samplers.lattice_laplace}
    if name in built_in:
        return lambda secret, scale, count: list(built_in[name](secret, scale, count))
    if ":" not in name:
        raise InputError(f'--sampler must be textbook, utmost or MODULE:FUNCTION, got "{name[:40]}"')
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # a sampler of one's own stands in a file next to one
    return attacks.load_sampler(name)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked for, before the sum's error is added to the sensitivity and the range's ends are moved."""

    sensitivity: Fraction
    ends: tuple[Fraction, ...]
    computed: bool = False  # is the answer a computed sum


def above(value: Fraction | None) -> float | str | None:
    """A bound as a document has it: 12 digits that, as written, are not below it; "inf" if there is no bound.

    >>> above(Fraction(1, 3)), above(None), above(Fraction(10) ** 400)
    (0.333333333334, 'inf', '1e+400')
    """
    from utmost.precision.bound_text import FLOATS, decimal_above

    if value is None:
        return "inf"
    text = decimal_above(value, 12)
    return float(text) if not value or FLOATS[0] < abs(value) < FLOATS[1] else text


def _short(value: Fraction) -> float | str | None:
    """An exact number as a document has it; one with a long name as a bound."""
    return str(value) if len(str(value)) <= 40 else above(value)


def _ends(task: LaplaceSetting | PlanarSetting) -> tuple[Fraction, ...]:
    low, high = task.low, task.high
    if isinstance(low, tuple) and isinstance(high, tuple):
        return low[0], high[0], low[1], high[1]
    return low, high  # type: ignore[return-value]


def _document(
    asked: _Asked, task: LaplaceSetting | PlanarSetting, run: Implementation, made: Certificate, slope: Fraction | None
) -> dict[str, Any]:
    near, level = made.closeness, task.level
    return {
        "epsilon": level.epsilon if level.exponent is None else str(level.exponent),
        "sensitivity": _short(asked.sensitivity),
        "sensitivity_implemented": above(task.sensitivity) if asked.computed else _short(asked.sensitivity),
        "range": [str(end) for end in asked.ends],
        "range_used": [str(end) for end in _ends(task)],
        "format": run.format.name,
        "generator": str(run.generator.count),
        "delta0": above(run.delta0),
        "delta_n": None if near is None else above(near.delta_n),
        "k": above(slope if near is None else near.k),
        "delta_t": above(None if near is None else near.delta_t),
        "R": above(made.robustness),
        "L": str(made.rounding),
        "diameter": above(made.diameter),
        "epsilon_prime": above(made.epsilon_prime),
        "epsilon_theorem": above(made.theorem),
        "epsilon_sharp": None if made.sharp is None else above(made.sharp),
    }


def _show(
    asked: _Asked,
    task: LaplaceSetting | PlanarSetting,
    run: Implementation,
    found: tuple[Certificate, Fraction | None],
    advice: str,
    json: bool,
) -> None:
    from utmost.cli import output
    from utmost.precision import sum_advice

    if asked.computed:
        advice += " " + sum_advice(asked.sensitivity, task.sensitivity)
    if json:
        output.print_json({**_document(asked, task, run, *found), "advice": advice})
        return
    output.print_facts(_given(asked, task) + _bounds(task, run, *found))
    output.print_text(advice)


def _given(asked: _Asked, task: LaplaceSetting | PlanarSetting) -> list[tuple[str, str]]:
    """What was asked, and what became of it."""
    from utmost.precision.bound_text import decimal_above

    level, used = task.level, decimal_above(task.sensitivity)
    words = [("ε", f"{level.epsilon if level.exponent is None else level.exponent} at distance {used}")]
    if asked.computed:
        extra = decimal_above(task.sensitivity - asked.sensitivity)
        change = f"{decimal_above(asked.sensitivity)} → {used} (2δ_f = {extra})"
        words.append(("Δ", f"sensitivity {change}: the noise's scale must be {used}/ε"))
    ends = ", ".join(map(str, asked.ends))
    if _ends(task) != asked.ends:
        ends += f", used as {', '.join(map(str, _ends(task)))}: the ends are moved out to multiples of L"
    return [*words, ("range", ends)]


def _bounds(
    task: LaplaceSetting | PlanarSetting, run: Implementation, made: Certificate, slope: Fraction | None
) -> list[tuple[str, str]]:
    """Every bound, rounded up, with its name."""
    from utmost.precision.bound_text import epsilon_text

    near, bits = made.closeness, run.generator.count.bit_length() - 1
    count = f"2^{bits}" if run.generator.count == 2**bits else str(run.generator.count)

    def least(bound: Fraction | None) -> str:
        return "∞ (none)" if bound is None else epsilon_text(task.level, bound)

    words = [
        ("δ₀", f"{_brief(run.delta0)}  the generator, {count} values, against a uniform number"),
        ("δ_n", f"{'-' if near is None else _brief(near.delta_n)}  rounding in {run.format.name}"),
        ("k", f"{_brief(near.k if near else slope)}  how much the noise stretches an error of the generator"),
        ("δ_t", f"{_brief(near.delta_t if near else None)}  = kδ₀ + δ_n, how far the noise is from the noise meant"),
        ("L", f"{made.rounding}  results are multiples of this"),
        ("R", f"{_brief(made.robustness)}  of a cell that δ_t can move across its edge"),
        ("ε′", f"{least(made.epsilon_prime)}  what this implementation promises"),
    ]
    if made.sharp is not None:
        words.append(("", f"{least(made.theorem)}  by the paper's theorem, put right"))
        words.append(("", f"{least(made.sharp)}  by the sharper bound for Laplace noise"))
    return words


def _brief(value: Fraction | None) -> str:
    from utmost.precision.bound_text import decimal_above

    return "∞ (none)" if value is None else decimal_above(value, 9)
