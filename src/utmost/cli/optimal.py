"""`utmost optimal`: the best private mechanism for one consumer, with the proof that there is none better."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import (
    CHANNEL_ENDINGS,
    CHART_ENDINGS,
    AlphaOption,
    EpsilonOption,
    JsonOption,
    OutputOption,
    PlotOption,
    check_ending,
    least_level,
    required_level,
    save_channel,
)
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.consumer import Consumer
    from utmost.design import Certificate, Design
    from utmost.exact import Level, Number
    from utmost.spaces import Space

EXAMPLES = (
    "Examples: utmost optimal line:6 --alpha 1/2 --loss squared;  "
    "utmost optimal grid:7x7 --epsilon 1 --loss absolute;  "
    "utmost optimal line:6 --alpha 1/2 --prior 1/4,0,1/4,0,1/4,1/4 --loss power:1.5 --json"
)
MAX_MATRIX_POINTS = 600  # of a space other than a line
GAP_DIGITS = 3
MAX_REPEATED_CHARS = 40  # of a prior or loss that are repeated
SPACE_HELP = (
    "line:6, discrete:5, grid:3x4, grid:3x4:manhattan, hamming:3, cycle:5, matrix:FILE, graph:FILE, A+B (both), "
    "1/2*A (scaled)."
)
LOSS_HELP = "absolute, squared, binary, nib, power:1.5, asymmetric:2,1, drawn:-2:4,0:0,2:1 or matrix:FILE."
PRIOR_HELP = "uniform, 1/4,0,3/4, binomial:0.3, poisson:12.5, zipf:1, steps:1,3,2 or FILE."


def command(
    space: Annotated[str, typer.Argument(metavar="SPACE", help=SPACE_HELP)],
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    prior: Annotated[str, typer.Option(metavar="PRIOR", help=PRIOR_HELP)] = "uniform",
    loss: Annotated[str, typer.Option(metavar="LOSS", help=LOSS_HELP)] = "absolute",
    plot: PlotOption = None,
    output: OutputOption = None,
    json: JsonOption = False,
) -> None:
    """The best private mechanism for a consumer, certified.

    Ctrl-C ends the search; the best mechanism so far is certified and shown, with its gap.
    """
    from utmost import spaces
    from utmost.cli.output import json_value, print_remark
    from utmost.consumer import Consumer, losses, priors

    level = required_level(alpha, epsilon)
    check_ending(plot, CHART_ENDINGS, "--plot")
    check_ending(output, CHANNEL_ENDINGS, "--output")
    points = spaces.parse_space(space)
    _check_size(points)
    reader = Consumer(priors.parse(prior, len(points)), losses.over(losses.parse(loss), points), points.labels)
    solution = _solve(points, level, reader)
    if solution.stopped:
        print_remark(
            f"stopped: the loss is {_bounds_text(solution.certificate)}; the mechanism shown is the best so far"
        )
    signs = _signature(solution, points, level)
    save_channel(solution.channel, output)
    consumer_text = (
        f"prior {prior if len(prior) <= MAX_REPEATED_CHARS else reader.prior.name}, loss {loss[:MAX_REPEATED_CHARS]}"
    )
    _save_plot(solution, points, level, consumer_text, plot)
    if json:
        request = {"space": space, "alpha": json_value(level.alpha), "prior": prior, "loss_function": loss}
        _print_json(solution, signs, level, request | {"silent_loss": json_value(uninformed_loss(reader))})
    else:
        _print_text(solution, signs, f"{space} at {level} for {consumer_text}", uninformed_loss(reader))
        _print_proof(solution, points, level, reader)


def _check_size(points: Space) -> None:
    """Refuse what is too large for a matrix of its own, before it is written out."""
    from utmost.design.optimal import is_line
    from utmost.spaces.space import MAX_TABLE_POINTS

    if len(points) <= MAX_MATRIX_POINTS or (len(points) <= MAX_TABLE_POINTS and is_line(points)):
        return
    raise InputError(
        f"SPACE must have at most {MAX_MATRIX_POINTS} points, or {MAX_TABLE_POINTS} on a line, since a mechanism "
        "has n² entries, got "
        f"{len(points)}: take fewer; what all its mechanisms can tell at most is said by utmost type"
    )


def uninformed_loss(reader: Consumer) -> float:
    """What the reader expects to lose without any answer."""
    import numpy as np

    weights = np.array([float(weight) for weight in reader.prior.exact()])
    return float((weights @ reader.loss.matrix(reader.prior.size).astype(float)).min())


def _solve(space: Space, level: Level, reader: Consumer) -> Design:
    """The design; the bounds so far are on stderr during the search."""
    from utmost import design
    from utmost.cli.progress import progress_line
    from utmost.exact import decimal_above, decimal_below

    with progress_line(f"the best mechanism on {space.name}") as report:
        return design.optimal(
            space,
            level,
            reader,
            lambda lower, upper: report(f"loss between {decimal_below(lower, 9)} and {decimal_above(upper, 9)}"),
        )


def _bounds_text(certificate: Certificate) -> str:
    from utmost.exact import decimal_above, decimal_below

    return f"between {decimal_below(certificate.lower)} and {decimal_above(certificate.upper)}"


def _signature(solution: Design, space: Space, level: Level) -> tuple[str, ...] | None:
    """Which privacy constraints are tight; a mechanism between rational levels is tight at its own, a hair stricter."""
    from utmost import design
    from utmost.design.optimal import is_line
    from utmost.exact import Real

    own_level = least_level(solution.certificate.privacy_loss)
    uses_own_level = (
        isinstance(level.alpha, Real)
        and own_level is not None
        and own_level.is_inner
        and not isinstance(own_level.alpha, Real)
    )
    signature_level = own_level if uses_own_level and own_level is not None else level
    return design.signature(solution.channel, signature_level) if signature_level.is_inner and is_line(space) else None


def _print_json(solution: Design, signs: tuple[str, ...] | None, level: Level, request: dict[str, Any]) -> None:
    from utmost.cli import output

    content: dict[str, Any] = request | output.channel_document(solution.channel)
    content["signature"] = None if signs is None else list(signs)
    content |= _loss_document(solution)
    content["remap"] = solution.remap
    content["certificate"] = _certificate_document(solution.certificate, level)
    if solution.stopped:
        content["stopped"] = True
    output.print_json(content)


def _loss_document(solution: Design) -> dict[str, Any]:
    """The expected loss as text, what kind of number that is, and decimals that it lies between."""
    from utmost.cli import output
    from utmost.exact import json_above, json_below

    certificate = solution.certificate
    return {
        "loss": str(solution.loss),
        "loss_is": "upper bound" if certificate.gap else "exact",
        "loss_lower": json_below(certificate.lower),
        "loss_upper": json_above(certificate.upper),
        "loss_decimal": output.json_value(float(solution.loss)),
    }


def _certificate_document(certificate: Certificate, level: Level) -> dict[str, Any]:
    from utmost.cli import output

    return {
        "private": certificate.private,
        "epsilon": output.json_epsilon(certificate.privacy_loss, level),
        "gap": _json_gap(certificate.gap),
        "lower": str(certificate.lower),
        "upper": str(certificate.upper),
        "multipliers": None if certificate.multipliers is None else [str(u) for u in certificate.multipliers],
    }


def _json_gap(gap: Number) -> str | float:
    """The text 0, or a float of few digits that is not below the gap."""
    from utmost.exact import json_above

    return json_above(gap, GAP_DIGITS) if gap else "0"


def _print_text(solution: Design, signs: tuple[str, ...] | None, title: str, uninformed_loss: float) -> None:
    from utmost.cli import output
    from utmost.exact import decimal

    output.print_text(f"{'The best mechanism so far' if solution.stopped else 'The best mechanism'} on {title}.")
    _print_used_answers(solution.channel)
    if signs is not None and len(solution.channel.outputs) <= output.MAX_TABLE_ROWS:
        _print_signature(solution, signs)
    output.print_text(
        f"Expected loss {_loss_text(solution)}. Without any answer it would be {decimal(uninformed_loss)}."
    )
    if solution.remap is not None:
        output.print_text(_remap_sentence(solution.remap))


def _loss_text(solution: Design) -> str:
    """The exact loss with a decimal beside it; where bounds do not meet, the upper one."""
    from utmost.exact import decimal, decimal_above

    if solution.certificate.gap:
        return f"at most {decimal_above(solution.loss)}"
    text, decimal_text = str(solution.loss), decimal(solution.loss)
    sign = "=" if isinstance(solution.loss, Fraction) and Fraction(decimal_text) == solution.loss else "≈"
    return f"{f'{text} {sign} ' if len(text) <= 60 and text != decimal_text else ''}{decimal_text}"


def _print_used_answers(channel: Channel) -> None:
    """Print the matrix without the answers that never occur."""
    from utmost.channel.channel import trusted_channel
    from utmost.cli import output

    used_columns = [y for y in range(len(channel.outputs)) if any(channel.rows[:, y])]
    used_channel = trusted_channel(
        channel.inputs, [channel.outputs[y] for y in used_columns], channel.rows[:, used_columns]
    )
    output.print_channel(used_channel if len(channel.outputs) > output.MAX_TABLE_ROWS else channel)
    if len(used_columns) < len(channel.outputs) and len(channel.outputs) > output.MAX_TABLE_ROWS:
        output.print_text(
            f"{len(channel.outputs) - len(used_columns)} of {len(channel.outputs)} answers never occur and are left "
            "out."
        )


def _print_signature(solution: Design, signs: tuple[str, ...]) -> None:
    from utmost.cli import output
    from utmost.design.signature import signature_text

    output.print_text(
        "Signature: from each input to the next, an answer's probability falls (↓) or rises (↑) as fast as privacy "
        "allows, or slower (S); 0 if it never comes."
    )
    output.print_text(signature_text(signs, solution.channel.inputs, solution.channel.outputs) + "\n")


def _remap_sentence(remap: list[int]) -> str:
    runs = [(reading, [k for k, _ in run]) for reading, run in groupby(enumerate(remap), key=lambda pair: pair[1])]
    changes = [
        f"{answers[0]}{f'–{answers[-1]}' if len(answers) > 1 else ''} as {reading}"
        for reading, answers in runs
        if answers != [reading]
    ]
    if not changes:
        return "It is the geometric mechanism, read at face value."
    changes_text = ", ".join(changes[:12]) + (f", and {len(changes) - 12} more" if len(changes) > 12 else "")
    return f"It is the geometric mechanism with its answers read anew: {changes_text}; the others as they are."


def _print_proof(solution: Design, space: Space, level: Level, reader: Consumer) -> None:
    """Print what proves that nothing is better, and the ε of the mechanism."""
    from utmost.cli import output
    from utmost.design.cost_matrix import has_irrational_costs

    output.print_text(_proof_sentence(solution, level, has_irrational_costs(space, level, reader)))
    output.print_text(output.privacy_loss_sentence(solution.certificate.privacy_loss, level))


def _proof_sentence(solution: Design, level: Level, is_irrational: bool) -> str:
    from utmost.cli.output import level_adjective

    certificate, gap = solution.certificate, _json_gap(solution.certificate.gap)
    if not level.is_inner:
        return f"At {level} nothing is left to choose, so nothing is better: gap {gap}."
    proof = "exact multipliers" if certificate.multipliers is not None else "exact multipliers of the linear program"
    if gap == "0":
        return f"No {level_adjective(level)}-private mechanism gives this consumer less: proved by {proof}, gap 0."
    bounds = proof
    if is_irrational:
        bounds = "exact bounds from rational numbers on both sides of the irrational ones"
    if certificate.prices is not None:
        bounds = f"{len(certificate.prices)} exact multipliers of the privacy constraints"
    elif solution.stopped:
        bounds = "nothing more than what telling everything would cost"
    return (
        f"No {level_adjective(level)}-private mechanism gives this consumer more than {gap} less: proved by {bounds}."
    )


def _save_plot(solution: Design, space: Space, level: Level, consumer_text: str, plot: str | None) -> None:
    """Draw a heat map; on a grid, a map for each true point."""
    from utmost import charts
    from utmost.cli.output import print_remark
    from utmost.exact import decimal_below

    if plot is None:
        return
    title = f"{'The best mechanism so far' if solution.stopped else 'The best mechanism'} for {consumer_text}"
    least_loss = decimal_below(solution.certificate.lower)
    claim = f"No mechanism private at {level} gives her an expected loss below {least_loss}."
    shape = charts.rows_and_columns(space)
    if shape is not None and set(solution.channel.outputs) <= set(solution.channel.inputs):
        charts.save_chart(charts.location_maps(solution.channel, shape, title, claim.rstrip(".")), plot)
    else:
        charts.save_chart(charts.channel_chart(solution.channel, title, claim), plot)
    print_remark(f"drew {plot}")
