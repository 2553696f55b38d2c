"""FMPD23 §II and §IV-B: channels and their hypers, the direction of refinement, leakage and the miracle theorems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.channel import Channel, channel
from utmost.consumer import losses, priors
from utmost.design.universal import binary_mechanism, isolating
from utmost.exact import Level, Number, alpha
from utmost.mechanisms.geometric import geometric
from utmost.mechanisms.randomised_response import response, response_dual
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, matrix_item, statement_item
from utmost.qif import (
    Hyper,
    capacity,
    hyper,
    miracle_additive,
    miracle_multiplicative,
    posterior_uncertainty,
    posterior_vulnerability,
    refinement,
    vulnerability,
)
from utmost.spaces import discrete, line

FIGURE_1 = ("2/3 1/6 1/6", "1/3 1/3 1/3", "1/6 1/6 2/3")
FIGURE_1_HYPER = ("4/7 1/4 1/7", "2/7 1/2 2/7", "1/7 1/4 4/7", "7/18 2/9 7/18")  # inners, then outers


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return figure1(), definition2(), theorem4(), theorem5(), equation9()


def half() -> Level:
    """The level of all tables and figures: ε = ln 2."""
    return alpha("1/2")


def fraction_rows(rows: Sequence[str]) -> list[list[Fraction]]:
    """Published rows of fractions."""
    return [[Fraction(cell) for cell in row.split()] for row in rows]


def constant_channel(size: int) -> Channel:
    """𝕀: one answer, whatever the secret."""
    return channel([[1]] * size)


def figure1() -> Item:
    """The hyper of the channel under the uniform prior."""
    figure_hyper = hyper(priors.uniform(3), channel(fraction_rows(FIGURE_1)))
    grid = LabelledMatrix("Δ_C", ("y0", "y1", "y2"), ("x0", "x1", "x2", "outer"), fraction_rows(FIGURE_1_HYPER))
    mean = " = ".join(str(value) for value in dict.fromkeys(figure_hyper.prior()))
    item = matrix_item(
        "Figure 1",
        "the hyper of a channel under the uniform prior: posteriors, and below them their weights",
        grid,
        [*figure_hyper.inners.tolist(), list(figure_hyper.outers)],
        f"Lemma 1: the posteriors, weighted, average to the prior, {mean} for each secret",
    )
    return replace(item, draw=lambda: _figure1_chart(figure_hyper))


def _figure1_chart(figure_hyper: Hyper) -> Any:
    from utmost import charts

    posteriors = [
        charts.Posterior(f"y{y}", tuple(map(float, figure_hyper.inners[:, y])), float(outer))
        for y, outer in enumerate(figure_hyper.outers)
    ]
    prior = tuple(map(float, figure_hyper.prior()))
    title = "A channel is its posteriors and their weights, which average to the prior"
    subtitle = f"FMPD23 Figure 1; areas are weights: {', '.join(map(str, figure_hyper.outers))}"
    return charts.simplex_chart(("x0", "x1", "x2"), title, subtitle, posteriors=posteriors, prior=prior)


def definition2() -> Item:
    """Which way refinement points: T of Cor. 9 is universally optimal, and on which side of ⊑ it stands."""
    best, other = binary_mechanism(line(2), half()), constant_channel(2)
    uncertainty = posterior_uncertainty
    prior, loss = priors.uniform(2), losses.binary
    lines: list[Claim] = [
        (
            "T is better than 𝕀 (U_bin, uniform prior)",
            True,
            bool(uncertainty(prior, loss, best) < uncertainty(prior, loss, other)),
        ),
        ("𝕀 ⊑ T, as the sentence after Def. 2 asks of the optimal T", True, refinement(other, best).refines),
        ("T ⊑ 𝕀, as eq. (6) and Thm 6(2) say of the better T", True, refinement(best, other).refines),
    ]
    note = (
        "misprint: the sentence has ⊑ reversed. By eq. (6), B ⊑ A says that A = B·P tells less; M is universally "
        "optimal when M ⊑ M′ for all M′ of the type. Def. 2 itself is right"
    )
    return claims_item(
        "Section II-C, after Definition 2", "T of Cor. 9 and 𝕀, which tells nothing; α = 1/2", lines, note
    )


def mechanisms() -> dict[str, Channel]:
    """Four mechanisms of the paper on three secrets, α = 1/2."""
    return {
        "geometric": geometric(2, half()).channel(),
        "random response R": response(3, half()).channel(),
        "its dual R°": response_dual(3, half()).channel(),
        "K_B": isolating(discrete(3), half(), discrete(3).labels[0]),
    }


def consumers() -> list[tuple[list[Fraction], list[list[Fraction]]]]:
    """Priors and gains in [0, 1] on three secrets: a small lattice of pairs of actions, and guessing the secret."""
    weights = [[Fraction(a, 3), Fraction(b, 3), Fraction(3 - a - b, 3)] for a in range(4) for b in range(4 - a)]
    columns = [[Fraction(v, 2) for v in (a, b, c)] for a in range(3) for b in range(3) for c in range(3)]
    pairs = [[list(pair) for pair in zip(u, v, strict=True)] for k, u in enumerate(columns) for v in columns[:k:13]]
    return [(weight, gain) for weight in weights for gain in (guessing(3), *pairs) if vulnerability(weight, gain)]


def guessing(size: int) -> list[list[Fraction]]:
    """The gain of naming the secret: ℓ_nib as a gain."""
    return [[Fraction(x == w) for w in range(size)] for x in range(size)]


def theorem4() -> Item:
    """V_g[π▷M]/V_g(π) ≤ Σ_y max_x M_xy for every consumer tried; the uniform prior and the identity gain attain it."""
    rows: list[list[Value]] = []
    trial_consumers = consumers()
    for mechanism in mechanisms().values():
        max_leakage = max(miracle_multiplicative(prior, gain, mechanism).leakage for prior, gain in trial_consumers)
        after = posterior_vulnerability(priors.uniform(3), guessing(3), mechanism)
        is_equal = after == 1 - posterior_uncertainty(priors.uniform(3), losses.binary, mechanism)
        rows.append([max_leakage, after * 3, capacity(mechanism).multiplicative.value, is_equal])
    columns = ("most leaked to those tried", "V_nib[υ▷M]/V_nib(υ)", "Σ_y max_x M_xy", "V_nib = 1 − U_bin")
    return statement_item(
        "Theorem 4",
        f"multiplicative leakage to {len(trial_consumers)} consumers with gains ≥ 0, α = 1/2, three secrets",
        "V_g[π▷M]/V_g(π) ≤ V_nib[υ▷M]/V_nib(υ), with V_nib[υ▷M] = 1 − U_bin[υ▷M]",
        LabelledMatrix("M", columns, tuple(mechanisms()), rows),
        all(_is_at_most(row[0], row[1]) and row[1] == row[2] and row[3] is True for row in rows),
    )


def _is_at_most(value: Value, bound: Value) -> bool:
    return not isinstance(value, str) and not isinstance(bound, str) and bool(value <= bound)


def theorem5() -> Item:
    """V_g[π▷M] − V_g(π) ≤ 1 − Σ_y min_x M_xy = 1 − |X|·U_nib[υ▷M]; the gain 1 − n·[w = x] attains it."""
    rows: list[list[Value]] = []
    trial_consumers = consumers()
    gain = [[1 - 3 * Fraction(x == w) for w in range(3)] for x in range(3)]
    for mechanism in mechanisms().values():
        max_leakage = max(miracle_additive(prior, table, mechanism).leakage for prior, table in trial_consumers)
        attained = miracle_additive(priors.uniform(3), gain, mechanism).leakage
        bound = 1 - 3 * posterior_uncertainty(priors.uniform(3), losses.nib, mechanism)
        rows.append([max_leakage, attained, bound, capacity(mechanism).additive.value])
    columns = ("most leaked, gains ≥ 0", "leaked, gain 1 − 3·[w = x]", "1 − 3·U_nib[υ▷M]", "1 − Σ_y min_x M_xy")
    return statement_item(
        "Theorem 5",
        f"additive leakage to {len(trial_consumers)} consumers with gains in [0, 1] and to one with a signed gain, "
        "α = 1/2",
        "V_g[π▷M] − V_g(π) ≤ 1 − |X|·U_nib[υ▷M] for 0/1-bounded vulnerabilities",
        LabelledMatrix("M", columns, tuple(mechanisms()), rows),
        all(_is_at_most(row[0], row[1]) and row[1] == row[2] == row[3] for row in rows),
    )


def equation9() -> Item:
    """Which gains the capacities range over: ≥ 0 in §II-A, of either sign where the additive one is attained."""
    best = binary_mechanism(line(2), half())
    signed = [[1 - 2 * value for value in row] for row in guessing(2)]
    uniform = priors.uniform(2)
    unsigned = miracle_additive(uniform, guessing(2), best)
    before, after = vulnerability(uniform, signed), posterior_vulnerability(uniform, signed, best)
    lines: list[Claim] = [
        ("ML+(T), attained with gains in [0, 1] (§II-A)", unsigned.capacity, unsigned.leakage),
        ("ML+(T), attained with gains of either sign, 0 ≤ V_g ≤ 1 (footnote 3)", unsigned.capacity, after - before),
        ("ML×(T) is finite with gains of either sign: V_g(υ) > 0", True, bool(before > 0)),
    ]
    note = (
        f"statement: with gains in [0, 1] the additive leakage is at most (1 − 1/n)(1 − Σ_y min_x C_xy), here "
        f"{additive_limit(2, unsigned.capacity)}; so eq. (9) needs gains of either sign, and eq. (8) gains ≥ 0"
    )
    return claims_item("Equations 8 and 9", "T of Cor. 9 on two secrets, α = 1/2: 1/3 or not", lines, note)


def additive_limit(size: int, capacity: Number) -> Number:
    """The most additive leakage with gains in [0, 1]: (1 − 1/n)·(1 − Σ_y min_x C[x, y]).

    C is λ = Σ_y min_x C[x, y] of a constant channel and 1 − λ of another, so V_g[π▷C] − V_g(π) is at most
    (1 − λ)·(Σ_x π_x·max_w g(w, x) − V_g(π)), and V_g(π) ≥ max_x π_x·max_w g(w, x) is at least 1/n of that sum, which is
    at most 1.
    """
    return capacity * Fraction(size - 1, size)
