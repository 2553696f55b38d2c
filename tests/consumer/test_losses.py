"""Losses: exact and float agree, legality is decided with witnesses, nonsense is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.channel import channel
from utmost.consumer import Consumer, Minimax, losses, priors
from utmost.consumer.losses import Loss, Table
from utmost.errors import InputError
from utmost.exact import Real, number
from utmost.spaces import line, space

FAMILIES = ["absolute", "squared", "binary", "power:1/2", "power:1.5", "power:3", "asymmetric:2,1", "asymmetric:0,1/3"]


@pytest.mark.parametrize("text", FAMILIES)
@given(size=st.integers(1, 12))
@settings(max_examples=10)
def test_matrix_entries_and_arrays_agree(text: str, size: int) -> None:
    loss = losses.parse(text)
    assert isinstance(loss, Loss)
    entries, counts = loss.matrix(size), np.arange(size)
    floats = loss.array(counts[:, None], counts[None, :])
    assert entries.shape == floats.shape == (size, size)
    for i in range(size):
        for j in range(size):
            assert entries[i, j] == loss.exact(i, j)
            assert float(entries[i, j]) == pytest.approx(floats[i, j], rel=1e-15)


def test_values_are_the_definitions() -> None:
    assert losses.absolute.exact(7, 3) == 4
    assert losses.squared.exact(7, 3) == 16
    assert [losses.binary.exact(7, 3), losses.binary.exact(7, 7)] == [1, 0]
    assert losses.asymmetric("1/2", 3).exact(7, 3) == 2
    assert losses.asymmetric("1/2", 3).exact(3, 7) == 12
    root = losses.power("1.5").exact(0, 2)
    assert isinstance(root, Real)
    assert root * root == 8
    assert losses.power("1.5").exact(0, 4) == 8


@pytest.mark.parametrize("text", FAMILIES)
def test_a_name_is_read_back_as_the_same_loss(text: str) -> None:
    loss = losses.parse(text)
    assert losses.parse(loss.name) == loss


def test_a_matrix_file_is_read_exactly(tmp_path: Path) -> None:
    path = tmp_path / "loss.csv"
    path.write_text("0,0.1,2/3\n1,0,1\n2,1,0\n")
    loss = losses.parse(f"matrix:{path}")
    assert loss.exact(0, 1) == Fraction(1, 10)
    assert loss.exact(0, 2) == Fraction(2, 3)
    assert loss.matrix(3)[2, 0] == 2
    assert loss.array([0, 2], [1, 0]).tolist() == [0.1, 2.0]


def test_one_float_entry_makes_a_float_table_that_refuses_to_be_exact() -> None:
    loss = losses.matrix([[0, 0.5], ["1/3", 0]])
    assert loss.rows == ((0.0, 0.5), (1 / 3, 0.0))
    assert loss.matrix(2)[0, 1] == 0.5
    with pytest.raises(InputError, match="exact entries"):
        loss.exact(0, 1)


@pytest.mark.parametrize(
    "text",
    ["", "abs", "absolute:1", "power:", "power:0", "power:-1", "power:nan", "power:1e9", "asymmetric:1",
     "asymmetric:1,2,3", "asymmetric:-1,1", "asymmetric:0,0", "asymmetric:a,b", "matrix:",
     "matrix:no/such/file.csv", "power:sqrt(2)"],
)  # fmt: skip
def test_nonsense_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        losses.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "rows", [[], [[]], [[0, 1], [1]], [[0, -1], [1, 0]], [[0, "x"], [1, 0]], [[0.0, float("nan")], [1.0, 0.0]],
             [[0.0, float("inf")], [1.0, 0.0]], [[0.0, -1.0], [1.0, 0.0]], [[0, None], [1, 0]]]
)  # fmt: skip
def test_bad_tables_are_refused(rows: list[list[object]]) -> None:
    with pytest.raises(InputError):
        losses.matrix(rows)


def test_a_table_of_another_size_is_refused() -> None:
    with pytest.raises(InputError, match="matrix of 3 rows"):
        losses.matrix([[0, 1], [1, 0]]).matrix(3)


def brute_legality(loss: Loss, size: int) -> tuple[bool, bool]:
    """GRS12 §2.2 and §5.3 by comparing all pairs of readings."""
    legal = strict = True
    for i in range(size):
        for j in range(size):
            for k in range(size):
                first_distance, second_distance, a, b = abs(j - i), abs(k - i), loss.exact(i, j), loss.exact(i, k)
                legal &= not (
                    (first_distance == second_distance and a != b) or (first_distance < second_distance and a > b)
                )
                strict &= not (
                    (first_distance == second_distance and a != b) or (first_distance < second_distance and a >= b)
                )
    return legal, strict


def assert_breaks(loss: Loss, witness: tuple[int, int, int], strictly: bool) -> None:
    i, j, k = witness
    a, b = loss.exact(i, j), loss.exact(i, k)
    assert abs(j - i) <= abs(k - i)
    equal = abs(j - i) == abs(k - i)
    assert a != b if equal else (a >= b if strictly else a > b)


def check_legality(loss: Loss, size: int) -> None:
    legality = losses.legality(loss, size)
    assert (legality.legal, legality.strict) == brute_legality(loss, size)
    if legality.witness is not None:
        assert_breaks(loss, legality.witness, strictly=False)
    if legality.strict_witness is not None:
        assert_breaks(loss, legality.strict_witness, strictly=True)


@pytest.mark.parametrize("text", FAMILIES)
def test_legality_of_families_is_what_the_definition_says(text: str) -> None:
    for size in range(1, 7):
        check_legality(losses.parse(text), size)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Tables that are nearly legal: by distance, sorted or not, with one entry changed or not."""
    size = draw(st.integers(1, 6))
    rows = []
    for i in range(size):
        steps = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
        values = sorted(steps) if draw(st.booleans()) else list(np.cumsum([1 + s for s in steps]).tolist())
        rows.append([values[abs(j - i)] for j in range(size)])
    if draw(st.booleans()):
        rows[draw(st.integers(0, size - 1))][draw(st.integers(0, size - 1))] = draw(st.integers(0, 9))
    return losses.matrix(rows)


@given(tables())
@settings(max_examples=200)
def test_legality_of_tables_is_what_the_definition_says(table: Table) -> None:
    check_legality(table, len(table.rows))


TRIANGLE = space([[0, 1, "sqrt(2)"], [1, 0, 1], ["sqrt(2)", 1, 0]])


@pytest.mark.parametrize(
    ("text", "at_root_two"),
    [
        ("absolute", "sqrt(2)"),
        ("squared", "2"),
        ("power:1/2", "2^(1/4)"),
        ("power:3", "2*sqrt(2)"),
        ("power:1.5", "2^(3/4)"),
    ],
)
def test_on_a_space_a_loss_is_a_function_of_the_distance(text: str, at_root_two: str) -> None:
    loss = losses.over(losses.parse(text), TRIANGLE)
    assert loss.exact(0, 2) == number(at_root_two)
    assert loss.exact(0, 1) == 1
    assert loss.exact(1, 1) == 0
    assert loss.name == losses.parse(text).name


def test_on_a_line_and_for_losses_that_are_no_distances_nothing_changes() -> None:
    table = losses.matrix([[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    assert losses.over(losses.absolute, line(5)) is losses.absolute
    for loss in (losses.binary, losses.nib, table):
        assert losses.over(loss, TRIANGLE) is loss


def test_what_means_nothing_on_a_space_is_refused() -> None:
    with pytest.raises(InputError, match="must be on a line"):
        losses.over(losses.asymmetric(2, 1), TRIANGLE)
    pair = space([[0, "1+sqrt(2)"], ["1+sqrt(2)", 0]])
    assert losses.over(losses.power(2), pair).exact(0, 1) == number("3+2*sqrt(2)")
    with pytest.raises(InputError, match="whole power"):
        losses.over(losses.power("1/2"), pair)


def test_nib_is_what_binary_is_not() -> None:
    total = losses.nib.matrix(5) + losses.binary.matrix(5)
    assert (total == 1).all()
    assert (losses.nib.array(np.arange(5)[:, None], np.arange(5)) == np.eye(5)).all()
    assert losses.parse("nib") is losses.nib
    assert not losses.legality(losses.nib, 3).legal


def test_a_table_may_have_other_actions_than_the_secrets() -> None:
    """Two actions for three secrets: an answer is read as one of them."""
    loss = losses.matrix([[0, 1], [1, 0], [0, 0]])
    reader = Consumer(priors.uniform(3), loss)
    mechanism = channel([["2/3", "1/3"], ["1/3", "2/3"], ["1/2", "1/2"]])
    assert reader.remap(mechanism) == [0, 1]
    assert reader.expected_loss(mechanism) == Fraction(2, 9)
    assert reader.readings((0, 1, 2)) == ("w0", "w1")
    assert reader.induced(mechanism).outputs == ("w0", "w1")
    for call in (lambda: reader.face_value_loss(mechanism), reader.legality, lambda: Minimax(loss).reading(mechanism)):
        with pytest.raises(InputError):
            call()
    with pytest.raises(InputError, match="4 rows, one for each secret, got 3 x 2"):
        loss.matrix(4)


def test_a_ragged_table_is_refused_with_its_row() -> None:
    with pytest.raises(InputError, match="2 entries in row 1 as in the first one, got 3"):
        losses.matrix([[0, 1], [1, 0, 2]])
