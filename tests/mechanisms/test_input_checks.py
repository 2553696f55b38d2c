"""Data that is refused is not repeated, and levels and entropy sources are checked."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import epsilon
from utmost.exact.reals import exponential as irrational
from utmost.mechanisms import exponential, geometric, laplace, planar, response, response_dual, staircase
from utmost.mechanisms.mechanism_kind import check_exact_number
from utmost.noise import draw_channel, draw_samples, geometric_noise, row_sampler
from utmost.noise.planar import planar_noise

LEVEL = epsilon(1)
LAPLACE = laplace(0, 100, "1/2", 1, LEVEL)
PLANAR = planar("1/10", LEVEL)
SECRETS = [4277.125, np.float32(4277.5), "4277 people", "4277..5", "1/0+4277", "4277*exp(1)", Decimal("NaN4277")]
CALLS_WITH_DATA: list[Callable[[object], object]] = [
    lambda x: LAPLACE.answer(x),
    lambda x: LAPLACE.draw([x]),
    lambda x: LAPLACE.law(x),
    lambda x: LAPLACE.position(x),
    lambda x: PLANAR.position((0, x)),
    lambda x: PLANAR.position([x]),
    lambda x: PLANAR.draw([(0, x)]),
    lambda x: exponential([x, 1], LEVEL),
    lambda x: exponential([[0, 1], [1, x]], LEVEL),
    lambda x: exponential([0, 1], LEVEL).draw([x]),
    lambda x: geometric(5, LEVEL).draw([x]),
    lambda x: geometric(5, LEVEL).law(x),
    lambda x: response(3, LEVEL).draw([x]),
    lambda x: staircase(2, LEVEL).draw([x]),
]


@pytest.mark.parametrize("secret", SECRETS, ids=str)
@pytest.mark.parametrize("call_index", range(len(CALLS_WITH_DATA)))
def test_a_refusal_never_repeats_the_secret(call_index: int, secret: object) -> None:
    with pytest.raises(InputError) as caught:
        CALLS_WITH_DATA[call_index](secret)
    error: BaseException | None = caught.value
    while error is not None:
        assert "4277" not in str(error)
        error = error.__cause__ or error.__context__


@given(st.floats(), st.text())
def test_values_of_one_kind_are_refused_with_the_same_message(number: float, text: str) -> None:
    for value, reason in ((number, "got a float: write it as text"), (f"x{text}", "got text that is not one")):
        with pytest.raises(InputError) as caught:
            check_exact_number(value, "score")
        assert str(caught.value) == f'score must be an exact number such as 3, "1/2" or "41.5", {reason}'


def test_irrational_data_is_refused_by_its_kind() -> None:
    with pytest.raises(InputError, match=r"got Real$"):
        check_exact_number(irrational(1))


CALLS_WITH_LEVEL: list[Callable[[object], object]] = [
    lambda level: geometric(5, level),
    lambda level: laplace(0, 1, 1, 1, level),
    lambda level: planar(1, level),
    lambda level: response(3, level),
    lambda level: response_dual(3, level),
    lambda level: exponential([0, 1], level),
    lambda level: staircase(2, level),
    lambda level: geometric_noise(level, 5),
    lambda level: planar_noise(level, 1, 5),
]


@pytest.mark.parametrize("level", [0.1, 1, "0.1", None, [1]], ids=str)
@pytest.mark.parametrize("call_index", range(len(CALLS_WITH_LEVEL)))
def test_an_invalid_level_is_refused(call_index: int, level: object) -> None:
    with pytest.raises(InputError, match="level must be made by"):
        CALLS_WITH_LEVEL[call_index](level)


CALLS_WITH_SOURCE: list[Callable[[object], object]] = [
    lambda source: geometric_noise(LEVEL, 5, source),
    lambda source: planar_noise(LEVEL, 1, 5, source),
    lambda source: draw_samples(row_sampler([1]), 5, source),
    lambda source: draw_channel(geometric(2, LEVEL).channel(), [0], source),
    lambda source: geometric(5, LEVEL).draw([1], source),
    lambda source: response(3, LEVEL).draw([1], source),
    lambda source: staircase(2, LEVEL).draw([1], source),
]


@pytest.mark.parametrize("source", [1, "seed", np.random.default_rng(1)], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("call_index", range(len(CALLS_WITH_SOURCE)))
def test_an_invalid_entropy_source_is_refused(call_index: int, source: object) -> None:
    with pytest.raises(InputError, match="source must have a method words"):
        CALLS_WITH_SOURCE[call_index](source)


@pytest.mark.parametrize("box", [(0, 0, 1), (0, 0, 1, 1, 1), (0, 0, "1/2", 1), (1, 0, 0, 1)])
def test_a_box_is_four_whole_numbers_of_steps(box: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="box"):
        planar("1/10", LEVEL, box)
