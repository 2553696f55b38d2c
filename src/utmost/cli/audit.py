"""`utmost audit`: a lower bound on ε or ρ, exact for a channel, statistical for a function or a program."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from fractions import Fraction
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import CHANNEL_ENDINGS, AlphaOption, EpsilonOption, JsonOption, optional_level
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.audit import AuditResult, BlackBox
    from utmost.audit.claims import Claims

EXAMPLES = (
    "Examples: utmost audit numpy.random:laplace --secrets 0,1 --epsilon 1;  "
    'utmost audit --command "python box.py" --secrets 0,1;  utmost audit channel.csv --epsilon 0.1;  '
    "utmost audit box:draw --secrets 0,1 --epsilon 1 --delta 1e-3;  utmost audit box:draw --secrets 0,1 --rho 0.1"
)
PROGRESS_INTERVAL_SECONDS = 1.0  # between two lines of progress

OptionalText = str | None


def command(
    target: Annotated[
        OptionalText,
        typer.Argument(metavar="TARGET", help="MODULE:FUNCTION of a secret; or a channel, .csv or .json."),
    ] = None,
    program: Annotated[
        OptionalText,
        typer.Option(
            "--command", metavar="LINE", help="Program that reads one secret per line and prints one value per line."
        ),
    ] = None,
    secrets: Annotated[
        OptionalText, typer.Option(metavar="A,B", help="Two neighbouring secrets, as in JSON: 0,1.")
    ] = None,
    space: Annotated[OptionalText, typer.Option(metavar="SPACE", help="Space of the channel's inputs: line:N.")] = None,
    distance: Annotated[OptionalText, typer.Option(metavar="D", help="Distance of the secrets; 1 if left out.")] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    delta: Annotated[
        OptionalText, typer.Option(metavar="D", help="The δ at which ε is bounded; with --epsilon, (ε, δ) is claimed.")
    ] = None,
    rho: Annotated[
        OptionalText, typer.Option(metavar="R", help="Claimed ρ of zero-concentrated privacy, instead of ε and δ.")
    ] = None,
    samples: Annotated[OptionalText, typer.Option(metavar="K", help="Draws of each secret; 50000 if left out.")] = None,
    seconds: Annotated[OptionalText, typer.Option(metavar="S", help="Longest time in seconds; 60 if left out.")] = None,
    confidence: Annotated[
        OptionalText, typer.Option(metavar="C", help="Confidence of the bound; 0.99 if left out.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Bound the ε of a sampler or a channel from below.

    --alpha or --epsilon is the level that is claimed, with --delta that of (ε, δ)-privacy; or --rho is claimed. A bound
    from draws can refute a claim; it never proves one.
    """
    from utmost.cli.output import print_report
    from utmost.reports.audit import describe

    claim = _parse_claim(alpha, epsilon, delta, rho)
    if (target is None) == (program is None):
        raise InputError(
            "one of TARGET and --command must be given", "target", "say for instance utmost audit box:draw"
        )
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
    print_report(describe(result), json)


def _parse_claim(alpha: OptionalText, epsilon: OptionalText, delta: OptionalText, rho: OptionalText) -> Claims:
    from utmost.audit.claims import check_claims
    from utmost.exact import rational

    exact_delta, exact_rho = (
        None if text is None else rational(text, name) for text, name in ((delta, "--delta"), (rho, "--rho"))
    )
    return check_claims(optional_level(alpha, epsilon), exact_delta, exact_rho)


def _refuse_options(options: dict[str, OptionalText], reason: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} must not be given for {reason}", name)


def _audit_channel(
    path: str, space: OptionalText, secrets: OptionalText, distance: OptionalText, claim: Claims
) -> AuditResult:
    from utmost import audit, spaces
    from utmost.channel import files

    if distance is not None and secrets is None:
        raise InputError("--distance must come with --secrets, got none: a space has its own distances", "distance")
    points = None if space is None else spaces.parse_space(space)
    source = files.read_channel(path)
    labels = None if secrets is None else _parse_inputs(secrets, source.inputs)
    pair_distance = 1 if distance is None else distance
    return audit.channel_bound(source, points, labels, pair_distance, claim.level, delta=claim.delta, rho=claim.rho)


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
        raise InputError(f'--secrets must be two inputs of the channel such as 0,1, got "{text[:40]}"', "secrets")
    return values[0], values[1]


def _parse_secrets(text: OptionalText) -> tuple[Any, Any]:
    """Two secrets as JSON has them; what is not JSON is text, split at its one comma."""
    if text is None:
        raise InputError(
            "--secrets must be given, got none: two neighbouring inputs, for instance --secrets 0,1", "secrets"
        )
    try:
        secrets = loads(f"[{text}]")
    except (ValueError, RecursionError):
        secrets = text.split(",")
    if len(secrets) != 2:
        raise InputError(
            f'--secrets must be two values with a comma between them, got "{text[:40]}": as in JSON', "secrets"
        )
    if secrets[0] == secrets[1]:
        raise InputError("--secrets must differ, got the same one twice", "secrets", "take two neighbouring inputs")
    return secrets[0], secrets[1]


def _load_box(target: OptionalText, program: OptionalText) -> BlackBox:
    from utmost import audit

    if program is not None:
        return audit.program_box(program)
    assert target is not None
    if ":" not in target:
        raise InputError(f'TARGET must be MODULE:FUNCTION, or a .csv or .json file, got "{target[:60]}"', "target")
    return audit.function_box(audit.load_box(target))


def _audit_samples(
    box: BlackBox, pair: tuple[Any, Any], options: dict[str, OptionalText], distance: OptionalText, claim: Claims
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
        claimed=claim.level,
        delta=claim.delta,
        rho=claim.rho,
        progress=_progress_reporter(),
    )


def _check_seconds(value: Fraction) -> float:
    if not Fraction(1, 1000) <= value <= 10**6:
        raise InputError("--seconds must be from 0.001 to 1000000: how long the draws may take", "seconds")
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
