"""The terminal and the studio describe a result in the same sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from utmost.studio.designer.forms import DesignInput
from utmost.studio.designer.refinement import compare_mechanisms
from utmost.studio.designer.results import best_mechanism, type_capacity

PROBLEMS = [("line:5", "1/3", "squared"), ("cycle:5", "1/2", "absolute"), ("line:4", "1", "absolute")]


@pytest.mark.parametrize(("space", "alpha", "loss"), PROBLEMS)
def test_a_best_mechanism_is_described_in_the_same_sentences(
    utmost: Callable[..., Any], space: str, alpha: str, loss: str
) -> None:
    text = " ".join(utmost("optimal", space, "--alpha", alpha, "--loss", loss).out.split())
    shown = best_mechanism(DesignInput(space, alpha, "", "uniform", loss))
    assert shown.proof in text
    assert shown.made in text
    assert f"Without any answer it would be {shown.silent.text}." in text


def test_two_mechanisms_are_compared_in_the_same_sentences(utmost: Callable[..., Any]) -> None:
    for name, options in (("a.csv", ("geometric", "--size", 3)), ("b.csv", ("response", "--size", 4))):
        utmost("mechanism", *options, "--alpha", "1/2", "--output", name)
    text = " ".join(utmost("refine", "a.csv", "b.csv").out.split())
    shown = compare_mechanisms("geometric 3 1/2", "response 4 1/2")
    assert shown.prefers_first is not None
    assert shown.prefers_second is not None
    for sentence in (shown.headline, shown.prefers_first.sentence, shown.prefers_second.sentence):
        named = sentence.replace("The second", "B").replace("the second", "B").replace("the first", "A")
        assert named in text


@pytest.mark.parametrize("space", ["grid:3x3", "discrete:3"])
def test_capacities_have_the_same_digits_and_proofs(utmost: Callable[..., Any], space: str) -> None:
    text = " ".join(utmost("type", space, "--epsilon", "1/3").out.split())
    shown = type_capacity(DesignInput(space, "", "1/3", "uniform", "absolute"))
    for name, bound in (("Multiplicative", shown.multiplicative), ("Additive", shown.additive)):
        assert f"{name} capacity {bound.value.text}: " in text
        assert f"{name}: {bound.how}; " in text
        assert f"gap {'' if bound.exact else 'at most '}{bound.gap}." in text
