"""What public results print: a line each, however large; pickles that are equal and no larger than their numbers."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import utmost as ut
from utmost.consumer import Minimax
from utmost.result_values import short_repr

SIZE = 24
LEVEL = ut.alpha("1/2")


def wide() -> ut.channel.Channel:
    return ut.geometric(SIZE - 1, LEVEL).channel()


def reader() -> ut.Consumer:
    return ut.Consumer(ut.priors.uniform(SIZE), ut.losses.absolute)


def unit() -> Any:
    return ut.continuous.interval(0, 1)


RESULTS: dict[str, Callable[[], Any]] = {
    "channel": wide,
    "irrational channel": lambda: ut.geometric(SIZE - 1, ut.epsilon("0.1")).channel(),
    "privacy loss": lambda: ut.least_epsilon(wide(), ut.line(SIZE)),
    "hyper": lambda: ut.hyper(ut.priors.uniform(SIZE), wide()),
    "refinement": lambda: ut.refinement(wide(), ut.geometric(SIZE - 1, ut.alpha("1/3"))),
    "leakage": lambda: ut.qif.leakage(ut.qif.bayes, ut.priors.uniform(SIZE), wide()),
    "kantorovich": lambda: ut.kantorovich(ut.priors.uniform(SIZE), [1, *[0] * (SIZE - 1)], ut.line(SIZE)),
    "estimated prior": lambda: ut.iterative_bayesian_update(wide(), range(SIZE)),
    "capacity of a channel": lambda: ut.qif.capacity(wide()),
    "capacity": lambda: ut.capacity(ut.line(SIZE), LEVEL),
    "capacity of places": lambda: ut.capacity(ut.grid(3, 3), ut.epsilon("1/10")),
    "design": lambda: ut.optimal(ut.line(SIZE), LEVEL, reader()),
    "certificate": lambda: ut.optimal(ut.line(SIZE), LEVEL, reader()).certificate,
    "program": lambda: ut.by_program(ut.line(8), LEVEL, ut.Consumer(ut.priors.uniform(8), ut.losses.absolute)),
    "shared optimum": lambda: ut.shared_optimum(
        ut.line(4), LEVEL, [ut.Consumer(ut.priors.uniform(4), ut.losses.absolute)]
    ),
    "strategies": lambda: ut.planning.compare_strategies("levels", rho=1, tree=[4, 6]),
    "minimax design": lambda: ut.minimax_optimal(ut.line(6), LEVEL, Minimax(ut.losses.absolute)),
    "minimax reading": lambda: Minimax(ut.losses.absolute).reading(ut.geometric(7, LEVEL)),
    "prior": lambda: ut.priors.normalised([1] * 1000),
    "steps": lambda: ut.priors.steps(100, [1] * 100),
    "loss": lambda: ut.losses.over(ut.losses.absolute, ut.grid(9, 9)),
    "matrix": lambda: ut.losses.matrix([[1] * SIZE] * SIZE),
    "consumer": reader,
    "decomposition": lambda: ut.polytopes.decomposition(ut.geometric(3, LEVEL).channel(), ut.line(4), LEVEL),
    "kernel": lambda: next(iter(ut.kernels(ut.line(6), LEVEL))),
    "vertex": lambda: next(iter(ut.vertices(ut.line(6)))),
    "profile": lambda: ut.profile(wide(), (0, SIZE - 1)),
    "relation": lambda: ut.axioms.relation_from_space(ut.line(100)),
    "audit": lambda: ut.audit.channel_bound(wide()),
    "symmetries": lambda: ut.spaces.symmetries(ut.grid(5, 5)),
    "space": lambda: ut.grid(10, 10),
    "density": lambda: ut.continuous.densities.histogram(range(1001), [Fraction(1, 1000)] * 1000),
    "bounds": lambda: ut.continuous.bound_expected_loss(
        ut.continuous.densities.beta(2, 5, unit()),
        ut.continuous.mechanisms.Laplace(unit(), ut.epsilon(2)),
        ut.continuous.losses.squared,
        "1e-4",
    ),
    "interval loss": lambda: unit().loss("laplace", ut.epsilon(2)),
    "convergence": lambda: unit().convergence(ut.epsilon(2), (1, 2)),
    "sampler": lambda: ut.noise.channel_sampler(wide()),
    "report": lambda: ut.papers.report("KL10"),
}
CALLS = {"sampler", "report"}  # made of functions, which no pickle holds
NOT_EQUAL = {"vertex"}  # an array


@functools.cache
def make_result(name: str) -> Any:
    return RESULTS[name]()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_short_line(name: str) -> None:
    line = repr(make_result(name))
    assert len(line) < 1000
    assert "\n" not in line or name == "vertex"


@pytest.mark.parametrize("name", [name for name in RESULTS if name not in CALLS])
def test_a_result_survives_pickling_and_copying_and_is_equal(name: str) -> None:
    value = make_result(name)
    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert repr(again) == repr(value)
        if name not in NOT_EQUAL:
            assert again == value
            assert hash(again) == hash(value) or isinstance(value, ut.qif.Hyper)


def test_results_with_other_numbers_are_not_equal() -> None:
    first, second = ut.qif.capacity(ut.geometric(3, LEVEL)), ut.qif.capacity(ut.geometric(3, ut.alpha("1/3")))
    assert first != second
    assert ut.capacity(ut.line(5), LEVEL).additive != ut.capacity(ut.line(6), LEVEL).additive
    assert ut.capacity(ut.line(5), LEVEL).additive != 3


def test_a_pickled_design_is_no_larger_than_its_numbers() -> None:
    design = ut.optimal(ut.line(SIZE), LEVEL, reader())
    numbers = [*design.channel.rows.flat, *design.certificate.proof.costs.flat]
    assert len(pickle.dumps(design)) < 40 * len(numbers) + sum(len(str(value)) for value in numbers)


def test_a_design_prints_its_loss_and_the_first_entries() -> None:
    lines = str(ut.optimal(ut.line(SIZE), LEVEL, reader())).splitlines()
    assert lines[0].startswith("Design: expected loss 1.21094, gap 0, ε ≤ 0.693148; 24 inputs") or "gap 0" in lines[0]
    assert len(lines) <= 20
    assert lines[-1] == "… of 24 rows and 24 columns"


def test_long_values_are_told_by_size_or_nearest_double() -> None:
    from dataclasses import dataclass

    @dataclass
    class Numbers:
        array: Any
        share: Fraction
        text: str
        huge: Fraction
        __repr__ = short_repr

    line = repr(Numbers(np.zeros((2, 3)), Fraction(1, 3**600), "x" * 1000, Fraction(10**1000, 3)))
    assert line.startswith("Numbers(array=<2 × 3 values>, share=≈")
    assert len(line) < 200
