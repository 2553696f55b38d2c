"""KL10 Prop. 2.1.4 and App. D: how far an attacker's odds move, the bounds a′ and a″ beside the truth."""

from __future__ import annotations

from fractions import Fraction

from utmost.axioms import Curve, curve_from_points, parse_bound, profile
from utmost.axioms.likelihood_ratio import Odds, odds_bounds, odds_tails
from utmost.channel import Channel, channel
from utmost.exact import Level, alpha
from utmost.mechanisms import geometric, response
from utmost.papers.items import Item, LabelledMatrix, Value, computed_item, statement_item
from utmost.papers.kl10.bounds import subsampling_channel
from utmost.papers.kl10.matrices import event_probabilities, two_output_mechanism

LEVELS = tuple(alpha(text) for text in ("1/2", "2/3", "9/10"))
BOUND_TEXTS = ("alpha:1/2", "points:0 1/8,1/3 5/8,1 1", "variation:1/3", "subsampling:1/4")


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return proposition214(), bounds_attained(), bound_jump()


def mechanisms() -> dict[str, tuple[Channel, Curve]]:
    """Mechanisms of two secrets, each with a definition that it meets."""
    half = alpha("1/2")
    uneven = channel([["1/2", "1/4", "1/8", "1/8"], ["3/8", "1/8", "1/4", "1/4"]])
    return {
        "geometric, counts 1 and 2 of 0…3": (geometric(3, half).channel().restrict([1, 2]), parse_bound("alpha:1/2")),
        "response, 2 of 3 secrets": (response(3, half).channel().restrict([0, 1]), parse_bound("alpha:1/2")),
        "response, as total variation": (response(3, half).channel().restrict([0, 1]), parse_bound("variation:1/4")),
        "four outputs": (uneven, parse_bound("alpha:1/2")),
        "subsampling, p = 1/4": (subsampling_channel(), parse_bound("subsampling:1/4")),
    }


def exact_odds(source: Channel, level: Level) -> Odds:
    """P(Δ ≥ ε | i₁) and P(Δ ≤ −ε | i₁), output by output, as the proposition defines them."""
    pairs = list(zip(source.rows[0].tolist(), source.rows[1].tolist(), strict=True))
    rise = sum((p for p, q in pairs if p and level.alpha * q >= p), Fraction(0))
    fall = sum((p for p, q in pairs if p and q <= level.alpha * p), Fraction(0))
    return Odds(rise, fall)


def proposition214() -> Item:
    """The true law within the bounds, on several mechanisms and levels."""
    rows: list[list[Value]] = []
    labels, holds = [], True
    for name, (source, curve) in mechanisms().items():
        for level in LEVELS:
            true, bounds = exact_odds(source, level), odds_bounds(curve, level)
            meets = all(b <= curve(a) for a, b in event_probabilities(source, 0, 1))
            is_equal = true == odds_tails(profile(source, source.inputs).curve, level)
            holds = holds and meets and is_equal and true.rise <= bounds.rise and true.fall <= bounds.fall
            labels.append(name)
            rows.append([level.alpha, true.rise, bounds.rise, true.fall, bounds.fall])
    columns = ("e^−ε", "P(Δ ≥ ε)", "a′", "P(Δ ≤ −ε)", "a″")
    return statement_item(
        "Proposition 2.1.4",
        "i₁ is true; Δ is the move of the log-odds of i₂ against i₁",
        "P(Δ ≥ ε | i₁) ≤ a′ = sup{a > 0 : M(a)/a ≥ e^ε}, P(Δ ≤ −ε | i₁) ≤ a″ = sup{a > 0 : m(a)/a ≤ e^−ε}",
        LabelledMatrix("mechanism", columns, labels, rows),
        holds,
        "a′ and a″ from the breakpoints of a bound M that the mechanism meets",
    )


def bounds_attained() -> Item:
    """Both bounds are the best possible."""
    rows: list[list[Value]] = []
    for text in BOUND_TEXTS:
        curve = parse_bound(text)
        for level in LEVELS:
            bounds = odds_bounds(curve, level)
            rise_mechanism, fall_mechanism = (
                two_output_mechanism(bounds.rise, curve(bounds.rise)),
                two_output_mechanism(bounds.fall, curve.reflected(bounds.fall)),
            )
            meets = all(
                b <= curve(a)
                for mechanism in (rise_mechanism, fall_mechanism)
                for a, b in event_probabilities(mechanism, 0, 1)
            )
            best = (
                exact_odds(rise_mechanism, level).rise == bounds.rise
                and exact_odds(fall_mechanism, level).fall == bounds.fall
            )
            rows.append([level.alpha, bounds.rise, bounds.fall, meets, best])
    labels = [text for text in BOUND_TEXTS for _ in LEVELS]
    columns = ("e^−ε", "a′", "a″", "two mechanisms meet M", "and attain a′ and a″")
    return computed_item(
        "Proposition 2.1.4, attained",
        "mechanisms with two outputs, the first with probabilities (a′, M(a′)), or (a″, m(a″))",
        LabelledMatrix("M", columns, labels, rows),
        "the paper does not say whether its bounds can be improved; they cannot",
    )


def bound_jump() -> Item:
    """The one case in which a supremum is not attained."""
    curve, level = curve_from_points([(0, 1), (1, 1)], at_zero=0), alpha("1/2")
    rows: list[list[Value]] = []
    for k in (2, 10, 1000):
        mechanism = two_output_mechanism(Fraction(k - 1, k), Fraction(0))
        rows.append(
            [all(b <= curve(a) for a, b in event_probabilities(mechanism, 0, 1)), exact_odds(mechanism, level).fall]
        )
    bounds = odds_bounds(curve, level)
    rows.append([bounds.attained[1], bounds.fall])
    return computed_item(
        "Proposition 2.1.4, a jump",
        "M(0) = 0 and M(a) = 1 for a > 0, e^ε = 2: mechanisms with P(o|i₁) = 1 − 1/k, P(o|i₂) = 0, and a″",
        LabelledMatrix("k", ("meets M", "P(Δ ≤ −ε)"), [2, 10, 1000, "∞: a″"], rows),
        "where M jumps at 0 and m(1) > e^−ε, a″ = 1 is approached and not attained",
    )
