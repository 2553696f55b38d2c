"""What a reader is told: models of the twins, and how they come from an estimate."""

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
from utmost.publish.reading.charts import chart_data as shown_around
from utmost.publish.release_model import Answer, LatticeMechanism
from utmost.studio.charts import Chart
from utmost.studio.consumer import charts, editors
from utmost.studio.consumer.editors import LossPoints, PriorBars
from utmost.studio.consumer.forms import ReadingForm
from utmost.studio.form_errors import FieldError
from utmost.studio.number_format import FormattedNumber, format_number, format_rounded

MAX_READER_POINTS = 1_000_001  # points of a reader
MOST_CELLS = 2000  # that are read at once
MOST_ROWS = 200  # cells that a page lists
SEARCH = 3e9  # multiplications for all answers: a few seconds
MAX_EXACT_CHARS = 1500  # characters of an exact number
MAX_TAILORED_VALUES = 60  # counts for which a mechanism is made
SAME = "No: it would have given the same."
SILENT = "Nothing is promised here."
REMAP = "How each answer would be read; the dashed line is face value."
TOO_MUCH = "Too much work for all answers at once, with this loss and so many values; this answer is read above."


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
    readings: list[ReadingView]
    more: int = Field(description="Cells that are not listed; `entry` has them all")
    total: FormattedNumber | None = Field(description="Of all cells, unbiased")
    total_error: str | None
    rank: FormattedNumber | None = Field(description="Of a quantile: rows that may lie on its wrong side")
    share: str = Field(examples=["95 %"])
    points: int | None = None
    reader: str | None = Field(default=None, description="Prior, range and loss in words")
    verdict: str = Field(description="Would a mechanism made for her have been better, in a sentence")
    claim: str
    best: bool = Field(description="No mechanism of this ε serves her better: proved")
    remark: str
    legality: LegalityView | None = None
    searched: bool = Field(description="Losses over all answers need a search: ask /over for them")
    before: LossView | None
    tailored: bool = Field(description="Few enough values for a mechanism made for her alone: ask /tailored")
    bars: PriorBars | None = Field(default=None, description="Her prior as a histogram, to be dragged")
    drawing: LossPoints | None = Field(default=None, description="Her loss as points, to be dragged")
    address: str = Field(description="The query of an address that asks the same")
    command: str = Field(description="The same on the command line")
    entry: dict[str, Any] = Field(description="As utmost estimate --json writes it")
    pictures: dict[str, Chart]


class OverallLosses(BaseModel):
    """Before the answer was known: losses over all answers, and how each of them would be read."""

    before: LossView | None
    words: str
    remap: Chart | None


def make_reader(answer: Answer, said: ReadingForm, brought: Prior | None) -> Reader | None:
    """Who reads; refused where her points are too many for a page."""
    prior, loss, wish, share = brought or said.family(), said.fear(), said.wish(), said.share()
    if isinstance(answer.value, tuple) and not said.cell and len(answer.value) > MOST_CELLS:
        raise FieldError("cell", f"cell must be chosen here: a page reads at most {MOST_CELLS} at once")
    found = estimate.make_reader(answer, prior, loss, wish, share, said.cell or None)
    if found is not None and found.axis.size > MAX_READER_POINTS:
        raise FieldError(
            "at_most", f"at most {MAX_READER_POINTS} values fit on a page, got {found.axis.size}: narrow the range"
        )
    return found


def read_answer(answer: Answer, file: str, said: ReadingForm, brought: Prior | None) -> ReadingResult:
    """The reading of an answer, without a search over other answers: quick enough to follow a slider."""
    reader = make_reader(answer, said, brought)
    found = estimate.read_answer(answer, reader, said.share(), said.cell or None, effort=0)
    return ReadingResult(
        query=answer.name,
        kind=answer.kind,
        where=answer.where,
        epsilon=str(answer.epsilon),
        share=f"{decimal(100 * said.share(), 8)} %",
        **_numbers(found),
        **_claims(found),
        **({} if reader is None else _held(reader, answer, said)),
        searched=reader is not None and found.before is None and _is_searched(answer, reader),
        address=said.address(query=answer.name),
        command=command(file, answer, said, brought),
        entry=json_output.estimate_content(found),
        pictures=_pictures(found, said),
    )


def _numbers(found: Estimate) -> dict[str, Any]:
    """What was read, and what it is worth."""
    total, error = found.total or (None, None)
    return {
        "readings": [_row(name, r) for name, r in zip(found.cells or ("",), found.readings[:MOST_ROWS], strict=False)],
        "more": max(len(found.readings) - MOST_ROWS, 0),
        "total": None if total is None else format_exact(total),
        "total_error": None if error is None else format_rounded(error),
        "rank": None if found.rank is None else format_exact(found.rank),
        "before": _losses(found.before),
    }


def _claims(found: Estimate) -> dict[str, Any]:
    """In which sense nothing would have been better, and what else she must know."""
    best = found.claim.startswith("optimal:")
    return {
        "verdict": SAME if best else SILENT,
        "claim": f"{found.claim[:1].upper()}{found.claim[1:]}.",
        "best": best,
        "remark": found.remark.replace("--grid", "the number of points"),
        "tailored": can_tailor(found),
    }


def _held(reader: Reader, answer: Answer, said: ReadingForm) -> dict[str, Any]:
    """The reader in words, and what of her can be dragged."""
    return {
        "points": reader.axis.size,
        "reader": _words(reader, said),
        "legality": legality(reader),
        "bars": editors.prior_bars(reader),
        "drawing": editors.loss_points(answer, said),
    }


def overall_losses(answer: Answer, said: ReadingForm, brought: Prior | None) -> OverallLosses:
    """Her losses over all answers and her remap, searched for where they must be, within a few seconds."""
    reader = make_reader(answer, said, brought)
    found = estimate.read_answer(answer, reader, said.share(), said.cell or None, effort=SEARCH)
    if reader is None or not isinstance(answer.mechanism, LatticeMechanism):
        return OverallLosses(before=None, words="Only a lattice number has a reading for each answer.", remap=None)
    if found.every is None:
        return OverallLosses(before=None, words=TOO_MUCH, remap=None)
    one = len(found.readings) == 1
    picture = charts.remap_chart(shown_around(found, whole=said.view == "whole"), REMAP) if one else None
    return OverallLosses(before=_losses(found.before), words=REMAP, remap=picture)


def _is_searched(answer: Answer, reader: Reader) -> bool:
    law = answer.mechanism
    return isinstance(law, LatticeMechanism) and reader.axis.step == law.unit and not reader.near


def can_tailor(found: Estimate) -> bool:
    """Can a mechanism be made for her here: a count that the theorem speaks of, on few values."""
    return (
        found.reader is not None
        and len(found.readings) == 1
        and 2 <= found.reader.axis.size <= MAX_TAILORED_VALUES
        and found.claim.startswith("optimal:")
    )


def _pictures(found: Estimate, said: ReadingForm) -> dict[str, Chart]:
    """Those that this estimate has."""
    if found.reader is None:
        return {}
    if len(found.readings) > 1:
        words = "For each cell: released (stroke), best reading (dot), and the interval (bar)."
        picture = charts.cell_chart(found, words)
        return {} if picture is None else {"cells": picture}
    read = shown_around(found, whole=said.view == "whole", remapped=False)
    words = f"Released {format_rounded(read.value)}, best read as {format_rounded(read.estimate)}"
    low, high = (format_rounded(end) for end in read.interval)
    told = f"{words}; from {low} to {high} with probability {decimal(100 * said.share(), 8)} % (the bar)."
    made = {
        "beliefs": charts.belief_chart(read, told),
        "costs": charts.cost_chart(
            found, read, estimate.belief_curves(found).posterior, "What each reading would cost on average."
        ),
        "remap": charts.remap_chart(read, REMAP),
    }
    return {name: picture for name, picture in made.items() if picture is not None}


def _row(cell: str, found: Reading) -> ReadingView:
    low, high = found.interval or (None, None)
    return ReadingView(
        cell=cell,
        value=format_exact(found.value),
        estimate=format_exact(found.estimate),
        low=None if low is None else format_exact(low),
        high=None if high is None else format_exact(high),
        unbiased=None if found.unbiased in (None, found.value) else format_exact(found.unbiased),
        loss=_losses(found.loss),
    )


def _losses(found: ExpectedLosses | None) -> LossView | None:
    if found is None:
        return None
    return LossView(
        expected=format_exact(found.expected),
        face_value=format_exact(found.face_value),
        gain=format_exact(float(found.gain)),
    )


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
    found = format_number(value)
    return (
        found
        if len(found.exact) <= MAX_EXACT_CHARS
        else FormattedNumber(text=found.text, exact=f"{found.exact[:MAX_EXACT_CHARS]}…")
    )


def _words(reader: Reader, said: ReadingForm) -> str:
    ends = f"{format_rounded(reader.axis.first)} to {format_rounded(reader.axis.last)}"
    near = ", those near the answer" if reader.near else ""
    prior = "her own weights" if said.prior in ("weights", "file") else _shortened(reader.prior.name)
    return (
        f"Prior {prior} on {format_rounded(reader.axis.size)} values from {ends}{near}; loss "
        f"{_shortened(said.fear().name)}."
    )


def _shortened(name: str) -> str:
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
    truth, near, far = (format_rounded(axis.value(place)) for place in witness)
    same = abs(witness[1] - witness[0]) == abs(witness[2] - witness[0])
    why = "are equally far and cost differently" if same else "are nearer and farther, and the nearer costs more"
    kept = "It still grows on each side of the truth in its own way, so the theorem's extension holds."
    lost = "It falls away from the truth, so the theorem says nothing of it."
    words = f"Not legal: with truth {truth}, readings {near} and {far} {why}. {kept if reader.monotone else lost}"
    return LegalityView(legal=False, words=words, witness=witness)


def command(file: str, answer: Answer, said: ReadingForm, brought: Prior | None) -> str:
    """What gives the same on the command line."""
    prior = "weights.csv" if brought is not None else said.family()
    if isinstance(brought, Explicit) and said.prior == "weights" and brought.size <= 24:
        prior = ",".join(str(weight) for weight in brought.exact())
    loss = said.fear().name
    words = ["utmost", "estimate", file, "--query", answer.name, "--prior", prior, "--loss", loss]
    named = {"--cell": said.cell, "--at-least": said.at_least, "--at-most": said.at_most, "--grid": said.grid}
    named["--coverage"] = "" if said.share() == Fraction(19, 20) else said.coverage
    return shlex.join(
        [*words, *(word for name, text in named.items() if text.strip() for word in (name, text.strip()))]
    )
