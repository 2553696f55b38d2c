"""The whole-number parts of loss measures against the formulas they stand for, in fractions and in balls."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import ball, ball_endpoints
from utmost.exact.working_precision import working_precision
from utmost.ledger import loss_measures
from utmost.ledger.loss_measures import LossMeasure, ball_integer, cut_tails, regrid

UNIT = 2**loss_measures.SUM_BITS
STEPS = st.fractions(Fraction(1, 10**9), Fraction(3, 2), max_denominator=10**9)


@given(step=STEPS, count=st.integers(0, 4))
def test_joined_masses_move_by_the_stated_amounts_rounded_to_the_safe_side(step, count):
    distance = step * count
    assert loss_measures._gains(step)(count) == max(math.floor((distance - distance**2 / 2) * UNIT), 0)
    need = loss_measures._needs(step)(count)
    if distance > 1:
        assert need is None
    else:
        assert need == max(math.ceil((distance + distance**2 / 2 + distance**3 / 3) * UNIT), 1)


@given(value=st.fractions(0, 1), bits=st.integers(1, 200), precision=st.sampled_from([30, 64, 300]))
def test_a_ball_becomes_whole_numbers_on_both_sides_of_it_whatever_the_precision(value, bits, precision):
    with working_precision(precision):
        interval = ball(value, precision).exp()
        low, high = ball_endpoints(interval)
        below, above = ball_integer(interval, bits, False), ball_integer(interval, bits, True)
    assert below <= low * 2**bits
    assert above >= high * 2**bits
    if precision > bits + 40:
        assert above - below <= 2


@pytest.mark.parametrize("is_upper", [True, False])
def test_cut_tails_keep_all_mass_in_place_or_on_the_safe_side(is_upper):
    from flint import fmpz_poly

    masses = [1, 5, 2**30, 7, 2**31, 0, 9, 3]
    measure = LossMeasure(Fraction(-1), Fraction(1, 2), fmpz_poly(masses), 4, 80, is_upper)
    cut = cut_tails(measure)
    assert measure.masses == fmpz_poly(masses)  # the measure itself is as it was
    assert cut.offset == 0
    if is_upper:
        assert (list(map(int, cut.masses.coeffs())), cut.infinite) == ([2**30 + 6, 7, 2**31], 16)
    else:
        assert (list(map(int, cut.masses.coeffs())), cut.infinite) == ([2**30, 7, 2**31 + 12], 4)


@given(masses=st.lists(st.integers(0, 2**80), min_size=1, max_size=9), spacing=STEPS)
def test_twice_the_spacing_is_as_splitting_each_mass_by_itself(masses, spacing):
    from flint import fmpz_poly

    split = loss_measures.place_atoms(enumerate(masses), 2, 2 * spacing, is_upper=True)
    measure = LossMeasure(Fraction(0), spacing, fmpz_poly(masses), 0, 80, True)
    doubled = regrid(measure, 2 * spacing)
    assert doubled.masses == fmpz_poly([split.get(index, 0) for index in range(len(masses) + 1)])
    assert (doubled.offset, doubled.spacing) == (0, 2 * spacing)
