"""Means from a noisy total and a noisy number of rows: the loss at face value, and ties, by exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from utmost.consumer import losses, priors
from utmost.consumer.losses import Loss
from utmost.publish.reading import number_readings
from utmost.publish.reading.estimates import Reader
from utmost.publish.reading.prior_points import Axis
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.answer_mechanisms.ratio import RatioMechanism

MECHANISM = RatioMechanism(
    GeometricLattice(Fraction(1, 10), None, None, Fraction(5), Fraction(1, 2)),
    GeometricLattice(Fraction(1, 2), 0, 40),
)
AXIS = Axis(Fraction(0), Fraction(1), 11)


@pytest.mark.parametrize("loss", [losses.absolute, losses.squared, losses.asymmetric(2, 1), losses.power("1.5")])
@pytest.mark.parametrize("value", [Fraction(10, 3), Fraction(7, 2), Fraction(-1, 4), Fraction(4)])
def test_the_loss_at_face_value_is_that_of_the_ratio_itself(loss: Loss, value: Fraction) -> None:
    reader = Reader(AXIS, priors.uniform(11), loss, 0.95)
    posterior = reader.after(number_readings.ratio_likelihood(reader, MECHANISM, (-60, 20)))
    reading = number_readings.read_ratio(reader, MECHANISM, (-60, 20), value)
    truths = [AXIS.value(k) for k in range(AXIS.size)]
    gaps = [float(loss.array(float(truth), float(value))) for truth in truths]  # points are one unit apart
    assert reading.loss is not None
    assert reading.loss.face_value == pytest.approx(float(posterior @ np.array(gaps)), rel=1e-12)
    best = min(float(posterior @ loss.array(np.arange(11), w)) for w in range(11))
    assert reading.loss.expected == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize(
    ("first", "step", "unit"),
    [("0", "1/10", "1/20"), ("1/3", "1/7", "1/6"), ("-2", "1/2", "1"), ("5", "1/1000", "1/2")],
)
def test_the_total_nearest_to_a_mean_times_its_rows_is_exact(first: str, step: str, unit: str) -> None:
    axis = Axis(Fraction(first), Fraction(step), 40)
    mechanism = RatioMechanism(
        GeometricLattice(Fraction(1), None, None, Fraction(1, 2), Fraction(unit)), GeometricLattice(Fraction(1), 0, 60)
    )
    rows = np.arange(1.0, 61.0)
    totals = number_readings._nearest_totals(axis, mechanism, range(3, 40), rows)
    exact = [[round(r * (axis.value(k) - Fraction(1, 2)) / Fraction(unit)) for r in range(1, 61)] for k in range(3, 40)]
    assert totals.tolist() == exact
