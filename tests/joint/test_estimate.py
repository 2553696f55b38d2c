from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from joint.tables import answered_trees
from utmost.errors import InputError
from utmost.exact import alpha
from utmost.joint import Divisions, GeometricNoise, estimate_table, hierarchy
from utmost.noise import geometric_noise
from utmost.reports.joint_estimate import figure

CELLS = [("n", "a"), ("n", "b"), ("s", "c")]


def answered():
    law = GeometricNoise(alpha("1/2"))
    tree = hierarchy([("region",), ("region", "town")], CELLS).with_answers(0, {(): 12}, law)
    tree = tree.with_answers(1, {("n",): 7, ("s",): 4}, law)
    return tree.with_answers(2, {("n", "a"): 5, ("n", "b"): 0, ("s", "c"): 6}, law)


def test_every_reading_is_by_key():
    estimate = estimate_table(answered(), loss="squared")
    assert estimate.mean["n",] == pytest.approx(estimate.mean["n", "a"] + estimate.mean["n", "b"])
    assert estimate.table["n",] == estimate.table["n", "a"] + estimate.table["n", "b"]
    low, high = estimate.interval[()]
    assert low <= estimate.mean[()] <= high
    gls = estimate.gls
    assert gls["n",].value == gls["n", "a"].value + gls["n", "b"].value
    assert gls["n", "b"].variance < 4
    assert estimate.left_out == Fraction(1, 10**10)
    assert estimate.sum([("n", "a"), ("s", "c")]).mean == pytest.approx(
        estimate.mean["n", "a"] + estimate.mean["s", "c"]
    )
    assert set(estimate.draws(7)) == set(estimate.tree.keys)
    assert repr(estimate) == "<TableEstimate of 6 counts: prior divisions, loss squared>"


def test_an_estimate_is_a_table_with_a_row_for_each_count():
    frame = estimate_table(answered()).to_pandas()
    assert list(frame["level"]) == ["total", "region", "region", *["region, town"] * 3]
    assert list(frame.columns[:5]) == ["level", "region", "town", "answer", "mean"]
    assert (frame["low"] <= frame["best"]).all()
    assert (frame["best"] <= frame["high"]).all()


def test_the_evidence_prefers_few_large_parts_where_a_few_are_large():
    law = GeometricNoise(alpha("1/2"))
    cells = [(town,) for town in range(12)]
    uneven = hierarchy([("t",)], cells).with_answers(1, {(t,): 90 if t == 3 else 0 for t in range(12)}, law)
    even = hierarchy([("t",)], cells).with_answers(1, {(t,): 30 for t in range(12)}, law)
    assert estimate_table(uneven, "divisions:evidence").prior.a < 1
    assert estimate_table(even, "divisions:evidence").prior.a > 1


def test_repeats_multiply_their_likelihoods():
    law, tree = GeometricNoise(alpha("1/2"), None), hierarchy([("t",)], [("a",), ("b",)])
    twice = tree.with_answers(1, {("a",): 20, ("b",): 9}, law).with_answers(1, {("a",): 22, ("b",): 9}, law)
    estimate = estimate_table(twice)
    assert estimate.mean["a",] == pytest.approx(21, abs=0.2)
    once = estimate_table(tree.with_answers(1, {("a",): 21, ("b",): 9}, law))
    assert np.diff(estimate.interval["a",]) < np.diff(once.interval["a",])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prior": "uniform"}, "prior must be divisions, divisions:a or divisions:evidence"),
        ({"prior": "divisions:0"}, "prior divisions:a must have an a from 1/1000 to 1000"),
        ({"prior": "divisions:"}, "prior must be divisions"),
        ({"coverage": 1.0}, "coverage must be strictly between 0 and 1"),
        ({"left_out": 0}, "miss must be strictly between 0 and 1"),
    ],
)
def test_readers_that_are_none_are_refused(options, words):
    with pytest.raises(InputError, match="^" + words):
        estimate_table(answered(), **options)


@settings(max_examples=10)
@given(tree=answered_trees())
def test_narrower_windows_change_no_more_than_what_they_leave_out(tree):
    try:
        wide, narrow = (estimate_table(tree, left_out=miss) for miss in ("1e-14", "1e-9"))
    except InputError:  # of two tables
        return
    for key, mean in wide.mean.items():
        assert mean == pytest.approx(narrow.mean[key], abs=1e-4)


@pytest.mark.slow
def test_intervals_hold_tables_of_the_prior_as_often_as_they_say():
    """Tables drawn from the prior with totals from 0 to 200, and answered: coverage is the stated mass or more."""
    rng, level = np.random.default_rng(5), alpha("2/3")
    law, tree = GeometricNoise(level), hierarchy([("r",), ("r", "t")], [(r, t) for r in "ab" for t in range(5)])
    held, mass, runs = 0, 0.0, 60
    for _ in range(runs):
        truth = drawn_table(tree, rng)
        noisy = np.maximum(truth + geometric_noise(level, tree.size), 0)
        answered = tree
        for depth in range(3):
            values = {tree.keys[v]: int(noisy[v]) for v in tree.level_nodes(depth)}
            answered = answered.with_answers(depth, values, law)
        estimate = estimate_table(answered, Divisions(), coverage=0.9)
        for node, (low, high) in enumerate(estimate.interval.values()):
            held += low <= truth[node] <= high
            first = estimate.posterior.windows.low[node]
            mass += estimate.posterior.laws[node][low - first : high - first + 1].sum()
    expected = mass / (runs * tree.size)
    assert held / (runs * tree.size) >= expected - 4 * np.sqrt(expected * (1 - expected) / (runs * 6))


def drawn_table(tree, rng):
    """The total uniform, each count divided with all divisions equally likely: bars among stars."""
    truth = np.zeros(tree.size, dtype=int)
    truth[0] = rng.integers(0, 201)
    for node, parts in enumerate(tree.parts):
        if parts:
            places = np.sort(rng.choice(truth[node] + len(parts) - 1, len(parts) - 1, replace=False))
            ends = np.concatenate([[-1], places, [truth[node] + len(parts) - 1]])
            truth[list(parts)] = np.diff(ends) - 1
    return truth


def test_a_notebook_shows_the_counts_and_a_chart(tmp_path):
    estimate = estimate_table(answered())
    html = estimate._repr_html_()
    assert "region, town" in html
    assert "1e-10" in html
    estimate.plot().save(tmp_path / "table.svg")
    assert "posterior mean" in (tmp_path / "table.svg").read_text()


def test_a_level_of_many_cells_is_drawn_as_points():
    law = GeometricNoise(alpha("1/2"))
    cells = [(f"r{town // 60}", town) for town in range(120)]
    tree = hierarchy([("r",), ("r", "t")], cells).with_answers(2, {cell: cell[1] % 7 for cell in cells}, law)
    estimate = estimate_table(tree)
    chart = estimate.plot().chart.to_dict()
    titles = [panel["title"]["text"] for panel in chart["vconcat"]]
    assert titles == ["total", "r", "r, t"]
    rows = [values_of(chart, layer) for layer in chart["vconcat"][2]["layer"]]
    assert [(row["released"], row["estimate"]) for row in rows[1]] == [
        (cell[1] % 7, estimate.mean[cell]) for cell in cells
    ]
    assert rows[0][-1]["released"] == rows[0][-1]["estimate"] == max(6, *(estimate.mean[cell] for cell in cells))
    only = figure(estimate, 1).to_dict()
    assert [row["name"] for row in values_of(only, only)] == ["r0", "r1"]


def values_of(chart, layer):
    """The rows of a layer, in the chart's datasets."""
    return chart["datasets"][layer["data"]["name"]]
