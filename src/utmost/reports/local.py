"""Describe the local model: a table whose rows were obfuscated, and what a reader recovers from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.exact import json_above, json_below, json_number
from utmost.reports.blocks import Cell, Paragraph, Report, Table
from utmost.reports.numbers import JSON_DIGITS, at_least, at_most, quantity

if TYPE_CHECKING:
    from utmost.publish.local import Frequencies, LocationMechanism, LocationReading, TableMetadata

MAX_SHOWN_PLACES = 12
MAX_SHOWN_VALUES = 48
COORDINATE_DIGITS = 6


def describe_obfuscation(metadata: TableMetadata, target: str) -> Report:
    """A table that was written: its guarantee, and what each person has spent."""
    from utmost.publish.local.metadata import metadata_content

    name, content = Path(target).name, metadata_content(metadata)
    columns = " and ".join(metadata.mechanism.columns)
    spent = (
        f"Each person has now spent {metadata.mechanism.spent} for each row, and spends it again whenever the rows are "
        "obfuscated again: two runs on the same people cost twice as much. Nothing counts that here."
    )
    return Report(
        {
            "written": Paragraph(
                f"Wrote {metadata.rows} rows of {columns} to {name}, and what a reader needs to know to {name}.json."
            ),
            "space 1": Paragraph(),
            "guarantee": Paragraph(str(content["guarantee"]["words"])),
            "space 2": Paragraph(),
            "spent": Paragraph(spent),
            "next": Paragraph(f"Read it with: utmost recover {name}"),
        },
        content | {"output": target},
    )


def describe_frequencies(metadata: TableMetadata, frequencies: Frequencies) -> Report:
    """The share of each value: unbiased, between bounds that hold for all at once, and likeliest."""
    rows: list[tuple[Cell, ...]] = []
    columns = (frequencies.values, frequencies.counts, frequencies.estimate, frequencies.errors)
    for value, count, share, error, (low, high), likeliest in zip(
        *columns, frequencies.intervals, frequencies.likeliest, strict=True
    ):
        bounds = at_least(low), at_most(high)
        rows.append((value, str(count), quantity(float(share)), quantity(error), *bounds, quantity(float(likeliest))))
    cut_remark = f"The first {MAX_SHOWN_VALUES} of {len(rows)} values; --output FILE.csv saves them all."
    return Report(
        {
            "shares": Table(
                ("value", "answered", "share", "± s.e.", "from", "to", "likeliest"), tuple(rows[:MAX_SHOWN_VALUES])
            ),
            "cut": Paragraph(cut_remark) if len(rows) > MAX_SHOWN_VALUES else None,
            "guarantee": Paragraph(
                f"From {sum(frequencies.counts)} rows at {metadata.mechanism.level}. The share is unbiased and can "
                "leave 0 to 1; the intervals hold all true shares at once with probability "
                f"{frequencies.confidence} at least."
            ),
        },
        lambda: _frequency_document(metadata, frequencies),
    )


def _frequency_document(metadata: TableMetadata, frequencies: Frequencies) -> dict[str, Any]:
    return {
        "column": metadata.mechanism.columns[0],
        "rows": sum(frequencies.counts),
        "values": list(frequencies.values),
        "counts": list(frequencies.counts),
        "estimate": [json_number(f) for f in frequencies.estimate],
        "estimate_decimal": [json_number(float(f)) for f in frequencies.estimate],
        "standard_error": [json_number(e) for e in frequencies.errors],
        "interval": [[json_below(a, JSON_DIGITS), json_above(b, JSON_DIGITS)] for a, b in frequencies.intervals],
        "confidence": json_number(frequencies.confidence),
        "likeliest": [json_number(f) for f in frequencies.likeliest],
        "likeliest_decimal": [json_number(float(f)) for f in frequencies.likeliest],
    }


def describe_places(mechanism: LocationMechanism, reading: LocationReading, loss: str) -> Report:
    """The places with the largest shares, and how far off a guess is."""
    order = (-reading.weights).argsort()[:MAX_SHOWN_PLACES]
    rows = tuple(
        (
            *(quantity(float(coordinate), COORDINATE_DIGITS) for coordinate in reading.locations[k]),
            quantity(float(reading.weights[k])),
        )
        for k in order
    )
    unit = {
        "euclidean": f"{mechanism.unit} of distance",
        "squared": f"{mechanism.unit}² of squared distance",
        "binary": "misses",
    }[loss]
    return Report(
        {
            "places": Table((mechanism.x, mechanism.y, "share"), rows, text_columns=0),
            "prior": _prior_paragraph(reading, len(rows)),
            "loss": Paragraph(
                "The best guess for a row is off by ", quantity(reading.loss), f" {unit} on average, by these beliefs."
            ),
        },
        lambda: _place_document(mechanism, reading, loss),
    )


def _prior_paragraph(reading: LocationReading, shown: int) -> Paragraph:
    if not reading.estimated:
        return Paragraph(f"The {shown} largest of the {len(reading.weights)} places of the prior that was given.")
    return Paragraph(
        f"The {shown} largest of {len(reading.weights)} cells, estimated from {len(reading.guesses)} rows in "
        f"{reading.rounds} rounds of EM; other shares have a log-likelihood larger by at most ",
        at_most(reading.gap, 2),
        " a row.",
    )


def _place_document(mechanism: LocationMechanism, reading: LocationReading, loss: str) -> dict[str, Any]:
    cells = zip(reading.locations.tolist(), reading.weights.tolist(), strict=True)
    return {
        "columns": [mechanism.x, mechanism.y],
        "rows": len(reading.guesses),
        "unit": mechanism.unit,
        "loss_function": loss,
        "loss": json_number(reading.loss),
        "prior": "estimated" if reading.estimated else "given",
        "rounds": reading.rounds,
        "gap": json_above(reading.gap, JSON_DIGITS),
        "cells": [[json_number(value) for value in (*point, weight)] for point, weight in cells],
    }
