"""`utmost audit`: a lower bound on ε, exact for a channel, statistical for a function or a program."""

from __future__ import annotations

import json as documents
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from fractions import Fraction
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
PAUSE = 1.0  # seconds between two lines of progress
LONGEST_SHOWN = 60  # characters of a secret in words

Text = str | None


def command(
    target: Annotated[
        Text,
        typer.Argument(metavar="TARGET", help="MODULE:FUNCTION called with a secret; or a channel, .csv or .json."),
    ] = None,
    program: Annotated[
        Text, typer.Option("--command", metavar="LINE", help="A program: reads a secret a line, prints a value a line.")
    ] = None,
    secrets: Annotated[Text, typer.Option(metavar="A,B", help="Two neighbouring secrets, as in JSON: 0,1.")] = None,
    space: Annotated[Text, typer.Option(metavar="SPACE", help="The space of a channel's inputs: line:N.")] = None,
    distance: Annotated[Text, typer.Option(metavar="D", help="How far the secrets are apart; 1 if left out.")] = None,
    alpha: AlphaOption = None,
    epsilon: EpsilonOption = None,
    samples: Annotated[Text, typer.Option(metavar="K", help="Draws of each secret; 50000 if left out.")] = None,
    seconds: Annotated[Text, typer.Option(metavar="S", help="At most this long; 60 if left out.")] = None,
    confidence: Annotated[Text, typer.Option(metavar="C", help="Of a bound from draws; 0.99 if left out.")] = None,
    json: JsonOption = False,
) -> None:
    """A lower bound on the ε of a sampler or a channel.

    The level given is the one that is claimed. A bound from draws can refute a claim; it never proves one.
    """
    claimed = optional_level(alpha, epsilon)
    if (target is None) == (program is None):
        raise InputError("one of TARGET and --command must be given: say for instance utmost audit box:draw")
    plan = {"--samples": samples, "--seconds": seconds, "--confidence": confidence}
    if target is not None and Path(target).suffix.lower() in CHANNEL_ENDINGS:
        _refuse(plan, "a channel: its bound is exact and takes no draws")
        found = _channel(target, space, secrets, distance, claimed)
    else:
        _refuse({"--space": space}, "a black box: give two --secrets and their --distance")
        with _foreign():
            found = _sampled(_box(target, program), _pair(secrets), plan, distance, claimed)
    _document(found) if json else _text(found)


def _refuse(options: dict[str, Text], reason: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} must not be given for {reason}")


def _channel(path: str, space: Text, secrets: Text, distance: Text, claimed: Level | None) -> AuditResult:
    from utmost import audit, spaces
    from utmost.channel import files

    if distance is not None and secrets is None:
        raise InputError("--distance must come with --secrets, got none: a space has its own distances")
    points = None if space is None else spaces.parse_space(space)
    source = files.read_channel(path)
    labels = None if secrets is None else _labels(secrets, source.inputs)
    return audit.channel_bound(source, points, labels, 1 if distance is None else distance, claimed)


def _labels(text: str, inputs: tuple[str | int, ...]) -> tuple[str | int, str | int]:
    """Two inputs of a channel: red,blue or, as in JSON, "red","blue"."""
    try:
        parts = documents.loads(f"[{text}]")
    except (ValueError, RecursionError):
        parts = []
    if not any(isinstance(part, str) for part in parts):  # bare names and numbers, as the file has them
        parts = text.split(",")
    named = {str(label): label for label in inputs}
    parts = [named.get(str(part).strip(), part) for part in parts]
    if len(parts) != 2:
        raise InputError(f'--secrets must be two inputs of the channel such as 0,1, got "{text[:40]}"')
    return parts[0], parts[1]


def _pair(text: Text) -> tuple[Any, Any]:
    """Two secrets as JSON has them; what is not JSON is text, cut at its one comma."""
    if text is None:
        raise InputError("--secrets must be given, got none: two neighbouring inputs, for instance --secrets 0,1")
    try:
        parts = documents.loads(f"[{text}]")
    except (ValueError, RecursionError):
        parts = text.split(",")
    if len(parts) != 2:
        raise InputError(f'--secrets must be two values with a comma between them, got "{text[:40]}": as in JSON')
    if parts[0] == parts[1]:
        raise InputError("--secrets must differ, got the same one twice: take two neighbouring inputs")
    return parts[0], parts[1]


def _box(target: Text, program: Text) -> BlackBox:
    from utmost import audit

    if program is not None:
        return audit.program_box(program)
    assert target is not None
    if ":" not in target:
        raise InputError(f'TARGET must be MODULE:FUNCTION, or a .csv or .json file, got "{target[:60]}"')
    return audit.function_box(audit.load_box(target))


def _sampled(
    box: BlackBox, pair: tuple[Any, Any], plan: dict[str, Text], distance: Text, claimed: Level | None
) -> AuditResult:
    from utmost import audit
    from utmost.audit.lower_bound import DEFAULT_CONFIDENCE, DEFAULT_SAMPLES, DEFAULT_SECONDS
    from utmost.exact import integer, rational

    count, time_, sure = plan.values()
    return audit.sampled_bound(
        box,
        pair,
        samples=DEFAULT_SAMPLES if count is None else integer(count, "--samples"),
        seconds=DEFAULT_SECONDS if time_ is None else _seconds(rational(time_, "--seconds")),
        confidence=DEFAULT_CONFIDENCE if sure is None else rational(sure, "--confidence"),
        distance=1 if distance is None else distance,
        claimed=claimed,
        progress=_teller(),
    )


def _seconds(value: Fraction) -> float:
    if not Fraction(1, 1000) <= value <= 10**6:
        raise InputError("--seconds must be from 0.001 to 1000000: how long the draws may take")
    return float(value)


@contextmanager
def _foreign() -> Iterator[None]:
    """Modules are found in this directory first; what they print is not ours, so it goes to stderr."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if here in sys.path:
            sys.path.remove(here)


def _teller() -> Callable[[int, int], None]:
    """A line of progress each second."""
    from utmost.cli import output

    last = time.monotonic()

    def tell(done: int, meant: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PAUSE:
            last = time.monotonic()
            output.print_remark(f"drawn {done} of {meant}")

    return tell


def below(value: float) -> float:
    """A lower bound as a document has it: 12 digits that, as written, are not above it.

    >>> below(2 / 3), below(0.5), below(0.0)
    (0.666666666666, 0.5, 0.0)
    """
    from decimal import ROUND_FLOOR, Context

    from utmost.exact.number_text import DIGITS

    return float(Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal_from_float(value))


def _document(found: AuditResult) -> None:
    from utmost.cli import output

    leak, level = found.leak, found.claimed
    output.print_json(
        {
            "lower": below(found.lower) if leak is None else _exact_lower(leak, level),
            "confidence": str(found.confidence),
            "event": found.event,
            "samples": found.samples,
            "claimed": None if level is None else _exponent(level),
            "verdict": found.verdict,
            "witness": _witness(found),
            "neighbours": found.neighbours,
        }
    )


def _exact_lower(leak: PrivacyLoss, level: Level | None) -> str | float:
    """The ε of a channel: text where it is rational, else 12 digits that are not above it."""
    from math import nextafter

    from utmost.cli import output

    value = output.epsilon_of(leak, level)
    return value if isinstance(value, str) else below(nextafter(leak.epsilon, 0.0))


def _exponent(level: Level) -> str:
    """The ε of a level, exact: 1/10, or ln(2) for α = 1/2."""
    if level.exponent is not None:
        return str(level.exponent)
    if not level.alpha:
        return "inf"
    return "0" if level.alpha == 1 else f"ln({1 / level.alpha})"


def _witness(found: AuditResult) -> dict[str, Any] | None:
    """The two secrets, and what the event did under them: how often it came, or the ratio of its probabilities."""
    from utmost.cli import output

    if found.event is None:
        return None
    sides = {"high": found.high, "low": found.low}
    if found.leak is not None:
        return {**sides, "output": found.leak.output, "ratio": output.json_value(found.leak.ratio)}
    assert found.counts is not None
    return {**sides, "counts": list(found.counts), "draws": found.samples // 2, "tested": found.tested}


def _text(found: AuditResult) -> None:
    from utmost.audit.lower_bound import ANY_PAIR_TEXT
    from utmost.cli import output

    if found.leak is not None:
        output.print_text(output.leak_sentence(found.leak, found.claimed))
        if found.neighbours == ANY_PAIR_TEXT:
            output.print_text(
                "Any two inputs are neighbours here, since they are not the counts 0 to n; --secrets takes one pair."
            )
    else:
        _say_draws(found)
    if found.claimed is None:
        return
    ending = {
        "refuted": "REFUTED" if found.leak is not None else f"REFUTED, at {_percent(found)} confidence",
        "holds": "holds, decided",
        "not refuted": "not refuted, which does not prove it",
    }
    output.print_text(f"The claim {found.claimed}: {ending[str(found.verdict)]}.")


def _say_draws(found: AuditResult) -> None:
    from utmost.cli import output

    if found.event is None or found.counts is None:
        output.print_text(f"ε ≥ 0: no event told the secrets apart in {found.samples} draws of each.")
        return
    half = found.samples // 2
    output.print_text(
        f"ε ≥ {_cut(found.lower)}, with {_percent(found)} confidence, from {found.samples} draws of each secret."
    )
    output.print_text(f"Event: {found.event}.")
    high, low = (_name(secret) for secret in (found.high, found.low))
    output.print_text(f"It came {found.counts[0]} times in {half} under {high}, {found.counts[1]} times under {low}.")


def _cut(value: float) -> str:
    """Four decimals, rounded down.

    >>> _cut(0.6299999999999999), _cut(6.5)
    ('0.6299', '6.5000')
    """
    from decimal import ROUND_FLOOR, Decimal

    return str(Decimal(value).quantize(Decimal("0.0001"), ROUND_FLOOR))


def _percent(found: AuditResult) -> str:
    return f"{float(100 * found.confidence):.10g} %"


def _name(secret: object) -> str:
    text = documents.dumps(secret, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
