"""What the consumer's pages and API answer: a reading of a release, and a mechanism for one reader."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, Field

from utmost.channel import Channel
from utmost.charts import channel as channel_charts
from utmost.consumer import Consumer, counts
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Explicit, Prior
from utmost.design.count_mechanism import remapped_channel
from utmost.design.optimal import MAX_EXACT_REAL_POINTS, optimal
from utmost.errors import InputError
from utmost.exact import Level, Number
from utmost.exact import epsilon as level_of
from utmost.mechanisms import geometric
from utmost.publish import estimate
from utmost.publish.estimate import chart_data
from utmost.publish.reading import Estimate, Reader
from utmost.publish.release_model import Answer
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.reports.estimate import (
    ShownLosses,
    ShownReading,
    coverage_text,
    describe,
    reader_sentence,
    shown_losses,
    shown_readings,
)
from utmost.reports.numbers import Quantity, at_most, quantity
from utmost.spaces import line
from utmost.studio.charts import Chart, chart_from_altair
from utmost.studio.consumer import charts, forms
from utmost.studio.consumer.forms import LossPoints, PriorBars, ReadingForm
from utmost.studio.rendering import FormattedNumber, format_exact

MAX_READER_POINTS = 1_000_001  # points of a reader
MAX_CELLS_AT_ONCE = 2000  # that are read at once
MAX_LISTED_CELLS = 200  # cells that a page lists
SEARCH_EFFORT = 3e9  # multiplications for all answers: a few seconds
MAX_TAILORED_VALUES = 60  # counts for which a mechanism is made
SAME_VERDICT = "No: it would have given the same."
NO_CLAIM_VERDICT = "Nothing is promised here."
REMAP_CAPTION = "How each answer would be read; the dashed line is face value."
TOO_MUCH_WORK = "Too much work for all answers at once, with this loss and so many values; this answer is read above."


class LossView(BaseModel):
    """Expected losses of the best reading and of face value, and how many times less the first is."""

    expected: FormattedNumber
    face_value: FormattedNumber
    gain: FormattedNumber


class ReadingView(BaseModel):
    """One released number and its best reading. `unbiased` is what to add up, where it is not the value."""

    cell: str
    value: FormattedNumber
    estimate: FormattedNumber
    low: FormattedNumber | None
    high: FormattedNumber | None
    unbiased: FormattedNumber | None
    loss: LossView | None


class LegalityView(BaseModel):
    """Is the loss legal (GRS12 §2.2): of the truth and the distance alone, not falling as the distance grows."""

    legal: bool
    words: str
    witness: tuple[int, int, int] | None = Field(description="A truth and two readings that break it, as positions")


class ReadingResult(BaseModel):
    """The best reading of an answer for a prior and a loss, and how good it is."""

    query: str
    kind: str
    where: str | None
    epsilon: str
    target: str = Field(description="What is read, in words: the number with so many rows of each person, if bounded")
    readings: list[ReadingView]
    more: int = Field(description="Cells that are not listed; `entry` has them all")
    total: FormattedNumber | None = Field(description="Of all cells, unbiased")
    total_error: str | None
    rank: FormattedNumber | None = Field(description="Of a quantile: rows that may lie on its wrong side")
    share: str = Field(examples=["95 %"])
    points: int | None = None
    reader: str | None = Field(default=None, description="Prior, range and loss in words")
    verdict: str = Field(description="Whether a mechanism made for this reader would have been better, in a sentence")
    claim: str
    best: bool = Field(description="Proved: no mechanism of this ε serves this reader better")
    remark: str
    legality: LegalityView | None = None
    searched: bool = Field(description="Losses over all answers need a search: ask /over for them")
    before: LossView | None
    tailored: bool = Field(description="Few enough values for a mechanism made for this reader alone: ask /tailored")
    bars: PriorBars | None = Field(default=None, description="The prior as a histogram, to be dragged")
    drawing: LossPoints | None = Field(default=None, description="The loss as points, to be dragged")
    address: str = Field(description="The query of an address that asks the same")
    command: str = Field(description="The same on the command line")
    entry: dict[str, Any] = Field(description="As utmost estimate --json writes it")
    pictures: dict[str, Chart]


class OverallLosses(BaseModel):
    """Before the answer was known: losses over all answers, and how each of them would be read."""

    before: LossView | None
    words: str
    remap: Chart | None


def make_reader(answer: Answer, form: ReadingForm, explicit_prior: Prior | None) -> Reader | None:
    """The reader that the form describes; refused where there are too many points for a page."""
    prior, loss, axis_request, coverage = (
        explicit_prior or form.prior_kind(),
        form.parse_loss(),
        form.axis_request(),
        form.parse_coverage(),
    )
    if not form.cell and len(answer.cell_names) > MAX_CELLS_AT_ONCE:
        raise InputError(f"cell must be chosen here: a page reads at most {MAX_CELLS_AT_ONCE} at once", "cell")
    reader = estimate.make_reader(answer, prior, loss, axis_request, coverage, form.cell or None)
    if reader is not None and reader.axis.size > MAX_READER_POINTS:
        raise InputError(
            f"at most {MAX_READER_POINTS} values fit on a page, got {reader.axis.size}: narrow the range", "at_most"
        )
    return reader


def read_answer(answer: Answer, file: str, form: ReadingForm, explicit_prior: Prior | None) -> ReadingResult:
    """The reading of an answer, without a search over other answers: quick enough to follow a slider."""
    reader = make_reader(answer, form, explicit_prior)
    answer_estimate = estimate.read_answer(answer, reader, form.parse_coverage(), form.cell or None, effort=0)
    report = describe(answer_estimate)
    return ReadingResult(
        query=answer.name,
        kind=answer.kind,
        where=answer.where,
        epsilon=str(answer.epsilon),
        target=answer.error.target,
        share=coverage_text(form.parse_coverage()),
        claim=report.text("claim"),
        remark=report.text("remark"),
        **_number_fields(answer_estimate, report.numbers),
        **_claim_fields(answer_estimate),
        **({} if reader is None else _reader_fields(reader, answer, form)),
        searched=reader is not None and answer_estimate.before is None and _needs_search(answer, reader),
        address=form.address(query=answer.name),
        command=command(file, answer, form, explicit_prior),
        entry=report.json,
        pictures=_charts(answer_estimate, form),
    )


def _number_fields(answer_estimate: Estimate, numbers: Mapping[str, Quantity]) -> dict[str, Any]:
    """What was read, and what it is worth; `numbers` are those of its report."""
    readings = shown_readings(answer_estimate)
    return {
        "readings": [_reading_view(reading) for reading in readings[:MAX_LISTED_CELLS]],
        "more": max(len(readings) - MAX_LISTED_CELLS, 0),
        "total": format_exact(numbers["total"]) if "total" in numbers else None,
        "total_error": numbers["total error"].typeset if "total error" in numbers else None,
        "rank": format_exact(numbers["rank"]) if "rank" in numbers else None,
        "before": _loss_view(shown_losses(answer_estimate.before)),
    }


def _claim_fields(answer_estimate: Estimate) -> dict[str, Any]:
    """In which sense nothing would have been better, and whether a mechanism can be made to show it."""
    is_best = answer_estimate.claim.startswith("optimal:")
    return {
        "verdict": SAME_VERDICT if is_best else NO_CLAIM_VERDICT,
        "best": is_best,
        "tailored": can_tailor(answer_estimate),
    }


def _reader_fields(reader: Reader, answer: Answer, form: ReadingForm) -> dict[str, Any]:
    """The reader in words, and the prior and the loss as they can be dragged."""
    prior_name = "the reader's own weights" if form.prior in ("weights", "file") else None
    sentence = reader_sentence(reader, prior_name, form.parse_loss().name).typeset
    return {
        "points": reader.axis.size,
        "reader": f"{sentence[:1].upper()}{sentence[1:]}.",
        "legality": legality(reader),
        "bars": forms.prior_bars(reader),
        "drawing": forms.loss_points(answer, form),
    }


def overall_losses(answer: Answer, form: ReadingForm, explicit_prior: Prior | None) -> OverallLosses:
    """The losses over all answers and the remap, searched for where they must be, within a few seconds."""
    reader = make_reader(answer, form, explicit_prior)
    answer_estimate = estimate.read_answer(
        answer, reader, form.parse_coverage(), form.cell or None, effort=SEARCH_EFFORT
    )
    if reader is None or answer.mechanism.lattice is None:
        return OverallLosses(before=None, words="Only a lattice number has a reading for each answer.", remap=None)
    if answer_estimate.every is None:
        return OverallLosses(before=None, words=TOO_MUCH_WORK, remap=None)
    is_single = len(answer_estimate.readings) == 1
    remap = (
        charts.remap_chart(chart_data(answer_estimate, full_range=form.view == "whole"), REMAP_CAPTION)
        if is_single
        else None
    )
    return OverallLosses(before=_loss_view(shown_losses(answer_estimate.before)), words=REMAP_CAPTION, remap=remap)


def _needs_search(answer: Answer, reader: Reader) -> bool:
    lattice = answer.mechanism.lattice
    return isinstance(lattice, GeometricLattice) and reader.axis.step == lattice.unit and not reader.is_partial


def can_tailor(answer_estimate: Estimate) -> bool:
    """Can a mechanism be made for this reader here: a count that the theorem speaks of, on few values."""
    return (
        answer_estimate.reader is not None
        and len(answer_estimate.readings) == 1
        and 2 <= answer_estimate.reader.axis.size <= MAX_TAILORED_VALUES
        and answer_estimate.claim.startswith("optimal:")
    )


def _charts(answer_estimate: Estimate, form: ReadingForm) -> dict[str, Chart]:
    """Those that this estimate has."""
    if answer_estimate.reader is None:
        return {}
    if len(answer_estimate.readings) > 1:
        caption = "For each cell: released (stroke), best reading (dot), and the interval (bar)."
        picture = charts.cell_chart(answer_estimate, caption)
        return {} if picture is None else {"cells": picture}
    data = chart_data(answer_estimate, full_range=form.view == "whole", with_remap=False)
    (reading,) = shown_readings(answer_estimate)
    all_charts = {
        "beliefs": charts.belief_chart(data, reading, _belief_caption(reading, form)),
        "costs": charts.cost_chart(
            answer_estimate,
            data,
            estimate.belief_curves(answer_estimate).posterior,
            "What each reading would cost on average.",
        ),
        "remap": charts.remap_chart(data, REMAP_CAPTION),
    }
    return {name: picture for name, picture in all_charts.items() if picture is not None}


def _belief_caption(reading: ShownReading, form: ReadingForm) -> str:
    assert reading.low is not None
    assert reading.high is not None
    return (
        f"Released {reading.value.typeset}, best read as {reading.estimate.typeset}; from {reading.low.typeset} to "
        f"{reading.high.typeset} with probability {coverage_text(form.parse_coverage())} (the bar)."
    )


def _reading_view(reading: ShownReading) -> ReadingView:
    return ReadingView(
        cell=reading.name,
        value=format_exact(reading.value),
        estimate=format_exact(reading.estimate),
        low=None if reading.low is None else format_exact(reading.low),
        high=None if reading.high is None else format_exact(reading.high),
        unbiased=format_exact(reading.unbiased) if reading.unbiased and reading.has_other_unbiased else None,
        loss=_loss_view(reading.loss),
    )


def _loss_view(losses: ShownLosses | None) -> LossView | None:
    if losses is None:
        return None
    return LossView(
        expected=format_exact(losses.expected),
        face_value=format_exact(losses.face_value),
        gain=format_exact(losses.gain),
    )


def legality(reader: Reader) -> LegalityView:
    """Decided exactly, with a witness in words where the loss is not legal."""
    loss, axis = reader.loss, reader.axis
    witness = loss.legality(axis.size).witness
    if witness is None:
        words = "Legal: it depends on the distance from the truth alone, and does not fall as that grows."
        return LegalityView(legal=True, words=words, witness=None)
    truth, nearer, farther = (quantity(axis.value(index)).typeset for index in witness)
    same = abs(witness[1] - witness[0]) == abs(witness[2] - witness[0])
    reason = "are equally far and cost differently" if same else "are nearer and farther, and the nearer costs more"
    if reader.loss.monotone:
        remark = "It still grows on each side of the truth in its own way, so the theorem's extension holds."
    else:
        remark = "It falls away from the truth, so the theorem says nothing of it."
    words = f"Not legal: with truth {truth}, readings {nearer} and {farther} {reason}. {remark}"
    return LegalityView(legal=False, words=words, witness=witness)


def command(file: str, answer: Answer, form: ReadingForm, explicit_prior: Prior | None) -> str:
    """What gives the same on the command line."""
    prior = "weights.csv" if explicit_prior is not None else form.prior_kind()
    if isinstance(explicit_prior, Explicit) and form.prior == "weights" and explicit_prior.size <= 24:
        prior = ",".join(str(weight) for weight in explicit_prior.exact())
    loss = form.parse_loss().name
    arguments = ["utmost", "estimate", file, "--query", answer.name, "--prior", prior, "--loss", loss]
    options = {"--cell": form.cell, "--at-least": form.at_least, "--at-most": form.at_most, "--grid": form.grid}
    options["--coverage"] = "" if form.parse_coverage() == Fraction(19, 20) else form.coverage
    return shlex.join(
        [*arguments, *(word for name, text in options.items() if text.strip() for word in (name, text.strip()))]
    )


MAX_DRAWN_VALUES = 24  # values whose mechanism is drawn


class TailoredMechanism(BaseModel):
    """The least expected loss of all mechanisms of this ε for this reader, and that of the one that was released."""

    query: str
    epsilon: str
    values: int
    geometric: FormattedNumber = Field(
        description="Expected loss of the released mechanism with the reader's best remap"
    )
    face_value: FormattedNumber = Field(description="and read at face value")
    tailored: FormattedNumber = Field(description="Expected loss of the mechanism made for this reader")
    gap: FormattedNumber = Field(description="No private mechanism is better than `tailored` by more than this")
    equal: bool | None = Field(description="Decided exactly; None where both are known within the gap only")
    words: str
    remap: list[int]
    picture: Chart | None = Field(description="The mechanism made for this reader")


def tailor_mechanism(answer: Answer, form: ReadingForm, explicit_prior: Prior | None) -> TailoredMechanism:
    """Make one for this reader, certified, and compare: exactly up to 20 values, within a proved gap up to 60."""
    from utmost.publish import estimate

    reader = make_reader(answer, form, explicit_prior)
    answer_estimate = estimate.read_answer(answer, reader, form.parse_coverage(), form.cell or None, effort=0)
    if reader is None or not can_tailor(answer_estimate):
        raise InputError(
            f"a mechanism is made for 2 to {MAX_TAILORED_VALUES} values of a count: narrow the range", "at_most"
        )
    return compare_with_geometric(answer, answer.epsilon, reader.prior, reader.loss)


def compare_with_geometric(answer: Answer, epsilon: Fraction, prior: Prior, loss: Loss) -> TailoredMechanism:
    """The two mechanisms for a reader of a count on as many values as the prior has."""
    level, consumer, size = level_of(epsilon), Consumer(prior, loss), prior.size
    design = optimal(line(size), level, consumer)
    geometric_loss, face_value_loss, remap = _geometric_losses(consumer, level, size)
    is_equal = geometric_loss == design.loss if size <= MAX_EXACT_REAL_POINTS else None
    return TailoredMechanism(
        query=answer.name,
        epsilon=str(epsilon),
        values=size,
        geometric=format_exact(quantity(geometric_loss)),
        face_value=format_exact(quantity(face_value_loss)),
        tailored=format_exact(quantity(design.loss)),
        gap=format_exact(at_most(design.certificate.gap)),
        equal=is_equal,
        words=_verdict(is_equal, design.loss, design.certificate.gap),
        remap=remap,
        picture=_channel_chart(remapped_channel(level, remap) if is_equal else design.channel, size),
    )


def _geometric_losses(consumer: Consumer, level: Level, size: int) -> tuple[Number | float, Number | float, list[int]]:
    """Losses and remap of the geometric mechanism: exact where the best one is, else in doubles."""
    if size <= MAX_EXACT_REAL_POINTS:
        mechanism = geometric(size - 1, level)
        return consumer.expected_loss(mechanism), consumer.face_value_loss(mechanism), consumer.remap(mechanism)
    readings = counts.readings(consumer.prior, level, consumer.loss)
    return readings.expected_loss, readings.face_value_loss, readings.remap.tolist()


def _verdict(is_equal: bool | None, loss: Number, gap: Number) -> str:
    if is_equal:
        return "The same, decided exactly: no mechanism with this ε serves this reader better than the released one."
    if is_equal is None:
        return (
            f"The same within {at_most(gap).typeset}: at so many values a loss with irrational α is "
            "certified between two "
            f"fractions that far apart, {at_most(loss, 12).typeset} at most."
        )
    return "Not the same: this would contradict the theorem, and is a bug in utmost. Please report it."


def _channel_chart(channel: Channel, size: int) -> Chart | None:
    if size > MAX_DRAWN_VALUES:
        return None
    caption = (
        "The mechanism made for this reader: for each true count (a row) how likely each answer is, "
        "the darker the likelier."
    )
    return chart_from_altair(channel_charts.channel_chart(channel, ""), caption, wide=False)
