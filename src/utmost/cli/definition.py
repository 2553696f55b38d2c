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
    from utmost.axioms.counterexamples import Mixture, Processing
    from utmost.axioms.curves import Point
    from utmost.axioms.pair_rules import AllowedPairs
    from utmost.axioms.region_convexity import ConvexityGap
    from utmost.channel import Channel
    from utmost.exact import Number
    from utmost.spaces.space import Pair

EXAMPLES = (
    "Examples: utmost definition check pure:1/10;  "
    'utmost definition check "b <= 2*a or b <= 1/2" --plot gap.svg;  '
    "utmost definition check policy.toml --json;  "
    "utmost definition show approximate:1,1e-6 --plot bound.svg"
)
DEFINITION_HELP = (
    "A .toml file; a bound: pure:E, alpha:A, approximate:E,D, variation:T, identity, subsampling:P or "
    "points:0 0,1/4 3/4,1 1; or a predicate of a = P(O|i1) and b = P(O|i2), in quotes."
)
MAX_SHOWN_SECRETS = 10  # rows of a channel in the terminal
MAX_SHOWN_POINTS = 12  # points of a bound in the terminal
MAX_SHOWN_ROWS = 40  # rows of a table of M and m
MAX_SHOWN_PAIRS = 12  # pairs with their own rules in the terminal
DefinitionArgument = Annotated[str, typer.Argument(metavar="FILE|WORDS", help=DEFINITION_HELP)]
SpaceOption = Annotated[
    str | None, typer.Option(metavar="SPACE", help="Who is related: line:6, pairs:FILE. Else one pair.")
]

app = typer.Typer(
    help="Privacy definitions: are they sound, what do they allow.",
    epilog=f"Each takes --json. {EXAMPLES}",
    rich_markup_mode=None,
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A candidate, the verdict, and the closure for one pair of each kind that is shown."""

    definition: str
    candidate: Candidate
    verdict: Verdict
    closures: tuple[tuple[Pair, Closure], ...]


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Privacy definitions: are they sound, what do they allow."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("check", epilog=EXAMPLES)
def check_command(
    definition: DefinitionArgument, space: SpaceOption = None, plot: PlotOption = None, json: JsonOption = False
) -> None:
    """Is it sound: do post-processing and mixing keep what it allows.

    If not, a mechanism that meets it and a post-processing that does not are shown, and two that meet it with a mixture
    that does not; verified on all events, in exact arithmetic. And the least sound definition above it.
    """
    check_ending(plot, CHART_ENDINGS, "--plot")
    judgement = _judge(definition, space, None if json else MAX_SHOWN_PAIRS)
    _draw_region(judgement, plot)
    _print_json(judgement) if json else _print_text(judgement)


@app.command("show", epilog=EXAMPLES)
def show_command(
    definition: DefinitionArgument, space: SpaceOption = None, plot: PlotOption = None, json: JsonOption = False
) -> None:
    """What it allows: M, the most that P(O|i2) may be for each P(O|i1), and m, the least."""
    from utmost.cli import output

    check_ending(plot, CHART_ENDINGS, "--plot")
    judgement = _judge(definition, space, 0)
    _draw_region(judgement, plot)
    if json:
        kinds = [
            _allowed_document(judgement.candidate, pair, allowed_pairs)
            for pair, allowed_pairs in judgement.candidate.cases
        ]
        output.print_json({**_input_document(judgement), "allowed": kinds})
        return
    output.print_text(_headline(judgement))
    for pair, allowed_pairs in judgement.candidate.cases[:MAX_SHOWN_PAIRS]:
        rows = [[_format_number(value) for value in row] for row in _bound_rows(allowed_pairs)]
        if len(rows) > MAX_SHOWN_ROWS:
            rows = [*rows[: MAX_SHOWN_ROWS // 2], ["…"] * 3, *rows[-MAX_SHOWN_ROWS // 2 :]]
        first = str(judgement.candidate.relation.labels[pair[0]])[:40]
        output.print_text(f"\nFor {_pair_text(judgement.candidate, pair)}, where a = P(O|{first}):")
        output.print_table(("a", "m(a)", "M(a)"), rows, text_columns=0)


def _judge(text: str, space: str | None, max_closures: int | None) -> Judgement:
    """The verdict, and the closures for the first `max_closures` kinds of pairs, or for all."""
    from utmost.axioms import closure, relation_of, soundness
    from utmost.axioms.definition_files import parse_candidate

    candidate = parse_candidate(text, None if space is None else relation_of(space))
    closures = tuple((pair, closure(*allowed_pairs.rules)) for pair, allowed_pairs in candidate.cases[:max_closures])
    return Judgement(text, candidate, soundness(candidate), closures)


def _pair_text(candidate: Candidate, pair: Pair) -> str:
    return "({}, {})".format(*(str(candidate.relation.labels[k])[:40] for k in pair))


def _input_document(judgement: Judgement) -> dict[str, Any]:
    relation = judgement.candidate.relation
    return {"definition": judgement.definition, "secrets": len(relation), "pairs": len(relation.pairs)}


def _print_json(judgement: Judgement) -> None:
    from utmost.cli import output

    verdict, labels = judgement.verdict, judgement.candidate.relation.labels
    content = _input_document(judgement) | {
        "sound": verdict.sound,
        "certain": verdict.certain,
        "satisfiable": verdict.satisfiable,
        "pair": None if verdict.pair is None else [labels[k] for k in verdict.pair],
        "whole": verdict.covers_all_secrets,
        "gap": None if verdict.gap is None else _gap_document(verdict.gap),
        "transformation": None if verdict.transformation is None else _processing_document(verdict.transformation),
        "choice": None if verdict.choice is None else _mixture_document(verdict.choice),
        "closure": [
            {"pair": [labels[k] for k in pair], **_closure_document(closure)} for pair, closure in judgement.closures
        ],
    }
    output.print_json(content)


def _gap_document(gap: ConvexityGap) -> dict[str, Any]:
    return {name: [str(value) for value in getattr(gap, name)] for name in ("first", "second", "missing")}


def _processing_document(failure: Processing) -> dict[str, Any]:
    from utmost.cli.output import channel_document

    channels = {"mechanism": failure.mechanism, "post": failure.post_processing, "result": failure.result}
    return {name: channel_document(channel) for name, channel in channels.items()}


def _mixture_document(failure: Mixture) -> dict[str, Any]:
    from utmost.cli.output import channel_document

    channels = {"first": failure.first, "second": failure.second, "result": failure.result}
    return {"weight": str(failure.weight), **{name: channel_document(channel) for name, channel in channels.items()}}


def _closure_document(closure: Closure) -> dict[str, Any]:
    return {**_curve_document(closure.bound), "attained": closure.attained, "certain": closure.certain}


def _curve_document(curve: Curve) -> dict[str, Any]:
    return {"points": [[str(a), str(value)] for a, value in curve.points], "at_zero": str(curve.at_zero)}


def _allowed_document(candidate: Candidate, pair: Pair, allowed_pairs: AllowedPairs) -> dict[str, Any]:
    labels = candidate.relation.labels
    rows = [[None if value is None else str(value) for value in row] for row in _bound_rows(allowed_pairs)]
    return {"pair": [labels[k] for k in pair], "ends": rows}


def _bound_rows(allowed_pairs: AllowedPairs) -> list[tuple[Number, Number | None, Number | None]]:
    """(a, m(a), M(a)) wherever one of them bends."""
    from utmost.axioms.region_outline import bound_ends

    return bound_ends(allowed_pairs)


def _headline(judgement: Judgement) -> str:
    relation = judgement.candidate.relation
    exceptions = f", {len(judgement.candidate.others)} with rules of their own" if judgement.candidate.others else ""
    shape = f"{len(relation)} secrets, {len(relation.pairs)} ordered pair{'s' * (len(relation.pairs) != 1)}{exceptions}"
    name = (
        Path(judgement.definition).name
        if judgement.definition.strip().endswith(".toml")
        else judgement.definition.strip()
    )
    return f"{name[:200]}: {shape}."


def _print_text(judgement: Judgement) -> None:
    from utmost.cli import output

    output.print_text(_headline(judgement))
    output.print_text(_verdict_sentence(judgement))
    verdict = judgement.verdict
    if verdict.transformation is not None and verdict.choice is not None:
        _print_processing(verdict.transformation, judgement)
        _print_mixture(verdict.choice, judgement)
    if verdict.satisfiable:
        for pair, closure in judgement.closures:
            output.print_text(
                f"{_closure_lead(judgement, closure)} {_pair_text(judgement.candidate, pair)}: M through "
                f"{_points_text(closure.bound)}."
            )


def _closure_lead(judgement: Judgement, closure: Closure) -> str:
    if not closure.certain:
        return "The least sound definition is at least, by the grid, for"
    if judgement.verdict.sound:
        return "Its bound for" if closure.attained else "Its bound, part of which it leaves out, for"
    return "The least sound definition above it for" + ("" if closure.attained else ", but for part of its boundary,")


def _verdict_sentence(judgement: Judgement) -> str:
    verdict = judgement.verdict
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
    first, second, missing = (
        _point_text(point) for point in (verdict.gap.first, verdict.gap.second, verdict.gap.missing)
    )
    subject = (
        "An" if len(judgement.candidate.relation) == 2 else f"For {_pair_text(judgement.candidate, verdict.pair)} an"
    )
    start = (
        "Not sound" if verdict.sound is False else "Not sound for two secrets by themselves; for all of them undecided"
    )
    return f"{start}. {subject} event's probabilities may be {first} and {second}, but not {missing} between them."


def _print_processing(failure: Processing, judgement: Judgement) -> None:
    from utmost.cli import output

    output.print_text(
        f"\nPost-processing fails. This mechanism meets the definition{_hidden_secrets_remark(judgement)}:"
    )
    output.print_table(*_channel_rows(failure.mechanism, judgement))
    output.print_text("\nWith its outputs processed further by")
    output.print_table(*_channel_rows(failure.post_processing, judgement))
    output.print_text(f"\nit does not: {_event_sentence(failure.result, judgement)}")


def _print_mixture(failure: Mixture, judgement: Judgement) -> None:
    from utmost.cli import output

    output.print_text(f"\nMixing fails. Each of these meets the definition{_hidden_secrets_remark(judgement)}:")
    output.print_side_by_side(
        [("", output.build_table(*_channel_rows(channel, judgement))) for channel in failure.mechanisms]
    )
    weight = _format_number(failure.weight)
    output.print_text(
        f"\nThe first with probability {weight}, else the second, does not: "
        f"{_event_sentence(failure.result, judgement)}\n"
    )


def _channel_rows(channel: Channel, judgement: Judgement) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a channel; of many secrets, those of the pair that fails."""
    assert judgement.verdict.pair is not None
    if len(channel.inputs) > MAX_SHOWN_SECRETS:
        channel = channel.restrict(judgement.candidate.relation.labels[k] for k in judgement.verdict.pair)
    rows = [[str(x), *map(_format_number, row)] for x, row in zip(channel.inputs, channel.rows, strict=True)]
    return ["", *map(str, channel.outputs)], rows


def _hidden_secrets_remark(judgement: Judgement) -> str:
    """How many of the secrets that are not shown behave like each of the two that are."""
    verdict, relation = judgement.verdict, judgement.candidate.relation
    assert verdict.pair is not None
    assert verdict.transformation is not None
    mechanism = verdict.transformation.mechanism
    if len(mechanism.inputs) <= MAX_SHOWN_SECRETS:
        return ""
    first, second = (relation.labels[k] for k in verdict.pair)
    second_count = sum(list(row) == list(mechanism.row(second)) for row in mechanism.rows)
    return (
        f" ({len(mechanism.inputs) - second_count} secrets behave like {first!s:.40}, {second_count} like "
        f"{second!s:.40})"
    )


def _event_sentence(result: Channel, judgement: Judgement) -> str:
    """The first output of the result, whose probabilities are not allowed."""
    assert judgement.verdict.pair is not None
    labels = judgement.candidate.relation.labels
    rows = [result.row(labels[k])[0] for k in judgement.verdict.pair]
    return f"“{result.outputs[0]}” has probabilities {_point_text((rows[0], rows[1]))}."


def _point_text(point: Point) -> str:
    return f"({_format_number(point[0])}, {_format_number(point[1])})"


def _points_text(curve: Curve) -> str:
    texts = [f"{_format_number(a)} {_format_number(value)}" for a, value in curve.points]
    if len(texts) > MAX_SHOWN_POINTS:
        texts = [
            *texts[: MAX_SHOWN_POINTS // 2],
            "…",
            *texts[-MAX_SHOWN_POINTS // 2 :],
            f"{len(curve.points)} in all, which --json prints",
        ]
    text = ", ".join(texts)
    jump = f", and {_format_number(curve.at_zero)} at 0 itself" if curve.at_zero != curve.points[0][1] else ""
    return text + jump


def _format_number(value: Number | None) -> str:
    from utmost.cli.output import MAX_FRACTION_CHARS
    from utmost.exact import decimal

    text = "none" if value is None else str(value)
    return text if value is None or len(text) <= 2 * MAX_FRACTION_CHARS else decimal(value)


def _draw_region(judgement: Judgement, plot: str | None) -> None:
    """The region of the pair that fails, or of the first."""
    from utmost.axioms.region_outline import region_outline
    from utmost.cli.output import print_remark

    if plot is None:
        return
    from utmost.charts import definition, save_chart

    pairs = dict(judgement.candidate.cases)
    pair = judgement.verdict.pair or next(iter(pairs), None)
    if pair is None:
        print_remark("nothing drawn: no two secrets are related")
        return
    outline, gap = region_outline(pairs[pair]), judgement.verdict.gap
    names = tuple(str(judgement.candidate.relation.labels[k])[:40] for k in pair)
    picture = definition.allowed_region_chart(
        [[_floats(side) for side in cell] for cell in outline.cells],
        [
            (name, [_floats(p) for p in line])
            for name, curves in (("M", outline.upper), ("m", outline.lower))
            for line in curves
        ],
        [_floats(isolated_point) for isolated_point in outline.isolated_points],
        "What an event's probabilities may be"
        if judgement.verdict.sound
        else "Not sound: the red point should be allowed",
        _headline(judgement),
        gap=[] if gap is None else [_floats(point) for point in (gap.first, gap.second, gap.missing)],
        names=(names[0], names[1]),
    )
    save_chart(picture, plot)
    print_remark(f"saved {plot}")


def _floats(numbers: Sequence[Number]) -> list[float]:
    return [float(value) for value in numbers]
