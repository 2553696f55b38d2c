"""`utmost definition`: is a privacy definition sound, and what does it allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHART_ENDINGS, JsonOption, PlotOption, check_ending

if TYPE_CHECKING:
    from utmost.axioms import Candidate, Closure, Curve, Verdict
    from utmost.axioms.convexity import ConvexityGap
    from utmost.axioms.counterexamples import Mixture, Processing
    from utmost.axioms.curves import Point
    from utmost.axioms.rules import AllowedPairs
    from utmost.channel import Channel
    from utmost.exact import Number
    from utmost.spaces.space import Pair

EXAMPLES = (
    "Examples: utmost definition check pure:1/10;  "
    'utmost definition check "b <= 2*a or b <= 1/2" --plot gap.svg;  '
    "utmost definition check policy.toml --json;  "
    "utmost definition show approximate:1,1e-6 --plot bound.svg"
)
FORM = (
    "A .toml file; a bound: pure:E, alpha:A, approximate:E,D, variation:T, identity, subsampling:P or "
    "points:0 0,1/4 3/4,1 1; or a predicate of a = P(O|i1) and b = P(O|i2), in quotes."
)
MOST_SECRETS = 10  # whose rows are shown
MOST_POINTS = 12  # of a bound
MOST_ENDS = 40  # rows of a table of M and m
MOST_KINDS = 12  # of pairs with rules of their own that are shown
Words = Annotated[str, typer.Argument(metavar="FILE|WORDS", help=FORM)]
Space = Annotated[str | None, typer.Option(metavar="SPACE", help="Who is related: line:6, pairs:FILE. Else one pair.")]

app = typer.Typer(
    help="Privacy definitions: are they sound, what do they allow.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate, the verdict, and the closure for one pair of each kind that is shown."""

    words: str
    candidate: Candidate
    verdict: Verdict
    closures: tuple[tuple[Pair, Closure], ...]


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Privacy definitions: are they sound, what do they allow."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("check", epilog=EXAMPLES)
def check_command(words: Words, space: Space = None, plot: PlotOption = None, json: JsonOption = False) -> None:
    """Is it sound: do post-processing and mixing keep what it allows.

    If not, a mechanism that meets it and a post-processing that does not are shown, and two that meet it with a mixture
    that does not; verified on all events, in exact arithmetic. And the least sound definition above it.
    """
    check_ending(plot, CHART_ENDINGS, "--plot")
    found = _judged(words, space, None if json else MOST_KINDS)
    _draw(found, plot)
    _document(found) if json else _text(found)


@app.command("show", epilog=EXAMPLES)
def show_command(words: Words, space: Space = None, plot: PlotOption = None, json: JsonOption = False) -> None:
    """What it allows: M, the most that P(O|i2) may be for each P(O|i1), and m, the least."""
    from utmost.cli import output

    check_ending(plot, CHART_ENDINGS, "--plot")
    found = _judged(words, space, 0)
    _draw(found, plot)
    if json:
        kinds = [_allowed_document(found.candidate, pair, allowed) for pair, allowed in found.candidate.cases]
        output.print_json({**_given(found), "allowed": kinds})
        return
    output.print_text(_headline(found))
    for pair, allowed in found.candidate.cases[:MOST_KINDS]:
        rows = [[_short(value) for value in row] for row in _ends(allowed)]
        if len(rows) > MOST_ENDS:
            rows = [*rows[: MOST_ENDS // 2], ["…"] * 3, *rows[-MOST_ENDS // 2 :]]
        first = str(found.candidate.relation.labels[pair[0]])[:40]
        output.print_text(f"\nFor {_names(found.candidate, pair)}, where a = P(O|{first}):")
        output.print_table(("a", "m(a)", "M(a)"), rows, left=0)


def _judged(words: str, space: str | None, kinds: int | None) -> Judged:
    """The verdict, and the closures for the first few kinds of pairs, or for all."""
    from utmost.axioms import closure, relation_of, soundness
    from utmost.axioms.definition_files import parse_candidate

    candidate = parse_candidate(words, None if space is None else relation_of(space))
    closures = tuple((pair, closure(*allowed.rules)) for pair, allowed in candidate.cases[:kinds])
    return Judged(words, candidate, soundness(candidate), closures)


def _names(candidate: Candidate, pair: Pair) -> str:
    return "({}, {})".format(*(str(candidate.relation.labels[k])[:40] for k in pair))


def _given(found: Judged) -> dict[str, Any]:
    relation = found.candidate.relation
    return {"definition": found.words, "secrets": len(relation), "pairs": len(relation.pairs)}


def _document(found: Judged) -> None:
    from utmost.cli import output

    verdict, labels = found.verdict, found.candidate.relation.labels
    content = _given(found) | {
        "sound": verdict.sound,
        "certain": verdict.certain,
        "satisfiable": verdict.satisfiable,
        "pair": None if verdict.pair is None else [labels[k] for k in verdict.pair],
        "whole": verdict.whole,
        "gap": None if verdict.gap is None else _gap_document(verdict.gap),
        "transformation": None if verdict.transformation is None else _processing(verdict.transformation),
        "choice": None if verdict.choice is None else _mixture(verdict.choice),
        "closure": [{"pair": [labels[k] for k in pair], **_closure(made)} for pair, made in found.closures],
    }
    output.print_json(content)


def _gap_document(gap: ConvexityGap) -> dict[str, Any]:
    return {name: [str(value) for value in getattr(gap, name)] for name in ("first", "second", "missing")}


def _processing(failure: Processing) -> dict[str, Any]:
    from utmost.cli.output import channel_document

    parts = {"mechanism": failure.mechanism, "post": failure.post, "result": failure.result}
    return {name: channel_document(part) for name, part in parts.items()}


def _mixture(failure: Mixture) -> dict[str, Any]:
    from utmost.cli.output import channel_document

    parts = {"first": failure.first, "second": failure.second, "result": failure.result}
    return {"weight": str(failure.weight), **{name: channel_document(part) for name, part in parts.items()}}


def _closure(made: Closure) -> dict[str, Any]:
    return {**_curve(made.bound), "attained": made.attained, "certain": made.certain}


def _curve(curve: Curve) -> dict[str, Any]:
    return {"points": [[str(a), str(value)] for a, value in curve.points], "at_zero": str(curve.at_zero)}


def _allowed_document(candidate: Candidate, pair: Pair, allowed: AllowedPairs) -> dict[str, Any]:
    labels = candidate.relation.labels
    rows = [[None if value is None else str(value) for value in row] for row in _ends(allowed)]
    return {"pair": [labels[k] for k in pair], "ends": rows}


def _ends(allowed: AllowedPairs) -> list[tuple[Number, Number | None, Number | None]]:
    """(a, m(a), M(a)) wherever one of them bends."""
    from utmost.axioms.region_outline import bound_ends

    return bound_ends(allowed)


def _headline(found: Judged) -> str:
    relation = found.candidate.relation
    own = f", {len(found.candidate.others)} with rules of their own" if found.candidate.others else ""
    shape = f"{len(relation)} secrets, {len(relation.pairs)} ordered pair{'s' * (len(relation.pairs) != 1)}{own}"
    name = Path(found.words).name if found.words.strip().endswith(".toml") else found.words.strip()
    return f"{name[:200]}: {shape}."


def _text(found: Judged) -> None:
    from utmost.cli import output

    output.print_text(_headline(found))
    output.print_text(_verdict(found))
    verdict = found.verdict
    if verdict.transformation is not None and verdict.choice is not None:
        _show_processing(verdict.transformation, found)
        _show_mixture(verdict.choice, found)
    if verdict.satisfiable:
        for pair, made in found.closures:
            output.print_text(
                f"{_closure_words(found, made)} {_names(found.candidate, pair)}: M through {_points(made.bound)}."
            )


def _closure_words(found: Judged, made: Closure) -> str:
    if not made.certain:
        return "The least sound definition is at least, by the grid, for"
    if found.verdict.sound:
        return "Its bound for" if made.attained else "Its bound, part of which it leaves out, for"
    return "The least sound definition above it for" + ("" if made.attained else ", but for part of its boundary,")


def _verdict(found: Judged) -> str:
    verdict = found.verdict
    if not verdict.satisfiable:
        return "No mechanism meets it: it refuses an event that is certain for both secrets, or one that is impossible."
    if verdict.sound:
        if not verdict.certain:
            return "No failure on the grid, which proves nothing beyond it: a predicate in words is decided."
        return (
            "Sound: what meets it still does after any post-processing and in any mixture (KL10 Axioms 2.1.1, 2.1.2)."
        )
    assert verdict.gap is not None
    assert verdict.pair is not None
    first, second, missing = (_spot(point) for point in (verdict.gap.first, verdict.gap.second, verdict.gap.missing))
    who = "An" if len(found.candidate.relation) == 2 else f"For {_names(found.candidate, verdict.pair)} an"
    start = (
        "Not sound" if verdict.sound is False else "Not sound for two secrets by themselves; for all of them undecided"
    )
    return f"{start}. {who} event's probabilities may be {first} and {second}, but not {missing} between them."


def _show_processing(failure: Processing, found: Judged) -> None:
    from utmost.cli import output

    output.print_text(f"\nPost-processing fails. This mechanism meets the definition{_alike(found)}:")
    output.print_table(*_rows(failure.mechanism, found))
    output.print_text("\nWith its outputs processed further by")
    output.print_table(*_rows(failure.post, found))
    output.print_text(f"\nit does not: {_event(failure.result, found)}")


def _show_mixture(failure: Mixture, found: Judged) -> None:
    from utmost.cli import output

    output.print_text(f"\nMixing fails. Each of these meets the definition{_alike(found)}:")
    output.print_side_by_side([("", output.build_table(*_rows(part, found))) for part in failure.parts])
    weight = _short(failure.weight)
    output.print_text(
        f"\nThe first with probability {weight}, else the second, does not: {_event(failure.result, found)}\n"
    )


def _rows(part: Channel, found: Judged) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a channel; of many secrets, those of the pair that fails."""
    assert found.verdict.pair is not None
    if len(part.inputs) > MOST_SECRETS:
        part = part.restrict(found.candidate.relation.labels[k] for k in found.verdict.pair)
    rows = [[str(x), *map(_short, row)] for x, row in zip(part.inputs, part.rows, strict=True)]
    return ["", *map(str, part.outputs)], rows


def _alike(found: Judged) -> str:
    """How the secrets behave that are not shown."""
    verdict, relation = found.verdict, found.candidate.relation
    assert verdict.pair is not None
    assert verdict.transformation is not None
    made = verdict.transformation.mechanism
    if len(made.inputs) <= MOST_SECRETS:
        return ""
    first, second = (relation.labels[k] for k in verdict.pair)
    later = sum(list(row) == list(made.row(second)) for row in made.rows)
    return f" ({len(made.inputs) - later} secrets behave like {first!s:.40}, {later} like {second!s:.40})"


def _event(result: Channel, found: Judged) -> str:
    """The first output of the result, whose probabilities are not allowed."""
    assert found.verdict.pair is not None
    labels = found.candidate.relation.labels
    rows = [result.row(labels[k])[0] for k in found.verdict.pair]
    return f"“{result.outputs[0]}” has probabilities {_spot((rows[0], rows[1]))}."


def _spot(point: Point) -> str:
    return f"({_short(point[0])}, {_short(point[1])})"


def _points(curve: Curve) -> str:
    few = [f"{_short(a)} {_short(value)}" for a, value in curve.points]
    if len(few) > MOST_POINTS:
        few = [
            *few[: MOST_POINTS // 2],
            "…",
            *few[-MOST_POINTS // 2 :],
            f"{len(curve.points)} in all, which --json prints",
        ]
    text = ", ".join(few)
    jump = f", and {_short(curve.at_zero)} at 0 itself" if curve.at_zero != curve.points[0][1] else ""
    return text + jump


def _short(value: Number | None) -> str:
    from utmost.cli.output import MAX_FRACTION_CHARS
    from utmost.exact import decimal

    text = "none" if value is None else str(value)
    return text if value is None or len(text) <= 2 * MAX_FRACTION_CHARS else decimal(value)


def _draw(found: Judged, plot: str | None) -> None:
    """The region of the pair that fails, or of the first."""
    from utmost.axioms.region_outline import region_outline
    from utmost.cli.output import print_remark

    if plot is None:
        return
    from utmost.charts import definition, save_chart

    pairs = dict(found.candidate.cases)
    pair = found.verdict.pair or next(iter(pairs), None)
    if pair is None:
        print_remark("nothing drawn: no two secrets are related")
        return
    shape, gap = region_outline(pairs[pair]), found.verdict.gap
    names = tuple(str(found.candidate.relation.labels[k])[:40] for k in pair)
    picture = definition.allowed_region_chart(
        [[_floats(side) for side in cell] for cell in shape.cells],
        [
            (name, [_floats(p) for p in line])
            for name, some in (("M", shape.upper), ("m", shape.lower))
            for line in some
        ],
        [_floats(spot) for spot in shape.spots],
        "What an event's probabilities may be" if found.verdict.sound else "Not sound: the red point should be allowed",
        _headline(found),
        gap=[] if gap is None else [_floats(point) for point in (gap.first, gap.second, gap.missing)],
        names=(names[0], names[1]),
    )
    save_chart(picture, plot)
    print_remark(f"saved {plot}")


def _floats(numbers: Sequence[Number]) -> list[float]:
    return [float(value) for value in numbers]
