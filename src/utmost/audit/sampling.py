"""Draw samples from a black box within a time limit; the number is fixed before the draws that are counted."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from utmost.audit.black_boxes import BlackBox, TimeOver
from utmost.audit.output_features import to_comparable
from utmost.errors import InputError

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
