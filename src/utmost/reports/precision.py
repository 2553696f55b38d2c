"""Describe what floating-point arithmetic does to ε: the ε′ that it guarantees, and an attack on a sampler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.exact import json_above
from utmost.precision import sum_advice
from utmost.precision.attacks import MIN_DRAWS
from utmost.precision.remedies import epsilon_text
from utmost.reports.blocks import Cell, Facts, Paragraph, Report, Table
from utmost.reports.numbers import at_most, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.precision import Attack, Implementation, PrecisionGuarantee
    from utmost.precision.laplace import LaplaceSetting
    from utmost.precision.planar import PlanarSetting

EXAMPLES_PER_SECRET = 5  # results of each secret in the table
CHART_BINS = 24  # intervals of results in the chart
MAX_EXACT_CHARS = 40  # characters of a sensitivity that a document writes as it is
BOUND_DIGITS = 9
NO_BOUND = "∞ (none)"


@dataclass(frozen=True, slots=True)
class PrecisionResult:
    """ε′ of an implementation. `sensitivity` and `range_ends` are as asked for.

    The setting's own sensitivity is larger where the answer is a computed sum, and its range wider where the ends were
    moved to multiples of the rounding step. `slope` is k, how much the noise stretches an error of the generator.
    """

    setting: LaplaceSetting | PlanarSetting
    implementation: Implementation
    guarantee: PrecisionGuarantee
    slope: Fraction | None
    advice: str
    sensitivity: Fraction
    range_ends: tuple[Fraction, ...]
    is_computed_sum: bool = False

    @property
    def used_range(self) -> tuple[Fraction, ...]:
        """The ends of the range that the guarantee is about."""
        low, high = self.setting.low, self.setting.high
        if isinstance(low, tuple) and isinstance(high, tuple):
            return low[0], high[0], low[1], high[1]
        return low, high  # type: ignore[return-value]

    @property
    def whole_advice(self) -> str:
        """The advice, with what a computed sum costs."""
        if not self.is_computed_sum:
            return self.advice
        return f"{self.advice} {sum_advice(self.sensitivity, self.setting.sensitivity)}"


def describe(result: PrecisionResult) -> Report:
    """The numbers that make ε′, each a proven upper bound, and what to do about it."""
    return Report(
        {
            "certificate": Facts((*_request_facts(result), *_bound_facts(result))),
            "advice": Paragraph(result.whole_advice),
        },
        _guarantee_document(result) | {"advice": result.whole_advice},
    )


def bound_texts(result: PrecisionResult) -> Mapping[str, str]:
    """The bounds of a guarantee by name, as text, each rounded up."""
    guarantee, closeness = result.guarantee, result.guarantee.closeness

    def epsilon(bound: Fraction | None) -> str:
        return NO_BOUND if bound is None else epsilon_text(result.setting.level, bound, BOUND_DIGITS)

    return {
        "delta0": _bound_text(result.implementation.delta0),
        "delta_n": "-" if closeness is None else _bound_text(closeness.delta_n),
        "k": _bound_text(closeness.k if closeness else result.slope),
        "delta_t": _bound_text(closeness.delta_t if closeness else None),
        "robustness": _bound_text(guarantee.robustness),
        "epsilon_prime": epsilon(guarantee.epsilon_prime),
        "theorem": epsilon(guarantee.theorem),
        "sharp": epsilon(guarantee.sharp),
    }


def _bound_text(value: Fraction | None) -> str:
    return NO_BOUND if value is None else at_most(value, BOUND_DIGITS).rounded


def _request_facts(result: PrecisionResult) -> list[tuple[str, str]]:
    """What was asked for, and the sensitivity and range used for it."""
    level, sensitivity = result.setting.level, at_most(result.setting.sensitivity, 6)
    facts = [("ε", f"{level.epsilon if level.exponent is None else level.exponent} at distance {sensitivity}")]
    if result.is_computed_sum:
        extra = at_most(result.setting.sensitivity - result.sensitivity, 6)
        change = f"{at_most(result.sensitivity, 6)} → {sensitivity} (2δ_f = {extra})"
        facts.append(("Δ", f"sensitivity {change}: the noise's scale must be {sensitivity}/ε"))
    range_text = ", ".join(map(str, result.range_ends))
    if result.used_range != result.range_ends:
        range_text += f", used as {', '.join(map(str, result.used_range))}: the ends are moved out to multiples of L"
    return [*facts, ("range", range_text)]


def _bound_facts(result: PrecisionResult) -> list[tuple[str, str]]:
    """Every bound with its symbol and its meaning."""
    implementation, texts = result.implementation, bound_texts(result)
    bits = implementation.generator.count.bit_length() - 1
    count = f"2^{bits}" if implementation.generator.count == 2**bits else str(implementation.generator.count)
    facts = [
        ("δ₀", f"{texts['delta0']}  the generator, {count} values, against a uniform number"),
        ("δ_n", f"{texts['delta_n']}  rounding in {implementation.format.name}"),
        ("k", f"{texts['k']}  how much the noise stretches an error of the generator"),
        ("δ_t", f"{texts['delta_t']}  = kδ₀ + δ_n, how far the noise is from the noise meant"),
        ("L", f"{result.guarantee.rounding}  results are multiples of this"),
        ("R", f"{texts['robustness']}  of a cell that δ_t can move across its edge"),
        ("ε′", f"{texts['epsilon_prime']}  what this implementation promises"),
    ]
    if result.guarantee.sharp is not None:
        facts.append(("", f"{texts['theorem']}  by the paper's theorem, put right"))
        facts.append(("", f"{texts['sharp']}  by the sharper bound for Laplace noise"))
    return facts


def _guarantee_document(result: PrecisionResult) -> dict[str, Any]:
    guarantee, implementation, level = result.guarantee, result.implementation, result.setting.level
    closeness, sensitivity = guarantee.closeness, _short_number(result.sensitivity)
    return {
        "epsilon": level.epsilon if level.exponent is None else str(level.exponent),
        "sensitivity": sensitivity,
        "sensitivity_implemented": json_above(result.setting.sensitivity) if result.is_computed_sum else sensitivity,
        "range": [str(end) for end in result.range_ends],
        "range_used": [str(end) for end in result.used_range],
        "format": implementation.format.name,
        "generator": str(implementation.generator.count),
        "delta0": json_above(implementation.delta0),
        "delta_n": None if closeness is None else json_above(closeness.delta_n),
        "k": json_above(result.slope if closeness is None else closeness.k),
        "delta_t": json_above(None if closeness is None else closeness.delta_t),
        "R": json_above(guarantee.robustness),
        "L": str(guarantee.rounding),
        "diameter": json_above(guarantee.diameter),
        "epsilon_prime": json_above(guarantee.epsilon_prime),
        "epsilon_theorem": json_above(guarantee.theorem),
        "epsilon_sharp": None if guarantee.sharp is None else json_above(guarantee.sharp),
    }


def _short_number(value: Fraction) -> float | str:
    """An exact number as a document has it; one with many digits as an upper bound."""
    return str(value) if len(str(value)) <= MAX_EXACT_CHARS else json_above(value)


def describe_attack(attack: Attack, utmost_attack: Attack, name: str) -> Report:
    """Some results of a sampler with the secrets that can give them, and a verdict with what it assumes.

    `utmost_attack` is the same attack on utmost's own draws.
    """
    document, reason = _attack_document(attack, utmost_attack, name), _no_attack_reason(attack)
    if reason is not None:
        return Report({"verdict": Paragraph(f"{name}: {reason}.")}, document)
    comparison = (
        f"utmost's draws: {sum(utmost_attack.certain_counts)} of {2 * utmost_attack.draws}; each multiple of "
        "1/1024 has a positive chance from either secret."
    )
    return Report(
        {
            "results": _attack_table(attack),
            "verdict": Paragraph(f"{name}: {_attack_verdict(attack)}"),
            "comparison": None if name == "utmost" else Paragraph(comparison),
        },
        document,
    )


def _no_attack_reason(attack: Attack) -> str | None:
    """Why nothing was found; None if something was looked for."""
    if attack.support_test is not None:
        return None
    if attack.draws < MIN_DRAWS:
        requirement = f"--draws must be at least {MIN_DRAWS} to test what an attack assumes of a sampler"
        return f"{requirement}, so nothing was found; that proves nothing"
    return "no attack here fits this sampler, or fits it by more than chance, so nothing was found; that proves nothing"


def _attack_table(attack: Attack) -> Table:
    verdicts = {True: "yes", False: "NO"}
    header = ("result", "drawn from", *(f"possible from {quantity(secret, 6)}" for secret in attack.secrets))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (repr(row["result"]), quantity(row["drawn_from"], 6), *(verdicts[p] for p in row["possible"]))
        for row in _example_rows(attack)
    )
    return Table(header, rows)


def _attack_verdict(attack: Attack) -> str:
    results, certain = 2 * attack.draws, sum(attack.certain_counts)
    if not attack.identifies_a_secret:
        return f"each of {results} results can come from either secret; this attack finds nothing."
    return (
        f"{certain} of {results} results ({quantity(100 * certain / results, 3)} %) can come from one secret only, "
        f"assuming {attack.assumption}, which none of {results} draws contradicts; if so, ε is infinite, "
        f"and an attacker names the secret {quantity(100 * attack.success_probability, 3)} % of the time."
    )


def _attack_document(attack: Attack, utmost_attack: Attack, name: str) -> dict[str, Any]:
    return {
        "sampler": name,
        "secrets": list(attack.secrets),
        "scale": attack.scale,
        "draws": attack.draws,
        "judge": attack.support_test,
        "assumption": attack.assumption,
        "nothing_found": _no_attack_reason(attack),
        "certain": list(attack.certain_counts),
        "success": float(attack.success_probability),
        "epsilon": "inf" if attack.identifies_a_secret else None,
        "utmost": {
            "draws": utmost_attack.draws,
            "certain": list(utmost_attack.certain_counts),
            "success": float(utmost_attack.success_probability),
        },
        "samples": _example_rows(attack),
    }


def _example_rows(attack: Attack) -> list[dict[str, Any]]:
    half = len(attack.examples) // 2
    examples = attack.examples[:EXAMPLES_PER_SECRET] + attack.examples[half : half + EXAMPLES_PER_SECRET]
    return [{"result": e.result, "drawn_from": e.secret, "possible": list(e.possible)} for e in examples]


def attack_figure(attack: Attack, utmost_attack: Attack, name: str) -> alt.TopLevelMixin:
    """The share of results that give their secret away, over the results."""
    from utmost import charts

    low = min(attack.secrets) - 3 * attack.scale
    step = (max(attack.secrets) + 3 * attack.scale - low) / CHART_BINS
    edges = [low + k * step for k in range(CHART_BINS)]
    middle = tuple(edge + step / 2 for edge in edges)
    lines = [
        charts.ChartLine(
            title, middle, tuple(100 * sampler_attack.identified_share(edge, edge + step) for edge in edges)
        )
        for title, sampler_attack in ((name, attack), ("utmost", utmost_attack))
        if sampler_attack.support_test is not None
    ]
    first, second = (quantity(secret, 6).typeset for secret in attack.secrets)
    claim = (
        f"Laplace noise of scale {quantity(attack.scale, 6).typeset} added to {first} or to {second}, "
        f"{attack.draws} results of each: what share of the results near a value gives the secret away."
    )
    title = "Results that only one of the two secrets can give"
    return charts.line_chart(lines, title, claim, x="result", y="given away, %")
