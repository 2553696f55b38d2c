"""The largest cells: their ε by brute force, their errors, their files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import utmost
from queries.test_sensitivity import neighbouring_answers, settings
from utmost import ledger
from utmost.errors import InputError
from utmost.noise.row_sampling import permute_and_flip_law
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan, plan_from_mapping
from utmost.publish.release_file import parse_release, release_to_json
from utmost.queries import Top
from utmost.queries.answer_mechanisms.mechanism import Drawn
from utmost.queries.privacy_setting import PrivacySetting

HALF = Fraction(1, 2)
CELLS = {"x": (1, 2, 3)}


def order_law(losses: list[int], picks: int, base: Fraction = HALF) -> dict[tuple[int, ...], Fraction]:
    """The exact probability of every order of picks, at e^−rate = base."""
    law = {}
    for order in permutations(range(len(losses)), picks):
        left, chance = list(range(len(losses))), Fraction(1)
        for cell in order:
            remaining = [losses[other] for other in left]
            weights = [base ** (loss - min(remaining)) for loss in remaining]
            chance *= permute_and_flip_law(weights)[left.index(cell)]
            left.remove(cell)
        law[order] = chance
    return law


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("picks", [1, 2])
def test_the_epsilon_of_a_top_bounds_every_ratio_over_all_neighbours(setting: PrivacySetting, picks: int) -> None:
    """e^−rate = 1/2, so e^ε = 2^(ε/rate), a whole number; with one pick some ratio is above its half."""
    query = Top(CELLS, picks)
    mechanism = query.select_mechanism(Fraction(1), setting).mechanism
    bound = Fraction(2) ** int(query.actual_epsilon(mechanism, setting) / mechanism.rate)
    assert query.actual_epsilon(mechanism, setting) == 1
    worst = max(_ratios(query, setting, picks))
    assert 1 < worst <= bound
    assert picks > 1 or worst > bound / 2


def _ratios(query: Top, setting: PrivacySetting, picks: int) -> Iterator[Fraction]:
    for other_units in ([], [(0,)], [(0,), (1,), (1,)]):
        for a, b in neighbouring_answers(query, setting, 3, list(other_units)):
            first, second = order_law(a, picks), order_law(b, picks)
            yield max(max(first[order] / second[order], second[order] / first[order]) for order in first)


@pytest.mark.parametrize("losses", [[0, -3, -5, -1], [-4, -4, -4, 0], [0, 0, 0, 0]])
def test_each_place_has_few_rows_fewer_than_the_true_one_with_the_probability_that_is_told(losses: list[int]) -> None:
    """The whole law at e^−rate = 1/2 against picks·(n − 1)/2·2^−t."""
    true_order = sorted(losses)
    for shortfall in range(1, 6):
        chance = Fraction(0)
        for order, probability in order_law(losses, 2).items():
            if any(losses[cell] - true_order[place] >= shortfall for place, cell in enumerate(order)):
                chance += probability
        assert chance <= 2 * Fraction(3, 2) * HALF**shortfall


def plan(**changes: Any) -> dict[str, Any]:
    query = {"name": "most", "kind": "top", "keys": {"region": ["n", "s", "e", "w"]}, "k": 2, "epsilon": 40}
    return {
        "neighbours": "add-remove",
        "budget": "b",
        "source": {"location": "data.csv", "columns": {"region": "text"}},
        "query": [query | changes],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text("region\n" + "s\n" * 40 + "w\n" * 25 + "n\n" * 5)
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(100), unit="row", neighbours="add-remove"))
    return tmp_path


def test_a_release_has_the_largest_cells_in_order_and_is_read_back(folder: Path) -> None:
    release = utmost.release(plan_from_mapping(plan(), folder))
    text = release_to_json(release)
    query = json.loads(text)["queries"][0]
    assert (query["value"], query["k"], query["keys"]) == ([["s"], ["w"]], 2, {"region": ["n", "s", "e", "w"]})
    assert query["mechanism"] == {"name": "repeated-permute-and-flip", "rate": "20", "candidates": 4, "picks": 2}
    assert parse_release(text) == release
    assert release["most"].value == (("s",), ("w",))


def test_a_top_is_read_at_face_value_and_every_report_names_its_cells(folder: Path) -> None:
    release = utmost.release(plan_from_mapping(plan(), folder))
    reading = release["most"].estimate("uniform", "absolute")
    assert (reading.cells, reading.value) == (("s", "w"), (1, 2))
    assert "fewer than" in reading.remark
    assert "; w: <data" in release._repr_html_()
    assert "fewer than" in reading._repr_html_()


def test_a_plan_with_a_top_is_written_as_it_is_read(folder: Path) -> None:
    first = plan_from_mapping(plan(), folder)
    assert parse_plan(write_plan(first), folder).queries == first.queries
    assert plan_from_mapping(plan(k="2"), folder).queries == first.queries


@pytest.mark.parametrize("value", [(("s",), ("s",)), (("s",),), (("s",), ("x",)), (("s",), (True,))])
def test_cells_that_no_draw_can_give_are_refused(value: tuple[Any, ...]) -> None:
    query = Top({"region": ("n", "s", "e")}, 2)
    with pytest.raises(InputError, match="value must be 2 different cells"):
        query.check_drawn(None, Drawn(value, {}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"), [({"k": 0}, "k must be"), ({"k": 4}, "k must be"), ({"k": "1/2"}, "k")]
)
def test_a_number_of_cells_that_cannot_be_picked_is_refused(folder: Path, changes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_from_mapping(plan(**changes), folder)
