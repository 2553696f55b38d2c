"""Small mechanisms and their events, and several matrices as one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from utmost.channel import Channel, channel
from utmost.exact import Number
from utmost.papers.items import LabelledMatrix, Value


def event_probabilities(source: Channel, first: int, second: int) -> Iterator[tuple[Number, Number]]:
    """P(O|first) and P(O|second) of all 2^outputs events O."""
    width = range(len(source.outputs))
    for event in (subset for size in range(len(width) + 1) for subset in combinations(width, size)):
        a, b = (sum((source.rows[x, y] for y in event), Fraction(0)) for x in (first, second))
        yield a, b


def two_output_mechanism(a: Number, b: Number) -> Channel:
    """The mechanism with two outputs, the first of probability `a` under i₁ and `b` under i₂."""
    return channel([[a, 1 - a], [b, 1 - b]], ["i1", "i2"])


def stack_matrices(matrices: Sequence[tuple[str, Channel]]) -> LabelledMatrix:
    """Several matrices, one below the other, each with its name."""
    width = max(len(source.outputs) for _, source in matrices)
    labelled_rows = [
        (name, x, row) for name, matrix in matrices for x, row in zip(matrix.inputs, matrix.rows.tolist(), strict=True)
    ]
    rows: list[list[Value]] = [[str(x), *row, *("" for _ in range(width - len(row)))] for _, x, row in labelled_rows]
    return LabelledMatrix(
        "matrix", ("row", *(f"output {k + 1}" for k in range(width))), [name for name, _, _ in labelled_rows], rows
    )
