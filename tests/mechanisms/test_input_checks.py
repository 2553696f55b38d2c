"""Data that is refused is not repeated, and levels and sources are checked at the door."""

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
from utmost.mechanisms.input_checks import check_exact_number
from utmost.noise import draw_channel, draw_samples, geometric_noise, row_sampler
from utmost.noise.planar import planar_noise

ONE = epsilon(1)
GRID = laplace(0, 100, "1/2", 1, ONE)
WALK = planar("1/10", ONE)
SECRETS = [4277.125, np.float32(4277.5), "4277 people", "4277..5", "1/0+4277", "4277*exp(1)", Decimal("NaN4277")]
DOORS: list[Callable[[object], object]] = [
    lambda x: GRID.answer(x),
    lambda x: GRID.draw([x]),
    lambda x: GRID.law(x),
    lambda x: GRID.position(x),
    lambda x: WALK.position((0, x)),
    lambda x: WALK.position([x]),
    lambda x: WALK.draw([(0, x)]),
    lambda x: exponential([x, 1], ONE),
    lambda x: exponential([[0, 1], [1, x]], ONE),
    lambda x: exponential([0, 1], ONE).draw([x]),
    lambda x: geometric(5, ONE).draw([x]),
    lambda x: geometric(5, ONE).law(x),
    lambda x: response(3, ONE).draw([x]),
    lambda x: staircase(2, ONE).draw([x]),
]


@pytest.mark.parametrize("secret", SECRETS, ids=str)
@pytest.mark.parametrize("door", range(len(DOORS)))
def test_a_refusal_never_repeats_the_secret(door: int, secret: object) -> None:
    with pytest.raises(InputError) as refused:
        DOORS[door](secret)
    error: BaseException | None = refused.value
    while error is not None:
        assert "4277" not in str(error)
        error = error.__cause__ or error.__context__


@given(st.floats(), st.text())
def test_a_refusal_is_the_same_for_everything_of_a_kind(number: float, text: str) -> None:
    for value, words in ((number, "got a float: write it as text"), (f"x{text}", "got text that is not one")):
        with pytest.raises(InputError) as refused:
            check_exact_number(value, "score")
        assert str(refused.value) == f'score must be an exact number such as 3, "1/2" or "41.5", {words}'


def test_irrational_data_is_refused_by_its_kind() -> None:
    with pytest.raises(InputError, match=r"got Real$"):
        check_exact_number(irrational(1))


LEVELED: list[Callable[[object], object]] = [
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
@pytest.mark.parametrize("maker", range(len(LEVELED)))
def test_what_is_no_level_is_refused_at_the_door(maker: int, level: object) -> None:
    with pytest.raises(InputError, match="level must be made by"):
        LEVELED[maker](level)


DRAWS: list[Callable[[object], object]] = [
    lambda source: geometric_noise(ONE, 5, source),
    lambda source: planar_noise(ONE, 1, 5, source),
    lambda source: draw_samples(row_sampler([1]), 5, source),
    lambda source: draw_channel(geometric(2, ONE).channel(), [0], source),
    lambda source: geometric(5, ONE).draw([1], source),
    lambda source: response(3, ONE).draw([1], source),
    lambda source: staircase(2, ONE).draw([1], source),
]


@pytest.mark.parametrize("source", [1, "seed", np.random.default_rng(1)], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("maker", range(len(DRAWS)))
def test_what_is_no_source_of_words_is_refused_at_the_door(maker: int, source: object) -> None:
    with pytest.raises(InputError, match="source must have a method words"):
        DRAWS[maker](source)


@pytest.mark.parametrize("box", [(0, 0, 1), (0, 0, 1, 1, 1), (0, 0, "1/2", 1), (1, 0, 0, 1)])
def test_a_box_is_four_whole_numbers_of_steps(box: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="box"):
        planar("1/10", ONE, box)
