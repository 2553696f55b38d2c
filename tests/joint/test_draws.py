import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from joint.tables import answered_trees
from joint.test_posterior import posterior_of
from utmost.errors import InputError
from utmost.exact import alpha
from utmost.joint.draws import cell_sum, draw_tables
from utmost.joint.laws import GeometricNoise
from utmost.joint.tree import hierarchy


def two_towns():
    law = GeometricNoise(alpha("1/2"))
    tree = hierarchy([("t",)], [("a",), ("b",), ("c",)]).with_answers(0, {(): 9}, law)
    return tree.with_answers(1, {("a",): 4, ("b",): 2, ("c",): 0}, law)


@settings(max_examples=20)
@given(tree=answered_trees())
def test_drawn_tables_add_up_and_lie_in_the_windows(tree):
    result = posterior_of(tree)
    tables = draw_tables(result, 50)
    assert tables.shape == (tree.size, 50)
    for node, parts in enumerate(tree.parts):
        low = result.windows.low[node]
        assert ((tables[node] >= low) & (tables[node] < low + len(result.laws[node]))).all()
        if parts:
            assert (tables[list(parts)].sum(axis=0) == tables[node]).all()


@pytest.mark.slow
def test_drawn_tables_have_the_law_of_the_posterior():
    result = posterior_of(two_towns())
    tables = draw_tables(result, 40_000)
    for node, law in enumerate(result.laws):
        seen = np.bincount(tables[node] - result.windows.low[node], minlength=len(law))
        common = law > 1e-3
        expected = np.append(law[common], law[~common].sum()) * 40_000
        assert stats.chisquare(np.append(seen[common], seen[~common].sum()), expected).pvalue > 1e-6


def test_a_draw_takes_its_words_from_the_source_it_is_given():
    class Zeros:
        def words(self, count):
            return np.zeros(count, dtype=np.uint64)

    result = posterior_of(two_towns())
    tables = draw_tables(result, 2, Zeros())
    assert (tables[:, 0] == tables[:, 1]).all()
    assert tables[0, 0] == result.windows.low[0]


def test_a_sum_of_cells_has_the_sum_of_means_and_ends_among_the_draws():
    result = posterior_of(two_towns())
    tables = draw_tables(result, 2000)
    found = cell_sum(result, [1, 2], tables, 0.9)
    sums = tables[[1, 2]].sum(axis=0)
    assert found.mean == pytest.approx(result.means[1] + result.means[2])
    assert (sums < found.interval[0]).mean() <= 0.05
    assert (sums > found.interval[1]).mean() <= 0.05


def test_sums_of_cells_that_overlap_are_refused():
    result = posterior_of(two_towns())
    tables = draw_tables(result, 10)
    with pytest.raises(InputError, match=r"^a sum must have cells that do not overlap, got a and its whole"):
        cell_sum(result, [0, 1], tables)
    with pytest.raises(InputError, match=r"^a sum must have cells, each once"):
        cell_sum(result, [], tables)
    with pytest.raises(InputError, match=r"^draws must be from 1 to"):
        draw_tables(result, 0)
