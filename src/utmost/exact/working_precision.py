"""Set the precision of balls for one thread at a time.

python-flint has one precision for the whole process. Two threads that set it at once would compute with each other's,
and a search that doubles its bits until a ball is narrow enough would not end.
"""

from __future__ import annotations

import threading
from types import TracebackType

_PRECISION_LOCK = threading.RLock()


class working_precision:  # as python-flint calls it
    """`with working_precision(bits):` balls are computed with so many bits inside, whatever other threads do.

    >>> from flint import arb, ctx
    >>> before = ctx.prec
    >>> with working_precision(200):
    ...     narrow = arb(2).sqrt()
    >>> ctx.prec == before, narrow.rel_accuracy_bits() > 190
    (True, True)
    """

    __slots__ = ("_bits", "_previous_bits")

    def __init__(self, bits: int) -> None:
        self._bits, self._previous_bits = bits, 0

    def __enter__(self) -> None:
        from flint import ctx

        _PRECISION_LOCK.acquire()
        self._previous_bits = ctx.prec
        try:
            ctx.prec = self._bits
        except BaseException:
            _PRECISION_LOCK.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from flint import ctx

        ctx.prec = self._previous_bits
        _PRECISION_LOCK.release()
