"""Priors and losses from arrays, frames, dicts and functions."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import utmost as ut
from utmost.exact import number

TOWNS = ("hall", "mill", "port")
TOWN = ut.points({"hall": (0, 0), "mill": (1, 1), "port": (2, 2)})
WEIGHTS = [0.1, 0.2, 0.7]


def exact_shares(weights: list[float]) -> tuple[Fraction, ...]:
    exacts = [Fraction(weight) for weight in weights]
    return tuple(weight / sum(exacts) for weight in exacts)


def test_doubles_are_read_exactly_and_divided_by_their_exact_sum() -> None:
    consumer = ut.Consumer(np.array(WEIGHTS), "distance", space=TOWN)
    assert consumer.prior.exact() == exact_shares(WEIGHTS)
    assert sum(consumer.prior.exact()) == 1
    assert consumer.prior.name == "doubles over their exact sum"
    assert consumer.secrets == TOWNS
    exact = ut.Consumer([0.25, 0.25, 0.5], "distance", space=TOWN)
    assert exact.prior.exact() == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    assert exact.prior.name == "explicit"
    assert ut.Consumer([1, "1/2", 0], "distance", space=TOWN).prior.exact()[0] == Fraction(2, 3)


def test_labelled_weights_are_matched_by_label() -> None:
    pandas = pytest.importorskip("pandas")
    plain = ut.Consumer(WEIGHTS, "distance", space=TOWN)
    backwards = dict(zip(reversed(TOWNS), reversed(WEIGHTS), strict=True))
    sources: list[Any] = [
        backwards,
        pandas.Series(backwards),
        pandas.DataFrame({"w": backwards}),
        pandas.Series(WEIGHTS),
        lambda label: dict(zip(TOWNS, WEIGHTS, strict=True))[label],
        tuple(WEIGHTS),
    ]
    for source in sources:
        assert ut.Consumer(source, "distance", space=TOWN).prior.exact() == plain.prior.exact()
    own = ut.Consumer(backwards, ut.losses.binary)
    assert own.secrets == tuple(reversed(TOWNS))


def test_distance_is_the_metric_and_names_are_losses_of_it() -> None:
    uniform = ut.priors.uniform(3)
    assert ut.Consumer(uniform, "distance", space=TOWN) == ut.Consumer(
        uniform, ut.losses.over(ut.losses.absolute, TOWN), TOWNS
    )
    assert ut.Consumer("uniform", "squared", space=TOWN).costs()[0, 2] == Fraction(8, 3)
    assert ut.Consumer("uniform", ut.losses.absolute, space=ut.line(3)).loss == ut.losses.absolute


def test_functions_of_the_distance_take_exact_numbers_or_doubles() -> None:
    costs = {
        "square": (lambda d: d * d, Fraction(8)),
        "late": (lambda d: d > 2, Fraction(1)),
        "double": (lambda d: math.exp(float(d)), Fraction(math.exp(float(TOWN.distance(0, 2))))),
        "ufunc": (np.expm1, Fraction(float(np.expm1(float(TOWN.distance(0, 2)))))),
        "root": (lambda d: d, number("sqrt(8)")),
        "numpy": (lambda d: np.float64(0.5), Fraction(1, 2)),
    }
    for function, expected in costs.values():
        consumer = ut.Consumer([1, 1, 1], function, space=TOWN)
        assert consumer.loss.exact(0, 2) == expected


def test_functions_of_guess_and_truth_get_labels() -> None:
    table = ut.Consumer([1, 1, 1], lambda guess, truth: 2 * (truth == "mill" and guess != truth), space=TOWN)
    assert [table.loss.exact(1, w) for w in range(3)] == [2, 0, 2]
    assert table.loss.exact(0, 1) == 0
    swapped = ut.Consumer([1, 1, 1], lambda truth, guess: 2 * (truth == "mill" and guess != truth), space=TOWN)
    assert np.array_equal(swapped.costs(), table.costs())


def test_entries_are_matched_by_label_and_may_have_other_columns() -> None:
    pandas = pytest.importorskip("pandas")
    table = np.array([[0.0, 1, 2], [3, 0, 4], [5, 6, 0]])
    plain = ut.Consumer(WEIGHTS, table, space=TOWN)
    frame = pandas.DataFrame(table, index=TOWNS, columns=TOWNS)
    assert ut.Consumer(WEIGHTS, frame.loc[::-1, ::-1], space=TOWN) == plain
    actions = ut.Consumer(WEIGHTS, pandas.DataFrame(table[:, :2], index=TOWNS, columns=["stay", "go"]), space=TOWN)
    assert actions.readings(TOWNS) == ("w0", "w1")
    assert actions.loss.exact(2, 1) == 6
    doubles = ut.Consumer([1, 1, 1], [[0, 0.1, 1], [1, 0, 1], [1, 1, 0]], space=TOWN)
    assert doubles.loss.exact(0, 1) == Fraction(0.1)
    assert doubles.loss.is_exact


def test_an_optimum_of_doubles_is_certified() -> None:
    consumer = ut.Consumer(np.array(WEIGHTS), lambda d: float(d) ** 1.5, space=TOWN)
    design = ut.optimal(TOWN, ut.epsilon("ln(2)"), consumer)
    assert design.private
    assert design.certificate.gap <= design.loss / 10**9
    assert design.channel.inputs == TOWNS
    assert pickle.loads(pickle.dumps(consumer)) == consumer
    assert ut.Minimax("distance", space=TOWN).loss == ut.Consumer(WEIGHTS, "distance", space=TOWN).loss


def test_ln_of_a_number_is_a_level() -> None:
    assert ut.epsilon("ln(2)") == ut.alpha("1/2") == ut.epsilon("log(4)/2") == ut.epsilon("1/3*ln(8)")
    assert ut.epsilon("ln(1)") == ut.epsilon(0)
    for text in ("ln(1/2)", "ln(0)", "ln(-1)", "-1*ln(2)", "ln(2)/0", "1000*ln(9)", "ln(sqrt(2))", "ln(2)+1", "ln()"):
        with pytest.raises(ut.InputError):
            ut.epsilon(text)


REFUSED_PRIORS: list[tuple[Any, str]] = [
    ({"hall": 1, "mill": 1, "quay": 1}, "points: none for port and quay beyond them|none for port and quay beyond"),
    (np.zeros(3), "zeros alone"),
    ([1, math.nan, 1], "finite"),
    ([1, math.inf, 1], "finite"),
    ([1, -1, 1], "negative one for mill"),
    ([1, 1], "3 weights, one for each point of points, got 2"),
    ([], "1 to 10000001 weights"),
    (np.ones((3, 3)), "flat"),
    ([1, "a", 1], "number"),
    (lambda label: "half", "got str at hall"),
    (7, "array"),
    ("nonsense", "prior"),
    (None, "array"),
]


@pytest.mark.parametrize(("prior", "text"), REFUSED_PRIORS)
def test_a_prior_that_is_none_is_refused_in_one_line(prior: Any, text: str) -> None:
    with pytest.raises(ut.InputError, match=text) as refusal:
        ut.Consumer(prior, "distance", space=TOWN)
    assert "\n" not in str(refusal.value)


REFUSED_LOSSES: list[tuple[Any, str]] = [
    (lambda d: "far", "got str at 0"),
    (lambda d: None, "got nothing at 0"),
    (lambda d: math.nan, "finite number, got nan at 0"),
    (lambda d: -1, ">= 0, got -1 at 0"),
    (lambda d: 1 / (0 * d), "raised ZeroDivisionError at 0"),
    (lambda a, b, c: 1, "one of 3 arguments"),
    (lambda guess, truth: float("inf"), "finite number, got inf at hall, hall"),
    (lambda guess, truth: 1j, "got complex at hall, hall"),
    (np.ones((2, 3)), "3 rows, one for each secret, got 2"),
    ([[0, 1, 1], [1, 0], [1, 1, 0]], "3 entries in row 1"),
    (np.full((3, 3), np.nan), "finite"),
    ("far away", "loss must be"),
    (None, "array"),
    (3, "array"),
]


@pytest.mark.parametrize(("loss", "text"), REFUSED_LOSSES)
def test_a_loss_that_is_none_is_refused_in_one_line(loss: Any, text: str) -> None:
    with pytest.raises(ut.InputError, match=text) as refusal:
        ut.Consumer([1, 1, 1], loss, space=TOWN)
    assert "\n" not in str(refusal.value)


def test_what_needs_a_space_says_so() -> None:
    for prior, loss in (([1, 1], "distance"), ([1, 1], abs), ([1, 1], lambda guess, truth: 0), ("uniform", "absolute")):
        with pytest.raises(ut.InputError, match="space"):
            ut.Consumer(prior, loss)
    with pytest.raises(ut.InputError, match="beside space"):
        ut.Consumer([1, 1, 1], "distance", TOWNS, space=TOWN)
    with pytest.raises(ut.InputError, match="must be a Space"):
        ut.Consumer([1, 1, 1], "distance", space="line:3")  # type: ignore[arg-type]


def test_an_optimum_matches_secrets_in_another_order() -> None:
    labels = tuple(reversed(TOWNS))
    table = [[0, 1, 5], [2, 0, 1], [1, 3, 0]]
    mixed = ut.Consumer({"port": 1, "mill": 2, "hall": 3}, ut.losses.matrix(table), labels)
    straight = ut.Consumer([3, 2, 1], [row[::-1] for row in table[::-1]], space=TOWN)
    level = ut.alpha("1/2")
    assert ut.optimal(TOWN, level, mixed).loss == ut.optimal(TOWN, level, straight).loss
    assert mixed.expected_loss(ut.optimal(TOWN, level, mixed).channel) == ut.optimal(TOWN, level, mixed).loss
    with pytest.raises(ut.InputError, match="got none for port and quay beyond them"):
        ut.optimal(TOWN, level, ut.Consumer([1, 1, 1], ut.losses.binary, ["hall", "mill", "quay"]))
