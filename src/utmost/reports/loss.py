"""Describe the expected loss of mechanisms over an interval, between certified bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError, UndecidedError
from utmost.exact import json_above, json_below, json_number
from utmost.reports.blocks import Cell, Paragraph, Report, Table
from utmost.reports.numbers import at_least, at_most, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.continuous.bounds.loss_bounds import LossBounds, Remap
    from utmost.continuous.densities import Density
    from utmost.continuous.interval import Interval
    from utmost.continuous.interval_loss import IntervalLoss
    from utmost.continuous.losses import ContinuousLoss
    from utmost.continuous.mechanisms import Guarantee, Mechanism
    from utmost.exact import Level, Number

SHOWN_INTERVAL_PARTS = 10  # parts of the interval whose ends' readings are shown
JSON_DIGITS, TEXT_DIGITS, TABLE_DIGITS = 12, 9, 6  # of a bound
STEEP_SLOPE = 1000  # a Lipschitz constant for which a counterexample is shown where there is none


@dataclass(frozen=True, slots=True)
class DensityConsumer:
    """A consumer with a density over an interval; `prior_text` is the prior as given."""

    interval: Interval
    level: Level | None
    prior: Density
    prior_text: str
    loss: ContinuousLoss
    width: Fraction

    def __str__(self) -> str:
        level = "" if self.level is None else f" at {self.level}"
        interval = f"[{self.interval.low}, {self.interval.high}]"
        return f"Inputs in {interval}{level}, prior {self.prior.name}, loss {self.loss.name}"


@dataclass(frozen=True, slots=True)
class MechanismCost:
    """A mechanism with bounds on its expected loss and the privacy that it gives."""

    mechanism: Mechanism
    bounds: LossBounds
    guarantee: Guarantee


def describe(cost: MechanismCost, consumer: DensityConsumer) -> Report:
    """The loss of one mechanism, its privacy, and the best reading of its answers."""
    readings = _sample_readings(cost.bounds.remap, consumer.interval)
    properties = _loss_properties(consumer.loss, consumer.interval)
    content = _cost_document(cost)
    head = {"mechanism": content.pop("mechanism")} | _consumer_document(consumer) | properties
    rows = [[answer, json_number(float(reading))] for answer, reading in readings]
    return Report(
        {
            "question": Paragraph(f"{cost.mechanism.name}. {consumer}."),
            "loss": Paragraph(_bounds_sentence(cost.bounds)),
            "privacy": Paragraph(_privacy_sentence(cost.guarantee)),
            "theorem": Paragraph(_theorem_sentence(properties)) if cost.mechanism.name == "laplace" else None,
            "readings heading": Paragraph("The best readings:"),
            "readings": Table(
                ("answer", "read as"), tuple((answer, quantity(reading, 6)) for answer, reading in readings)
            ),
        },
        head | content | {"remap": rows},
    )


def describe_interval_loss(result: IntervalLoss) -> Report:
    """The loss of a mechanism in one call, and what was measured of a prior or a loss that is a function."""
    cost, consumer = _parts(result)
    report = describe(cost, consumer)
    remark = Paragraph(f"Not proved: {result.remark}.") if result.remark else None
    return Report({**report.blocks, "remark": remark}, {**report.content, "remark": result.remark or None})


def figure(result: IntervalLoss) -> alt.TopLevelMixin:
    """How each answer is read."""
    return remap_figure(*_parts(result))


def _parts(result: IntervalLoss) -> tuple[MechanismCost, DensityConsumer]:
    prior, loss = result.prior, result.loss
    consumer = DensityConsumer(prior.interval, result.level, prior, prior.name, loss, result.bounds.width)
    return MechanismCost(result.mechanism, result.bounds, result.guarantee), consumer


def describe_comparison(costs: Sequence[MechanismCost], consumer: DensityConsumer, steps: int) -> Report:
    """The losses of several mechanisms in one table; `steps` is that of those that have a grid."""
    properties = _loss_properties(consumer.loss, consumer.interval)
    rows: list[tuple[Cell, ...]] = []
    for cost in costs:
        bounds = at_least(cost.bounds.lower, TABLE_DIGITS), at_most(cost.bounds.upper, TABLE_DIGITS)
        epsilons = (_epsilon_text(value) for value in (cost.guarantee.epsilon, cost.guarantee.any_two))
        rows.append((cost.mechanism.name, *bounds, str(cost.bounds.cells), *epsilons))
    return Report(
        {
            "question": Paragraph(f"{consumer}; grids of {steps} steps."),
            "losses": Table(("mechanism", "loss ≥", "loss ≤", "N", "ε a unit", "ε any two"), tuple(rows)),
            "privacy": Paragraph(
                "ε a unit of distance on the whole interval, and for any two inputs: what each really gives."
            ),
            "theorem": Paragraph(_theorem_sentence(properties)),
        },
        _consumer_document(consumer)
        | properties
        | {"steps": steps, "mechanisms": [_cost_document(cost) for cost in costs]},
    )


def _bounds_sentence(bounds: LossBounds) -> str:
    lower, upper = at_least(bounds.lower, TEXT_DIGITS), at_most(bounds.upper, TEXT_DIGITS)
    return (
        f"Expected loss between {lower} and {upper}: at most {at_most(bounds.width, 2)} apart, "
        f"with N = {bounds.cells} cells, certified."
    )


def _privacy_sentence(guarantee: Guarantee) -> str:
    return (
        f"Privacy on the interval: ε = {_epsilon_text(guarantee.epsilon)} a unit of distance, "
        f"{_epsilon_text(guarantee.any_two)} for any two inputs ({guarantee.remark})."
    )


def _theorem_sentence(properties: dict[str, Any]) -> str:
    """What FMM21 Thm 5 says of the loss; where it asks for more than the loss has, what that is and what holds."""
    witness = properties.get("witness")
    if witness is None and properties["lipschitz"] is None:
        return "No Lipschitz constant is stated for the loss, which FMM21 Thm 5 asks for: losses.user_loss states one."
    if witness is None:
        return "The loss is legal and Lipschitz: nothing that gives the ε of laplace costs less (FMM21 Thm 5)."
    if properties["legal"]:
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
        "less (proved in utmost.continuous.laplace_optimality)."
    )


def _consumer_document(consumer: DensityConsumer) -> dict[str, Any]:
    level = consumer.level
    epsilon = None if level is None else level.epsilon if level.exponent is None else level.exponent
    return {
        "interval": [str(consumer.interval.low), str(consumer.interval.high)],
        "epsilon": json_number(epsilon),
        "prior": consumer.prior_text,
        "loss_function": consumer.loss.name,
    }


def _loss_properties(loss: ContinuousLoss, interval: Interval) -> dict[str, Any]:
    """Is the loss legal, and what is its Lipschitz constant: with a counterexample where one of them fails."""
    kappa, violation = loss.lipschitz(interval), loss.legality_violation(interval)
    properties: dict[str, Any] = {"legal": violation is None, "lipschitz": json_number(kappa)}
    if violation is not None:
        witness = {"truth": violation.truth, "near": violation.nearer, "far": violation.farther}
        return properties | {"witness": {name: str(value) for name, value in witness.items()}}
    try:
        steep = loss.lipschitz_violation(interval, STEEP_SLOPE) if kappa is None else None
    except UndecidedError:  # a loss that is declared without a constant
        steep = None
    if steep is None:
        return properties
    witness = {"reading": steep.reading, "truth": steep.x, "other": steep.other}
    return properties | {"witness": {name: str(value) for name, value in witness.items()}}


def _cost_document(cost: MechanismCost) -> dict[str, Any]:
    """One mechanism as a document has it; the bounds are rounded outward."""
    return {
        "mechanism": cost.mechanism.name,
        "lower": json_below(cost.bounds.lower, JSON_DIGITS),
        "upper": json_above(cost.bounds.upper, JSON_DIGITS),
        "width": json_above(cost.bounds.width),
        "N": cost.bounds.cells,
        "guarantee": _json_epsilon(cost.guarantee.epsilon),
        "any_two": _json_epsilon(cost.guarantee.any_two),
    }


def _json_epsilon(value: Number | float | None) -> str | float | None:
    """The ε of a guarantee: exact as text, a float rounded up, "inf" if there is none."""
    return json_above(value) if value is None or isinstance(value, float) else json_number(value)


def _epsilon_text(value: Number | float | None) -> str:
    """The ε of a guarantee, rounded up."""
    return "∞" if value is None else str(at_most(value, 6))


def _sample_readings(remap: Remap, interval: Interval) -> list[tuple[str, Fraction]]:
    """A few answers with their readings: some of a grid, or the ends of equal parts of the interval."""
    answers = remap.answers
    if answers[0].label:
        return [(a.label, reading) for a, reading in zip(answers, remap.readings, strict=True)]
    if all(a.low == a.high for a in answers):
        stride = -(-len(answers) // (2 * SHOWN_INTERVAL_PARTS + 1))
        return [(str(a.low), remap(a.low)) for a in answers[::stride]]
    return [(str(y), remap(y)) for y in interval.grid(SHOWN_INTERVAL_PARTS)]


def remap_figure(cost: MechanismCost, consumer: DensityConsumer) -> alt.TopLevelMixin:
    """How each answer is read."""
    from utmost.charts.curves import RemapPiece, remap_chart

    remap = cost.bounds.remap
    if remap.answers[0].label:
        raise InputError(
            "--plot must be left out for a channel, whose answers are names: --json lists their readings", "plot"
        )
    pieces = [
        RemapPiece(float(a.low), float(a.high), float(w)) for a, w in zip(remap.answers, remap.readings, strict=True)
    ]
    lower, upper = at_least(cost.bounds.lower, TABLE_DIGITS), at_most(cost.bounds.upper, TABLE_DIGITS)
    claim = f"{consumer}. Read so, it costs at most {upper}; no way of reading costs less than {lower}."
    return remap_chart(pieces, f"How each answer of {cost.mechanism.name} is read", claim)


def comparison_figure(costs: Sequence[MechanismCost], consumer: DensityConsumer, steps: int) -> alt.TopLevelMixin:
    """The losses of several mechanisms as bars, each with the privacy that it gives."""
    from utmost.charts.curves import CostBar, cost_chart

    bars = []
    for cost in costs:
        lower, upper = at_least(cost.bounds.lower, TABLE_DIGITS), at_most(cost.bounds.upper, TABLE_DIGITS)
        unit, any_two = (_epsilon_text(value) for value in (cost.guarantee.epsilon, cost.guarantee.any_two))
        label = f"{at_most(cost.bounds.upper)}  (ε {unit} a unit, {any_two} any two)"
        bars.append(CostBar(cost.mechanism.name, float(lower.rounded), float(upper.rounded), label))
    claim = (
        f"{consumer}; grids of {steps} steps. Bars between certified bounds at most {at_most(consumer.width, 6)} apart."
    )
    return cost_chart(bars, "What each mechanism costs, and the privacy it really gives", claim)
