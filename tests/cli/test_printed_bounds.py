"""Every bound that a front end prints holds: upper bounds are rounded up, lower bounds down, in text and in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost as ut
from utmost import spaces
from utmost.exact import ball, ball_endpoints, enclosure
from utmost.exact.working_precision import working_precision
from utmost.studio.designer.forms import DesignInput
from utmost.studio.designer.results import best_mechanism, type_capacity

Run = Callable[..., Any]
SOURCES = Path(ut.__file__).parent
BOUND_WORDS = "at most|at least|below|above|between|within|gap|≥|≤|no more than|less than"
ROUNDED_TO_NEAREST = re.compile(
    rf'({BOUND_WORDS})[^"{{}}\n]*\{{(decimal\(|quantity\(|short\([^,()]*(?:\([^()]*\))?\)|_?format_number\(|[^{{}}\n]*:\.\d+[gf]\}})'
)
NEAREST_PART = re.compile(rf'({BOUND_WORDS}) ?", (quantity\(|short\([^,()]*(?:\([^()]*\))?[^,()]*\))')
TYPES = [("grid:3x4", "--epsilon", "2"), ("grid:2x3", "--alpha", "1/2"), ("cycle:7", "--epsilon", "1/3")]
DESIGNS = [("grid:3x3", "1", "absolute"), ("line:25", "1/3", "power:1.5"), ("cycle:5", "2/3", "squared")]


def fraction(text: object) -> Fraction:
    """What was printed, to the digit."""
    return Fraction(str(text).replace("−", "-").replace(chr(0x202F), ""))


def number_after(words: str, text: str) -> Fraction:
    """The first decimal that follows these words, however the lines are broken."""
    match = re.search(rf"{words} ([0-9.]+(?:e[+-]\d+)?[0-9]|[0-9])", " ".join(text.split()))
    assert match is not None, (words, text)
    return Fraction(match.group(1))


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """Fractions below and above an exact number, much closer than any printed digit."""
    return enclosure(value, 300)


def level_of(option: str, text: str) -> Any:
    return ut.alpha(text) if option == "--alpha" else ut.epsilon(text)


@pytest.mark.parametrize(("space", "option", "level"), TYPES)
def test_capacities_and_their_gaps_hold_as_printed(utmost: Run, space: str, option: str, level: str) -> None:
    capacities = ut.capacity(spaces.parse_space(space), level_of(option, level))
    text = utmost("type", space, option, level, "--capacity").out
    document = utmost("type", space, option, level, "--capacity", "--json").document
    for name in ("multiplicative", "additive"):
        capacity, certificate = getattr(capacities, name), document["certificate"][name]
        assert fraction(certificate["lower"]) <= ends(capacity.lower)[0]
        assert ends(capacity.upper)[1] <= fraction(certificate["upper"])
        assert ends(capacity.gap)[1] <= fraction(certificate["gap"])
        if not isinstance(document["capacity"][name], str):
            assert ends(capacity.upper)[1] <= fraction(document["capacity"][name])
            assert ends(capacity.upper)[1] <= number_after(f"{name.capitalize()} capacity", text)
        if capacity.gap:
            assert ends(capacity.gap)[1] <= number_after(f"{name.capitalize()}: .*?gap at most", text)


@pytest.mark.parametrize(("space", "epsilon", "loss"), DESIGNS)
def test_losses_and_gaps_of_a_design_hold_as_printed(utmost: Run, space: str, epsilon: str, loss: str) -> None:
    points = spaces.parse_space(space)
    reader = ut.Consumer(ut.priors.uniform(len(points)), ut.losses.over(ut.losses.parse(loss), points))
    design = ut.optimal(points, ut.epsilon(epsilon), reader)
    certificate = design.certificate
    text = utmost("optimal", space, "--epsilon", epsilon, "--loss", loss).out
    document = utmost("optimal", space, "--epsilon", epsilon, "--loss", loss, "--json").document
    assert fraction(document["loss_lower"]) <= ends(certificate.lower)[0]
    assert ends(certificate.upper)[1] <= fraction(document["loss_upper"])
    assert ends(certificate.gap)[1] <= fraction(document["certificate"]["gap"])
    assert document["loss_is"] == ("upper bound" if certificate.gap else "exact")
    if certificate.gap:
        assert ends(design.loss)[1] <= number_after("Expected loss at most", text)
        assert ends(certificate.gap)[1] <= number_after("more than", text)


@pytest.mark.parametrize(("space", "epsilon", "loss"), DESIGNS)
def test_the_studio_rounds_a_design_outward(space: str, epsilon: str, loss: str) -> None:
    question = DesignInput(space, "", epsilon, "uniform", loss)
    shown = best_mechanism(question)
    certificate = ut.optimal(question.points(), question.level(), question.consumer()).certificate
    assert fraction(shown.lower.text) <= ends(certificate.lower)[0]
    assert ends(certificate.gap)[1] <= fraction(shown.gap)
    if certificate.gap:
        assert ends(certificate.upper)[1] <= fraction(shown.loss.text)


@pytest.mark.parametrize(("space", "option", "level"), TYPES)
def test_the_studio_rounds_capacities_up(space: str, option: str, level: str) -> None:
    alpha, epsilon = (level, "") if option == "--alpha" else ("", level)
    shown = type_capacity(DesignInput(space, alpha, epsilon, "uniform", "binary"))
    capacities = ut.capacity(spaces.parse_space(space), level_of(option, level))
    for name in ("multiplicative", "additive"):
        bound, capacity = getattr(shown, name), getattr(capacities, name)
        assert ends(capacity.upper)[1] <= fraction(bound.value.text)
        assert ends(capacity.gap)[1] <= fraction(bound.gap)


@pytest.mark.parametrize("digits", ["1/3", "2/7"])
def test_the_least_epsilon_that_an_audit_prints_is_not_above_the_channels(utmost: Run, digits: str) -> None:
    Path("channel.csv").write_text(f",a,b\n0,{digits},{1 - Fraction(digits)}\n1,1/2,1/2\n", encoding="utf-8")
    document = utmost("audit", "channel.csv", "--json").document
    source = ut.Channel((0, 1), ("a", "b"), [[Fraction(digits), 1 - Fraction(digits)], ["1/2", "1/2"]])
    privacy_loss = ut.least_epsilon(source, ut.line(2))
    with working_precision(300):
        assert fraction(document["lower"]) <= ball_endpoints(ball(privacy_loss.ratio, 300).log())[0]  # type: ignore[arg-type]


def test_certified_losses_over_densities_hold_as_printed(utmost: Run) -> None:
    arguments = ("loss", "laplace", "--interval", "0,1", "--epsilon", "2", "--loss", "absolute", "--width", "0.01")
    document, text = utmost(*arguments, "--json").document, utmost(*arguments).out
    lower, upper = fraction(document["lower"]), fraction(document["upper"])
    assert number_after("between", text) <= lower < upper <= number_after("and", text.partition("between")[2])
    assert upper - lower <= number_after("at most", text) + Fraction(1, 10**8)


def test_no_front_end_rounds_a_bound_to_the_nearest_decimal() -> None:
    """Where a sentence names a bound, the number after it is rounded up or down, in a text and in a report."""
    assert NEAREST_PART.search('Paragraph("gap at most ", quantity(gap), ".")')
    assert NEAREST_PART.search('["where at most ", short(worst.bound), "."]')
    assert not NEAREST_PART.search('["where at most ", short(worst.bound, Rounding.UP), "."]')
    rounded = [
        f"{path.relative_to(SOURCES)}:{number}"
        for path in sorted(SOURCES.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (ROUNDED_TO_NEAREST.search(line) or NEAREST_PART.search(line))
        and "must" not in line
        and "target" not in line
    ]
    assert rounded == []


def test_what_is_spent_is_rounded_up_and_what_is_left_down():
    from utmost.reports.numbers import Rounding, amount
    from utmost.studio.rendering import template_environment

    assert amount(Fraction("0.12345649999999"), Rounding.UP).rounded == "0.123457"
    filters = template_environment().filters
    assert ">0.999999<" in filters["left"](Fraction(99999996, 100000001))
    assert ">1<" in filters["spent"](Fraction(99999996, 100000001))


def test_the_epsilon_of_a_channel_in_a_document_is_not_below_its_own(utmost):
    document = json.loads(utmost("mechanism", "geometric", "--size", "2", "--alpha", "1/5", "--json").out)
    assert document["epsilon"] == 1.60943791244  # ln 5 = 1.609437912434…


def test_a_target_is_never_told_stronger_than_it_was_asked(utmost):
    assert (
        "probability 0.9999996 or more"
        in utmost("calibrate", "count", "--error", "10", "--confidence", "0.9999996").out
    )
