"""Describe a privacy definition: whether it is sound, the mechanisms that show that it is not, and what it allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.reports.blocks import Block, Cell, Paragraph, Report, SideBySide, Table
from utmost.reports.mechanism import channel_document
from utmost.reports.numbers import short

if TYPE_CHECKING:
    import altair as alt

    from utmost.axioms import Candidate, Closure, Curve, Verdict
    from utmost.axioms.counterexamples import Mixture, Processing
    from utmost.axioms.curves import Point
    from utmost.axioms.pair_rules import AllowedPairs
    from utmost.axioms.regions import ConvexityGap
    from utmost.channel import Channel
    from utmost.exact import Number
    from utmost.spaces.space import Pair

MAX_SHOWN_SECRETS = 10  # rows of a channel
MAX_SHOWN_POINTS = 12  # points of a bound
MAX_SHOWN_ROWS = 40  # rows of a table of M and m
MAX_SHOWN_PAIRS = 12  # pairs with their own rules
MAX_NAME_CHARS, MAX_LABEL_CHARS = 200, 40


@dataclass(frozen=True, slots=True)
class DefinitionFindings:
    """A candidate as it was written, the verdict, and the closure for one pair of each kind that is shown."""

    definition: str
    candidate: Candidate
    verdict: Verdict
    closures: tuple[tuple[Pair, Closure], ...]


def describe(findings: DefinitionFindings) -> Report:
    """The verdict; if it is not sound, a post-processing and a mixture that fail; the least sound one above it."""
    verdict = findings.verdict
    blocks: dict[str, Block | None] = {
        "title": Paragraph(_title(findings)),
        "verdict": Paragraph(_verdict_sentence(findings)),
    }
    if verdict.transformation is not None and verdict.choice is not None:
        blocks |= _processing_blocks(verdict.transformation, findings)
        blocks |= _mixture_blocks(verdict.choice, findings)
    if verdict.satisfiable:
        for k, (pair, closure) in enumerate(findings.closures[:MAX_SHOWN_PAIRS]):
            pair_text = _pair_text(findings.candidate, pair)
            text = f"{_closure_lead(findings, closure)} {pair_text}: M through {_points_text(closure.bound)}."
            blocks[f"closure {k}"] = Paragraph(text)
    return Report(blocks, lambda: _document(findings))


def describe_allowed(findings: DefinitionFindings) -> Report:
    """M, the most that P(O|i2) may be for each P(O|i1), and m, the least, for one pair of each kind."""
    candidate = findings.candidate
    blocks: dict[str, Block | None] = {"title": Paragraph(_title(findings))}
    for k, (pair, allowed_pairs) in enumerate(candidate.cases[:MAX_SHOWN_PAIRS]):
        first = str(candidate.relation.labels[pair[0]])[:MAX_LABEL_CHARS]
        heading = f"\nFor {_pair_text(candidate, pair)}, where a = P(O|{first}):"
        blocks |= {f"pair {k}": Paragraph(heading), f"bounds {k}": _bounds_table(allowed_pairs)}
    return Report(
        blocks,
        lambda: {
            **_input_document(findings),
            "allowed": [_allowed_document(candidate, pair, allowed) for pair, allowed in candidate.cases],
        },
    )


def _bounds_table(allowed_pairs: AllowedPairs) -> Table:
    rows: list[tuple[Cell, ...]] = [tuple(map(_cell, row)) for row in _bound_rows(allowed_pairs)]
    if len(rows) > MAX_SHOWN_ROWS:
        rows = [*rows[: MAX_SHOWN_ROWS // 2], ("…",) * 3, *rows[-MAX_SHOWN_ROWS // 2 :]]
    return Table(("a", "m(a)", "M(a)"), tuple(rows), text_columns=0)


def _bound_rows(allowed_pairs: AllowedPairs) -> list[tuple[Number, Number | None, Number | None]]:
    """(a, m(a), M(a)) wherever one of them bends."""
    from utmost.axioms.pair_rules import bound_ends

    return bound_ends(allowed_pairs)


def _cell(value: Number | None) -> Cell:
    return "none" if value is None else short(value)


def _title(findings: DefinitionFindings) -> str:
    relation, definition = findings.candidate.relation, findings.definition.strip()
    exceptions = f", {len(findings.candidate.others)} with rules of their own" if findings.candidate.others else ""
    pairs = f"{len(relation.pairs)} ordered pair{'s' * (len(relation.pairs) != 1)}"
    name = Path(definition).name if definition.endswith(".toml") else definition
    return f"{name[:MAX_NAME_CHARS]}: {len(relation)} secrets, {pairs}{exceptions}."


def _pair_text(candidate: Candidate, pair: Pair) -> str:
    first, second = (str(candidate.relation.labels[k])[:MAX_LABEL_CHARS] for k in pair)
    return f"({first}, {second})"


def _verdict_sentence(findings: DefinitionFindings) -> str:
    verdict = findings.verdict
    if not verdict.satisfiable:
        return "No mechanism meets it: it refuses an event that is certain for both secrets, or one that is impossible."
    if verdict.sound and not verdict.certain:
        return "No failure on the grid, which proves nothing beyond it: a predicate in words is decided."
    if verdict.sound:
        return (
            "Sound: what meets it still does after any post-processing and in any mixture (KL10 Axioms 2.1.1, 2.1.2)."
        )
    assert verdict.gap is not None
    assert verdict.pair is not None
    first, second, missing = map(_point_text, (verdict.gap.first, verdict.gap.second, verdict.gap.missing))
    is_single = len(findings.candidate.relation) == 2
    subject = "An" if is_single else f"For {_pair_text(findings.candidate, verdict.pair)} an"
    undecided = "Not sound for two secrets by themselves; for all of them undecided"
    start = "Not sound" if verdict.sound is False else undecided
    return f"{start}. {subject} event's probabilities may be {first} and {second}, but not {missing} between them."


def _closure_lead(findings: DefinitionFindings, closure: Closure) -> str:
    if not closure.certain:
        return "The least sound definition is at least, by the grid, for"
    if findings.verdict.sound:
        return "Its bound for" if closure.attained else "Its bound, part of which it leaves out, for"
    return "The least sound definition above it for" + ("" if closure.attained else ", but for part of its boundary,")


def _points_text(curve: Curve) -> str:
    texts = [f"{short(a)} {short(value)}" for a, value in curve.points]
    if len(texts) > MAX_SHOWN_POINTS:
        half = MAX_SHOWN_POINTS // 2
        texts = [*texts[:half], "…", *texts[-half:], f"{len(curve.points)} in all, which --json prints"]
    jump = f", and {short(curve.at_zero)} at 0 itself" if curve.at_zero != curve.points[0][1] else ""
    return ", ".join(texts) + jump


def _point_text(point: Point) -> str:
    return f"({short(point[0])}, {short(point[1])})"


def _processing_blocks(failure: Processing, findings: DefinitionFindings) -> dict[str, Block | None]:
    """A mechanism that meets the definition, and a post-processing of it that does not."""
    remark = _hidden_secrets_remark(findings)
    return {
        "processing": Paragraph(f"\nPost-processing fails. This mechanism meets the definition{remark}:"),
        "processing mechanism": _channel_table(failure.mechanism, findings),
        "processing step": Paragraph("\nWith its outputs processed further by"),
        "post-processing": _channel_table(failure.post_processing, findings),
        "processing result": Paragraph(f"\nit does not: {_event_sentence(failure.result, findings)}"),
    }


def _mixture_blocks(failure: Mixture, findings: DefinitionFindings) -> dict[str, Block | None]:
    """Two mechanisms that meet the definition, and a mixture of them that does not."""
    remark = _hidden_secrets_remark(findings)
    start = f"\nThe first with probability {short(failure.weight)}, else the second, does not: "
    return {
        "mixture": Paragraph(f"\nMixing fails. Each of these meets the definition{remark}:"),
        "mixture mechanisms": SideBySide(
            tuple(("", _channel_table(channel, findings)) for channel in failure.mechanisms)
        ),
        "mixture result": Paragraph(f"{start}{_event_sentence(failure.result, findings)}\n"),
    }


def _channel_table(channel: Channel, findings: DefinitionFindings) -> Table:
    """The rows of a channel; of many secrets, those of the pair that fails."""
    assert findings.verdict.pair is not None
    if len(channel.inputs) > MAX_SHOWN_SECRETS:
        channel = channel.restrict(findings.candidate.relation.labels[k] for k in findings.verdict.pair)
    rows = tuple((str(x), *map(_cell, row)) for x, row in zip(channel.inputs, channel.rows, strict=True))
    return Table(("", *map(str, channel.outputs)), rows)


def _hidden_secrets_remark(findings: DefinitionFindings) -> str:
    """How many of the secrets that are not shown behave like each of the two that are."""
    verdict, labels = findings.verdict, findings.candidate.relation.labels
    assert verdict.pair is not None
    assert verdict.transformation is not None
    mechanism = verdict.transformation.mechanism
    if len(mechanism.inputs) <= MAX_SHOWN_SECRETS:
        return ""
    first, second = (labels[k] for k in verdict.pair)
    second_count = sum(list(row) == list(mechanism.row(second)) for row in mechanism.rows)
    first_count = len(mechanism.inputs) - second_count
    return f" ({first_count} secrets behave like {first!s:.40}, {second_count} like {second!s:.40})"


def _event_sentence(result: Channel, findings: DefinitionFindings) -> str:
    """The first output of the result, whose probabilities are not allowed."""
    assert findings.verdict.pair is not None
    labels = findings.candidate.relation.labels
    first, second = (result.row(labels[k])[0] for k in findings.verdict.pair)
    return f"“{result.outputs[0]}” has probabilities {_point_text((first, second))}."


def _input_document(findings: DefinitionFindings) -> dict[str, Any]:
    relation = findings.candidate.relation
    return {"definition": findings.definition, "secrets": len(relation), "pairs": len(relation.pairs)}


def _document(findings: DefinitionFindings) -> dict[str, Any]:
    verdict, labels = findings.verdict, findings.candidate.relation.labels
    return _input_document(findings) | {
        "sound": verdict.sound,
        "certain": verdict.certain,
        "satisfiable": verdict.satisfiable,
        "pair": None if verdict.pair is None else [labels[k] for k in verdict.pair],
        "whole": verdict.covers_all_secrets,
        "gap": None if verdict.gap is None else _gap_document(verdict.gap),
        "transformation": None if verdict.transformation is None else _processing_document(verdict.transformation),
        "choice": None if verdict.choice is None else _mixture_document(verdict.choice),
        "closure": [
            {"pair": [labels[k] for k in pair], **_closure_document(closure)} for pair, closure in findings.closures
        ],
    }


def _gap_document(gap: ConvexityGap) -> dict[str, Any]:
    return {name: [str(value) for value in getattr(gap, name)] for name in ("first", "second", "missing")}


def _processing_document(failure: Processing) -> dict[str, Any]:
    channels = {"mechanism": failure.mechanism, "post": failure.post_processing, "result": failure.result}
    return {name: channel_document(channel) for name, channel in channels.items()}


def _mixture_document(failure: Mixture) -> dict[str, Any]:
    channels = {"first": failure.first, "second": failure.second, "result": failure.result}
    return {"weight": str(failure.weight), **{name: channel_document(channel) for name, channel in channels.items()}}


def _closure_document(closure: Closure) -> dict[str, Any]:
    curve = closure.bound
    points = [[str(a), str(value)] for a, value in curve.points]
    return {
        "points": points,
        "at_zero": str(curve.at_zero),
        "attained": closure.attained,
        "certain": closure.certain,
    }


def _allowed_document(candidate: Candidate, pair: Pair, allowed_pairs: AllowedPairs) -> dict[str, Any]:
    rows = [[None if value is None else str(value) for value in row] for row in _bound_rows(allowed_pairs)]
    return {"pair": [candidate.relation.labels[k] for k in pair], "ends": rows}


def figure(findings: DefinitionFindings, pair: Pair) -> alt.TopLevelMixin:
    """What an event's probabilities may be, for one pair; where it is not sound, with the point that is missing."""
    from utmost.axioms.pair_rules import region_outline
    from utmost.charts.definition import allowed_region_chart

    outline, gap = region_outline(dict(findings.candidate.cases)[pair]), findings.verdict.gap
    first, second = (str(findings.candidate.relation.labels[k])[:MAX_LABEL_CHARS] for k in pair)
    lines = [("M", line) for line in outline.upper] + [("m", line) for line in outline.lower]
    unsound = "Not sound: the red point should be allowed"
    return allowed_region_chart(
        [[_floats(side) for side in cell] for cell in outline.cells],
        [(name, [_floats(point) for point in line]) for name, line in lines],
        [_floats(point) for point in outline.isolated_points],
        "What an event's probabilities may be" if findings.verdict.sound else unsound,
        _title(findings),
        gap=[] if gap is None else [_floats(point) for point in (gap.first, gap.second, gap.missing)],
        names=(first, second),
    )


def _floats(numbers: Sequence[Number]) -> list[float]:
    return [float(value) for value in numbers]
