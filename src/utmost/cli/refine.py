"""`utmost refine`: is one channel another with its outputs processed further, and if not, which consumer loses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHANNEL_ENDINGS, JsonOption, check_ending, save_channel

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.exact import Number
    from utmost.qif import Refinement, Witness

EXAMPLES = (
    "Examples: utmost refine a.csv b.csv;  "
    "utmost mechanism geometric --size 5 --alpha 1/3 --output a.csv, then utmost refine a.csv b.csv --output r.csv"
)
SLOW_ENTRY_COUNT = 1200  # entries of a post-processing above which a remark says that it takes a while
CHANNEL_HELP = "A .csv (header: outputs; first column: inputs) or .json."


@dataclass(frozen=True, slots=True)
class Comparison:
    """Does B refine A, and does A refine B; the second is None where it was not decided."""

    forward: Refinement
    reverse: Refinement | None

    @property
    def equivalent(self) -> bool | None:
        """Whether each refines the other."""
        if not self.forward.refines:
            return False
        return None if self.reverse is None else self.reverse.refines


def command(
    a: Annotated[str, typer.Argument(metavar="A", help=CHANNEL_HELP)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one, on the same inputs.")],
    output: Annotated[str | None, typer.Option(metavar="FILE", help="Save R, where B = A R: .csv or .json.")] = None,
    json: JsonOption = False,
) -> None:
    """Does B refine A: the post-processing, or who minds.

    B refines A when B = A R for a channel R. Then nobody does better with B than with A. If not, a consumer is shown,
    her prior and her loss, who does. Both directions are decided, in exact arithmetic.
    """
    from utmost.channel import files
    from utmost.cli.output import print_remark

    check_ending(output, CHANNEL_ENDINGS, "--output")
    first, second = files.read_channel(a), files.read_channel(b)
    if len(first.outputs) * len(second.outputs) > SLOW_ENTRY_COUNT:
        print_remark(
            f"{len(first.outputs)} and {len(second.outputs)} outputs in exact arithmetic: this can take a minute"
        )
    comparison = compare(first, second)
    if comparison.forward.post_processing is not None:
        save_channel(comparison.forward.post_processing, output)
    elif output is not None:
        print_remark("nothing saved: B does not refine A, so there is no R")
    _print_json(comparison, first) if json else _print_text(comparison, first, (Path(a).name, Path(b).name))


def compare(first: Channel, second: Channel) -> Comparison:
    """Both directions; the first must be decided, the second may stay open."""
    from utmost.errors import UndecidedError
    from utmost.qif import refinement

    forward = refinement(first, second)
    try:
        return Comparison(forward, refinement(second, first))
    except UndecidedError:
        return Comparison(forward, None)


def _print_json(comparison: Comparison, first: Channel) -> None:
    from utmost.cli import output

    reverse = comparison.reverse
    output.print_json(
        {
            "inputs": list(first.inputs),
            "refines": comparison.forward.refines,
            "equivalent": comparison.equivalent,
            **_proof_document(comparison.forward, first, is_swapped=False),
            "reverse": None
            if reverse is None
            else {"refines": reverse.refines, **_proof_document(reverse, first, is_swapped=True)},
        }
    )


def _proof_document(refinement: Refinement, first: Channel, *, is_swapped: bool) -> dict[str, Any]:
    """`post_document` and `witness`; what is said of A and B in the reverse direction is swapped back."""
    from utmost.cli import output

    post_document = None if refinement.post_processing is None else output.channel_document(refinement.post_processing)
    return {
        "post": post_document,
        "witness": None if refinement.witness is None else _consumer_document(refinement.witness, first, is_swapped),
    }


def _consumer_document(witness: Witness, first: Channel, is_swapped: bool) -> dict[str, Any]:
    from utmost.cli import output

    rows, values = _align_witness(witness, first, is_swapped)
    return {
        "prior": [str(weight) for weight in witness.prior],
        "loss": output.json_rows(rows),
        "with_a": str(values[0]),
        "with_b": str(values[1]),
    }


def _print_text(comparison: Comparison, first: Channel, names: tuple[str, str]) -> None:
    from utmost.cli import output

    output.print_text(f"A = {names[0][:60]}, B = {names[1][:60]}: {len(first.inputs)} inputs.")
    output.print_text(_headline(comparison))
    if comparison.forward.post_processing is not None:
        output.print_text("R, from outputs of A (rows) to outputs of B (columns), with A R = B:")
        output.print_channel(comparison.forward.post_processing)
    for refinement, is_swapped in ((comparison.forward, False), (comparison.reverse, True)):
        if refinement is not None and refinement.witness is not None:
            _print_consumer(refinement.witness, first, is_swapped)


def _headline(comparison: Comparison) -> str:
    forward, reverse = comparison.forward.refines, None if comparison.reverse is None else comparison.reverse.refines
    better, worse = ("A", "B") if forward else ("B", "A")
    if forward and reverse:
        return "B refines A and A refines B: they are equivalent, equally good for everybody."
    if reverse is None:
        statement = f"B {'refines' if forward else 'does not refine'} A. Whether A refines B was not decided."
        return f"{statement} Nobody does better with B than with A." if forward else statement
    if forward or reverse:
        start = "B refines A" if forward else "B does not refine A, A refines B"
        return (
            f"{start}: {worse} is {better} with its outputs processed further. Every consumer, whatever her prior and "
            f"loss, does at least as well with {better}; every secret is at least as safe with {worse}."
        )
    return "B does not refine A, nor A B: some consumers are better served by A, others by B."


def _print_consumer(witness: Witness, first: Channel, is_swapped: bool) -> None:
    from utmost.cli import output

    rows, (with_a, with_b) = _align_witness(witness, first, is_swapped)
    better, worse = ("A", "B") if is_swapped else ("B", "A")
    low, high = (with_a, with_b) if is_swapped else (with_b, with_a)
    output.print_text(
        f"Better served by {better}: a consumer with a uniform prior and the loss below. She expects to lose "
        f"{_format_number(low)} with {better}, {_format_number(high)} with {worse}; compared exactly."
    )
    if len(rows) > output.MAX_TABLE_ROWS or len(rows[0]) > output.CORNER_ROWS:
        output.print_text(f"Her loss has {len(rows)} rows and {len(rows[0])} columns: --json prints it.")
        return
    header = ["secret", *(f"action {w}" for w in range(len(rows[0])))]
    output.print_table(header, [[str(x), *map(_format_number, row)] for x, row in zip(first.inputs, rows, strict=True)])
    output.print_text()


def _align_witness(
    witness: Witness, first: Channel, is_swapped: bool
) -> tuple[list[list[Number]], tuple[Number, Number]]:
    """The loss by A's inputs, and the losses with A and with B."""
    values = (witness.with_b, witness.with_a) if is_swapped else (witness.with_a, witness.with_b)
    positions = [witness.inputs.index(x) for x in first.inputs]
    return [list(witness.loss[x]) for x in positions], values


def _format_number(value: Number) -> str:
    from utmost.cli.output import MAX_FRACTION_CHARS
    from utmost.exact import decimal

    text = str(value)
    return text if len(text) <= 2 * MAX_FRACTION_CHARS else decimal(value)
