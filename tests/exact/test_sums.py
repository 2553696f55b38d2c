"""A sum of many exact numbers is the sum term by term."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import epsilon, exponential, power
from utmost.exact.exact_numbers import exact_sum
from utmost.mechanisms.geometric import geometric
from utmost.noise import row_sampler

TERMS = st.sampled_from(
    [
        Fraction(1, 3),
        exponential(-1),
        1 / (1 + exponential(-1)),
        exponential(-2) / (1 + exponential(-1)),
        power(2, Fraction(1, 2)),
        -power(2, Fraction(1, 2)) / (2 + exponential(Fraction(1, 5))),
    ]
)


@given(st.lists(TERMS, max_size=6))
def test_the_sum_is_that_of_one_number_after_another(values) -> None:
    assert exact_sum(values) == sum(values, Fraction(0))
    assert exact_sum([*values, *(-value for value in values)]) == 0


@pytest.mark.slow
def test_a_row_of_ten_thousand_irrational_weights_is_made_ready_in_well_under_a_second() -> None:
    """0.3 s of CPU where a sum that simplifies a quotient for each weight takes 1 s."""
    law = geometric(9999, epsilon("0.1")).law(5000)
    assert exact_sum(law) == 1
    start = time.process_time()
    row_sampler(law)
    assert time.process_time() - start < 0.8
