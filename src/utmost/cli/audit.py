"""`utmost audit`: a lower bound on ε, exact for a channel, statistical for a function or a program."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from fractions import Fraction
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHANNEL_ENDINGS, AlphaOption, EpsilonOption, JsonOption, optional_level
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.audit import AuditResult, BlackBox
    from utmost.channel import PrivacyLoss
    from utmost.exact import Level

EXAMPLES = (
    "Examples: utmost audit numpy.random:laplace --secrets 0,1 --epsilon 1;  "
    'utmost audit --command "python box.py" --secrets 0,1;  utmost audit channel.csv --epsilon 0.1'
)
PROGRESS_INTERVAL_SECONDS = 1.0  # between two lines of progress
BOUND_DIGITS = 5  # of a lower bound in a sentence
MAX_SECRET_CHARS = 60  # of a secret in a sentence

OptionalText = str | None


def command(
    target: Annotated[
        OptionalText,
        typer.Argument(metavar="TARGET", help="MODULE:FUNCTION called with a secret; or a channel, .csv or .json."),
    ] = None,
    program: Annotated[
        OptionalText,
        typer.Option("--command", metavar="LINE", help="A program: reads a secret a line, prints a value a line."),
    ] = None,
    secrets: Annotated[
        OptionalText, typer.Option(metavar="A,B", help="Two neighbouring secrets, as in JSON: 0,1.")
    ] = None,
    space: Annotated[
        OptionalText, typer.Option(metavar="SPACE", help="The space of a channel's inputs: line:N.")
    ] = None,
    distance: Annotated[
        OptionalText, typer.Option(metavar="D", help="How far the secrets are apart; 1 if left out.")
    ] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    samples: Annotated[OptionalText, typer.Option(metavar="K", help="Draws of each secret; 50000 if left out.")] = None,
    seconds: Annotated[OptionalText, typer.Option(metavar="S", help="At most this long; 60 if left out.")] = None,
    confidence: Annotated[
        OptionalText, typer.Option(metavar="C", help="Of a bound from draws; 0.99 if left out.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """A lower bound on the ε of a sampler or a channel.

    The level given is the one that is claimed. A bound from draws can refute a claim; it never proves one.
    """
    claim = optional_level(alpha, epsilon)
    if (target is None) == (program is None):
        raise InputError("one of TARGET and --command must be given: say for instance utmost audit box:draw")
    sampling_options = {"--samples": samples, "--seconds": seconds, "--confidence": confidence}
    if target is not None and Path(target).suffix.lower() in CHANNEL_ENDINGS:
        _refuse_options(sampling_options, "a channel: its bound is exact and takes no draws")
        result = _audit_channel(target, space, secrets, distance, claim)
    else:
        _refuse_options({"--space": space}, "a black box: give two --secrets and their --distance")
        with _foreign_code():
            result = _audit_samples(
                _load_box(target, program), _parse_secrets(secrets), sampling_options, distance, claim
            )
    _print_json(result) if json else _print_text(result)


def _refuse_options(options: dict[str, OptionalText], reason: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} must not be given for {reason}")


def _audit_channel(
    path: str, space: OptionalText, secrets: OptionalText, distance: OptionalText, claim: Level | None
) -> AuditResult:
    from utmost import audit, spaces
    from utmost.channel import files

    if distance is not None and secrets is None:
        raise InputError("--distance must come with --secrets, got none: a space has its own distances")
    points = None if space is None else spaces.parse_space(space)
    source = files.read_channel(path)
    labels = None if secrets is None else _parse_inputs(secrets, source.inputs)
    return audit.channel_bound(source, points, labels, 1 if distance is None else distance, claim)


def _parse_inputs(text: str, inputs: tuple[str | int, ...]) -> tuple[str | int, str | int]:
    """Two inputs of a channel: red,blue or, as in JSON, "red","blue"."""
    try:
        values = loads(f"[{text}]")
    except (ValueError, RecursionError):
        values = []
    if not any(isinstance(value, str) for value in values):  # bare names and numbers, as the file has them
        values = text.split(",")
    input_by_text = {str(label): label for label in inputs}
    values = [input_by_text.get(str(value).strip(), value) for value in values]
    if len(values) != 2:
        raise InputError(f'--secrets must be two inputs of the channel such as 0,1, got "{text[:40]}"')
    return values[0], values[1]


def _parse_secrets(text: OptionalText) -> tuple[Any, Any]:
    """Two secrets as JSON has them; what is not JSON is text, split at its one comma."""
    if text is None:
        raise InputError("--secrets must be given, got none: two neighbouring inputs, for instance --secrets 0,1")
    try:
        secrets = loads(f"[{text}]")
    except (ValueError, RecursionError):
        secrets = text.split(",")
    if len(secrets) != 2:
        raise InputError(f'--secrets must be two values with a comma between them, got "{text[:40]}": as in JSON')
    if secrets[0] == secrets[1]:
        raise InputError("--secrets must differ, got the same one twice: take two neighbouring inputs")
    return secrets[0], secrets[1]


def _load_box(target: OptionalText, program: OptionalText) -> BlackBox:
    from utmost import audit

    if program is not None:
        return audit.program_box(program)
    assert target is not None
    if ":" not in target:
        raise InputError(f'TARGET must be MODULE:FUNCTION, or a .csv or .json file, got "{target[:60]}"')
    return audit.function_box(audit.load_box(target))


def _audit_samples(
    box: BlackBox, pair: tuple[Any, Any], options: dict[str, OptionalText], distance: OptionalText, claim: Level | None
) -> AuditResult:
    from utmost import audit
    from utmost.audit.lower_bound import DEFAULT_CONFIDENCE, DEFAULT_SAMPLES, DEFAULT_SECONDS
    from utmost.exact import integer, rational

    samples, seconds, confidence = options.values()
    return audit.sampled_bound(
        box,
        pair,
        samples=DEFAULT_SAMPLES if samples is None else integer(samples, "--samples"),
        seconds=DEFAULT_SECONDS if seconds is None else _check_seconds(rational(seconds, "--seconds")),
        confidence=DEFAULT_CONFIDENCE if confidence is None else rational(confidence, "--confidence"),
        distance=1 if distance is None else distance,
        claimed=claim,
        progress=_progress_reporter(),
    )


def _check_seconds(value: Fraction) -> float:
    if not Fraction(1, 1000) <= value <= 10**6:
        raise InputError("--seconds must be from 0.001 to 1000000: how long the draws may take")
    return float(value)


@contextmanager
def _foreign_code() -> Iterator[None]:
    """While foreign code runs: modules are found in this directory first, and what they print goes to stderr."""
    directory = str(Path.cwd())
    sys.path.insert(0, directory)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if directory in sys.path:
            sys.path.remove(directory)


def _progress_reporter() -> Callable[[int, int], None]:
    """A callback that prints a line of progress each second."""
    from utmost.cli import output

    last = time.monotonic()

    def report(count: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS_INTERVAL_SECONDS:
            last = time.monotonic()
            output.print_remark(f"drawn {count} of {total}")

    return report


def _print_json(result: AuditResult) -> None:
    from utmost.cli import output
    from utmost.exact import json_below

    privacy_loss, claim = result.privacy_loss, result.claimed
    output.print_json(
        {
            "lower": json_below(result.lower) if privacy_loss is None else _exact_lower_bound(privacy_loss, claim),
            "confidence": str(result.confidence),
            "event": result.event,
            "samples": result.samples,
            "claimed": None if claim is None else _epsilon_text(claim),
            "verdict": result.verdict,
            "witness": _witness_document(result),
            "neighbours": result.neighbours,
        }
    )


def _exact_lower_bound(privacy_loss: PrivacyLoss, level: Level | None) -> str | float:
    """The ε of a channel: text where it is rational, else 12 digits that are not above it."""
    from math import nextafter

    from utmost.cli import output
    from utmost.exact import json_below

    value = output.json_epsilon(privacy_loss, level)
    return value if isinstance(value, str) else json_below(nextafter(privacy_loss.epsilon, 0.0))


def _epsilon_text(level: Level) -> str:
    """The ε of a level, exact: 1/10, or ln(2) for α = 1/2."""
    if level.exponent is not None:
        return str(level.exponent)
    if not level.alpha:
        return "inf"
    return "0" if level.alpha == 1 else f"ln({1 / level.alpha})"


def _witness_document(result: AuditResult) -> dict[str, Any] | None:
    """The two secrets, and what the event did under them: how often it came, or the ratio of its probabilities."""
    from utmost.cli import output

    if result.event is None:
        return None
    sides = {"high": result.high, "low": result.low}
    if result.privacy_loss is not None:
        return {**sides, "output": result.privacy_loss.output, "ratio": output.json_value(result.privacy_loss.ratio)}
    assert result.counts is not None
    return {**sides, "counts": list(result.counts), "draws": result.samples // 2, "tested": result.events_tested}


def _print_text(result: AuditResult) -> None:
    from utmost.audit.lower_bound import ANY_PAIR_TEXT
    from utmost.cli import output

    if result.privacy_loss is not None:
        output.print_text(output.privacy_loss_sentence(result.privacy_loss, result.claimed))
        if result.neighbours == ANY_PAIR_TEXT:
            output.print_text(
                "Any two inputs are neighbours here, since they are not the counts 0 to n; --secrets takes one pair."
            )
    else:
        _print_draws(result)
    if result.claimed is None:
        return
    verdict_text = {
        "refuted": "REFUTED"
        if result.privacy_loss is not None
        else f"REFUTED, at {_confidence_percent(result)} confidence",
        "holds": "holds, decided",
        "not refuted": "not refuted, which does not prove it",
    }
    output.print_text(f"The claim {result.claimed}: {verdict_text[str(result.verdict)]}.")


def _print_draws(result: AuditResult) -> None:
    from utmost.cli import output
    from utmost.exact import decimal_below

    if result.event is None or result.counts is None:
        output.print_text(f"ε ≥ 0: no event told the secrets apart in {result.samples} draws of each.")
        return
    half = result.samples // 2
    bound = decimal_below(result.lower, BOUND_DIGITS)
    output.print_text(
        f"ε ≥ {bound}, with {_confidence_percent(result)} confidence, from {result.samples} draws of each secret."
    )
    output.print_text(f"Event: {result.event}.")
    high, low = (_secret_text(secret) for secret in (result.high, result.low))
    output.print_text(f"It came {result.counts[0]} times in {half} under {high}, {result.counts[1]} times under {low}.")


def _confidence_percent(result: AuditResult) -> str:
    from utmost.exact import decimal_below

    return f"{decimal_below(100 * result.confidence, 14)} %"


def _secret_text(secret: object) -> str:
    text = dumps(secret, ensure_ascii=False)
    return text if len(text) <= MAX_SECRET_CHARS else f"{text[: MAX_SECRET_CHARS - 1]}…"
