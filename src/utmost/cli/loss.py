"""`utmost loss`: what a mechanism over an interval costs a consumer with a density, certified from both sides."""

from __future__ import annotations

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
NAME_HELP = "laplace, geometric, staircase, renormalised, response, channel:FILE; or compare, for all but a channel."
PRIOR_HELP = "uniform, beta:2,5, normal:0.5,0.1, histogram:FILE or linear:FILE."
LOSS_HELP = "absolute, squared, huber:0.1, power:1.5, asymmetric:2,1 or step:0.1."
SHOWN_INTERVAL_PARTS = 10  # parts of the interval whose ends' readings are shown
BOUND_DIGITS = 12
STEEP_SLOPE = 1000  # a Lipschitz constant for which a witness is shown where there is none
FILE_PREFIX = "channel:"


@dataclass(frozen=True, slots=True)
class LossQuestion:
    """The options of the command, parsed; `content` has them for the document."""

    interval: Interval
    level: Level | None
    prior: Density
    loss: ContinuousLoss
    width: Fraction
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MechanismCost:
    """A mechanism with its bounds and its guarantee."""

    mechanism: Mechanism
    bounds: LossBounds
    guarantee: Guarantee


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)],
    interval: Annotated[str, typer.Option(metavar="LOW,HIGH", help="Where the truth lies.")],
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    prior: Annotated[str, typer.Option(metavar="PRIOR", help=PRIOR_HELP)] = "uniform",
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSS_HELP)] = "absolute",
    width: Annotated[str, typer.Option(metavar="W", help="How far apart the bounds may be.")] = "1e-4",
    steps: Annotated[int, typer.Option(metavar="N", help="Steps of the grid of those that have one.")] = 10,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """What a mechanism over an interval costs, from both sides.

    The expected loss of a consumer who reads every answer in the best way, between two certified bounds that are at
    most --width apart; her readings; and the privacy that the mechanism really gives.
    """
    level = optional_level(alpha, epsilon) if name.startswith(FILE_PREFIX) else required_level(alpha, epsilon)
    check_ending(plot, CHART_ENDINGS, "--plot")
    question = _parse_question(interval, level, prior, loss, width)
    if name == "compare":
        _compare(question, steps, plot, json)
        return
    cost = _bound_cost(_load_mechanism(name, question, steps), question)
    _draw_remap(cost, question, plot)
    _print_json(cost, question) if json else _print_text(cost, question)


def _parse_question(interval: str, level: Level | None, prior: str, loss: str, width: str) -> LossQuestion:
    from utmost.cli.output import json_value
    from utmost.continuous import losses
    from utmost.continuous.densities.density import parse_density
    from utmost.continuous.interval import parse_interval
    from utmost.exact import rational

    parsed_interval = parse_interval(interval)
    prior_density, loss_function = parse_density(prior, parsed_interval), losses.parse_continuous_loss(loss)
    epsilon = None if level is None else json_value(level.exponent if level.exponent is not None else level.epsilon)
    content = {
        "interval": [str(parsed_interval.low), str(parsed_interval.high)],
        "epsilon": epsilon,
        "prior": prior,
        "loss_function": loss_function.name,
        **_loss_properties(loss_function, parsed_interval),
    }
    return LossQuestion(parsed_interval, level, prior_density, loss_function, rational(width, "width"), content)


def _loss_properties(loss: ContinuousLoss, interval: Interval) -> dict[str, Any]:
    """Is the loss legal, and what is its Lipschitz constant: with a witness where one of them fails."""
    from utmost.cli.output import json_value

    kappa, violation = loss.lipschitz(interval), loss.legality_violation(interval)
    properties: dict[str, Any] = {"legal": violation is None, "lipschitz": None if kappa is None else json_value(kappa)}
    if violation is not None:
        witness = {"truth": violation.truth, "near": violation.nearer, "far": violation.farther}
        return properties | {"witness": {name: str(value) for name, value in witness.items()}}
    steep = loss.lipschitz_violation(interval, STEEP_SLOPE) if kappa is None else None
    if steep is None:
        return properties
    witness = {"reading": steep.reading, "truth": steep.x, "other": steep.other}
    return properties | {"witness": {name: str(value) for name, value in witness.items()}}


def _theorem_sentence(content: dict[str, Any]) -> str:
    """What FMM21 Thm 5 says of the loss; where it asks for more than the loss has, what that is and what holds."""
    witness = content.get("witness")
    if witness is None:
        return "The loss is legal and Lipschitz: nothing that gives the ε of laplace costs less (FMM21 Thm 5)."
    if content["legal"]:
        failure = (
            f"Lipschitz: reading {witness['reading']} costs something else at {witness['truth']} than at "
            f"{witness['other']}"
        )
    else:
        failure = (
            f"legal: at {witness['truth']} reading {witness['near']} costs more than {witness['far']}, which is no "
            "nearer"
        )
    return (
        f"The loss is not {failure}. FMM21 Thm 5 does not speak of it; still nothing that gives the ε of laplace costs "
        "less (proved in utmost.continuous.optimality)."
    )


def _load_mechanism(name: str, question: LossQuestion, steps: int) -> Mechanism:
    from utmost.continuous import mechanisms

    if name.startswith(FILE_PREFIX):
        return mechanisms.mechanism_from_file(name.removeprefix(FILE_PREFIX), question.interval)
    assert question.level is not None  # required_level gave one
    return mechanisms.mechanism_by_name(name, question.interval, question.level, steps)


def _bound_cost(mechanism: Mechanism, question: LossQuestion) -> MechanismCost:
    """The cost of a mechanism; the bounds so far are on stderr during the search."""
    from utmost.cli.progress import progress_line
    from utmost.continuous.bounds.loss_bounds import bound_expected_loss
    from utmost.exact import decimal_above, decimal_below

    with progress_line(f"the loss of {mechanism.name}") as report:
        bounds = bound_expected_loss(
            question.prior,
            mechanism,
            question.loss,
            question.width,
            lambda cells, lower, upper: report(
                f"between {decimal_below(lower, 9)} and {decimal_above(upper, 9)} with {cells} cells"
            ),
        )
    return MechanismCost(mechanism, bounds, mechanism.guarantee())


def _compare(question: LossQuestion, steps: int, plot: str | None, json: bool) -> None:
    from utmost.cli import output
    from utmost.continuous.mechanisms import MECHANISM_NAMES

    costs = [_bound_cost(_load_mechanism(name, question, steps), question) for name in MECHANISM_NAMES]
    costs.sort(key=lambda cost: cost.bounds.upper)
    _draw_costs(costs, question, steps, plot)
    if json:
        output.print_json(question.content | {"steps": steps, "mechanisms": [_cost_document(cost) for cost in costs]})
        return
    output.print_text(f"{_question_text(question)}; grids of {steps} steps.")
    header = ["mechanism", "loss ≥", "loss ≤", "N", "ε a unit", "ε any two"]
    output.print_table(header, [_cost_row(cost) for cost in costs])
    output.print_text("ε a unit of distance on the whole interval, and for any two inputs: what each really gives.")
    output.print_text(_theorem_sentence(question.content))


def _cost_row(cost: MechanismCost) -> list[str]:
    lower, upper = _bound_texts(cost.bounds, 6)
    epsilons = (_epsilon_text(value) for value in (cost.guarantee.epsilon, cost.guarantee.any_two))
    return [cost.mechanism.name, lower, upper, str(cost.bounds.cells), *epsilons]


def _epsilon_text(value: Number | float | None) -> str:
    """The ε of a guarantee, rounded up."""
    from utmost.exact import decimal_above

    return "∞" if value is None else decimal_above(value)


def _question_text(question: LossQuestion) -> str:
    level = "" if question.level is None else f" at {question.level}"
    interval = f"[{question.interval.low}, {question.interval.high}]"
    return f"Inputs in {interval}{level}, prior {question.prior.name}, loss {question.loss.name}"


def _cost_document(cost: MechanismCost) -> dict[str, Any]:
    """One mechanism as a document has it; the bounds are rounded outwards."""
    from utmost.exact import json_above, json_below

    return {
        "mechanism": cost.mechanism.name,
        "lower": json_below(cost.bounds.lower, BOUND_DIGITS),
        "upper": json_above(cost.bounds.upper, BOUND_DIGITS),
        "width": json_above(cost.bounds.width),
        "N": cost.bounds.cells,
        "guarantee": _json_epsilon(cost.guarantee.epsilon),
        "any_two": _json_epsilon(cost.guarantee.any_two),
    }


def _json_epsilon(value: Number | float | None) -> str | float | None:
    """The ε of a guarantee: exact as text, a float rounded up, "inf" if there is none."""
    from utmost.exact import json_above, json_number

    return json_above(value) if value is None or isinstance(value, float) else json_number(value)


def _print_json(cost: MechanismCost, question: LossQuestion) -> None:
    from utmost.cli import output

    content = _cost_document(cost)
    head = {"mechanism": content.pop("mechanism")}
    rows = [
        [answer, output.json_value(float(reading))]
        for answer, reading in _sample_readings(cost.bounds.remap, question.interval)
    ]
    output.print_json(head | question.content | content | {"remap": rows})


def _print_text(cost: MechanismCost, question: LossQuestion) -> None:
    from utmost.cli import output
    from utmost.exact import decimal, decimal_above

    lower, upper = _bound_texts(cost.bounds, 9)
    guarantee = cost.guarantee
    output.print_text(f"{cost.mechanism.name}. {_question_text(question)}.")
    output.print_text(
        f"Expected loss between {lower} and {upper}: at most {decimal_above(cost.bounds.width, 2)} apart, "
        f"with N = {cost.bounds.cells} cells, certified."
    )
    output.print_text(
        f"Privacy on the interval: ε = {_epsilon_text(guarantee.epsilon)} a unit of distance, "
        f"{_epsilon_text(guarantee.any_two)} "
        f"for any two inputs ({guarantee.remark})."
    )
    if cost.mechanism.name == "laplace":
        output.print_text(_theorem_sentence(question.content))
    output.print_text("The best readings:")
    rows = [[answer, decimal(reading)] for answer, reading in _sample_readings(cost.bounds.remap, question.interval)]
    output.print_table(["answer", "read as"], rows)


def _sample_readings(remap: Remap, interval: Interval) -> list[tuple[str, Fraction]]:
    """A few answers with their readings: some of a grid, or the ends of equal parts of the interval."""
    answers = remap.answers
    if answers[0].label:
        return [(a.label, reading) for a, reading in zip(answers, remap.readings, strict=True)]
    if all(a.low == a.high for a in answers):
        stride = -(-len(answers) // (2 * SHOWN_INTERVAL_PARTS + 1))
        return [(str(a.low), remap(a.low)) for a in answers[::stride]]
    return [(str(y), remap(y)) for y in interval.grid(SHOWN_INTERVAL_PARTS)]


def _bound_texts(bounds: LossBounds, digits: int) -> tuple[str, str]:
    """Decimals of so many digits with lower ≤ loss ≤ upper."""
    from utmost.exact import decimal_above, decimal_below

    return decimal_below(bounds.lower, digits), decimal_above(bounds.upper, digits)


def _draw_remap(cost: MechanismCost, question: LossQuestion, plot: str | None) -> None:
    from utmost import charts
    from utmost.charts.remap import RemapPiece, remap_chart
    from utmost.cli.output import print_remark
    from utmost.errors import InputError

    if plot is None:
        return
    remap = cost.bounds.remap
    if remap.answers[0].label:
        raise InputError("--plot must be left out for a channel, whose answers are names: --json lists their readings")
    pieces = [
        RemapPiece(float(a.low), float(a.high), float(w)) for a, w in zip(remap.answers, remap.readings, strict=True)
    ]
    lower, upper = _bound_texts(cost.bounds, 6)
    claim = f"{_question_text(question)}. Read so, it costs at most {upper}; no way of reading costs less than {lower}."
    charts.save_chart(remap_chart(pieces, f"How each answer of {cost.mechanism.name} is read", claim), plot)
    print_remark(f"drew {plot}")


def _draw_costs(costs: list[MechanismCost], question: LossQuestion, steps: int, plot: str | None) -> None:
    from utmost import charts
    from utmost.charts.remap import CostBar, cost_chart
    from utmost.cli.output import print_remark
    from utmost.exact import decimal_above

    if plot is None:
        return
    rows = []
    for cost in costs:
        lower, upper = (float(text) for text in _bound_texts(cost.bounds, 6))
        unit, any_two = (_epsilon_text(value) for value in (cost.guarantee.epsilon, cost.guarantee.any_two))
        label = f"{decimal_above(cost.bounds.upper, 4)}  (ε {unit} a unit, {any_two} any two)"
        rows.append(CostBar(cost.mechanism.name, lower, upper, label))
    claim = (
        f"{_question_text(question)}; grids of {steps} steps. Bars between certified bounds at most "
        f"{decimal_above(question.width)} apart."
    )
    charts.save_chart(cost_chart(rows, "What each mechanism costs, and the privacy it really gives", claim), plot)
    print_remark(f"drew {plot}")
