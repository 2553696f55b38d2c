from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from joint.tables import answered_trees, list_tables
from utmost.errors import InputError
from utmost.joint.least_squares import least_squares
from utmost.joint.partial_sums import partial_sums
from utmost.joint.posterior import posterior
from utmost.joint.prior import Divisions
from utmost.joint.windows import windows

MISS = Fraction(1, 1000)  # small windows, so that all tables within them can be listed


def posterior_of(tree, a=Fraction(1), miss=MISS):
    try:
        within = windows(partial_sums(tree), miss)
        return posterior(within, Divisions(a), least_squares(tree))
    except InputError as error:  # answers that are far apart are of two tables
        assume("one table" not in str(error))
        raise


def small(result):
    size = np.prod([float(len(result.laws[leaf])) for leaf in result.tree.leaves])
    assume(size < 60_000)
    return result


@settings(max_examples=40)
@given(tree=answered_trees(), a=st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(5, 2)]))
def test_the_posterior_is_that_of_listing_every_table(tree, a):
    result = small(posterior_of(tree, a))
    listed = list_tables(result.windows, float(a))
    for node, law in enumerate(result.laws):
        expected = listed.law(node, result.windows.low[node], len(law))
        np.testing.assert_allclose(law, expected, rtol=0, atol=1e-12)


@settings(max_examples=20)
@given(tree=answered_trees())
def test_means_of_parts_add_up_and_deviations_are_those_of_the_laws(tree):
    result = posterior_of(tree)
    for node, parts in enumerate(tree.parts):
        if parts:
            assert result.means[list(parts)].sum() == pytest.approx(result.means[node], abs=1e-9)
        counts = result.windows.low[node] + np.arange(len(result.laws[node]))
        variance = result.laws[node] @ counts**2 - result.means[node] ** 2
        assert result.deviations[node] ** 2 == pytest.approx(variance, abs=1e-8)


@settings(max_examples=20)
@given(tree=answered_trees(), coverage=st.sampled_from([0.5, 0.9, 0.95]))
def test_intervals_leave_at_most_half_of_the_rest_to_each_side(tree, coverage):
    result = posterior_of(tree)
    for node, (low, high) in enumerate(result.intervals(coverage)):
        law, first = result.laws[node], result.windows.low[node]
        assert law[: low - first].sum() <= (1 - coverage) / 2 + 1e-12
        assert law[high - first + 1 :].sum() <= (1 - coverage) / 2 + 1e-12


@settings(max_examples=15)
@given(tree=answered_trees(), a=st.sampled_from([Fraction(1, 3), Fraction(4)]))
def test_evidence_ratios_of_priors_are_those_of_listing_every_table(tree, a):
    uniform, other = small(posterior_of(tree)), posterior_of(tree, a)
    ratio = listed_evidence(other.windows, float(a)) - listed_evidence(uniform.windows, 1.0)
    assert other.log_evidence - uniform.log_evidence == pytest.approx(ratio, abs=1e-9)


def listed_evidence(within, a):
    from joint.tables import log_weight

    listed = list_tables(within, a)
    tree = within.sums.tree
    logs = sum(log_weight(tree, within.sums, node, listed.tables, a) for node in range(tree.size))
    return float(np.logaddexp.reduce(logs))


@settings(max_examples=15)
@given(tree=answered_trees())
def test_public_counts_are_certain(tree):
    result = posterior_of(tree)
    for node, total in tree.totals.items():
        low = result.windows.low[node]
        assert low == result.windows.high[node] == total
        assert result.laws[node].tolist() == [1.0]
