"""`utmost loss`: what a mechanism over an interval costs a consumer with a density, certified from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import (
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    PlotOption,
    check_ending,
    optional_level,
    required_level,
)

if TYPE_CHECKING:
    from utmost.continuous.bounds.loss_bounds import LossBounds, Remap
    from utmost.continuous.densities.density import Density
    from utmost.continuous.interval import Interval
    from utmost.continuous.losses import ContinuousLoss
    from utmost.continuous.mechanisms import Guarantee, Mechanism
    from utmost.exact import Level, Number

EXAMPLES = (
    "Examples: utmost loss laplace --interval 0,1 --epsilon 2 --prior beta:2,5;  "
    "utmost loss geometric --steps 20 --interval 0,1 --epsilon 2 --loss squared --width 1e-6 --json;  "
    "utmost loss compare --interval 0,1 --epsilon 2 --plot costs.svg"
)
NAMES = "laplace, geometric, staircase, renormalised, response, channel:FILE; or compare, for all but a channel."
PRIORS = "uniform, beta:2,5, normal:0.5,0.1, histogram:FILE or linear:FILE."
LOSSES = "absolute, squared, huber:0.1, power:1.5, asymmetric:2,1 or step:0.1."
SHOWN = 10  # parts of the interval whose ends' readings are shown
DIGITS = 12
STEEP = 1000  # a Lipschitz constant for which a witness is shown where there is none
FILE = "channel:"


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of the command, and what they mean."""

    interval: Interval
    level: Level | None
    prior: Density
    loss: ContinuousLoss
    width: Fraction
    words: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Priced:
    """A mechanism with its bounds and its guarantee."""

    mechanism: Mechanism
    bounds: LossBounds
    guarantee: Guarantee


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAMES)],
    interval: Annotated[str, typer.Option(metavar="LOW,HIGH", help="Where the truth lies.")],
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    prior: Annotated[str, typer.Option(metavar="PRIOR", help=PRIORS)] = "uniform",
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSSES)] = "absolute",
    width: Annotated[str, typer.Option(metavar="W", help="How far apart the bounds may be.")] = "1e-4",
    steps: Annotated[int, typer.Option(metavar="N", help="Steps of the grid of those that have one.")] = 10,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """What a mechanism over an interval costs, from both sides.

    The expected loss of a consumer who reads every answer in the best way, between two certified bounds that are at
    most --width apart; her readings; and the privacy that the mechanism really gives.
    """
    level = optional_level(alpha, epsilon) if name.startswith(FILE) else required_level(alpha, epsilon)
    check_ending(plot, CHART_ENDINGS, "--plot")
    asked = _asked(interval, level, prior, loss, width)
    if name == "compare":
        _compare(asked, steps, plot, json)
        return
    found = _priced(_mechanism(name, asked, steps), asked)
    _draw(found, asked, plot)
    _document(found, asked) if json else _text(found, asked)


def _asked(interval: str, level: Level | None, prior: str, loss: str, width: str) -> Asked:
    from utmost.cli.output import json_value
    from utmost.continuous import losses
    from utmost.continuous.densities import density as densities
    from utmost.continuous.interval import parse_interval
    from utmost.exact import rational

    where = parse_interval(interval)
    density, price = densities.parse_density(prior, where), losses.parse_continuous_loss(loss)
    told = None if level is None else json_value(level.exponent if level.exponent is not None else level.epsilon)
    words = {
        "interval": [str(where.low), str(where.high)],
        "epsilon": told,
        "prior": prior,
        "loss_function": price.name,
        **_properties(price, where),
    }
    return Asked(where, level, density, price, rational(width, "width"), words)


def _properties(loss: ContinuousLoss, interval: Interval) -> dict[str, Any]:
    """Is the loss legal, and what is its Lipschitz constant: with a witness where one of them fails."""
    from utmost.cli.output import json_value

    kappa, illegal = loss.lipschitz(interval), loss.illegal(interval)
    found: dict[str, Any] = {"legal": illegal is None, "lipschitz": None if kappa is None else json_value(kappa)}
    if illegal is not None:
        at = {"truth": illegal.truth, "near": illegal.near, "far": illegal.far}
        return found | {"witness": {name: str(value) for name, value in at.items()}}
    steep = loss.steep(interval, STEEP) if kappa is None else None
    if steep is None:
        return found
    at = {"reading": steep.reading, "truth": steep.x, "other": steep.other}
    return found | {"witness": {name: str(value) for name, value in at.items()}}


def _theorem(words: dict[str, Any]) -> str:
    """What FMM21 Thm 5 says of the loss; where it asks for more than the loss has, what that is and what holds."""
    at = words.get("witness")
    if at is None:
        return "The loss is legal and Lipschitz: nothing that gives the ε of laplace costs less (FMM21 Thm 5)."
    if words["legal"]:
        why = f"Lipschitz: reading {at['reading']} costs something else at {at['truth']} than at {at['other']}"
    else:
        why = f"legal: at {at['truth']} reading {at['near']} costs more than {at['far']}, which is no nearer"
    return (
        f"The loss is not {why}. FMM21 Thm 5 does not speak of it; still nothing that gives the ε of laplace costs "
        "less (proved in utmost.continuous.optimality)."
    )


def _mechanism(name: str, asked: Asked, steps: int) -> Mechanism:
    from utmost.continuous import mechanisms

    if name.startswith(FILE):
        return mechanisms.mechanism_from_file(name.removeprefix(FILE), asked.interval)
    assert asked.level is not None  # level_of gave one
    return mechanisms.mechanism_by_name(name, asked.interval, asked.level, steps)


def _priced(mechanism: Mechanism, asked: Asked) -> Priced:
    """The bounds, with those so far on stderr while they are sought."""
    from utmost.cli.progress import progress_line
    from utmost.continuous.bounds.loss_bounds import bound_expected_loss

    with progress_line(f"the loss of {mechanism.name}") as report:
        found = bound_expected_loss(
            asked.prior,
            mechanism,
            asked.loss,
            asked.width,
            lambda cells, lower, upper: report(f"between {lower:.9g} and {upper:.9g} with {cells} cells"),
        )
    return Priced(mechanism, found, mechanism.guarantee())


def _compare(asked: Asked, steps: int, plot: str | None, json: bool) -> None:
    from utmost.cli import output
    from utmost.continuous.mechanisms import MECHANISM_NAMES as ALL

    found = [_priced(_mechanism(name, asked, steps), asked) for name in ALL]
    found.sort(key=lambda priced: priced.bounds.upper)
    _draw_all(found, asked, steps, plot)
    if json:
        output.print_json(asked.words | {"steps": steps, "mechanisms": [_facts(priced) for priced in found]})
        return
    output.print_text(f"{_about(asked)}; grids of {steps} steps.")
    header = ["mechanism", "loss ≥", "loss ≤", "N", "ε a unit", "ε any two"]
    output.print_table(header, [_row(priced) for priced in found])
    output.print_text("ε a unit of distance on the whole interval, and for any two inputs: what each really gives.")
    output.print_text(_theorem(asked.words))


def _row(priced: Priced) -> list[str]:
    lower, upper = _outward(priced.bounds, 6)
    told = (_epsilon(value) for value in (priced.guarantee.epsilon, priced.guarantee.any_two))
    return [priced.mechanism.name, f"{lower:.6g}", f"{upper:.6g}", str(priced.bounds.cells), *told]


def _epsilon(value: Number | float | None) -> str:
    from utmost.exact import decimal

    return "∞" if value is None else decimal(value)


def _about(asked: Asked) -> str:
    level = "" if asked.level is None else f" at {asked.level}"
    where = f"[{asked.interval.low}, {asked.interval.high}]"
    return f"Inputs in {where}{level}, prior {asked.prior.name}, loss {asked.loss.name}"


def _facts(priced: Priced) -> dict[str, Any]:
    """One mechanism as a document has it; the bounds are rounded outwards."""
    from utmost.cli.output import json_value

    lower, upper = _outward(priced.bounds, DIGITS)
    return {
        "mechanism": priced.mechanism.name,
        "lower": lower,
        "upper": upper,
        "width": json_value(float(priced.bounds.width)),
        "N": priced.bounds.cells,
        "guarantee": "inf" if priced.guarantee.epsilon is None else json_value(priced.guarantee.epsilon),
        "any_two": "inf" if priced.guarantee.any_two is None else json_value(priced.guarantee.any_two),
    }


def _document(found: Priced, asked: Asked) -> None:
    from utmost.cli import output

    facts = _facts(found)
    head = {"mechanism": facts.pop("mechanism")}
    rows = [
        [answer, output.json_value(float(reading))] for answer, reading in _readings(found.bounds.remap, asked.interval)
    ]
    output.print_json(head | asked.words | facts | {"remap": rows})


def _text(found: Priced, asked: Asked) -> None:
    from utmost.cli import output
    from utmost.exact import decimal

    lower, upper = _outward(found.bounds, 9)
    guarantee = found.guarantee
    output.print_text(f"{found.mechanism.name}. {_about(asked)}.")
    output.print_text(
        f"Expected loss between {lower:.9g} and {upper:.9g}: {decimal(found.bounds.width, 2)} apart, "
        f"with N = {found.bounds.cells} cells, certified."
    )
    output.print_text(
        f"Privacy on the interval: ε = {_epsilon(guarantee.epsilon)} a unit of distance, {_epsilon(guarantee.any_two)} "
        f"for any two inputs ({guarantee.words})."
    )
    if found.mechanism.name == "laplace":
        output.print_text(_theorem(asked.words))
    output.print_text("The best readings:")
    rows = [[answer, decimal(reading)] for answer, reading in _readings(found.bounds.remap, asked.interval)]
    output.print_table(["answer", "read as"], rows)


def _readings(remap: Remap, interval: Interval) -> list[tuple[str, Fraction]]:
    """A few answers with their readings: some of a grid, or the ends of equal parts of the interval."""
    answers = remap.answers
    if answers[0].label:
        return [(a.label, reading) for a, reading in zip(answers, remap.readings, strict=True)]
    if all(a.low == a.high for a in answers):
        stride = -(-len(answers) // (2 * SHOWN + 1))
        return [(str(a.low), remap(a.low)) for a in answers[::stride]]
    return [(str(y), remap(y)) for y in interval.grid(SHOWN)]


def _outward(bounds: LossBounds, digits: int) -> tuple[float, float]:
    """Doubles of so many digits with lower ≤ loss ≤ upper, as decimals and as doubles."""
    return -_ceiling(-bounds.lower, digits), _ceiling(bounds.upper, digits)


def _ceiling(value: Fraction, digits: int) -> float:
    """The least decimal of so many digits that is not below the value, nor is its double.

    >>> _ceiling(Fraction(1, 3), 3), _ceiling(Fraction(-1, 3), 3), _ceiling(Fraction(0), 3)
    (0.334, -0.333, 0.0)
    """
    if not value:
        return 0.0
    unit = Fraction(10) ** (math.floor(math.log10(abs(value))) + 1 - digits)
    count = math.ceil(value / unit)
    while Fraction(float(count * unit)) < value:
        count += 1
    return float(count * unit)


def _draw(found: Priced, asked: Asked, plot: str | None) -> None:
    from utmost import charts
    from utmost.charts.remap import RemapPiece, remap_chart
    from utmost.cli.output import print_remark
    from utmost.errors import InputError

    if plot is None:
        return
    rule = found.bounds.remap
    if rule.answers[0].label:
        raise InputError("--plot must be left out for a channel, whose answers are names: --json lists their readings")
    pieces = [
        RemapPiece(float(a.low), float(a.high), float(w)) for a, w in zip(rule.answers, rule.readings, strict=True)
    ]
    lower, upper = _outward(found.bounds, 6)
    claim = f"{_about(asked)}. Read so, it costs at most {upper:.6g}; no way of reading costs less than {lower:.6g}."
    charts.save_chart(remap_chart(pieces, f"How each answer of {found.mechanism.name} is read", claim), plot)
    print_remark(f"drew {plot}")


def _draw_all(found: list[Priced], asked: Asked, steps: int, plot: str | None) -> None:
    from utmost import charts
    from utmost.charts.remap import CostBar, cost_chart
    from utmost.cli.output import print_remark
    from utmost.exact import decimal

    if plot is None:
        return
    rows = []
    for priced in found:
        lower, upper = _outward(priced.bounds, 6)
        unit, any_two = (_epsilon(value) for value in (priced.guarantee.epsilon, priced.guarantee.any_two))
        rows.append(CostBar(priced.mechanism.name, lower, upper, f"{upper:.4g}  (ε {unit} a unit, {any_two} any two)"))
    claim = (
        f"{_about(asked)}; grids of {steps} steps. Bars between certified bounds at most {decimal(asked.width)} apart."
    )
    charts.save_chart(cost_chart(rows, "What each mechanism costs, and the privacy it really gives", claim), plot)
    print_remark(f"drew {plot}")
