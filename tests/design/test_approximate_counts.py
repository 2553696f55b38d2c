"""(ε, δ) for a count: the theorem of canonical noise against certified programs that know nothing of it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from strategies import monotone_rows, weights
from utmost.channel import Channel, channel
from utmost.consumer import Consumer, Minimax, losses, priors
from utmost.design import optimal
from utmost.design.approximate_counts import (
    approximate_optimum,
    approximate_program,
    canonical_channel,
    closer_remap,
    fine_channel,
    least_delta,
)
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.lp import LinearProgram, certified_optimum
from utmost.mechanisms import geometric
from utmost.noise.canonical import canonical_law
from utmost.spaces import line

HALF = alpha("1/2")
TIGHT = (("1/2", "1/10"), ("1/2", "1/4"), ("1/2", "1/22"), ("1/3", "1/17"))
OTHER = (("1/2", "1/20"), ("1/3", "1/10"), ("3/4", "1/20"), ("1/5", "1/3"), ("1/100", "9/10"))
LOSSES = (losses.absolute, losses.squared, losses.binary)


def skewed(points: int) -> Consumer:
    """Everything but the first count is unlikely; the count itself is wanted."""
    return Consumer(
        priors.explicit([Fraction(1, 8**x) / sum(Fraction(1, 8**z) for z in range(points)) for x in range(points)]),
        losses.binary,
    )


@st.composite
def consumers(draw: st.DrawFn, max_points: int = 4) -> Consumer:
    points = draw(st.integers(2, max_points))
    table = draw(monotone_rows(points, False, draw(st.booleans())))
    loss = draw(st.sampled_from([*LOSSES, losses.matrix(table)]))
    return Consumer(priors.explicit(draw(weights(points))), loss)


@st.composite
def privacies(draw: st.DrawFn) -> tuple[Level, Fraction]:
    return alpha(Fraction(draw(st.integers(1, 9)), 10)), Fraction(1, draw(st.integers(2, 60)))


@given(consumers(), privacies())
@settings(max_examples=60)
def test_canonical_noise_in_thirds_is_optimal_for_every_consumer(
    consumer: Consumer, privacy: tuple[Level, Fraction]
) -> None:
    best = approximate_optimum(*privacy, consumer)
    assert best.certificate.gap == 0
    assert consumer.expected_loss(fine_channel(consumer.prior.size - 1, *privacy)) == best.loss


@pytest.mark.parametrize(("privacy", "points", "loss"), list(product(TIGHT, (2, 3, 5), LOSSES)))
def test_integer_noise_is_optimal_where_it_uses_delta_up(
    privacy: tuple[str, str], points: int, loss: losses.Loss
) -> None:
    level, delta = alpha(privacy[0]), Fraction(privacy[1])
    assert canonical_law(level, delta).is_tight
    for prior in (priors.uniform(points), skewed(points).prior):
        consumer = Consumer(prior, loss)
        assert consumer.expected_loss(canonical_channel(points - 1, level, delta)) == (
            approximate_optimum(level, delta, consumer).loss
        )


@pytest.mark.parametrize(("privacy", "points"), list(product(OTHER, (2, 3, 4))))
def test_elsewhere_a_consumer_with_a_skewed_prior_gains(privacy: tuple[str, str], points: int) -> None:
    level, delta = alpha(privacy[0]), Fraction(privacy[1])
    law = canonical_law(level, delta)
    assert law.last is not None
    assert not law.is_tight
    assert law.tail(law.last - 1) < delta
    odds = Fraction(2) / Fraction(level.alpha)
    total = sum(odds**-x for x in range(points))
    consumer = Consumer(priors.explicit([odds**-x / total for x in range(points)]), losses.binary)
    best = approximate_optimum(level, delta, consumer)
    assert best.loss < consumer.expected_loss(canonical_channel(points - 1, level, delta))
    assert best.loss == consumer.expected_loss(fine_channel(points - 1, level, delta))


@given(privacies(), st.integers(1, 400))
def test_two_counts_are_decided_by_three_corners(privacy: tuple[Level, Fraction], hundredths: int) -> None:
    level, delta = privacy
    odds = Fraction(hundredths, 100) / Fraction(level.alpha)
    prior = [odds / (1 + odds), 1 / (1 + odds)]
    consumer = Consumer(priors.explicit(prior), losses.binary)
    middle = Fraction(canonical_law(level, delta).tail(0))
    corners = [(Fraction(0), Fraction(0)), (Fraction(0), delta), (middle, 1 - middle), (1 - delta, Fraction(1))]
    corners.append((Fraction(1), Fraction(1)))
    expected = min(prior[0] * a + prior[1] * (1 - b) for a, b in corners)
    with_fine = consumer.expected_loss(fine_channel(1, level, delta))
    with_integers = consumer.expected_loss(canonical_channel(1, level, delta))
    assert approximate_optimum(level, delta, consumer).loss == expected == with_fine
    beyond = odds > 1 / Fraction(level.alpha) or odds < Fraction(level.alpha)
    assert (with_integers > with_fine) == (beyond and not canonical_law(level, delta).is_tight)


@st.composite
def private_channels(draw: st.DrawFn) -> tuple[Channel, Level, Fraction]:
    """Extreme private channels, of any costs, good or bad."""
    level, delta = draw(privacies())
    points = draw(st.integers(2, 4))
    rows = [[Fraction(draw(st.integers(-3, 3))) for _ in range(points)] for _ in range(points)]
    certificate = certified_optimum(approximate_program(level, delta, np.array(rows, dtype=object)))
    entries = np.array(certificate.proof.x[: points**2], dtype=object).reshape(points, points)
    return channel(entries.tolist()), level, delta


@given(private_channels())
@settings(max_examples=60)
def test_the_remap_of_the_proof_is_nearer_at_every_count(case: tuple[Channel, Level, Fraction]) -> None:
    mechanism, level, delta = case
    size = len(mechanism.inputs) - 1
    remap = closer_remap(mechanism, level, delta)
    assert min(remap.rows.ravel()) >= 0
    assert np.all(remap.rows.sum(axis=1) == 1)
    remapped = fine_channel(size, level, delta).then(remap)
    assert least_delta(remapped, level) <= delta
    for i, t in product(range(size + 1), range(1, size + 1)):
        before, after = mechanism.rows[i, t:].sum(), remapped.rows[i, t:].sum()
        assert after >= before if t <= i else after <= before


@given(consumers(3), privacies())
@settings(max_examples=15)
def test_floats_find_the_same_least_loss(consumer: Consumer, privacy: tuple[Level, Fraction]) -> None:
    """The program written down again, dense and in floats: every event of every pair is a constraint."""
    level, delta = privacy
    points = consumer.prior.size
    events = list(product((0, 1), repeat=points))
    constraints = []
    neighbours = [(x, z) for x in range(points) for z in (x - 1, x + 1) if 0 <= z < points]
    for (x, z), event in product(neighbours, events):
        row = np.zeros((points, points))
        row[x], row[z] = event, -np.array(event) / float(level.alpha)
        constraints.append(row.ravel())
    sums = np.kron(np.eye(points), np.ones(points))
    costs = consumer.costs().astype(float).ravel()
    found = linprog(costs, constraints, [float(delta)] * len(constraints), sums, np.ones(points))
    assert float(approximate_optimum(level, delta, consumer).loss) == pytest.approx(found.fun, abs=1e-9)


@pytest.mark.parametrize("points", [2, 3, 5])
@pytest.mark.parametrize("loss", LOSSES)
def test_without_delta_the_program_is_that_of_pure_privacy(points: int, loss: losses.Loss) -> None:
    consumer = Consumer(priors.uniform(points), loss)
    best = approximate_optimum(HALF, 0, consumer)
    assert best.loss == optimal(line(points), HALF, consumer).loss
    assert best.loss == consumer.expected_loss(geometric(points - 1, HALF))


def least_worst_loss(level: Level, delta: Fraction, loss: npt.NDArray[np.object_]) -> Fraction:
    """The least max_x Σ_w ℓ(x,w)·C[x,w]: the program with one more variable t ≥ each of these sums."""
    base = approximate_program(level, delta, loss)
    (count, width), cells, points = base.shape, np.arange(loss.size), len(loss)
    program = LinearProgram(
        [Fraction(0)] * width + [Fraction(1)],
        np.concatenate([base.rows, count + cells // points, count + np.arange(points)]),
        np.concatenate([base.columns, cells, np.full(points, width)]),
        np.concatenate([base.values, [-Fraction(value) for value in loss.ravel()], [Fraction(1)] * points]),
        [*base.rhs, *[Fraction(0)] * points],
        np.concatenate([base.equality, np.zeros(points, dtype=bool)]),
    )
    certificate = certified_optimum(program)
    assert certificate.gap == 0
    return certificate.upper


@given(privacies(), st.data())
@settings(max_examples=20)
def test_a_consumer_without_a_prior_gains_from_no_other_mechanism(
    privacy: tuple[Level, Fraction], data: st.DataObject
) -> None:
    rows = data.draw(monotone_rows(data.draw(st.integers(2, 3)), False, False))
    reading = Minimax(losses.matrix(rows)).reading(fine_channel(len(rows) - 1, *privacy))
    assert reading.loss == least_worst_loss(*privacy, np.array(rows, dtype=object))


def test_a_loss_that_is_not_monotone_can_need_another_mechanism() -> None:
    """Is the count odd: the truth and its complement are told by other mechanisms."""
    parity = losses.matrix([[abs(x - w) % 2 for w in range(3)] for x in range(3)])
    consumer = Consumer(priors.explicit(["1/4", "1/2", "1/4"]), parity)
    best = approximate_optimum(HALF, "1/10", consumer)
    assert best.certificate.gap == 0
    assert best.loss < consumer.expected_loss(fine_channel(2, HALF, "1/10"))


@pytest.mark.parametrize(("privacy", "size"), list(product((*TIGHT, *OTHER), (1, 4))))
def test_both_channels_have_exactly_delta_and_round_to_each_other(privacy: tuple[str, str], size: int) -> None:
    level, delta = alpha(privacy[0]), Fraction(privacy[1])
    fine, coarse = fine_channel(size, level, delta), canonical_channel(size, level, delta)
    assert least_delta(fine, level) == least_delta(coarse, level) == delta
    for x in range(size + 1):
        totals = dict.fromkeys(coarse.outputs, Fraction(0))
        for z, mass in zip(fine.outputs, fine.rows[x], strict=True):
            if mass:
                totals[(int(z) + 1) // 3] += mass
        assert list(totals.values()) == coarse.rows[x].tolist()


def test_what_cannot_be_asked_is_refused() -> None:
    consumer = Consumer(priors.uniform(3), losses.absolute)
    with pytest.raises(InputError, match="alpha"):
        approximate_optimum(epsilon(1), "1/10", consumer)
    with pytest.raises(InputError, match="delta"):
        approximate_optimum(HALF, 1, consumer)
    with pytest.raises(InputError, match="at most"):
        approximate_optimum(HALF, "1/10", Consumer(priors.uniform(30), losses.absolute))
    with pytest.raises(InputError, match="delta must be > 0"):
        canonical_channel(3, HALF, 0)
    with pytest.raises(InputError, match="size"):
        fine_channel(-1, HALF, "1/10")
    with pytest.raises(InputError, match="private"):
        closer_remap(channel([[1, 0], [0, 1]]), HALF, "1/10")
