"""The package's only source of randomness: the operating system's entropy, expanded by AES-256 in counter mode.

Each thread has a keystream of its own. It is keyed by 48 bytes of the operating system's entropy, again after every
`RESEED_BYTES` bytes, and again in a forked process, so that no two threads or processes ever read the same words. No
word is stored for later: words are computed on request, and the cipher itself holds the position in the stream, so that
not even a signal handler that draws in the middle of a draw sees a word twice.

Nothing else in the package may import a source of random numbers; lint checks this. A test can pass its own
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

# One key makes 2^22 blocks; the advantage in distinguishing them from random is below 2^-84 if AES is sound.
RESEED_BYTES = 1 << 26
SEED_BYTES = 48  # a key of 32 and a first counter of 16
BLOCK_BYTES = 1 << 20  # computed at a time
SPARE_WORDS = 2  # words beyond the last that the cipher asks room for
ZERO_BLOCK = memoryview(bytes(BLOCK_BYTES))


class EntropySource(Protocol):
    """Where random words come from."""

    def words(self, count: int) -> Words:
        """`count` independent uniform words of 64 bits, never handed out before."""
        ...


class Keystream:
    """AES-256-CTR over zeros, with keys and first counters from `entropy`."""

    def __init__(self, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._entropy = entropy
        self._remaining_bytes = 0
        self._cipher: Any = None

    def words(self, count: int) -> Words:
        """The next `count` words of the stream."""
        result = np.empty(count + SPARE_WORDS, dtype=np.uint64)
        buffer, filled_bytes, total_bytes = memoryview(result.data).cast("B"), 0, 8 * count
        while filled_bytes < total_bytes:
            if self._remaining_bytes < 8:
                self._reseed()
            chunk_bytes = min(total_bytes - filled_bytes, self._remaining_bytes, BLOCK_BYTES)
            self._cipher.update_into(ZERO_BLOCK[:chunk_bytes], buffer[filled_bytes:])
            self._remaining_bytes -= chunk_bytes
            filled_bytes += chunk_bytes
        return result[:count]

    def _reseed(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        seed = self._entropy(SEED_BYTES)
        self._cipher = Cipher(algorithms.AES(seed[:32]), modes.CTR(seed[32:])).encryptor()
        self._remaining_bytes = RESEED_BYTES


class SystemSource:
    """The operating system's entropy through the keystream of the thread and process that ask."""

    def words(self, count: int) -> Words:
        """`count` fresh words."""
        return _thread_keystream().words(count)


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
        raise InputError(
            f"source must have a method words(count), got {type(source).__name__}", "source", "leave it out"
        )
    return source


def _thread_keystream() -> Keystream:
    """The keystream of this thread in this process, created on first use."""
    local, process = _thread_keystreams.local, os.getpid()
    if getattr(local, "process", None) != process:
        local.stream, local.process = Keystream(), process
    stream: Keystream = local.stream
    return stream


class _ThreadKeystreams:
    """The keystreams by thread; a forked child clears them all."""

    def __init__(self) -> None:
        self.local = threading.local()

    def clear(self) -> None:
        self.local = threading.local()


_SYSTEM = SystemSource()
_thread_keystreams = _ThreadKeystreams()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_thread_keystreams.clear)
