"""Drawing from a black box within a time: how many is settled before the draws that count are made."""

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
from utmost.audit.features import to_comparable
from utmost.errors import InputError

Values: TypeAlias = list[Hashable]
Pair: TypeAlias = tuple[Values, Values]
Progress: TypeAlias = Callable[[int, int], None]  # (draws made, draws meant), of both secrets
MIN_DRAWS = 50  # draws of each secret in a half
LARGEST_CHUNK = 1 << 14  # pairs asked for at a time
BRISK = 0.25  # seconds; a chunk that takes less is followed by a larger one
FIRST_SHARE = 0.4  # of the time, for the first half; the second may then be half as slow again
REPEATED = 20  # draws off the commonest value that make two equal halves no accident


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
    begin = time.monotonic()
    tell = progress or (lambda done, meant: None)
    with limited(seconds):
        try:
            half = samples // 2
            first = _half(box, secrets, half, (begin + FIRST_SHARE * seconds, begin + seconds), tell, (0, 4 * half))
            size = len(first[0])
            end = begin + seconds
            second = _half(box, secrets, size, (end, end), tell, (2 * size, 4 * size))
        except TimeOver:
            raise InputError(_too_slow(seconds)) from None
    if len(second[0]) < size or size < MIN_DRAWS:
        raise InputError(_too_slow(seconds))
    for before, after in zip(first, second, strict=True):
        _check_fresh(before, after, 1)
    return SampleHalves(first, second)


def _too_slow(seconds: float) -> str:
    fewest = 2 * MIN_DRAWS
    return (
        f"--seconds must be enough for at least {fewest} draws of each secret at an even pace, got {seconds:g}: "
        "give more seconds, or fewer samples"
    )


def _half(
    box: BlackBox,
    secrets: tuple[Any, Any],
    count: int,
    ends: tuple[float, float],
    tell: Progress,
    done: tuple[int, int],
) -> Pair:
    """Up to `count` draws of each secret, the two by turns, in chunks; none is begun after the first end."""
    first: Values = []
    second: Values = []
    last: Values = []
    chunk = 1
    while len(first) < count and time.monotonic() < ends[0]:
        size = min(chunk, count - len(first))
        start = time.monotonic()
        values = answers(box, list(secrets) * size, ends[1] - start)
        _check_fresh(last, values)
        first.extend(values[::2])
        second.extend(values[1::2])
        last = values
        if time.monotonic() - start < BRISK:
            chunk = min(2 * chunk, LARGEST_CHUNK)
        tell(done[0] + 2 * len(first), done[1])
    return first, second


def answers(box: BlackBox, secrets: Sequence[Any], seconds: float) -> Values:
    """What the box says, one comparable value for each secret."""
    found = box(secrets, seconds)
    values = found.tolist() if hasattr(found, "tolist") else found
    if len(values) != len(secrets):
        raise InputError(f"an audited box must return a value for each of {len(secrets)} secrets, got {len(values)}")
    if {type(value) for value in values} <= {int, str}:
        return list(values)
    return [to_comparable(value) for value in values]


def _check_fresh(before: Values, after: Values, turns: int = 2) -> None:
    """Refuse draws that begin as those before them did: a fixed seed makes them so, chance all but never."""
    for turn in range(turns):
        old = before[turn::turns]
        new = after[turn::turns][: len(old)]
        if old and old == new and len(old) - Counter(old).most_common(1)[0][1] >= REPEATED:
            raise InputError("the audited draws must be independent, got the same ones twice: take a fixed seed out")


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TimeOver` inside whatever runs when the time is over; on the main thread of a Unix process only."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise TimeOver

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again, should the call hold the first one up
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
