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
        root_sum = arb(0)
        for k in range(1, 2000):
            root_sum += arb(k).sqrt()
        assert ctx.prec == bits
        return int(root_sum.rel_accuracy_bits())


def test_threads_with_other_precisions_do_not_disturb_each_other():
    previous_bits = ctx.prec
    precisions = [24 + 40 * (k % 20) for k in range(200)]
    with ThreadPoolExecutor(8) as threads:
        accuracies = list(threads.map(accuracy, precisions))
    assert all(bits - 24 <= accurate for bits, accurate in zip(precisions, accuracies, strict=True))
    assert ctx.prec == previous_bits


def test_enclosures_have_the_requested_width_in_many_threads():
    def is_narrow(bits: int) -> bool:
        low, high = enclosure(power(2, Fraction(1, 3)), bits)
        return high - low < Fraction(1, 2 ** (bits - 2)) and low**3 < 2 < high**3

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(is_narrow, [20, 2000] * 100))


def test_an_error_restores_the_precision_and_releases_the_lock():
    previous_bits = ctx.prec
    with pytest.raises(ZeroDivisionError), working_precision(300):
        _ = 1 // 0
    with pytest.raises((OverflowError, ValueError)), working_precision(-1):
        pass  # pragma: no cover
    with ThreadPoolExecutor(1) as thread:  # another thread can have it
        assert thread.submit(accuracy, 100).result(5) > 70
    assert ctx.prec == previous_bits
