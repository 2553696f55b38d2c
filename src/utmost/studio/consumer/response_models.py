"""The response models of the consumer's pages and API, built from an estimate."""

from __future__ import annotations

import math
import shlex
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, Field

from utmost.consumer import losses
from utmost.consumer.losses import Linear
from utmost.consumer.priors import Explicit, Prior
from utmost.exact import Number, decimal
from utmost.publish import estimate
from utmost.publish.reading import Estimate, ExpectedLosses, Reader, Reading, json_output
from utmost.publish.reading.charts import chart_data
from utmost.publish.release_model import Answer, LatticeMechanism
from utmost.studio.charts import Chart
from utmost.studio.consumer import charts, editors
from utmost.studio.consumer.editors import LossPoints, PriorBars
from utmost.studio.consumer.forms import ReadingForm
from utmost.studio.form_errors import FieldError
from utmost.studio.number_format import FormattedNumber, format_above, format_number, format_rounded

MAX_READER_POINTS = 1_000_001  # points of a reader
MAX_CELLS_AT_ONCE = 2000  # that are read at once
MAX_LISTED_CELLS = 200  # cells that a page lists
SEARCH_EFFORT = 3e9  # multiplications for all answers: a few seconds
MAX_EXACT_CHARS = 1500  # characters of an exact number
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
    if isinstance(answer.value, tuple) and not form.cell and len(answer.value) > MAX_CELLS_AT_ONCE:
        raise FieldError("cell", f"cell must be chosen here: a page reads at most {MAX_CELLS_AT_ONCE} at once")
    reader = estimate.make_reader(answer, prior, loss, axis_request, coverage, form.cell or None)
    if reader is not None and reader.axis.size > MAX_READER_POINTS:
        raise FieldError(
            "at_most", f"at most {MAX_READER_POINTS} values fit on a page, got {reader.axis.size}: narrow the range"
        )
    return reader


def read_answer(answer: Answer, file: str, form: ReadingForm, explicit_prior: Prior | None) -> ReadingResult:
    """The reading of an answer, without a search over other answers: quick enough to follow a slider."""
    reader = make_reader(answer, form, explicit_prior)
    answer_estimate = estimate.read_answer(answer, reader, form.parse_coverage(), form.cell or None, effort=0)
    return ReadingResult(
        query=answer.name,
        kind=answer.kind,
        where=answer.where,
        epsilon=str(answer.epsilon),
        target=answer.error.target,
        share=f"{decimal(100 * form.parse_coverage(), 8)} %",
        **_number_fields(answer_estimate),
        **_claim_fields(answer_estimate),
        **({} if reader is None else _reader_fields(reader, answer, form)),
        searched=reader is not None and answer_estimate.before is None and _needs_search(answer, reader),
        address=form.address(query=answer.name),
        command=command(file, answer, form, explicit_prior),
        entry=json_output.estimate_content(answer_estimate),
        pictures=_charts(answer_estimate, form),
    )


def _number_fields(answer_estimate: Estimate) -> dict[str, Any]:
    """What was read, and what it is worth."""
    total, error = answer_estimate.total or (None, None)
    return {
        "readings": [
            _reading_view(name, reading)
            for name, reading in zip(
                answer_estimate.cells or ("",), answer_estimate.readings[:MAX_LISTED_CELLS], strict=False
            )
        ],
        "more": max(len(answer_estimate.readings) - MAX_LISTED_CELLS, 0),
        "total": None if total is None else format_exact(total),
        "total_error": None if error is None else format_above(error).text,
        "rank": None if answer_estimate.rank is None else _format_rank(answer_estimate.rank),
        "before": _loss_view(answer_estimate.before),
    }


def _claim_fields(answer_estimate: Estimate) -> dict[str, Any]:
    """In which sense nothing would have been better, and what else the reader must know."""
    is_best = answer_estimate.claim.startswith("optimal:")
    return {
        "verdict": SAME_VERDICT if is_best else NO_CLAIM_VERDICT,
        "claim": f"{answer_estimate.claim[:1].upper()}{answer_estimate.claim[1:]}.",
        "best": is_best,
        "remark": answer_estimate.remark.replace("--grid", "the number of points"),
        "tailored": can_tailor(answer_estimate),
    }


def _reader_fields(reader: Reader, answer: Answer, form: ReadingForm) -> dict[str, Any]:
    """The reader in words, and the prior and the loss as they can be dragged."""
    return {
        "points": reader.axis.size,
        "reader": _reader_sentence(reader, form),
        "legality": legality(reader),
        "bars": editors.prior_bars(reader),
        "drawing": editors.loss_points(answer, form),
    }


def overall_losses(answer: Answer, form: ReadingForm, explicit_prior: Prior | None) -> OverallLosses:
    """The losses over all answers and the remap, searched for where they must be, within a few seconds."""
    reader = make_reader(answer, form, explicit_prior)
    answer_estimate = estimate.read_answer(
        answer, reader, form.parse_coverage(), form.cell or None, effort=SEARCH_EFFORT
    )
    if reader is None or not isinstance(answer.mechanism, LatticeMechanism):
        return OverallLosses(before=None, words="Only a lattice number has a reading for each answer.", remap=None)
    if answer_estimate.every is None:
        return OverallLosses(before=None, words=TOO_MUCH_WORK, remap=None)
    is_single = len(answer_estimate.readings) == 1
    remap = (
        charts.remap_chart(chart_data(answer_estimate, full_range=form.view == "whole"), REMAP_CAPTION)
        if is_single
        else None
    )
    return OverallLosses(before=_loss_view(answer_estimate.before), words=REMAP_CAPTION, remap=remap)


def _needs_search(answer: Answer, reader: Reader) -> bool:
    mechanism = answer.mechanism
    return isinstance(mechanism, LatticeMechanism) and reader.axis.step == mechanism.unit and not reader.is_partial


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
    caption = f"Released {format_rounded(data.value)}, best read as {format_rounded(data.estimate)}"
    low, high = (format_rounded(bound) for bound in data.interval)
    belief_caption = (
        f"{caption}; from {low} to {high} with probability {decimal(100 * form.parse_coverage(), 8)} % (the bar)."
    )
    all_charts = {
        "beliefs": charts.belief_chart(data, belief_caption),
        "costs": charts.cost_chart(
            answer_estimate,
            data,
            estimate.belief_curves(answer_estimate).posterior,
            "What each reading would cost on average.",
        ),
        "remap": charts.remap_chart(data, REMAP_CAPTION),
    }
    return {name: picture for name, picture in all_charts.items() if picture is not None}


def _reading_view(cell: str, reading: Reading) -> ReadingView:
    low, high = reading.interval or (None, None)
    return ReadingView(
        cell=cell,
        value=format_exact(reading.value),
        estimate=format_exact(reading.estimate),
        low=None if low is None else format_exact(low),
        high=None if high is None else format_exact(high),
        unbiased=None if reading.unbiased in (None, reading.value) else format_exact(reading.unbiased),
        loss=_loss_view(reading.loss),
    )


def _loss_view(expected_losses: ExpectedLosses | None) -> LossView | None:
    if expected_losses is None:
        return None
    return LossView(
        expected=format_exact(expected_losses.expected),
        face_value=format_exact(expected_losses.face_value),
        gain=format_exact(float(expected_losses.gain)),
    )


def _format_rank(rank: float) -> FormattedNumber:
    """An upper bound on the rows on the wrong side."""
    return FormattedNumber(text=format_above(rank).text, exact=format_exact(rank).exact)


def format_exact(value: Number | int | float | None) -> FormattedNumber:
    """A number and what it is exactly; of a double, and of what is too long to be read, what it is to some digits."""
    assert value is not None
    if isinstance(value, float):
        text = "∞" if math.isinf(value) else format_rounded(value)
        return FormattedNumber(text=text, exact=f"{value:.12g} (in double precision)")
    if (
        isinstance(value, Fraction)
        and value.denominator.bit_length() + value.numerator.bit_length() > 4 * MAX_EXACT_CHARS
    ):
        return FormattedNumber(
            text=format_rounded(value), exact=f"{decimal(value, 15)} (the first digits of a long fraction)"
        )
    formatted = format_number(value)
    return (
        formatted
        if len(formatted.exact) <= MAX_EXACT_CHARS
        else FormattedNumber(text=formatted.text, exact=f"{formatted.exact[:MAX_EXACT_CHARS]}…")
    )


def _reader_sentence(reader: Reader, form: ReadingForm) -> str:
    value_range = f"{format_rounded(reader.axis.first)} to {format_rounded(reader.axis.last)}"
    near_remark = ", those near the answer" if reader.is_partial else ""
    prior = "the reader's own weights" if form.prior in ("weights", "file") else _shorten(reader.prior.name)
    return (
        f"Prior {prior} on {format_rounded(reader.axis.size)} values from {value_range}{near_remark}; loss "
        f"{_shorten(form.parse_loss().name)}."
    )


def _shorten(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:57]}…"


def legality(reader: Reader) -> LegalityView:
    """Decided exactly, with a witness in words where the loss is not legal."""
    loss, axis = reader.loss, reader.axis
    if isinstance(loss, Linear) and loss.under != loss.over:
        witness = (1, 0, 2) if axis.size > 2 else None
    else:
        witness = losses.legality(loss, axis.size).witness
    if witness is None:
        words = "Legal: it depends on the distance from the truth alone, and does not fall as that grows."
        return LegalityView(legal=True, words=words, witness=None)
    truth, nearer, farther = (format_rounded(axis.value(index)) for index in witness)
    same = abs(witness[1] - witness[0]) == abs(witness[2] - witness[0])
    reason = "are equally far and cost differently" if same else "are nearer and farther, and the nearer costs more"
    if reader.monotone:
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
