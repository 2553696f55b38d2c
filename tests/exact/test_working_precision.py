"""The precision of balls belongs to one thread at a time, and is put back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from flint import arb, ctx

from utmost.exact import enclosure, power
from utmost.exact.working_precision import working_precision


def accuracy(bits: int) -> int:
    with working_precision(bits):
        total = arb(0)
        for k in range(1, 2000):
            total += arb(k).sqrt()
        assert ctx.prec == bits
        return int(total.rel_accuracy_bits())


def test_threads_with_other_precisions_do_not_disturb_each_other():
    before = ctx.prec
    asked = [24 + 40 * (k % 20) for k in range(200)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(accuracy, asked))
    assert all(bits - 24 <= accurate for bits, accurate in zip(asked, found, strict=True))
    assert ctx.prec == before


def test_roots_are_enclosed_as_narrowly_as_asked_in_many_threads():
    def narrow(bits: int) -> bool:
        low, high = enclosure(power(2, Fraction(1, 3)), bits)
        return high - low < Fraction(1, 2 ** (bits - 2)) and low**3 < 2 < high**3

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(narrow, [20, 2000] * 100))


def test_it_is_put_back_and_given_back_after_an_error():
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), working_precision(300):
        _ = 1 // 0
    with pytest.raises((OverflowError, ValueError)), working_precision(-1):
        pass  # pragma: no cover
    with ThreadPoolExecutor(1) as thread:  # another thread can have it
        assert thread.submit(accuracy, 100).result(5) > 70
    assert ctx.prec == before
