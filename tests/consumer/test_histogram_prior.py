"""A prior as a histogram."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.consumer import priors
from utmost.errors import InputError

heights = st.lists(st.one_of(st.just(0), st.integers(0, 100)), min_size=1, max_size=12).filter(any)


@given(heights, st.integers(0, 40))
def test_weights_sum_to_one_and_are_level_within_a_bar(bars: list[int], extra_counts: int) -> None:
    size = len(bars) + extra_counts
    prior = priors.steps(size, bars)
    weights = prior.exact()
    assert sum(weights) == 1
    assert len(weights) == prior.size == size
    bar_of_count = [max(b for b in range(len(bars)) if b * size // len(bars) <= k) for k in range(size)]
    assert [weight / max(weights) for weight in weights] == [
        Fraction(bars[b], max(bars[b] for b in bar_of_count)) for b in bar_of_count
    ]
    assert [p / max(prior.proportions()) for p in prior.proportions()] == [w / max(weights) for w in weights]
    assert np.exp(prior.logs()) == pytest.approx([float(weight) for weight in weights])


@given(heights)
def test_its_name_is_read_back_as_the_same_prior(bars: list[int]) -> None:
    prior = priors.steps(len(bars), bars)
    assert priors.parse(prior.name, prior.size) == prior


@pytest.mark.parametrize(
    "text", ["steps:", "steps:0,0", "steps:-1,2", "steps:1,2,3,4,5,6", "steps:nan", "steps:1e99", "steps:1,x"]
)
def test_nonsense_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        priors.parse(text, 5)
    assert "\n" not in str(refusal.value)


def test_more_bars_than_are_read_are_refused() -> None:
    with pytest.raises(InputError, match="bars"):
        priors.parse("steps:" + ",".join(["1"] * 2000), 10**4)
