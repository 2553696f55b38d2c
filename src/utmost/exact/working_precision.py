"""The precision that balls are computed with: one number for the whole process, lent to one thread at a time.

python-flint keeps its precision in one place for all threads. Two that set it at once would compute with each other's,
and a search that doubles its bits until a ball is narrow enough would not end.
"""

from __future__ import annotations

import threading
from types import TracebackType

_LENT = threading.RLock()


class working_precision:  # as python-flint calls it
    """`with working_precision(bits):` balls are computed with so many bits inside, whatever other threads do.

    >>> from flint import arb, ctx
    >>> before = ctx.prec
    >>> with working_precision(200):
    ...     narrow = arb(2).sqrt()
    >>> ctx.prec == before, narrow.rel_accuracy_bits() > 190
    (True, True)
    """

    __slots__ = ("_before", "_bits")

    def __init__(self, bits: int) -> None:
        self._bits, self._before = bits, 0

    def __enter__(self) -> None:
        from flint import ctx

        _LENT.acquire()
        self._before = ctx.prec
        try:
            ctx.prec = self._bits
        except BaseException:
            _LENT.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from flint import ctx

        ctx.prec = self._before
        _LENT.release()
