"""Products, multiples and parts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product as tuples

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import small_spaces
from utmost.errors import InputError
from utmost.exact import number
from utmost.spaces import (
    Space,
    cycle,
    discrete,
    grid,
    hamming,
    line,
    parse_space,
    product_space,
    scale_space,
    space,
    sub_space,
)


@given(small_spaces(2), small_spaces(2))
@settings(max_examples=40, deadline=None)
def test_distances_of_a_product_add(first: Space, second: Space) -> None:
    product = product_space(first, second)
    assert product.labels == tuple(f"{a}|{b}" for a in first.labels for b in second.labels)
    pairs = list(tuples(range(len(first)), range(len(second))))
    for (x, (a, b)), (z, (c, d)) in tuples(enumerate(pairs), repeat=2):
        assert product.distance(x, z) == product.distances[x, z] == first.distance(a, c) + second.distance(b, d)
    assert product.edges == space(product.distances.tolist()).edges


def test_hamming_is_a_product_of_bits() -> None:
    bits = product_space(product_space(hamming(1), hamming(1)), hamming(1))
    assert bits.edges == hamming(3).edges
    assert bits.profile == hamming(3).profile
    assert (bits.distances == hamming(3).distances).all()
    assert product_space(line(3), line(4)).edges == grid(3, 4, "manhattan").edges


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 3), st.sampled_from(["1", "1/2", "sqrt(2)", "sqrt(1/2)"]))
@settings(max_examples=40, deadline=None)
def test_the_profile_of_a_product_is_counted_in_its_table(n: int, m: int, bits: int, factor: str) -> None:
    product = product_space(product_space(scale_space(cycle(n), factor), discrete(m)), hamming(bits))
    assert product.profile is not None
    row = product.codes[len(product) // 2]
    assert product.profile == tuple((value, int((row == k).sum())) for k, value in enumerate(product.values))


@pytest.mark.slow
def test_a_product_has_a_profile_only_if_all_its_factors_have_one() -> None:
    assert product_space(hamming(2), line(3)).profile is None
    assert scale_space(line(3), 2).profile is None
    assert product_space(hamming(20), cycle(1000)).profile is not None
    with pytest.raises(InputError, match="profile of a product"):
        _ = product_space(cycle(10**5), scale_space(cycle(10**5), "1/3")).profile


@given(small_spaces(), st.sampled_from(["1/3", "2", "sqrt(2)", "1+sqrt(3)", "10^-20"]))
@settings(max_examples=40, deadline=None)
def test_a_multiple_keeps_all_but_the_distances(base: Space, factor: str) -> None:
    multiple = scale_space(base, factor)
    assert (multiple.labels, multiple.edges) == (base.labels, base.edges)
    assert (multiple.distances == base.distances * number(factor)).all()
    restored = scale_space(multiple, 1 / number(factor))
    assert (restored.distances == base.distances).all()
    if base.profile is not None:
        assert multiple.profile == tuple((number(factor) * value, count) for value, count in base.profile)


def test_a_name_parses_to_the_same_space() -> None:
    for original in (
        scale_space(product_space(line(2), cycle(3)), "1/2"),
        product_space(scale_space(line(2), "sqrt(2)"), scale_space(grid(2, 2), "1+sqrt(2)")),
        product_space(product_space(line(2), line(3)), hamming(2)),
        scale_space(scale_space(grid(2, 3, "manhattan"), "3/4"), 2),
    ):
        parsed = parse_space(original.name)
        assert parsed.name == original.name
        assert (parsed.distances == original.distances).all()


@pytest.mark.parametrize("factor", [0, -1, "-1/2", "1-sqrt(2)", 0.5, "x"])
def test_a_factor_must_be_exact_and_above_zero(factor: object) -> None:
    with pytest.raises(InputError, match="factor of a space"):
        scale_space(line(3), factor)


@given(small_spaces(), st.data())
@settings(max_examples=40, deadline=None)
def test_a_subspace_keeps_its_distances_and_has_edges_of_its_own(parent: Space, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.sampled_from(parent.labels), min_size=1, unique=True))
    subspace = sub_space(parent, labels)
    assert subspace.labels == tuple(labels)
    for (x, a), (z, b) in tuples(enumerate(labels), repeat=2):
        assert (
            subspace.distance(x, z)
            == parent.distance(parent.position(a), parent.position(b))
            == subspace.distances[x, z]
        )
    assert subspace.edges == space(subspace.distances.tolist()).edges


def test_a_subspace_must_name_points_once() -> None:
    for labels in ([], [0, 0], [7], ["0"]):
        with pytest.raises(InputError):
            sub_space(line(3), labels)


def test_labels_of_a_product_that_look_alike_are_refused() -> None:
    first, second = space([[0, 1], [1, 0]], ["a", "a|b"]), space([[0, 1], [1, 0]], ["c", "b|c"])
    with pytest.raises(InputError, match="4 distinct labels, got 3"):
        product_space(first, second)
    assert product_space(first, line(2)).labels == ("a|0", "a|1", "a|b|0", "a|b|1")


def test_large_products_are_lazy() -> None:
    product = product_space(hamming(20), scale_space(cycle(10**4), "1/2"))
    assert len(product) == 2**20 * 10**4
    assert product.distance(0, len(product) - 1) == 20 + Fraction(1, 2)
    assert product.profile is not None
    assert sum(count for _, count in product.profile) == len(product)
    assert product.profile[1] == (Fraction(1, 2), 2)
    assert product.profile[2] == (Fraction(1), 2 + 20)
    assert math.prod(len(factor) for factor in product.shape.factors) == len(product)  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="its capacity needs no table"):
        _ = product.edges


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_coordinates_of_grids_their_multiples_and_parts_have_the_distances_between_them(metric: str) -> None:
    city = parse_space(f"grid:3x4:{metric}")
    for places in (city, scale_space(city, "sqrt(2)"), sub_space(scale_space(city, "1/3"), ["2,1", "0,3", "1,1"])):
        assert places.coordinates is not None
        assert len(places.coordinates) == len(places)
        for (x, (a, b)), (z, (c, d)) in tuples(enumerate(places.coordinates), repeat=2):
            rows, columns = abs(a - c), abs(b - d)
            distance = places.distance(x, z)
            assert (distance == rows + columns) if metric == "manhattan" else (distance**2 == rows**2 + columns**2)
    assert sub_space(city, ["2,1"]).coordinates == ((Fraction(2), Fraction(1)),)


def test_points_that_are_no_places_have_no_coordinates() -> None:
    assert all(points.coordinates is None for points in (line(3), discrete(3), hamming(2), sub_space(cycle(4), [1])))
    with pytest.raises(InputError, match="at most 4096 can be written out"):
        _ = grid(10**5, 10**5).coordinates
