"""Describe an audit: a lower bound on ε, and whether it refutes a claim."""

from __future__ import annotations

from json import dumps
from math import isfinite, nextafter
from typing import TYPE_CHECKING, Any

from utmost.audit.lower_bound import ANY_PAIR_TEXT
from utmost.exact import json_below, json_number
from utmost.reports.blocks import Block, Paragraph, Report
from utmost.reports.mechanism import json_epsilon, privacy_paragraph
from utmost.reports.numbers import at_least

if TYPE_CHECKING:
    import altair as alt

    from utmost.audit import AuditResult
    from utmost.channel import PrivacyLoss
    from utmost.exact import Level

BOUND_DIGITS = 5  # of a lower bound in a sentence
CONFIDENCE_DIGITS = 14
MAX_SECRET_CHARS = 60  # of a secret in a sentence
ANY_PAIR_SENTENCE = (
    "Any two inputs are neighbours here, since they are not the counts 0 to n; --secrets takes one pair."
)


def describe(result: AuditResult) -> Report:
    """The bound, the event that proves it, and what becomes of the claim."""
    claim = None if result.claimed is None else Paragraph(f"The claim {result.claimed}: {_verdict_text(result)}.")
    return Report({**_bound_blocks(result), "claim": claim}, _document(result))


def figure(result: AuditResult) -> alt.TopLevelMixin:
    """The ε that is proved, as a bar, and the one that is claimed."""
    from utmost.charts.intervals import IntervalLine, IntervalPanel, interval_chart

    proved = at_least(result.lower, BOUND_DIGITS).typeset
    claimed = None if result.claimed is None else result.claimed.epsilon
    lines = [IntervalLine("proved at least", result.lower, 0.0, result.lower, f"ε ≥ {proved}")]
    if result.claimed is not None and claimed is not None:
        lines.append(IntervalLine("claimed", claimed, None, None, f"ε = {_epsilon_text(result.claimed)}"))
    shown = tuple(line for line in lines if isfinite(line.value))
    claim = "" if result.claimed is None else f"The claim {result.claimed}: {_verdict_text(result)}."
    return interval_chart([IntervalPanel("", shown, "ε")], f"ε is at least {proved}", claim)


def _bound_blocks(result: AuditResult) -> dict[str, Block | None]:
    if result.privacy_loss is not None:
        any_pair = result.neighbours == ANY_PAIR_TEXT
        return {
            "bound": privacy_paragraph(result.privacy_loss, result.claimed),
            "neighbours": Paragraph(ANY_PAIR_SENTENCE) if any_pair else None,
        }
    if result.event is None or result.counts is None:
        return {"bound": Paragraph(f"ε ≥ 0: no event told the secrets apart in {result.samples} draws of each.")}
    high, low = (_secret_text(secret) for secret in (result.high, result.low))
    draws = f", with {_confidence_percent(result)} confidence, from {result.samples} draws of each secret."
    counts = f"{result.counts[0]} times in {result.samples // 2} under {high}, {result.counts[1]} times under {low}"
    return {
        "bound": Paragraph("ε ≥ ", at_least(result.lower, BOUND_DIGITS), draws),
        "event": Paragraph(f"Event: {result.event}."),
        "counts": Paragraph(f"It came {counts}."),
    }


def _verdict_text(result: AuditResult) -> str:
    is_sampled = result.privacy_loss is None
    texts = {
        "refuted": f"REFUTED, at {_confidence_percent(result)} confidence" if is_sampled else "REFUTED",
        "holds": "holds, decided",
        "not refuted": "not refuted, which does not prove it",
    }
    return texts[str(result.verdict)]


def _confidence_percent(result: AuditResult) -> str:
    return f"{at_least(100 * result.confidence, CONFIDENCE_DIGITS)} %"


def _secret_text(secret: object) -> str:
    text = dumps(secret, ensure_ascii=False)
    return text if len(text) <= MAX_SECRET_CHARS else f"{text[: MAX_SECRET_CHARS - 1]}…"


def _document(result: AuditResult) -> dict[str, Any]:
    privacy_loss, claim = result.privacy_loss, result.claimed
    return {
        "lower": json_below(result.lower) if privacy_loss is None else _exact_lower_bound(privacy_loss, claim),
        "confidence": str(result.confidence),
        "event": result.event,
        "samples": result.samples,
        "claimed": None if claim is None else _epsilon_text(claim),
        "verdict": result.verdict,
        "witness": _witness_document(result),
        "neighbours": result.neighbours,
    }


def _exact_lower_bound(privacy_loss: PrivacyLoss, level: Level | None) -> str | float:
    """The ε of a channel: text where it is rational, else 12 digits that are not above it."""
    value = json_epsilon(privacy_loss, level)
    return value if isinstance(value, str) else json_below(nextafter(privacy_loss.epsilon, 0.0))


def _epsilon_text(level: Level) -> str:
    """The ε of a level, exact: 1/10, or ln(2) for α = 1/2."""
    if level.exponent is not None:
        return str(level.exponent)
    if not level.alpha:
        return "inf"
    return "0" if level.alpha == 1 else f"ln({1 / level.alpha})"


def _witness_document(result: AuditResult) -> dict[str, Any] | None:
    """The two secrets, and what the event did under them: how often it came, or the ratio of its probabilities."""
    if result.event is None:
        return None
    sides = {"high": result.high, "low": result.low}
    if result.privacy_loss is not None:
        return {**sides, "output": result.privacy_loss.output, "ratio": json_number(result.privacy_loss.ratio)}
    assert result.counts is not None
    return {**sides, "counts": list(result.counts), "draws": result.samples // 2, "tested": result.events_tested}
