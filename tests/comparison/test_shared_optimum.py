"""One mechanism for several consumers: its price by two programs, and what it must be where theorems say so."""

import importlib
import itertools
import re
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utmost as ut
from utmost.design.privacy_program import privacy_rows
from utmost.errors import InputError
from utmost.lp import LinearProgram, certified_optimum
from utmost.polytopes import is_vertex_mechanism

HALF = ut.alpha("1/2")
PAGE = Path(__file__).parents[2] / "docs" / "several-counts.md"


def counts_space(sizes, same_people=False):
    """The points of several counts, and their space."""
    points = list(itertools.product(*map(range, sizes)))
    if same_people:
        return points, ut.space([[max(abs(a - b) for a, b in zip(p, q, strict=True)) for q in points] for p in points])
    return points, reduce(ut.spaces.product_space, map(ut.line, sizes))


def losses_of(points):
    """Losses by what a reader wants of the counts."""
    count, most = len(points[0]), max(max(point) for point in points)
    return {
        **{
            f"count {k}": ut.losses.matrix([[abs(point[k] - w) for w in range(most + 1)] for point in points])
            for k in range(count)
        },
        "total": ut.losses.matrix([[abs(sum(point) - w) for w in range(count * most + 1)] for point in points]),
        "equal": ut.losses.matrix([[int((len(set(point)) == 1) != w) for w in (1, 0)] for point in points]),
    }


def uniform_readers(points, names):
    losses = losses_of(points)
    return [ut.Consumer(ut.priors.uniform(len(points)), losses[name]) for name in names]


def price_by_tuples(space, level, consumers, alone, measure):
    """The same optimum over private channels to tuples of readings, one for each consumer: no rays, no remaps."""
    costs = [consumer.costs() for consumer in consumers]
    tuples = list(itertools.product(*(range(cost.shape[1]) for cost in costs)))
    size, width = len(space), len(tuples)
    rows, columns, values = privacy_rows(space, level, width)
    private, cells = 2 * len(space.edges) * width, np.arange(size * width)
    ends = [np.append(cells, len(cells)) for _ in consumers]
    entries = [
        np.array([*(-cost[x, chosen[r]] for x in range(size) for chosen in tuples), scale], dtype=object)
        for r, (cost, scale) in enumerate(
            zip(costs, alone if measure == "ratio" else [Fraction(1)] * len(alone), strict=True)
        )
    ]
    program = LinearProgram(
        [*([Fraction(0)] * len(cells)), Fraction(1)],
        np.concatenate(
            [rows, private + cells // width, *(np.full(len(e), private + size + r) for r, e in enumerate(ends))]
        ),
        np.concatenate([columns, cells, *ends]),
        np.concatenate([values, np.full(len(cells), Fraction(1), dtype=object), *entries]),
        [Fraction(0)] * private
        + [Fraction(1)] * size
        + [Fraction(0) if measure == "ratio" else -least for least in alone],
        (np.arange(private + size + len(costs)) >= private) & (np.arange(private + size + len(costs)) < private + size),
    )
    certificate = certified_optimum(program)
    assert certificate.exact
    return certificate.upper


CASES = [
    ((2, 2), False, "1/2", ["count 0", "total"], "ratio"),
    ((2, 2), False, "1/3", ["count 0", "count 1", "equal"], "difference"),
    ((2, 2), True, "1/4", ["count 0", "count 1", "equal"], "ratio"),
    ((3, 2), False, "1/4", ["count 0", "total"], "difference"),
]


@pytest.mark.parametrize(("sizes", "same_people", "alpha", "names", "measure"), CASES)
def test_the_price_is_that_of_the_program_over_tuples_of_readings(sizes, same_people, alpha, names, measure):
    points, space = counts_space(sizes, same_people)
    level, readers = ut.alpha(alpha), uniform_readers(points, names)
    shared = ut.shared_optimum(space, level, readers, measure=measure)
    assert shared.price == price_by_tuples(space, level, readers, shared.alone, measure)


@pytest.mark.slow
@settings(max_examples=15)
@given(data=st.data())
def test_the_price_of_random_readers_is_that_of_the_program_over_tuples(data):
    sizes, same = data.draw(st.sampled_from([((2, 2), False), ((2, 2), True), ((3,), False), ((2, 2, 2), False)]))
    points, space = counts_space(sizes, same)
    level = ut.alpha(data.draw(st.sampled_from(["1/5", "1/2", "9/10"])))
    readers = [draw_reader(data, len(points)) for _ in range(2)]
    shared = ut.shared_optimum(space, level, readers, measure="difference")
    assert shared.price == price_by_tuples(space, level, readers, shared.alone, "difference")
    assert shared.alone == tuple(ut.by_program(space, level, reader).loss for reader in readers)


def draw_reader(data, size):
    numbers = st.lists(st.integers(0, 4), min_size=size, max_size=size)
    weights = data.draw(numbers.filter(any))
    width = data.draw(st.integers(2, 3))
    rows = [data.draw(st.lists(st.integers(0, 3), min_size=width, max_size=width)) for _ in range(size)]
    return ut.Consumer(ut.priors.normalised(weights), ut.losses.matrix(rows))


@pytest.mark.parametrize("measure", ["ratio", "difference"])
def test_one_consumer_pays_nothing(measure):
    points, space = counts_space((2, 3))
    shared = ut.shared_optimum(space, HALF, uniform_readers(points, ["total"]), measure=measure)
    assert shared.price == (1 if measure == "ratio" else 0)
    assert shared.alone == shared.shared == (ut.by_program(space, HALF, shared.consumers[0]).loss,)
    assert shared.weights == (1,)


@settings(max_examples=10)
@given(data=st.data())
def test_consumers_of_one_count_pay_nothing(data):
    """GRS12 Thm 3.2: the geometric mechanism is best for all of them at once."""
    size = data.draw(st.integers(2, 5))
    numbers = st.lists(st.integers(1, 9), min_size=size, max_size=size)
    readers = [
        ut.Consumer(ut.priors.normalised(data.draw(numbers)), ut.losses.parse(name))
        for name in data.draw(
            st.lists(st.sampled_from(["absolute", "squared", "binary", "asymmetric:3,1"]), min_size=2)
        )
    ]
    level = ut.alpha(data.draw(st.sampled_from(["1/4", "1/2", "4/5"])))
    shared = ut.shared_optimum(ut.line(size), level, readers, measure="difference")
    assert shared.price == 0
    assert max(shared.prices_with(ut.geometric(size - 1, level))) == 0


@pytest.mark.parametrize("same_people", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_mechanism_is_private_and_its_weighted_price_is_beaten_by_no_other(same_people):
    points, space = counts_space((3, 3), same_people)
    level = ut.alpha("1/4")
    shared = ut.shared_optimum(space, level, uniform_readers(points, ["count 0", "count 1", "total", "equal"]))
    shared.certificate.check()
    assert shared.certificate.exact
    assert shared.price == shared.certificate.lower > 1
    assert ut.is_private(shared.channel, space, level)
    assert is_vertex_mechanism(shared.channel, space, level)
    assert sum(shared.weights) == 1
    others = [ut.by_program(space, level, reader).channel for reader in shared.consumers]
    root = ut.geometric(2, ut.alpha("1/2") if same_people else level).channel().rows
    others.append(ut.channel.channel(np.kron(root, root).tolist(), inputs=space.labels))
    others.append(ut.channel.mix(others[0], others[1], "1/2"))
    for other in others:
        assert ut.is_private(other, space, level)
        prices = shared.prices_with(other)
        assert max(prices) >= shared.price
        assert sum(w * p for w, p in zip(shared.weights, prices, strict=True)) >= shared.price


def test_the_result_is_a_table_with_a_row_for_each_consumer():
    points, space = counts_space((2, 2))
    shared = ut.shared_optimum(space, HALF, uniform_readers(points, ["count 0", "total"]))
    frame = shared.to_pandas()
    assert list(frame.columns) == ["prior", "loss", "alone", "shared", "ratio", "weight"]
    assert frame["ratio"].max() == pytest.approx(float(shared.price))
    assert repr(shared).startswith("<SharedOptimum of 2 consumers on line:2+line:2 at ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"consumers": []}, "consumers must be from 1 to 100, got 0"),
        ({"consumers": ["me"]}, "consumers must each be made by"),
        ({"measure": "sum"}, "measure must be ratio or difference, got sum"),
        ({"level": ut.epsilon(1)}, "level must have a rational alpha between 0 and 1"),
        ({"level": ut.alpha(0)}, "level must have a rational alpha between 0 and 1"),
        ({"level": ut.alpha(1)}, "level must have a rational alpha between 0 and 1"),
        (
            {"consumers": [ut.Consumer(ut.priors.uniform(4), ut.losses.matrix([[0, 1]] * 4))]},
            "ratio needs consumers who lose something at best",
        ),
    ],
)
def test_what_cannot_be_shared_exactly_is_refused(change, words):
    points, space = counts_space((2, 2))
    options = {"consumers": uniform_readers(points, ["total"]), "level": HALF, **change}
    with pytest.raises(InputError, match="^" + words):
        ut.shared_optimum(space, **options)


def test_a_region_with_too_many_vertices_is_refused(monkeypatch):
    module = importlib.import_module("utmost.comparison.shared_optimum")
    monkeypatch.setattr(module, "MAX_SHARED_VERTICES", 10)
    points, space = counts_space((3, 3))
    with pytest.raises(InputError, match=r"^space must have a region of at most 10 vertices, line:3\+line:3 has more"):
        ut.shared_optimum(space, HALF, uniform_readers(points, ["total"]))


def test_an_irrational_mechanism_has_no_exact_prices():
    shared = ut.shared_optimum(ut.line(3), HALF, [ut.Consumer(ut.priors.uniform(3), ut.losses.absolute)])
    with pytest.raises(InputError, match=r"^mechanism must have rational entries here"):
        shared.prices_with(ut.geometric(2, ut.epsilon(1)))


def page_rows():
    rows = re.findall(r"^\| ([23]), from 0 to ([12]) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(int(count), int(most), *(cell.strip() for cell in rest.split("|"))) for count, most, rest in rows]


def test_the_page_has_the_rows_that_are_tested():
    assert len(page_rows()) == 12


@pytest.mark.slow
@pytest.mark.parametrize("row", page_rows(), ids=lambda row: " ".join(map(str, row[:5])))
def test_the_table_of_the_page_is_what_is_computed(row):
    count, most, people, alpha, names, price, price_text, product_price, product_text = row
    points, space = counts_space((most + 1,) * count, people == "the same")
    chosen = [f"count {k}" for k in range(count)] + [name for name in names.split(", ") if name != "each"]
    shared = ut.shared_optimum(space, ut.alpha(alpha), uniform_readers(points, chosen))
    level = ut.alpha(str(round(float(Fraction(alpha)) ** (1 / count), 12)) if people == "the same" else alpha)
    rows = reduce(np.kron, [ut.geometric(most, level).channel().rows] * count)
    product = ut.channel.channel(rows.tolist(), inputs=space.labels)
    assert ut.is_private(product, space, ut.alpha(alpha))
    worst = max(shared.prices_with(product))
    assert (shared.price, worst) == (Fraction(price), Fraction(product_price))
    assert (f"{float(shared.price):.4f}", f"{float(worst):.4f}") == (price_text, product_text)
