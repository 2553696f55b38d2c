"""`utmost refine`: is one channel another with its outputs processed further, and if not, who would mind."""

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
SLOW = 1200  # entries of a post-processing above which a reader is told that it takes a while
FORM = "A .csv (header: outputs; first column: inputs) or .json."


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
    a: Annotated[str, typer.Argument(metavar="A", help=FORM)],
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
    if len(first.outputs) * len(second.outputs) > SLOW:
        print_remark(
            f"{len(first.outputs)} and {len(second.outputs)} outputs in exact arithmetic: this can take a minute"
        )
    found = compared(first, second)
    if found.forward.post is not None:
        save_channel(found.forward.post, output)
    elif output is not None:
        print_remark("nothing saved: B does not refine A, so there is no R")
    _document(found, first) if json else _text(found, first, (Path(a).name, Path(b).name))


def compared(first: Channel, second: Channel) -> Comparison:
    """Both directions; the first must be decided, the second may stay open."""
    from utmost.errors import UndecidedError
    from utmost.qif import refinement

    forward = refinement(first, second)
    try:
        return Comparison(forward, refinement(second, first))
    except UndecidedError:
        return Comparison(forward, None)


def _document(found: Comparison, first: Channel) -> None:
    from utmost.cli import output

    back = found.reverse
    output.print_json(
        {
            "inputs": list(first.inputs),
            "refines": found.forward.refines,
            "equivalent": found.equivalent,
            **_proof(found.forward, first, swapped=False),
            "reverse": None if back is None else {"refines": back.refines, **_proof(back, first, swapped=True)},
        }
    )


def _proof(found: Refinement, first: Channel, *, swapped: bool) -> dict[str, Any]:
    """`post` and `witness`; what is said of A and B in the reverse direction is swapped back."""
    from utmost.cli import output

    post = None if found.post is None else output.channel_document(found.post)
    return {"post": post, "witness": None if found.witness is None else _consumer(found.witness, first, swapped)}


def _consumer(witness: Witness, first: Channel, swapped: bool) -> dict[str, Any]:
    from utmost.cli import output

    rows, values = _in_order(witness, first, swapped)
    return {
        "prior": [str(weight) for weight in witness.prior],
        "loss": output.json_rows(rows),
        "with_a": str(values[0]),
        "with_b": str(values[1]),
    }


def _text(found: Comparison, first: Channel, names: tuple[str, str]) -> None:
    from utmost.cli import output

    output.print_text(f"A = {names[0][:60]}, B = {names[1][:60]}: {len(first.inputs)} inputs.")
    output.print_text(_headline(found))
    if found.forward.post is not None:
        output.print_text("R, from outputs of A (rows) to outputs of B (columns), with A R = B:")
        output.channel_table(found.forward.post)
    for part, swapped in ((found.forward, False), (found.reverse, True)):
        if part is not None and part.witness is not None:
            _show_consumer(part.witness, first, swapped)


def _headline(found: Comparison) -> str:
    forward, back = found.forward.refines, None if found.reverse is None else found.reverse.refines
    better, worse = ("A", "B") if forward else ("B", "A")
    if forward and back:
        return "B refines A and A refines B: they are equivalent, equally good for everybody."
    if back is None:
        known = f"B {'refines' if forward else 'does not refine'} A. Whether A refines B was not decided."
        return f"{known} Nobody does better with B than with A." if forward else known
    if forward or back:
        start = "B refines A" if forward else "B does not refine A, A refines B"
        return (
            f"{start}: {worse} is {better} with its outputs processed further. Every consumer, whatever her prior and "
            f"loss, does at least as well with {better}; every secret is at least as safe with {worse}."
        )
    return "B does not refine A, nor A B: some consumers are better served by A, others by B."


def _show_consumer(witness: Witness, first: Channel, swapped: bool) -> None:
    from utmost.cli import output

    rows, (with_a, with_b) = _in_order(witness, first, swapped)
    better, worse = ("A", "B") if swapped else ("B", "A")
    low, high = (with_a, with_b) if swapped else (with_b, with_a)
    output.print_text(
        f"Better served by {better}: a consumer with a uniform prior and the loss below. She expects to lose "
        f"{_amount(low)} with {better}, {_amount(high)} with {worse}; compared exactly."
    )
    if len(rows) > output.MAX_TABLE_ROWS or len(rows[0]) > output.CORNER_ROWS:
        output.print_text(f"Her loss has {len(rows)} rows and {len(rows[0])} columns: --json prints it.")
        return
    header = ["secret", *(f"action {w}" for w in range(len(rows[0])))]
    output.print_table(header, [[str(x), *map(_amount, row)] for x, row in zip(first.inputs, rows, strict=True)])
    output.print_text()


def _in_order(witness: Witness, first: Channel, swapped: bool) -> tuple[list[list[Number]], tuple[Number, Number]]:
    """The loss by A's inputs, and the losses with A and with B."""
    values = (witness.with_b, witness.with_a) if swapped else (witness.with_a, witness.with_b)
    places = [witness.inputs.index(x) for x in first.inputs]
    return [list(witness.loss[x]) for x in places], values


def _amount(value: Number) -> str:
    from utmost.cli.output import MAX_FRACTION_CHARS
    from utmost.exact import decimal

    text = str(value)
    return text if len(text) <= 2 * MAX_FRACTION_CHARS else decimal(value)
