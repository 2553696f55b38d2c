"""`utmost loss`: what a mechanism over an interval costs a consumer with a density, certified from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import PICTURES, Alpha, Epsilon, Json, Plot, ending, level_if_any, level_of

if TYPE_CHECKING:
    from utmost.continuous.bounds import Bounds, Remap
    from utmost.continuous.densities import Density
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
    bounds: Bounds
    guarantee: Guarantee


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAMES)],
    interval: Annotated[str, typer.Option(metavar="LOW,HIGH", help="Where the truth lies.")],
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    prior: Annotated[str, typer.Option(metavar="PRIOR", help=PRIORS)] = "uniform",
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSSES)] = "absolute",
    width: Annotated[str, typer.Option(metavar="W", help="How far apart the bounds may be.")] = "1e-4",
    steps: Annotated[int, typer.Option(metavar="N", help="Steps of the grid of those that have one.")] = 10,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """What a mechanism over an interval costs, from both sides.

    The expected loss of a consumer who reads every answer in the best way, between two certified bounds that are at
    most --width apart; her readings; and the privacy that the mechanism really gives.
    """
    level = level_if_any(alpha, epsilon) if name.startswith(FILE) else level_of(alpha, epsilon)
    ending(plot, PICTURES, "--plot")
    asked = _asked(interval, level, prior, loss, width)
    if name == "compare":
        _compare(asked, steps, plot, json)
        return
    found = _priced(_mechanism(name, asked, steps), asked)
    _draw(found, asked, plot)
    _document(found, asked) if json else _text(found, asked)


def _asked(interval: str, level: Level | None, prior: str, loss: str, width: str) -> Asked:
    from utmost.cli.show import plain
    from utmost.continuous import densities, losses
    from utmost.continuous.interval import parse
    from utmost.exact import rational

    where = parse(interval)
    density, price = densities.parse(prior, where), losses.parse(loss)
    told = None if level is None else plain(level.exponent if level.exponent is not None else level.epsilon)
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
    from utmost.cli.show import plain

    kappa, illegal = loss.lipschitz(interval), loss.illegal(interval)
    found: dict[str, Any] = {"legal": illegal is None, "lipschitz": None if kappa is None else plain(kappa)}
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
        return mechanisms.from_file(name.removeprefix(FILE), asked.interval)
    assert asked.level is not None  # level_of gave one
    return mechanisms.named(name, asked.interval, asked.level, steps)


def _priced(mechanism: Mechanism, asked: Asked) -> Priced:
    """The bounds, with those so far on stderr while they are sought."""
    from utmost.cli.waiting import waiting
    from utmost.continuous.bounds import expected_loss

    with waiting(f"the loss of {mechanism.name}") as report:
        found = expected_loss(
            asked.prior,
            mechanism,
            asked.loss,
            asked.width,
            lambda cells, lower, upper: report(f"between {lower:.9g} and {upper:.9g} with {cells} cells"),
        )
    return Priced(mechanism, found, mechanism.guarantee())


def _compare(asked: Asked, steps: int, plot: str | None, json: bool) -> None:
    from utmost.cli import show
    from utmost.continuous.mechanisms import NAMES as ALL

    found = [_priced(_mechanism(name, asked, steps), asked) for name in ALL]
    found.sort(key=lambda priced: priced.bounds.upper)
    _draw_all(found, asked, steps, plot)
    if json:
        show.document(asked.words | {"steps": steps, "mechanisms": [_facts(priced) for priced in found]})
        return
    show.say(f"{_about(asked)}; grids of {steps} steps.")
    header = ["mechanism", "loss ≥", "loss ≤", "N", "ε a unit", "ε any two"]
    show.table(header, [_row(priced) for priced in found])
    show.say("ε a unit of distance on the whole interval, and for any two inputs: what each really gives.")
    show.say(_theorem(asked.words))


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
    from utmost.cli.show import plain

    lower, upper = _outward(priced.bounds, DIGITS)
    return {
        "mechanism": priced.mechanism.name,
        "lower": lower,
        "upper": upper,
        "width": plain(float(priced.bounds.width)),
        "N": priced.bounds.cells,
        "guarantee": "inf" if priced.guarantee.epsilon is None else plain(priced.guarantee.epsilon),
        "any_two": "inf" if priced.guarantee.any_two is None else plain(priced.guarantee.any_two),
    }


def _document(found: Priced, asked: Asked) -> None:
    from utmost.cli import show

    facts = _facts(found)
    head = {"mechanism": facts.pop("mechanism")}
    rows = [[answer, show.plain(float(reading))] for answer, reading in _readings(found.bounds.remap, asked.interval)]
    show.document(head | asked.words | facts | {"remap": rows})


def _text(found: Priced, asked: Asked) -> None:
    from utmost.cli import show
    from utmost.exact import decimal

    lower, upper = _outward(found.bounds, 9)
    guarantee = found.guarantee
    show.say(f"{found.mechanism.name}. {_about(asked)}.")
    show.say(
        f"Expected loss between {lower:.9g} and {upper:.9g}: {decimal(found.bounds.width, 2)} apart, "
        f"with N = {found.bounds.cells} cells, certified."
    )
    show.say(
        f"Privacy on the interval: ε = {_epsilon(guarantee.epsilon)} a unit of distance, {_epsilon(guarantee.any_two)} "
        f"for any two inputs ({guarantee.words})."
    )
    if found.mechanism.name == "laplace":
        show.say(_theorem(asked.words))
    show.say("The best readings:")
    rows = [[answer, decimal(reading)] for answer, reading in _readings(found.bounds.remap, asked.interval)]
    show.table(["answer", "read as"], rows)


def _readings(remap: Remap, interval: Interval) -> list[tuple[str, Fraction]]:
    """A few answers with their readings: some of a grid, or the ends of equal parts of the interval."""
    answers = remap.answers
    if answers[0].label:
        return [(a.label, reading) for a, reading in zip(answers, remap.readings, strict=True)]
    if all(a.low == a.high for a in answers):
        stride = -(-len(answers) // (2 * SHOWN + 1))
        return [(str(a.low), remap(a.low)) for a in answers[::stride]]
    return [(str(y), remap(y)) for y in interval.grid(SHOWN)]


def _outward(bounds: Bounds, digits: int) -> tuple[float, float]:
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
    from utmost import pictures
    from utmost.cli.show import remark
    from utmost.errors import InputError
    from utmost.pictures.remap import Piece, remap

    if plot is None:
        return
    rule = found.bounds.remap
    if rule.answers[0].label:
        raise InputError("--plot must be left out for a channel, whose answers are names: --json lists their readings")
    pieces = [Piece(float(a.low), float(a.high), float(w)) for a, w in zip(rule.answers, rule.readings, strict=True)]
    lower, upper = _outward(found.bounds, 6)
    claim = f"{_about(asked)}. Read so, it costs at most {upper:.6g}; no way of reading costs less than {lower:.6g}."
    pictures.write(remap(pieces, f"How each answer of {found.mechanism.name} is read", claim), plot)
    remark(f"drew {plot}")


def _draw_all(found: list[Priced], asked: Asked, steps: int, plot: str | None) -> None:
    from utmost import pictures
    from utmost.cli.show import remark
    from utmost.exact import decimal
    from utmost.pictures.remap import Cost, costs

    if plot is None:
        return
    rows = []
    for priced in found:
        lower, upper = _outward(priced.bounds, 6)
        unit, any_two = (_epsilon(value) for value in (priced.guarantee.epsilon, priced.guarantee.any_two))
        rows.append(Cost(priced.mechanism.name, lower, upper, f"{upper:.4g}  (ε {unit} a unit, {any_two} any two)"))
    claim = (
        f"{_about(asked)}; grids of {steps} steps. Bars between certified bounds at most {decimal(asked.width)} apart."
    )
    pictures.write(costs(rows, "What each mechanism costs, and the privacy it really gives", claim), plot)
    remark(f"drew {plot}")
