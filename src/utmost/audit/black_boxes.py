"""Black boxes: functions and programs that answer many times, and samples drawn from them within a time limit."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from utmost import user_functions
from utmost.audit.events import to_comparable
from utmost.errors import InputError

BlackBox: TypeAlias = Callable[[Sequence[Any], float], Sequence[Any]]  # (secrets, seconds left) → a value for each
MAX_NUMBER_CHARACTERS = 400  # what is longer is text
MAX_LINE_BYTES = 4096  # on average, of what a program prints for one secret


def load_box(name: str) -> Callable[[Any], object]:
    """The function that `module:function` names.

    >>> load_box("math:floor")(2.5)
    2
    """
    return user_functions.load_function(name, "the audited function")


def function_box(function: Callable[[Any], object]) -> BlackBox:
    """The box that calls a function once a secret.

    >>> function_box(abs)([-1, 2], 1.0)
    [1, 2]
    """

    def draw(secrets: Sequence[Any], _: float) -> list[object]:
        try:
            return [function(secret) for secret in secrets]
        except (KeyboardInterrupt, TimeOver):
            raise
        except BaseException as problem:  # sys.exit included
            kind = type(problem).__name__
            raise InputError(
                f"the audited function must return a value, it raised {kind}",
                hint="call it yourself with these secrets",
            ) from None

    return draw


class TimeOver(BaseException):
    """The time is over: raised inside a call that does not return, so no `except Exception` holds it up."""


def program_box(command: str) -> BlackBox:
    """The box that runs a program: a secret a line on its input, a value a line on its output. No shell is involved.

    The program is ended when the time is over or it prints too much. Numbers are read as numbers, `1,2` as a tuple.

    >>> program_box("cat")([3, "a", 0.5], 10.0)
    [3, 'a', 0.5]
    """
    arguments = split_command(command)

    def draw(secrets: Sequence[Any], seconds: float) -> list[Hashable]:
        input_bytes = "".join(f"{_secret_line(secret)}\n" for secret in secrets).encode()
        output = _run_program(arguments, input_bytes, len(secrets), seconds)
        lines = output.decode("utf-8", "replace").removesuffix("\n").split("\n") if output else []
        if len(lines) != len(secrets):
            raise InputError(
                f"--command must print one line for each line it reads, got {len(lines)} for {len(secrets)}"
                ": it must answer every secret, then end at the end of its input",
                "command",
            )
        return [_parse_value(text) for text in lines]

    return draw


def split_command(command: str) -> list[str]:
    """The program and its arguments in a command line."""
    try:
        arguments = shlex.split(command)
    except ValueError:
        raise InputError(
            "--command must be a program and its arguments, got an open quote", "command", "close it"
        ) from None
    if not arguments:
        raise InputError(
            "--command must be a program and its arguments, got nothing", "command", 'say for instance "python box.py"'
        )
    return arguments


def _secret_line(secret: object) -> str:
    text = secret if isinstance(secret, str) else json.dumps(secret)
    if "\n" in text or "\r" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(
            "--secrets must be one line of text each for --command, got a line break or half a character", "secrets"
        )
    return text


def _parse_value(text: str) -> Hashable:
    fields = [_parse_number(field) for field in text.strip().split(",")]
    if len(fields) > 1 and all(not isinstance(field, str) for field in fields):
        return to_comparable(fields)
    return to_comparable(fields[0]) if len(fields) == 1 else text.strip()


def _parse_number(text: str) -> int | float | str:
    for kind in (int, float) if len(text) <= MAX_NUMBER_CHARACTERS else ():
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _run_program(arguments: Sequence[str], input_bytes: bytes, line_count: int, seconds: float) -> bytes:
    """What the program prints; its exit status must be 0, its time and its output are bounded."""
    limit = line_count * MAX_LINE_BYTES
    with tempfile.TemporaryFile() as stdin:
        stdin.write(input_bytes)
        stdin.seek(0)
        process = _start_program(arguments, stdin)
    with _end_after(process, seconds):
        assert process.stdout is not None
        output: bytes = process.stdout.read(limit + 1)
        status = None if len(output) > limit else process.wait()
    if status is None:
        raise InputError(
            f"--command must print at most {MAX_LINE_BYTES} bytes a secret on average, it printed more", "command"
        )
    if status != 0:
        raise InputError(
            f"--command must end with status 0, it ended with {status}", "command", "run it yourself on these secrets"
        )
    return output


@contextmanager
def _end_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
    """End the program when the time is over, which raises TimeOver, and in any case when the block ends."""
    timed_out = threading.Event()

    def stop_program() -> None:
        timed_out.set()
        _kill(process)

    timer = threading.Timer(max(seconds, 0.0), stop_program)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _close_program(process)
    if timed_out.is_set():
        raise TimeOver


def _start_program(arguments: Sequence[str], stdin: Any) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "not a program"
        raise InputError(
            f'--command must name a program that runs, got "{arguments[0][:60]}": {reason}', "command"
        ) from None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program and what it started, which share a session of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):
        process.kill()


def _close_program(process: subprocess.Popen[bytes]) -> None:
    """Leave neither a running program nor an open pipe."""
    if process.returncode is None:
        _kill(process)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


Values: TypeAlias = list[Hashable]
Pair: TypeAlias = tuple[Values, Values]
Progress: TypeAlias = Callable[[int, int], None]  # (draws made, draws planned), of both secrets
MIN_DRAWS = 50  # draws of each secret in a half
MAX_CHUNK_PAIRS = 1 << 14  # drawn at a time
QUICK_CHUNK_SECONDS = 0.25  # a chunk that takes less is followed by a larger one
FIRST_HALF_TIME_SHARE = 0.4  # of the time, for the first half; the second may then be half as slow again
MIN_REPEATED_DRAWS = 20  # draws off the commonest value that make two equal halves no accident


@dataclass(frozen=True, slots=True)
class SampleHalves:
    """Draws under the two secrets: `first` to choose events by, `second` to count them in."""

    first: Pair
    second: Pair


def draw_samples(
    box: BlackBox, secrets: tuple[Any, Any], samples: int, seconds: float, progress: Progress | None = None
) -> SampleHalves:
    """`samples` draws of each secret, or fewer if 2/5 of the time is over before half of them are made.

    The size of the second half is that of the first, fixed before it starts: no result of the second half decides how
    many there are, so its counts are binomial. If it is not complete within the time there is no answer.
    """
    start_time = time.monotonic()
    end_time = start_time + seconds
    report_progress = progress or (lambda made, planned: None)
    with time_limit(seconds):
        try:
            half, first_end_time = samples // 2, start_time + FIRST_HALF_TIME_SHARE * seconds
            first = _draw_half(box, secrets, half, (first_end_time, end_time), report_progress, (0, 4 * half))
            half_size = len(first[0])
            second = _draw_half(
                box, secrets, half_size, (end_time, end_time), report_progress, (2 * half_size, 4 * half_size)
            )
        except TimeOver:
            raise InputError(_too_slow_message(seconds)) from None
    if len(second[0]) < half_size or half_size < MIN_DRAWS:
        raise InputError(_too_slow_message(seconds))
    for first_values, second_values in zip(first, second, strict=True):
        _check_fresh(first_values, second_values, 1)
    return SampleHalves(first, second)


def _too_slow_message(seconds: float) -> str:
    min_draws = 2 * MIN_DRAWS
    return (
        f"--seconds must be enough for at least {min_draws} draws of each secret at an even pace, got {seconds:g}: "
        "give more seconds, or fewer samples"
    )


def _draw_half(
    box: BlackBox,
    secrets: tuple[Any, Any],
    count: int,
    deadlines: tuple[float, float],
    report_progress: Progress,
    draw_counts: tuple[int, int],
) -> Pair:
    """Up to `count` draws of each secret, the two by turns, in chunks; none is begun after the first deadline.

    `draw_counts` are the draws made before and the draws planned, for the progress.
    """
    first: Values = []
    second: Values = []
    previous_values: Values = []
    chunk = 1
    while len(first) < count and time.monotonic() < deadlines[0]:
        size = min(chunk, count - len(first))
        start = time.monotonic()
        values = draw_values(box, list(secrets) * size, deadlines[1] - start)
        _check_fresh(previous_values, values)
        first.extend(values[::2])
        second.extend(values[1::2])
        previous_values = values
        if time.monotonic() - start < QUICK_CHUNK_SECONDS:
            chunk = min(2 * chunk, MAX_CHUNK_PAIRS)
        report_progress(draw_counts[0] + 2 * len(first), draw_counts[1])
    return first, second


def draw_values(box: BlackBox, secrets: Sequence[Any], seconds: float) -> Values:
    """What the box returns, one comparable value for each secret."""
    returned_values = box(secrets, seconds)
    values = returned_values.tolist() if hasattr(returned_values, "tolist") else returned_values
    if len(values) != len(secrets):
        raise InputError(f"an audited box must return a value for each of {len(secrets)} secrets, got {len(values)}")
    if {type(value) for value in values} <= {int, str}:
        return list(values)
    return [to_comparable(value) for value in values]


def _check_fresh(previous: Values, current: Values, turn_count: int = 2) -> None:
    """Refuse draws that begin as those before them did: a fixed seed makes them so, chance all but never."""
    for turn in range(turn_count):
        earlier = previous[turn::turn_count]
        later = current[turn::turn_count][: len(earlier)]
        if earlier and earlier == later and len(earlier) - Counter(earlier).most_common(1)[0][1] >= MIN_REPEATED_DRAWS:
            raise InputError(
                "the audited draws must be independent, got the same ones twice", hint="take a fixed seed out"
            )


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeOver` inside whatever runs when the time is over; on the main thread of a Unix process only."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_time_over(*_: object) -> None:
        raise TimeOver

    previous_handler = signal.signal(signal.SIGALRM, raise_time_over)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again, should the call hold the first one up
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)
