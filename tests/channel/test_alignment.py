"""Channels are matched by label: in whatever order the rows of a channel stand, every result is the same."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

import utmost as ut
from utmost import qif
from utmost.axioms.definition import parse_relation
from utmost.axioms.generality import equivalent
from utmost.axioms.utility_measures import remap_counterexample
from utmost.channel import Channel, align_inputs, channel
from utmost.consumer import losses, priors
from utmost.design.universal import universally_optimal
from utmost.errors import InputError
from utmost.qif.leakage_measures import bayes, guessing, leakage
from utmost.qif.transport import hyper_distance, refining_move
from utmost.spaces import parse_space

HALF = ut.alpha("1/2")
PRIOR = priors.parse("1/2,1/4,1/8,1/8", 4)
GRID = parse_space("grid:2x2")
COUNTS = ut.geometric(3, HALF).channel()
PLACES = channel(
    [
        ["1/2", "1/4", "1/8", "1/8"],
        ["1/4", "1/2", "1/8", "1/8"],
        ["1/8", "1/8", "1/2", "1/4"],
        ["1/8", "1/8", "1/4", "1/2"],
    ],
    GRID.labels,
    GRID.labels,
)
ON_GRID = ut.Consumer(PRIOR, losses.over(losses.absolute, GRID))
ON_COUNTS = ut.Consumer(PRIOR, losses.absolute)
NAMED = ut.Consumer(PRIOR, losses.binary, GRID.labels)
MINIMAX = ut.Minimax(losses.over(losses.squared, parse_space("grid:2x2:manhattan")))
POST = channel([["1/2", "1/2"], ["1/3", "2/3"], [1, 0], [0, 1]], COUNTS.outputs)

RESULTS: dict[str, tuple[Channel, Callable[[Channel], Any]]] = {
    "expected loss of a loss over a space": (PLACES, ON_GRID.expected_loss),
    "expected loss of named secrets": (PLACES, NAMED.expected_loss),
    "expected loss of counts": (COUNTS, ON_COUNTS.expected_loss),
    "face value": (PLACES, ON_GRID.face_value_loss),
    "remap": (COUNTS, ON_COUNTS.remap),
    "posterior": (PLACES, lambda c: list(NAMED.posterior(c, "0,1"))),
    "induced": (COUNTS, ON_COUNTS.induced),
    "worst loss": (PLACES, MINIMAX.worst_loss),
    "minimax reading": (PLACES, lambda c: MINIMAX.reading(c).loss),
    "hyper": (COUNTS, lambda c: (qif.hyper(PRIOR, c).outers, qif.hyper(PRIOR, c).inners.tolist())),
    "leakage": (COUNTS, lambda c: leakage(bayes, PRIOR, c)),
    "guesses": (COUNTS, lambda c: guessing.posterior(PRIOR, c)),
    "uncertainty of a loss over a space": (
        PLACES,
        lambda c: qif.posterior_uncertainty(PRIOR, losses.over(losses.absolute, GRID), c),
    ),
    "uncertainty of counts": (COUNTS, lambda c: qif.posterior_uncertainty(PRIOR, losses.absolute, c)),
    "distance of hypers": (
        COUNTS,
        lambda c: hyper_distance(qif.hyper(PRIOR, c), qif.hyper(PRIOR, COUNTS), [0, 1, 2, 3]).cost,
    ),
    "refining move": (COUNTS, lambda c: refining_move(PRIOR, c, POST, [0, 1, 2, 3]).cost),
    "capacity": (PLACES, lambda c: qif.capacity(c).additive.value),
    "refinement": (PLACES, lambda c: (ut.refinement(c, PLACES).refines, ut.refinement(PLACES, c).post_processing)),
    "least epsilon": (PLACES, lambda c: ut.least_epsilon(c, GRID).ratio),
    "equivalence": (PLACES, lambda c: equivalent(c, PLACES)),
    "generality": (COUNTS, lambda c: bool(ut.maximally_general(c, ut.line(4), HALF))),
    "satisfaction": (
        COUNTS,
        lambda c: ut.satisfaction(c, ut.definition_of("alpha:2/3", parse_relation("line:4"))).excess,
    ),
    "derivation": (COUNTS, lambda c: ut.derivation(c, ut.alpha("1/3")).value),
    "universal optimality": (COUNTS, lambda c: universally_optimal(ut.line(4), HALF, losses.absolute, c).optimal),
    "counterexample": (
        COUNTS,
        lambda c: remap_counterexample(c, ut.Consumer(priors.parse("1/8,3/4,1/16,1/16", 4), losses.absolute)).before,
    ),
    "mixture": (PLACES, lambda c: ut.mix(PLACES, c, "1/3")),
    "choice": (PLACES, lambda c: ut.choice(PLACES, c, "1/3")),
    "what comes before": (COUNTS, COUNTS.then),
}


def orders(source: Channel) -> list[Channel]:
    """The channel with its rows in some other orders, its labels with them, and its labels as text."""
    some = list(permutations(source.inputs))[1::7]
    reordered = [source.restrict(order) for order in some]
    return [*reordered, *(Channel(tuple(map(str, c.inputs)), c.outputs, c.rows) for c in reordered[:2])]


@pytest.mark.parametrize("name", RESULTS)
def test_no_result_depends_on_the_order_of_the_rows(name: str) -> None:
    source, result = RESULTS[name]
    expected = result(source)
    for reordered in orders(source):
        other = result(reordered)
        assert list(other.rows.flat) == list(expected.rows.flat) if isinstance(other, Channel) else other == expected


def test_a_float_channel_can_be_read_with_an_irrational_loss() -> None:
    floats = Channel(PLACES.inputs, PLACES.outputs, PLACES.floats())
    assert ON_GRID.expected_loss(floats) == pytest.approx(float(ON_GRID.expected_loss(PLACES)))
    assert ON_GRID.remap(floats) == ON_GRID.remap(PLACES)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ON_COUNTS.expected_loss(PLACES),
        lambda: ON_GRID.expected_loss(COUNTS),
        lambda: NAMED.expected_loss(channel(PLACES.rows, ["0,0", "0,1", "1,0", "elsewhere"])),
        lambda: align_inputs(COUNTS, ["a", "b", "c", "d"]),
        lambda: ut.least_epsilon(COUNTS, GRID),
        lambda: COUNTS.then(channel([[1], [1], [1], [1]], "abcd")),
        lambda: ut.mix(COUNTS, PLACES, "1/2"),
        lambda: ut.choice(COUNTS, PLACES, "1/2"),
        lambda: ut.refinement(COUNTS, PLACES),
        lambda: equivalent(COUNTS, PLACES),
        lambda: qif.posterior_uncertainty(PRIOR, losses.over(losses.absolute, GRID), COUNTS),
        lambda: ut.optimal(ut.line(4), HALF, ON_GRID),
        lambda: ut.Consumer(PRIOR, losses.over(losses.absolute, GRID), "abcd"),
        lambda: ut.Consumer(PRIOR, losses.binary, "aabc"),
        lambda: ut.Consumer(PRIOR, losses.binary, 4),  # type: ignore[arg-type]
    ],
)
def test_labels_that_do_not_match_are_refused_in_one_line(call: Callable[[], Any]) -> None:
    with pytest.raises(InputError) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_a_refusal_names_the_labels_that_are_missing() -> None:
    with pytest.raises(InputError, match="got none called elsewhere"):
        align_inputs(PLACES, ["0,0", "0,1", "1,0", "elsewhere"])


def test_labels_that_differ_as_values_alone_are_not_confused() -> None:
    source = Channel((0, "0"), ("a", "b"), [["1/3", "2/3"], ["2/3", "1/3"]])
    assert align_inputs(source, ["0", 0]).rows[0, 0] == Fraction(2, 3)
    with pytest.raises(InputError):
        align_inputs(source, ["0", "1"])
