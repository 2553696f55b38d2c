"""GRS12 Appendix A: what Laplace noise costs where geometric noise is best."""

from __future__ import annotations

from fractions import Fraction

from utmost.consumer import Consumer, losses, priors
from utmost.continuous import LaplacePrice, laplace_factor, laplace_loss, laplace_price, rounded_laplace
from utmost.exact import Level, Number, alpha, decimal, decimal_above, epsilon, power
from utmost.mechanisms.geometric import geometric, untruncated_law
from utmost.papers.items import (
    Claim,
    Item,
    LabelledMatrix,
    Series,
    claims_item,
    computed_item,
    require_exact,
    rounds_to,
    statement_item,
)

EPSILONS = ("1/10", "1/4", "1/2", "1", "3/2", "2", "3", "4")


def items() -> tuple[Item, ...]:
    """In the order of the appendix."""
    return example_a1(), theorem_a2(), rounded_noise(), price_table()


def coin_consumer() -> Consumer:
    """Example A.1's user: uniform on {0, 1}, binary loss."""
    return Consumer(priors.uniform(2), losses.binary)


def count_consumer() -> Consumer:
    """A consumer of a count 0 … 5: uniform prior, absolute loss."""
    return Consumer(priors.uniform(6), losses.absolute)


def example_a1() -> Item:
    """1/3 against 1/(2√2) ≈ 0.35."""
    level, consumer = alpha("1/2"), coin_consumer()
    loss = laplace_loss(consumer.costs(), level).exact
    lines: list[Claim] = [
        (
            "loss from the geometric mechanism",
            Fraction(1, 3),
            require_exact(consumer.expected_loss(geometric(1, level))),
        ),
        ("loss from Laplace noise", power(2, Fraction(1, 2)) / 4, loss if loss is not None else "no exact value"),
        ("which is about .35", True, loss is not None and rounds_to(loss, Fraction("0.35"), 2)),
    ]
    return claims_item("Example A.1", "α = 1/2, n = 1, uniform prior, binary loss", lines)


def theorem_a2() -> Item:
    """The factor (1+α)/(2√α) at α = 1/2 is 1.06; and Example A.1's user attains the factor at every level tried."""
    levels = [alpha(text) for text in ("1/10", "1/4", "1/2", "3/4", "99/100")]
    is_attained = all(row.laplace.exact == row.bound * row.geometric for row in laplace_prices(coin_consumer(), levels))
    lines: list[Claim] = [
        ("the factor at α = 0.5 is about 1.06", True, rounds_to(laplace_factor(alpha("1/2")), Fraction("1.06"), 2)),
        ("the factor at α = 1", Fraction(1), laplace_factor(alpha(1))),
        (
            "no consumer here loses more than the factor",
            True,
            all(is_within_factor(row) for row in laplace_prices(count_consumer(), levels)),
        ),
    ]
    note = (
        "Example A.1's user attains the factor exactly at each level tried: it cannot be improved"
        if is_attained
        else ""
    )
    return claims_item("Theorem A.2", "Laplace noise is (1+α)/(2√α)-approximately optimal", lines, note)


def laplace_prices(consumer: Consumer, levels: list[Level]) -> list[LaplacePrice]:
    """The two losses of one consumer at each level."""
    costs = consumer.costs()
    return [laplace_price(costs, level) for level in levels]


def is_within_factor(row: LaplacePrice) -> bool:
    """Is the Laplace loss at least the geometric one and at most the factor times it: decided."""
    return bool(row.laplace.upper >= row.geometric and row.laplace.lower <= row.bound * row.geometric)


def rounded_noise() -> Item:
    """Pr[Δ′ = i] = (1+α)/(2√α)·Pr[Δ = i] for i ≠ 0, and Pr[Δ′ = 0] < Pr[Δ = 0]."""
    levels, values = [alpha("1/4"), alpha("1/2"), alpha("9/16")], range(4)
    rounded = [[rounded_laplace(i, level) for i in values] for level in levels]
    return statement_item(
        "Theorem A.2, proof",
        "Pr[Δ′ = i] of Laplace noise rounded to an integer",
        "Δ′ is (1+α)/(2√α) times as likely as geometric noise to be i ≠ 0, and less likely to be 0",
        LabelledMatrix("α", [f"i = {i}" for i in values], [level.alpha for level in levels], rounded),
        all(_is_as_proved(law, level) for law, level in zip(rounded, levels, strict=True)),
    )


def _is_as_proved(rounded: list[Number], level: Level) -> bool:
    factor, geometric_law = laplace_factor(level), untruncated_law(0, range(len(rounded)), level)
    is_less_at_zero = bool(rounded[0] < geometric_law[0])
    return is_less_at_zero and all(
        ours == factor * theirs for ours, theirs in zip(rounded[1:], geometric_law[1:], strict=True)
    )


def price_table() -> Item:
    """Both losses, their ratio and the bound over ε, for two consumers; the ratios as a plot too."""
    levels = [epsilon(text) for text in EPSILONS]
    pairs = zip(laplace_prices(coin_consumer(), levels), laplace_prices(count_consumer(), levels), strict=True)
    kinds = ("geometric", "Laplace", "ratio")
    columns = (*(f"coin, {kind}" for kind in kinds), *(f"count, {kind}" for kind in kinds), "factor")
    rows = [
        [*map(decimal, (*_price_values(coin_price), *_price_values(count_price))), decimal_above(coin_price.bound)]
        for coin_price, count_price in pairs
    ]
    return computed_item(
        "Appendix A, price of Laplace noise",
        "coin: uniform on {0, 1}, binary loss; count: uniform on 0 to 5, absolute loss",
        LabelledMatrix("ε", columns, EPSILONS, rows),
        "decimals of exact losses; factor: (1+α)/(2√α)",
        ratio_series(),
    )


def _price_values(row: LaplacePrice) -> tuple[float, float, float]:
    return float(row.geometric), float(row.laplace), row.ratio


def ratio_series() -> tuple[Series, ...]:
    """Laplace loss over geometric loss for the two consumers, and the factor, for ε = 1/4 … 4."""
    levels = [epsilon(Fraction(k, 4)) for k in range(1, 17)]
    lines = {
        "coin": [row.ratio for row in laplace_prices(coin_consumer(), levels)],
        "count 0 to 5": [row.ratio for row in laplace_prices(count_consumer(), levels)],
        "(1+α)/(2√α)": [float(laplace_factor(level)) for level in levels],
    }
    x = tuple(level.epsilon for level in levels)
    return tuple(Series(name, "ε", "Laplace loss / geometric loss", x, tuple(y)) for name, y in lines.items())
