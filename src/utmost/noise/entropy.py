"""The one door to randomness: the operating system's entropy, expanded by AES-256 in counter mode.

Each thread has a keystream of its own. It is keyed by 48 bytes of the operating system's entropy, again after every
`RESEED` bytes, and anew in a forked process, so that no two threads or processes ever read the same words. No word is
kept for later: what is handed out is made when it is asked for, and the cipher itself holds the place in the stream, so
that not even a signal handler that draws in the middle of a draw sees a word twice.

Nothing else in the package may import a source of random numbers; lint sees to it. A test can hand its own
`EntropySource` to a draw; no flag, file or environment variable can.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError

Words: TypeAlias = npt.NDArray[np.uint64]

RESEED = 1 << 26  # bytes made from one key: 2^22 blocks, told from random with an advantage below 2^-84 if AES is sound
SEED = 48  # bytes: a key of 32 and a first counter of 16
BLOCK = 1 << 20  # bytes made at a time
SLACK = 2  # words beyond the last that the cipher asks room for
ZEROS = memoryview(bytes(BLOCK))


class EntropySource(Protocol):
    """Where random words come from."""

    def words(self, count: int) -> Words:
        """`count` independent uniform words of 64 bits, never handed out before."""
        ...


class Keystream:
    """AES-256-CTR over zeros, with keys and first counters from `entropy`."""

    def __init__(self, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._entropy = entropy
        self._left = 0
        self._cipher: Any = None

    def words(self, count: int) -> Words:
        """The next `count` words of the stream."""
        result = np.empty(count + SLACK, dtype=np.uint64)
        room, made, size = memoryview(result.data).cast("B"), 0, 8 * count
        while made < size:
            if self._left < 8:
                self._reseed()
            step = min(size - made, self._left, BLOCK)
            self._cipher.update_into(ZEROS[:step], room[made:])
            self._left -= step
            made += step
        return result[:count]

    def _reseed(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        seed = self._entropy(SEED)
        self._cipher = Cipher(algorithms.AES(seed[:32]), modes.CTR(seed[32:])).encryptor()
        self._left = RESEED


class System:
    """The operating system's entropy through the keystream of the thread and process that ask."""

    def words(self, count: int) -> Words:
        """`count` fresh words."""
        return _own().words(count)


def system_source() -> EntropySource:
    """The source that every draw uses unless a test gives it another.

    >>> system_source().words(3).shape
    (3,)
    """
    return _SYSTEM


def entropy_source(source: EntropySource | None) -> EntropySource:
    """The source given to a draw, or the system's where none is given."""
    if source is None:
        return _SYSTEM
    if not callable(getattr(source, "words", None)):
        raise InputError(f"source must have a method words(count), got {type(source).__name__}: leave it out")
    return source


def _own() -> Keystream:
    """The keystream of this thread in this process, made when first asked for."""
    place, process = _threads.here, os.getpid()
    if getattr(place, "process", None) != process:
        place.stream, place.process = Keystream(), process
    stream: Keystream = place.stream
    return stream


class _Threads:
    """Holds the keystreams by thread; a forked child forgets them all."""

    def __init__(self) -> None:
        self.here = threading.local()

    def forget(self) -> None:
        self.here = threading.local()


_SYSTEM = System()
_threads = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.forget)
