"""Two mechanisms compared for every consumer at once, with the evidence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from utmost import exact
from utmost.errors import InputError
from utmost.exact import integer, number
from utmost.mechanisms import registry
from utmost.qif.refinement import compare
from utmost.reports import Table, quantity
from utmost.reports.refinement import ChannelNames, describe, loss_table, witness_loss
from utmost.studio.designer.results import ChannelMatrix
from utmost.studio.forms import errors_for_field

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.qif.refinement import Comparison, Refinement

NAMED_MECHANISM_PATTERN = re.compile(r"\s*([a-z-]+)\s+(\d{1,3})\s+(\S{1,40})\s*")  # name, size and α
MAX_COMPARED_SIZE = 30  # inputs and outputs of a mechanism that is compared here
MAX_QUICK_SIZE = 12  # the same, of those that are compared at once
MAX_TABLE_CHARS = 40_000
EXPECTED_FORMAT = "geometric 5 1/2, response 4 1/2, or a table: a header of outputs, then a row for each input"


class Objector(BaseModel):
    """A consumer who is better served by one mechanism: a prior, a loss, and the expected loss with each."""

    prior: list[str]
    loss: list[list[str]]
    with_first: str
    with_second: str
    sentence: str = Field("", description="Who it is, and what is lost with each, in a sentence")

    def block(self, secrets: list[str]) -> Table:
        """The loss as a table."""
        return loss_table(secrets, [[quantity(number(cell)) for cell in row] for row in self.loss])


class RefinementResult(BaseModel):
    """Whether either mechanism is a post-processing of the other, and a counterexample if not."""

    inputs: list[str]
    forward: bool = Field(
        description="The second is the first, processed further: the first is at least as good for all"
    )
    backward: bool | None = Field(
        description="The first is the second, processed further; None if that was not decided"
    )
    headline: str
    post: ChannelMatrix | None = Field(description="R, where first times R is the second")
    back: ChannelMatrix | None = Field(description="R, where second times R is the first")
    prefers_second: Objector | None
    prefers_first: Objector | None


def parse_mechanism(text: str, field: str) -> Channel:
    """A mechanism by its name, size and α, or as a table of exact numbers."""
    with errors_for_field(field):
        match = NAMED_MECHANISM_PATTERN.fullmatch(text)
        if match is not None and match[1] in registry.sized_names():
            channel = _named_channel(*match.groups())
        else:
            channel = _parse_table(text)
        if max(len(channel.inputs), len(channel.outputs)) > MAX_COMPARED_SIZE:
            raise InputError(
                f"{field} must have at most {MAX_COMPARED_SIZE} inputs and outputs, got more",
                field,
                "take a smaller one",
            )
        return channel


def _named_channel(name: str, size: str, level: str) -> Channel:
    points = integer(size, "size")
    if points > MAX_COMPARED_SIZE:
        raise InputError(
            f"size must be at most {MAX_COMPARED_SIZE} to be compared here, got {points}", "size", "take a smaller one"
        )
    return registry.build(name, {"size": size}, exact.alpha(level)).channel()


def _parse_table(text: str) -> Channel:
    """A table typed or pasted: CSV, with commas, semicolons, tabs or spaces between its cells."""
    from utmost.channel import channel
    from utmost.channel.files import read_label

    lines = [re.split(r"[,;\t]\s*|\s+", line.strip()) for line in text.strip().splitlines() if line.strip()]
    if len(lines) < 2:
        raise InputError(f"a mechanism must be {EXPECTED_FORMAT}, got something else")
    header, rows = lines[0], lines[1:]
    if len(header) == len(rows[0]) - 1:
        header = ["", *header]
    outputs, inputs = [read_label(cell) for cell in header[1:]], [read_label(row[0]) for row in rows]
    return channel([row[1:] for row in rows], inputs, outputs)


def is_quick(first: str, second: str) -> bool:
    """Are both small enough to be compared while the visitor waits."""
    return (
        max(
            max(len(channel.inputs), len(channel.outputs))
            for channel in (parse_mechanism(first, "first"), parse_mechanism(second, "second"))
        )
        <= MAX_QUICK_SIZE
    )


def check_mechanisms(first: str, second: str) -> None:
    """Refuse mechanisms that cannot be read."""
    parse_mechanism(first, "first"), parse_mechanism(second, "second")


def compare_quickly(first: str, second: str) -> RefinementResult:
    """Compare two mechanisms that are small enough to be compared at once."""
    if not is_quick(first, second):
        raise InputError(
            f"first must have at most {MAX_QUICK_SIZE} inputs and outputs",
            "first",
            "post larger ones to /api/designer/refine/job",
        )
    return compare_mechanisms(first, second)


def compare_mechanisms(first_text: str, second_text: str) -> RefinementResult:
    """Both directions decided in exact arithmetic; evidence either way."""
    first, second = parse_mechanism(first_text, "first"), parse_mechanism(second_text, "second")
    with errors_for_field("second"):
        comparison = compare(first, second)
    report = describe(comparison, ChannelNames("the first", "the second"))
    forward, backward = comparison.forward, comparison.reverse
    return RefinementResult(
        inputs=[str(x) for x in first.inputs],
        forward=forward.refines,
        backward=None if backward is None else backward.refines,
        headline=report.text("verdict"),
        post=_matrix(forward),
        back=_matrix(backward),
        prefers_second=_objector(comparison, forward, report.text("prefers second"), swapped=False),
        prefers_first=_objector(comparison, backward, report.text("prefers first"), swapped=True),
    )


def _matrix(refinement: Refinement | None) -> ChannelMatrix | None:
    post = None if refinement is None else refinement.post_processing
    return None if post is None else ChannelMatrix.of(post)


def _objector(
    comparison: Comparison, refinement: Refinement | None, sentence: str, *, swapped: bool
) -> Objector | None:
    witness = None if refinement is None else refinement.witness
    if witness is None:
        return None
    losses = (witness.with_b, witness.with_a) if swapped else (witness.with_a, witness.with_b)
    return Objector(
        prior=[str(weight) for weight in witness.prior],
        loss=[[str(cell) for cell in row] for row in witness_loss(comparison, witness)],
        with_first=str(losses[0]),
        with_second=str(losses[1]),
        sentence=sentence,
    )
