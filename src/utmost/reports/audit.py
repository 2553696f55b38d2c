"""Describe an audit: a lower bound on ε or on ρ, and whether it refutes a claim."""

from __future__ import annotations

from json import dumps
from math import isfinite, nextafter
from typing import TYPE_CHECKING, Any

from utmost.audit.lower_bound import ANY_PAIR_TEXT
from utmost.exact import json_above, json_below, json_number
from utmost.reports.blocks import Block, Cell, Paragraph, Report
from utmost.reports.concentration import concentration_document, least_rho_paragraph, order_paragraph
from utmost.reports.mechanism import json_epsilon, privacy_paragraph
from utmost.reports.numbers import SENTENCE_DIGITS, at_least, quantity, short

if TYPE_CHECKING:
    import altair as alt

    from utmost.audit import AuditResult
    from utmost.audit.result import ApproximateLoss
    from utmost.channel import PrivacyLoss
    from utmost.exact import Level, Number

BOUND_DIGITS = 5  # of a lower bound in a sentence
CONFIDENCE_DIGITS = 14
MAX_SECRET_CHARS = 60  # of a secret in a sentence
MAX_EXACT_CHARS = 24  # of an exact number in a document, else digits
ANY_PAIR_SENTENCE = (
    "Any two inputs are neighbours here, since they are not the counts 0 to n; --secrets takes one pair."
)


def describe(result: AuditResult) -> Report:
    """The bound, what proves it, and what becomes of the claim."""
    claim = None if result.verdict is None else Paragraph(*_claim_sentence(result))
    return Report({**_bound_blocks(result), "claim": claim}, _document(result))


def figure(result: AuditResult) -> alt.TopLevelMixin:
    """The ε or ρ that is proved, as a bar, and the one that is claimed."""
    from utmost.charts.intervals import IntervalLine, IntervalPanel, interval_chart

    name, proved = "ε" if result.rho is None else "ρ", at_least(result.lower, BOUND_DIGITS).typeset
    lines = [IntervalLine("proved at least", result.lower, 0.0, result.lower, f"{name} ≥ {proved}")]
    if result.rho is not None:
        lines.append(IntervalLine("claimed", float(result.rho), None, None, f"ρ = {short(result.rho).typeset}"))
    elif result.claimed is not None:
        text = f"ε = {_epsilon_text(result.claimed)}"
        lines.append(IntervalLine("claimed", result.claimed.epsilon, None, None, text))
    shown = tuple(line for line in lines if isfinite(line.value))
    claim = "" if result.verdict is None else "".join(map(str, _claim_sentence(result)))
    condition = "".join(map(str, _delta_parts(result, " at δ = ")))
    return interval_chart([IntervalPanel("", shown, name)], f"{name} is at least {proved}{condition}", claim)


def _claim_sentence(result: AuditResult) -> tuple[Cell, ...]:
    return ("The claim ", *_claim_parts(result), _verdict_text(result))


def _claim_parts(result: AuditResult) -> tuple[Cell, ...]:
    if result.rho is not None:
        return ("ρ = ", short(result.rho))
    return (str(result.claimed), *_delta_parts(result, " with δ = "))


def _delta_parts(result: AuditResult, words: str) -> tuple[Cell, ...]:
    return () if result.delta is None else (words, short(result.delta))


def _bound_blocks(result: AuditResult) -> dict[str, Block | None]:
    if result.is_exact:
        any_pair = result.neighbours == ANY_PAIR_TEXT
        return {**_exact_blocks(result), "neighbours": Paragraph(ANY_PAIR_SENTENCE) if any_pair else None}
    name = "ε" if result.rho is None else "ρ"
    if result.event is None:
        return {"bound": Paragraph(f"{name} ≥ 0: {_nothing_found(result)} in {result.samples} draws of each.")}
    draws = f", with {_confidence_percent(result)} confidence, from {result.samples} draws of each secret."
    bound = Paragraph(f"{name} ≥ ", at_least(result.lower, BOUND_DIGITS), *_delta_parts(result, " at δ = "), draws)
    return {"bound": bound, **(_event_blocks(result) if result.divergence is None else _statistic_blocks(result))}


def _nothing_found(result: AuditResult) -> str:
    if result.rho is not None:
        return "no statistic told the secrets apart"
    return "no event told the secrets apart" if result.delta is None else "no event told the secrets apart beyond δ"


def _event_blocks(result: AuditResult) -> dict[str, Block | None]:
    assert result.counts is not None
    high, low = (_secret_text(secret) for secret in (result.high, result.low))
    counts = f"{result.counts[0]} times in {result.samples // 2} under {high}, {result.counts[1]} times under {low}"
    return {"event": Paragraph(f"Event: {result.event}."), "counts": Paragraph(f"It came {counts}.")}


def _statistic_blocks(result: AuditResult) -> dict[str, Block | None]:
    assert result.divergence is not None
    high, low = (_secret_text(secret) for secret in (result.high, result.low))
    order = f"Rényi divergence of order {result.divergence.order}, of the results under {high} from those under {low}"
    return {
        "event": Paragraph(f"Statistic: likelihood ratios, estimated on the first half, of {result.event}."),
        "order": Paragraph(f"It bounds the {order}."),
    }


def _exact_blocks(result: AuditResult) -> dict[str, Block | None]:
    if result.concentration is not None:
        return {"bound": order_paragraph(result.concentration), "least rho": least_rho_paragraph(result.concentration)}
    if result.approximate_loss is not None:
        return _approximate_blocks(result, result.approximate_loss)
    assert result.privacy_loss is not None
    return {"bound": privacy_paragraph(result.privacy_loss, result.claimed)}


def _approximate_blocks(result: AuditResult, loss: ApproximateLoss) -> dict[str, Block | None]:
    """The least ε at δ, the least δ at the claimed ε, and the event that attains the one asked for."""
    epsilon = _level_value(loss.least_level)
    level = Paragraph("Recomputed from the entries: the least ε with δ = ", short(loss.delta), " is ", *epsilon, ".")
    least_delta = None
    if loss.least_delta is not None:
        shown = short(loss.least_delta)
        least_delta = Paragraph(f"With {result.claimed} the least δ {shown.sign} ", shown, ".")
    if not loss.event:
        return {"bound": level, "delta": least_delta, "event": None}
    probabilities = (short(loss.high_probability), f" under input {loss.high}, ", short(loss.low_probability))
    event = Paragraph(f"Event: {result.event}, with probability ", *probabilities, f" under {loss.low}.")
    return {"bound": level, "delta": least_delta, "event": event}


def _level_value(level: Level) -> tuple[Cell, ...]:
    if level.exponent is not None:
        return (short(level.exponent),)
    return (quantity(level.epsilon, SENTENCE_DIGITS),) if level.alpha else ("infinite",)


def _verdict_text(result: AuditResult) -> str:
    texts = {
        "refuted": "REFUTED" if result.is_exact else f"REFUTED, at {_confidence_percent(result)} confidence",
        "holds": "holds, decided",
        "not refuted": "not refuted, which does not prove it",
        "undecided": "undecided, too close to the least ρ",
    }
    return f": {texts[str(result.verdict)]}."


def _confidence_percent(result: AuditResult) -> str:
    return f"{at_least(100 * result.confidence, CONFIDENCE_DIGITS)} %"


def _secret_text(secret: object) -> str:
    text = dumps(secret, ensure_ascii=False)
    return text if len(text) <= MAX_SECRET_CHARS else f"{text[: MAX_SECRET_CHARS - 1]}…"


def _document(result: AuditResult) -> dict[str, Any]:
    claim = result.claimed
    least_delta = None if result.approximate_loss is None else result.approximate_loss.least_delta
    ends = None if result.concentration is None else (result.concentration.lower, result.concentration.upper)
    return {
        "lower": _lower_document(result),
        "confidence": str(result.confidence),
        "event": result.event,
        "samples": result.samples,
        "claimed": None if claim is None else _epsilon_text(claim),
        "verdict": result.verdict,
        "witness": _witness_document(result),
        "neighbours": result.neighbours,
        "bounds": "epsilon" if result.rho is None else "rho",
        "delta": None if result.delta is None else str(result.delta),
        "claimed_rho": None if result.rho is None else str(result.rho),
        "least_delta": None if least_delta is None else [json_below(least_delta), json_above(least_delta)],
        "least_rho": None if ends is None else [json_below(ends[0]), json_above(ends[1])],
    }


def _lower_document(result: AuditResult) -> str | float | None:
    """The bound: text where it is rational and exact, else 12 digits that are not above it."""
    if result.privacy_loss is not None:
        return _exact_lower_bound(result.privacy_loss, result.claimed)
    if result.approximate_loss is not None:
        level = result.approximate_loss.least_level
        if level.exponent is not None:
            return str(level.exponent)
        return json_below(nextafter(level.epsilon, 0.0)) if level.alpha else "inf"
    return json_below(result.lower)


def _exact_lower_bound(privacy_loss: PrivacyLoss, level: Level | None) -> str | float:
    """The ε of a channel: text where it is rational, else 12 digits that are not above it."""
    value = json_epsilon(privacy_loss, level)
    return value if isinstance(value, str) else json_below(nextafter(privacy_loss.epsilon, 0.0))


def _probability_document(value: Number) -> str | float | None:
    """A probability: exact text where that is short, else the nearest double."""
    text = json_number(value)
    return text if isinstance(text, str) and len(text) <= MAX_EXACT_CHARS else json_number(float(value))


def _epsilon_text(level: Level) -> str:
    """The ε of a level, exact: 1/10, or ln(2) for α = 1/2."""
    if level.exponent is not None:
        return str(level.exponent)
    if not level.alpha:
        return "inf"
    return "0" if level.alpha == 1 else f"ln({1 / level.alpha})"


def _witness_document(result: AuditResult) -> dict[str, Any] | None:
    """The two secrets, and what tells them apart."""
    if result.concentration is not None:
        witness = concentration_document(result.concentration)["witness"]
        return None if witness is None else {"high": result.high, "low": result.low, **witness}
    if result.event is None:
        return None
    return {"high": result.high, "low": result.low, **_evidence_document(result)}


def _evidence_document(result: AuditResult) -> dict[str, Any]:
    """How often the event came, or the ratio or the probabilities of it; of a statistic its order and its cells."""
    if result.privacy_loss is not None:
        return {"output": result.privacy_loss.output, "ratio": json_number(result.privacy_loss.ratio)}
    if result.approximate_loss is not None:
        loss = result.approximate_loss
        probabilities = [_probability_document(p) for p in (loss.high_probability, loss.low_probability)]
        return {"outputs": list(loss.event), "probabilities": probabilities}
    draws = {"draws": result.samples // 2, "tested": result.events_tested}
    if result.divergence is not None:
        bound = result.divergence
        return {"order": str(bound.order), "of": bound.partition, "cells": bound.cells, **draws}
    assert result.counts is not None
    return {"counts": list(result.counts), **draws}
