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
from utmost.publish.reading import Estimate, Reader, Reading, entry
from utmost.publish.reading import Losses as ExpectedLosses
from utmost.publish.reading.drawn import shown as shown_around
from utmost.publish.record import Answer, Lattice
from utmost.studio.charts import Picture
from utmost.studio.consumer import board, drawn
from utmost.studio.consumer.asked import Asked
from utmost.studio.consumer.board import Bars, Drawing
from utmost.studio.numbers import Shown, rounded, shown
from utmost.studio.problems import FieldError

LARGEST = 1_000_001  # points of a reader
MOST_CELLS = 2000  # that are read at once
MOST_ROWS = 200  # cells that a page lists
SEARCH = 3e9  # multiplications for all answers: a few seconds
LONGEST = 1500  # characters of an exact number
MOST_TAILORED = 60  # counts for which a mechanism is made
SAME = "No: it would have given the same."
SILENT = "Nothing is promised here."
REMAP = "How each answer would be read; the dashed line is face value."
TOO_MUCH = "Too much work for all answers at once, with this loss and so many values; this answer is read above."


class LossView(BaseModel):
    """Expected losses of the best reading and of face value, and how many times less the first is."""

    expected: Shown
    face_value: Shown
    gain: Shown


class ReadingView(BaseModel):
    """One released number and its best reading. `unbiased` is what to add up, where it is not the value."""

    cell: str
    value: Shown
    estimate: Shown
    low: Shown | None
    high: Shown | None
    unbiased: Shown | None
    loss: LossView | None


class LegalityView(BaseModel):
    """Is the loss legal (GRS12 §2.2): of the truth and the distance alone, not falling as the distance grows."""

    legal: bool
    words: str
    witness: tuple[int, int, int] | None = Field(description="A truth and two readings that break it, as positions")


class ReadingFound(BaseModel):
    """The best reading of an answer for a prior and a loss, and how good it is."""

    query: str
    kind: str
    where: str | None
    epsilon: str
    readings: list[ReadingView]
    more: int = Field(description="Cells that are not listed; `entry` has them all")
    total: Shown | None = Field(description="Of all cells, unbiased")
    total_error: str | None
    rank: Shown | None = Field(description="Of a quantile: rows that may lie on its wrong side")
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
    bars: Bars | None = Field(default=None, description="Her prior as a histogram, to be dragged")
    drawing: Drawing | None = Field(default=None, description="Her loss as points, to be dragged")
    address: str = Field(description="The query of an address that asks the same")
    command: str = Field(description="The same on the command line")
    entry: dict[str, Any] = Field(description="As utmost estimate --json writes it")
    pictures: dict[str, Picture]


class OverFound(BaseModel):
    """Before the answer was known: losses over all answers, and how each of them would be read."""

    before: LossView | None
    words: str
    remap: Picture | None


def reader_of(answer: Answer, said: Asked, brought: Prior | None) -> Reader | None:
    """Who reads; refused where her points are too many for a page."""
    prior, loss, wish, share = brought or said.family(), said.fear(), said.wish(), said.share()
    if isinstance(answer.value, tuple) and not said.cell and len(answer.value) > MOST_CELLS:
        raise FieldError("cell", f"cell must be chosen here: a page reads at most {MOST_CELLS} at once")
    found = estimate.reader_of(answer, prior, loss, wish, share, said.cell or None)
    if found is not None and found.axis.size > LARGEST:
        raise FieldError("at_most", f"at most {LARGEST} values fit on a page, got {found.axis.size}: narrow the range")
    return found


def reading(answer: Answer, file: str, said: Asked, brought: Prior | None) -> ReadingFound:
    """The reading of an answer, without a search over other answers: quick enough to follow a slider."""
    reader = reader_of(answer, said, brought)
    found = estimate.read(answer, reader, said.share(), said.cell or None, effort=0)
    return ReadingFound(
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
        entry=entry.entry(found),
        pictures=_pictures(found, said),
    )


def _numbers(found: Estimate) -> dict[str, Any]:
    """What was read, and what it is worth."""
    total, error = found.total or (None, None)
    return {
        "readings": [_row(name, r) for name, r in zip(found.cells or ("",), found.readings[:MOST_ROWS], strict=False)],
        "more": max(len(found.readings) - MOST_ROWS, 0),
        "total": None if total is None else number(total),
        "total_error": None if error is None else rounded(error),
        "rank": None if found.rank is None else number(found.rank),
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
        "tailored": is_tailored(found),
    }


def _held(reader: Reader, answer: Answer, said: Asked) -> dict[str, Any]:
    """The reader in words, and what of her can be dragged."""
    return {
        "points": reader.axis.size,
        "reader": _words(reader, said),
        "legality": legality(reader),
        "bars": board.bars(reader),
        "drawing": board.drawing(answer, said),
    }


def over(answer: Answer, said: Asked, brought: Prior | None) -> OverFound:
    """Her losses over all answers and her remap, searched for where they must be, within a few seconds."""
    reader = reader_of(answer, said, brought)
    found = estimate.read(answer, reader, said.share(), said.cell or None, effort=SEARCH)
    if reader is None or not isinstance(answer.mechanism, Lattice):
        return OverFound(before=None, words="Only a lattice number has a reading for each answer.", remap=None)
    if found.every is None:
        return OverFound(before=None, words=TOO_MUCH, remap=None)
    one = len(found.readings) == 1
    picture = drawn.remap(shown_around(found, whole=said.view == "whole"), REMAP) if one else None
    return OverFound(before=_losses(found.before), words=REMAP, remap=picture)


def _is_searched(answer: Answer, reader: Reader) -> bool:
    law = answer.mechanism
    return isinstance(law, Lattice) and reader.axis.step == law.unit and not reader.near


def is_tailored(found: Estimate) -> bool:
    """Can a mechanism be made for her here: a count that the theorem speaks of, on few values."""
    return (
        found.reader is not None
        and len(found.readings) == 1
        and 2 <= found.reader.axis.size <= MOST_TAILORED
        and found.claim.startswith("optimal:")
    )


def _pictures(found: Estimate, said: Asked) -> dict[str, Picture]:
    """Those that this estimate has."""
    if found.reader is None:
        return {}
    if len(found.readings) > 1:
        words = "For each cell: released (stroke), best reading (dot), and the interval (bar)."
        picture = drawn.cells(found, words)
        return {} if picture is None else {"cells": picture}
    read = shown_around(found, whole=said.view == "whole", remapped=False)
    words = f"Released {rounded(read.value)}, best read as {rounded(read.estimate)}"
    low, high = (rounded(end) for end in read.interval)
    told = f"{words}; from {low} to {high} with probability {decimal(100 * said.share(), 8)} % (the bar)."
    made = {
        "beliefs": drawn.beliefs(read, told),
        "costs": drawn.costs(found, read, estimate.belief(found).posterior, "What each reading would cost on average."),
        "remap": drawn.remap(read, REMAP),
    }
    return {name: picture for name, picture in made.items() if picture is not None}


def _row(cell: str, found: Reading) -> ReadingView:
    low, high = found.interval or (None, None)
    return ReadingView(
        cell=cell,
        value=number(found.value),
        estimate=number(found.estimate),
        low=None if low is None else number(low),
        high=None if high is None else number(high),
        unbiased=None if found.unbiased in (None, found.value) else number(found.unbiased),
        loss=_losses(found.loss),
    )


def _losses(found: ExpectedLosses | None) -> LossView | None:
    if found is None:
        return None
    return LossView(
        expected=number(found.expected), face_value=number(found.face_value), gain=number(float(found.gain))
    )


def number(value: Number | int | float | None) -> Shown:
    """A number and what it is exactly; of a double, and of what is too long to be read, what it is to some digits."""
    assert value is not None
    if isinstance(value, float):
        text = "∞" if math.isinf(value) else rounded(value)
        return Shown(text=text, exact=f"{value:.12g} (in double precision)")
    if isinstance(value, Fraction) and value.denominator.bit_length() + value.numerator.bit_length() > 4 * LONGEST:
        return Shown(text=rounded(value), exact=f"{decimal(value, 15)} (the first digits of a long fraction)")
    found = shown(value)
    return found if len(found.exact) <= LONGEST else Shown(text=found.text, exact=f"{found.exact[:LONGEST]}…")


def _words(reader: Reader, said: Asked) -> str:
    ends = f"{rounded(reader.axis.first)} to {rounded(reader.axis.last)}"
    near = ", those near the answer" if reader.near else ""
    prior = "her own weights" if said.prior in ("weights", "file") else _shortened(reader.prior.name)
    return (
        f"Prior {prior} on {rounded(reader.axis.size)} values from {ends}{near}; loss {_shortened(said.fear().name)}."
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
    truth, near, far = (rounded(axis.value(place)) for place in witness)
    same = abs(witness[1] - witness[0]) == abs(witness[2] - witness[0])
    why = "are equally far and cost differently" if same else "are nearer and farther, and the nearer costs more"
    kept = "It still grows on each side of the truth in its own way, so the theorem's extension holds."
    lost = "It falls away from the truth, so the theorem says nothing of it."
    words = f"Not legal: with truth {truth}, readings {near} and {far} {why}. {kept if reader.monotone else lost}"
    return LegalityView(legal=False, words=words, witness=witness)


def command(file: str, answer: Answer, said: Asked, brought: Prior | None) -> str:
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
