"""Sources of words for tests: given words, and words counted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pytest

from utmost.noise import EntropySource
from utmost.noise.entropy import Keystream


class ScriptedWords:
    """Returns given words and then fails the test."""

    def __init__(self, words: Iterable[int]) -> None:
        self.remaining = list(words)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        if count > len(self.remaining):
            pytest.fail("more words were taken than were given")
        taken_words, self.remaining = self.remaining[:count], self.remaining[count:]
        return np.array(taken_words, dtype=np.uint64)


class CountedWords:
    """Counts the words that are taken from a source."""

    def __init__(self, source: EntropySource) -> None:
        self.source, self.taken = source, 0

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        self.taken += count
        return self.source.words(count)


def fixed_stream(seed: int) -> Keystream:
    """The same words every time: a keystream whose seeds are chosen."""
    return Keystream(lambda size: seed.to_bytes(size, "little"))
