"""Describe two channels compared for every consumer: the post-processing, or a consumer as a counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.reports.blocks import Block, Matrix, Paragraph, Report, Table
from utmost.reports.mechanism import channel_document, rows_document
from utmost.reports.numbers import Quantity, short

if TYPE_CHECKING:
    from utmost.exact import Number
    from utmost.qif import Refinement, Witness
    from utmost.qif.refinement import Comparison

MAX_LOSS_ROWS, MAX_LOSS_COLUMNS = 24, 10  # of a loss that is shown
MAX_NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class ChannelNames:
    """What the two channels are called in sentences, and the files they come from where there are any."""

    first: str = "A"
    second: str = "B"
    files: tuple[str, str] | None = None


def describe(comparison: Comparison, names: ChannelNames | None = None) -> Report:
    """Which refines which, the post-processing, and a consumer for each direction that fails."""
    names = names or ChannelNames()
    post = comparison.forward.post_processing
    reverse = comparison.reverse
    blocks: dict[str, Block | None] = {
        "files": _files_paragraph(comparison, names),
        "verdict": Paragraph(_capitalize(_verdict(comparison, names))),
        "post heading": None if post is None else Paragraph(_post_heading(names)),
        "post": None if post is None else Matrix(post),
    }
    blocks |= _consumer_blocks("prefers second", comparison, comparison.forward.witness, names)
    blocks |= _consumer_blocks("prefers first", comparison, None if reverse is None else reverse.witness, names)
    return Report(blocks, _document(comparison))


def _files_paragraph(comparison: Comparison, names: ChannelNames) -> Paragraph | None:
    if names.files is None:
        return None
    first, second = (file[:MAX_NAME_CHARS] for file in names.files)
    return Paragraph(f"{names.first} = {first}, {names.second} = {second}: {len(comparison.inputs)} inputs.")


def _post_heading(names: ChannelNames) -> str:
    first, second = names.first, names.second
    return f"R, from outputs of {first} (rows) to outputs of {second} (columns), with {first} R = {second}:"


def _verdict(comparison: Comparison, names: ChannelNames) -> str:
    a, b = names.first, names.second
    forward, reverse = comparison.forward.refines, None if comparison.reverse is None else comparison.reverse.refines
    better, worse = (a, b) if forward else (b, a)
    if forward and reverse:
        return f"{b} refines {a} and {a} refines {b}: they are equivalent, equally good for everybody."
    if reverse is None:
        statement = f"{b} {'refines' if forward else 'does not refine'} {a}. Whether {a} refines {b} was not decided."
        return f"{statement} Nobody does better with {b} than with {a}." if forward else statement
    if forward or reverse:
        start = f"{b} refines {a}" if forward else f"{b} does not refine {a}, {a} refines {b}"
        return (
            f"{start}: {worse} is {better} with its outputs processed further. Every consumer, whatever the prior and "
            f"the loss, does at least as well with {better}; every secret is at least as safe with {worse}."
        )
    return f"{b} does not refine {a}, nor {a} {b}: some consumers are better served by {a}, others by {b}."


def _consumer_blocks(
    key: str, comparison: Comparison, witness: Witness | None, names: ChannelNames
) -> dict[str, Block | None]:
    """A consumer who is better served by one of the two, and the loss that shows it."""
    if witness is None:
        return {}
    is_swapped = key == "prefers first"
    better, worse = (names.first, names.second) if is_swapped else (names.second, names.first)
    losses = (short(witness.with_b), f" with {better} and ", short(witness.with_a), f" with {worse}, compared exactly.")
    lead = f"Better served by {better}: a consumer with a uniform prior and the loss below. The expected loss is "
    rows = witness_loss(comparison, witness)
    return {key: Paragraph(lead, *losses), f"{key}, loss": _loss_block(comparison, rows), f"{key}, end": Paragraph("")}


def _loss_block(comparison: Comparison, rows: list[list[Number]]) -> Block:
    if len(rows) > MAX_LOSS_ROWS or len(rows[0]) > MAX_LOSS_COLUMNS:
        return Paragraph(f"The loss has {len(rows)} rows and {len(rows[0])} columns: --json prints it.")
    return loss_table([str(x) for x in comparison.inputs], [[short(value) for value in row] for row in rows])


def loss_table(secrets: list[str], rows: list[list[Quantity]]) -> Table:
    """A loss with its own actions: a row for each secret."""
    header = ("secret", *(f"action {w}" for w in range(len(rows[0]))))
    return Table(
        header, tuple((x, *row) for x, row in zip(secrets, rows, strict=True)), caption="The loss: secrets by actions"
    )


def witness_loss(comparison: Comparison, witness: Witness) -> list[list[Number]]:
    """The loss of a witness, a row for each input of the first channel."""
    return [list(witness.loss[witness.inputs.index(x)]) for x in comparison.inputs]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _document(comparison: Comparison) -> dict[str, Any]:
    reverse = comparison.reverse
    reverse_document = None
    if reverse is not None:
        reverse_document = {"refines": reverse.refines, **_proof_document(comparison, reverse, is_swapped=True)}
    return {
        "inputs": list(comparison.inputs),
        "refines": comparison.forward.refines,
        "equivalent": comparison.equivalent,
        **_proof_document(comparison, comparison.forward, is_swapped=False),
        "reverse": reverse_document,
    }


def _proof_document(comparison: Comparison, refinement: Refinement, *, is_swapped: bool) -> dict[str, Any]:
    """`post` and `witness`; what is said of A and B in the reverse direction is swapped back."""
    post, witness = refinement.post_processing, refinement.witness
    witness_document = None
    if witness is not None:
        with_a, with_b = (witness.with_b, witness.with_a) if is_swapped else (witness.with_a, witness.with_b)
        witness_document = {
            "prior": [str(weight) for weight in witness.prior],
            "loss": rows_document(witness_loss(comparison, witness)),
            "with_a": str(with_a),
            "with_b": str(with_b),
        }
    return {"post": None if post is None else channel_document(post), "witness": witness_document}
