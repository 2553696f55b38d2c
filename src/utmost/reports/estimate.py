"""Describe the best reading of an answer, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.exact import decimal_above, json_number, rational
from utmost.queries.privacy_setting import short_epsilon
from utmost.reports.blocks import Block, Cell, Facts, Paragraph, Report, Table
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, Quantity, at_least, at_most, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.exact import Number
    from utmost.publish.reading.estimates import Estimate, ExpectedLosses, Reader, Reading
    from utmost.publish.release_model import Answer, Release

MAX_SHOWN_CELLS = 24  # of a histogram
MAX_NAME_CHARS = 60  # of a prior or a loss
MAX_CHART_CELLS = 100
FACE_CELLS_HEADER = ("cell", "released", "from", "to")
CELLS_HEADER = ("cell", "released", "unbiased", "best reading", "from", "to", "loss", "face value")


@dataclass(frozen=True, slots=True)
class ShownLosses:
    """Expected losses of the best reading and of face value, and how many times less the first is."""

    expected: Quantity
    face_value: Quantity
    gain: Quantity


@dataclass(frozen=True, slots=True)
class ShownReading:
    """The numbers of one reading. `low` and `high` bound the credible interval, outward."""

    name: str
    value: Quantity
    estimate: Quantity
    low: Quantity | None
    high: Quantity | None
    unbiased: Quantity | None
    loss: ShownLosses | None

    @property
    def has_other_unbiased(self) -> bool:
        """Is the unbiased reading another number than the value."""
        return self.unbiased is not None and self.unbiased.value != self.value.value


@dataclass(frozen=True, slots=True)
class UnreadAnswer:
    """An answer that could not be read, and why."""

    answer: Answer
    problem: str


def shown_losses(losses: ExpectedLosses | None, face: Fraction | None = None) -> ShownLosses | None:
    """The numbers of expected losses; `face` is what face value stands for, where that is not the released value."""
    if losses is None:
        return None
    suffix = "" if face is None else f" (of {_number(face).typeset}, within the prior's range)"
    face_value = quantity(losses.face_value, SENTENCE_DIGITS, suffix=suffix)
    return ShownLosses(_number(losses.expected), face_value, _number(float(losses.gain)))


def shown_readings(estimate: Estimate) -> list[ShownReading]:
    """The numbers of every reading of an estimate; a cell has its name."""
    names = estimate.cells if estimate.has_cells else ("",)
    pairs = enumerate(zip(names, estimate.readings, strict=True))
    return [_shown_reading(name, reading, _end_of_range(estimate, place)) for place, (name, reading) in pairs]


def _end_of_range(estimate: Estimate, place: int) -> Fraction | None:
    """The end of the prior's range that stands for a lattice number beyond it; None for one within."""
    if estimate.reader is None or estimate.answer.mechanism.lattice is None:
        return None
    axis, value = estimate.reader.of_cell(place).axis, Fraction(estimate.readings[place].value)
    if axis.first <= value <= axis.last:
        return None
    return axis.first if value < axis.first else axis.last


def _shown_reading(name: str, reading: Reading, face: Fraction | None) -> ShownReading:
    low, high = reading.interval or (None, None)
    return ShownReading(
        name,
        _number(reading.value),
        _number(reading.estimate),
        None if low is None else at_least(low, SENTENCE_DIGITS),
        None if high is None else at_most(high, SENTENCE_DIGITS),
        None if reading.unbiased is None else _number(reading.unbiased),
        shown_losses(reading.loss, face),
    )


def _number(value: Number | int | float) -> Quantity:
    return quantity(value, SENTENCE_DIGITS)


def coverage_text(coverage: Fraction | float) -> str:
    """The probability of a credible interval in percent: 95 %."""
    return f"{at_least(100 * coverage, 8)} %"


def describe(estimate: Estimate, *, prior_name: str | None = None, loss_name: str | None = None) -> Report:
    """The reading of one answer: for whom, what it is, its expected losses, and in which sense nothing is better.

    Prior and loss are named as they name themselves, unless another name is given.
    """
    readings = shown_readings(estimate)
    facts: list[tuple[str, Cell | Paragraph]] = [*_query_facts(estimate.answer)]
    if estimate.reader is not None:
        facts.append(("reader", reader_sentence(estimate.reader, prior_name, loss_name)))
    facts += [] if estimate.has_cells else _single_value_facts(estimate, readings[0])
    loss_table = _loss_table(None if estimate.has_cells else readings[0].loss, shown_losses(estimate.before))
    claim = f"{estimate.claim[:1].upper()}{estimate.claim[1:]}."
    blocks: dict[str, Block | None] = {
        "facts": Facts(tuple(facts)),
        **(_cell_blocks(estimate, readings) if estimate.has_cells else {}),
        **({} if loss_table is None else {"space 1": Paragraph(), "losses": loss_table, "space 2": Paragraph()}),
        "remark": Paragraph(estimate.remark) if estimate.remark else None,
        "claim": Paragraph(claim),
    }
    return Report(blocks, lambda: _document(estimate), _main_numbers(estimate))


def _total_text(release: Release) -> str:
    """The ε of a release, and its δ."""
    if not release.delta:
        return f"ε = {release.epsilon}"
    return f"ε = {short_epsilon(release.epsilon)} and δ = {decimal_above(release.delta)}"


def _query_facts(answer: Answer) -> list[tuple[str, str]]:
    condition = f" where {' '.join(answer.where.split())}" if answer.where else ""
    query = f"{answer.name}: {answer.kind}{condition}, {answer.price_text}"
    return [("query", query), ("of", answer.error.target)]


def reader_sentence(reader: Reader, prior_name: str | None = None, loss_name: str | None = None) -> Paragraph:
    """The prior with its values, and the loss."""
    axis = reader.axis
    if reader.cells:
        points = f"prior {prior_name or _shorten(reader.prior.name)} on the values of each cell"
        return Paragraph(f"{points}; loss {_shorten(loss_name or reader.loss.name)}")
    near_remark = ", those near the answer" if reader.is_partial else ""
    return Paragraph(
        f"prior {prior_name or _shorten(reader.prior.name)} on ",
        quantity(axis.size),
        " values from ",
        _number(axis.first),
        " to ",
        _number(axis.last),
        f"{near_remark}; loss {_shorten(loss_name or reader.loss.name)}",
    )


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARS else f"{name[: MAX_NAME_CHARS - 3]}…"


def _single_value_facts(estimate: Estimate, reading: ShownReading) -> list[tuple[str, Cell | Paragraph]]:
    released: Cell | Paragraph = reading.value
    if reading.unbiased is not None and reading.has_other_unbiased:
        released = Paragraph(
            reading.value, " (an end of the range: to add it up with others, count ", reading.unbiased, ")"
        )
    if reading.low is None or reading.high is None or estimate.reader is None:
        return [("released", released)]
    probability = coverage_text(estimate.reader.coverage)
    interval = Paragraph(
        reading.estimate, "; from ", reading.low, " to ", reading.high, f" with probability {probability}"
    )
    return [("released", released), ("best reading", interval)]


def _loss_table(given: ShownLosses | None, before: ShownLosses | None) -> Table | None:
    rows = tuple(
        (name, losses.expected, losses.face_value, replace(losses.gain, suffix=" ×"))
        for name, losses in (("given this answer", given), ("over all answers", before))
        if losses is not None
    )
    return Table(("expected loss", "best reading", "face value", "gain"), rows) if rows else None


def _cell_blocks(estimate: Estimate, readings: Sequence[ShownReading]) -> dict[str, Block | None]:
    header: tuple[str, ...] = CELLS_HEADER if estimate.reader is not None else FACE_CELLS_HEADER
    if estimate.reader is None and all(reading.low is None for reading in readings):
        header = FACE_CELLS_HEADER[:2]
    rows = tuple(_cell_row(reading)[: len(header)] for reading in readings[:MAX_SHOWN_CELLS])
    cut_remark = f"The first {MAX_SHOWN_CELLS} of {len(readings)} cells; --json has them all."
    interval_remark = None
    if estimate.reader is not None:
        probability = coverage_text(estimate.reader.coverage)
        interval_remark = Paragraph(
            f"Intervals (from, to) have probability {probability}; losses are given the answer."
        )
    return {
        "space 0": Paragraph(),
        "cells": Table(header, rows),
        "interval": interval_remark,
        "cut": Paragraph(cut_remark) if len(readings) > MAX_SHOWN_CELLS else None,
        "total": _total_paragraph(estimate),
    }


def _cell_row(reading: ShownReading) -> tuple[Cell, ...]:
    if reading.loss is None:
        return reading.name, reading.value, reading.low or "", reading.high or ""
    numbers = (reading.value, reading.unbiased, reading.estimate, reading.low, reading.high)
    losses = () if reading.loss is None else (reading.loss.expected, reading.loss.face_value)
    return (reading.name, *("" if number is None else number for number in (*numbers, *losses)))


def _total_paragraph(estimate: Estimate) -> Paragraph | None:
    numbers = _main_numbers(estimate)
    if "total" not in numbers:
        return None
    return Paragraph(
        "Total of all cells ",
        numbers["total"],
        ", unbiased; its standard error is at most ",
        numbers["total error"],
        ".",
    )


def _main_numbers(estimate: Estimate) -> dict[str, Quantity]:
    """The total of the cells with a bound on its standard error, and the bound on the rank of a quantile."""
    total = estimate.total
    totals = {} if total is None else {"total": _number(total[0]), "total error": at_most(total[1], SENTENCE_DIGITS)}
    return totals | ({} if estimate.rank is None else {"rank": at_most(estimate.rank)})


def describe_unread(unread: UnreadAnswer) -> Report:
    """An answer that could not be read."""
    answer = unread.answer
    facts = Facts((("query", f"{answer.name}: {answer.kind}"), ("not read", unread.problem)))
    return Report({"facts": facts}, {"name": answer.name, "kind": answer.kind, "problem": unread.problem})


def describe_all(
    release: Release, estimates: Sequence[Estimate | UnreadAnswer], prior: str, loss: str, coverage: str
) -> Report:
    """The readings of several answers of a release; in the document of a single one its keys are at the top too."""
    reports = [
        describe_unread(estimate) if isinstance(estimate, UnreadAnswer) else describe(estimate, loss_name=loss)
        for estimate in estimates
    ]
    name = release.title or release.source.name
    title = f"{name}: {len(release)} answers, released with {_total_text(release)} in all."
    blocks: dict[str, Block | None] = {"title": Paragraph(title)}
    for number, report in enumerate(reports):
        blocks[f"{number} space"] = Paragraph()
        blocks |= {f"{number} {name}": block for name, block in report.blocks.items()}
    entries = [report.json for report in reports]
    request = {
        "title": release.title,
        "epsilon": str(release.epsilon),
        "prior": prior,
        "loss_function": loss,
        "coverage": json_number(float(rational(coverage, "coverage"))),
    }
    return Report(blocks, request | (entries[0] if len(entries) == 1 else {}) | {"queries": entries})


def _document(estimate: Estimate) -> dict[str, Any]:
    """One answer and what was made of it: its value, its best reading, the interval, the losses, what is claimed."""
    reader, answer = estimate.reader, estimate.answer
    entry: dict[str, Any] = {"name": answer.name, "kind": answer.kind, "query_epsilon": str(answer.epsilon)}
    entry["of"] = answer.error.target
    before = _losses_document(estimate.before)
    if estimate.has_cells:
        cells = [
            {"cell": name} | _reading_document(reading)
            for name, reading in zip(estimate.cells, estimate.readings, strict=True)
        ]
        entry |= {key: [cell[key] for cell in cells] for key in ("value", "estimate", "interval", "unbiased")}
        entry |= {"cells": cells, "loss": {"before": before}, "total": _total_document(estimate)}
    else:
        entry |= _reading_document(estimate.readings[0])
        if entry["loss"] is not None:
            entry["loss"]["before"] = before
    if reader is not None:
        entry |= {"prior": reader.prior.name[:200], "points": reader.axis.size}
    return entry | {
        "rank": None if estimate.rank is None else at_most(estimate.rank, JSON_DIGITS),
        "optimal": estimate.claim,
        "remark": estimate.remark or None,
    }


def _reading_document(reading: Reading) -> dict[str, Any]:
    """A reading: whole numbers and irrational ones as numbers, fractions as text with their decimals beside them."""
    interval = reading.interval
    entry: dict[str, Any] = {
        "value": _json_value(reading.value),
        "estimate": _json_value(reading.estimate),
        "interval": None if interval is None else [_json_value(end) for end in interval],
    }
    if isinstance(reading.value, Fraction) or isinstance(reading.estimate, Fraction):
        entry["value_decimal"], entry["estimate_decimal"] = _json_double(reading.value), _json_double(reading.estimate)
        entry["interval_decimal"] = None if interval is None else _outward_decimals(interval)
    is_integer = isinstance(reading.value, int)
    return entry | {
        "unbiased": _unbiased_document(reading.unbiased, is_integer),
        "loss": _losses_document(reading.loss),
    }


def _json_value(value: Number | int | float | None) -> Any:
    return value if isinstance(value, int) else json_number(value)


def _outward_decimals(interval: tuple[Number | int, Number | int]) -> list[Quantity]:
    low, high = interval
    return [at_least(low, JSON_DIGITS), at_most(high, JSON_DIGITS)]


def _json_double(value: Number | int) -> Any:
    return _json_value(float(value))


def _unbiased_document(value: Number | None, is_integer: bool) -> Any:
    """An irrational reading is a number, a rational one as the value is written."""
    if value is None or not isinstance(value, Fraction):
        return None if value is None else _json_double(value)
    return int(value) if is_integer else str(value)


def _losses_document(losses: ExpectedLosses | None) -> dict[str, Any] | None:
    if losses is None:
        return None
    numbers = {"expected": losses.expected, "face_value": losses.face_value, "gain": float(losses.gain)}
    return {name: _json_value(value) for name, value in numbers.items()}


def _total_document(estimate: Estimate) -> dict[str, Any] | None:
    if estimate.total is None:
        return None
    value, error = estimate.total
    is_integer = all(isinstance(reading.value, int) for reading in estimate.readings)
    return {"unbiased": _unbiased_document(value, is_integer), "standard_error_at_most": at_most(error, JSON_DIGITS)}


def figure(estimate: Estimate) -> alt.TopLevelMixin:
    """Prior, likelihood, posterior and remap of one number; of several cells one line each."""
    from utmost.charts.curves import reading_chart
    from utmost.publish.estimate import chart_data

    if estimate.reader is None:
        raise InputError(
            f"--plot must be of an answer with a posterior, and a {estimate.answer.kind} has none",
            "plot",
            "leave it out",
        )
    if len(estimate.readings) > 1:
        return _cell_figure(estimate)
    (reading,) = shown_readings(estimate)
    name = f"{estimate.answer.name}, cell {estimate.cells[0]}" if estimate.cells else estimate.answer.name
    labels = f"released {reading.value.typeset}", f"read as {reading.estimate.typeset}"
    title = f"{name}: {labels[0]}, best {labels[1]}"
    return reading_chart(chart_data(estimate), title, _figure_caption(estimate), x=estimate.answer.kind, labels=labels)


def _figure_caption(estimate: Estimate) -> str:
    assert estimate.reader is not None
    reader = reader_sentence(estimate.reader).typeset
    return (
        f"{reader[:1].upper()}{reader[1:]}; {estimate.answer.price_text}. "
        f"The bar at the foot holds {coverage_text(estimate.reader.coverage)} of the posterior."
    )


def _cell_figure(estimate: Estimate) -> alt.TopLevelMixin:
    from utmost.charts.curves import CellData, cell_chart

    if len(estimate.cells) > MAX_CHART_CELLS:
        raise InputError(
            f"--plot must be of at most {MAX_CHART_CELLS} cells, got {len(estimate.cells)}",
            "plot",
            "pick one with --cell",
        )
    if estimate.reader is None:
        raise InputError(
            "--plot must be of an answer with a posterior, and found cells have none", "plot", "leave it out"
        )
    rows = [
        CellData(name, float(r.value), float(r.estimate), (float(r.interval[0]), float(r.interval[1])))
        for name, r in zip(estimate.cells, estimate.readings, strict=True)
        if r.interval is not None
    ]
    caption = "Stroke: released. Dot: best reading. " + _figure_caption(estimate).replace(
        "The bar at the foot holds", "A bar holds"
    )
    x = "count" if estimate.answer.query.counts_rows else estimate.answer.kind
    return cell_chart(rows, f"{estimate.answer.name}: what was released and how it is best read", caption, x=x)
