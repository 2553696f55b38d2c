"""The least and the greatest value: their ε by brute force, their warning, their files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost
from queries.test_sensitivity import GRIDS, neighbouring_answers, settings
from utmost import ledger
from utmost.noise.row_sampling import permute_and_flip_law
from utmost.publish.execute import preview
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan, plan_from_mapping
from utmost.publish.release_file import parse_release, release_to_json
from utmost.queries import Max, Min
from utmost.queries.privacy_setting import PrivacySetting

HALF = Fraction(1, 2)


@pytest.mark.parametrize("kind", [Min, Max])
@pytest.mark.parametrize("setting", [setting for setting in settings() if setting.unit.groups is None], ids=str)
def test_the_epsilon_of_an_extreme_bounds_every_ratio_over_all_neighbours(
    kind: type[Min] | type[Max], setting: PrivacySetting
) -> None:
    """At e^−rate = 1/2, e^ε = 2^k; losses move apart by exactly k, and some ratio is above half of it."""
    query = kind("x", GRIDS[0], None)
    selected = query.select_mechanism(Fraction(1), setting)
    assert query.actual_epsilon(selected.mechanism, setting) == 1
    apart, worst = 0, Fraction(1)
    for other_units in ([], [(1,)], [(0,), (2,)], [(0,), (1,), (2,)]):
        for a, b in neighbouring_answers(query, setting, 3, list(other_units)):
            moves = [y - x for x, y in zip(a, b, strict=True)]
            apart = max(apart, max(moves) - min(moves))
            first, second = (permute_and_flip_law([HALF ** (loss - min(row)) for loss in row]) for row in (a, b))
            worst = max(worst, *(max(p / q, q / p) for p, q in zip(first, second, strict=True)))
    assert apart == selected.sensitivity == setting.unit.bound
    assert Fraction(2) ** (apart - 1) < worst <= Fraction(2) ** apart


def plan(kind: str) -> dict[str, Any]:
    query = {"name": "end", "kind": kind, "column": "x", "low": 3, "high": 6, "step": 1, "nulls": "drop", "epsilon": 40}
    return {
        "neighbours": "add-remove",
        "budget": "b",
        "source": {"location": "data.csv", "columns": {"x": "integer"}},
        "query": [query],
    }


@pytest.mark.parametrize(("kind", "value"), [("min", 3), ("max", 6)])
def test_an_extreme_is_released_with_its_warning_and_read_back(tmp_path: Path, kind: str, value: int) -> None:
    (tmp_path / "data.csv").write_text("x\n" + "".join(f"{3 + k % 4}\n" for k in range(80)))
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(100), unit="row", neighbours="add-remove"))
    first = plan_from_mapping(plan(kind), tmp_path)
    assert parse_plan(write_plan(first), tmp_path).queries == first.queries
    advice = {"min": "0.01", "max": "0.99"}[kind]
    assert f"a quantile with probability {advice}" in preview(first)._repr_html_()
    release = utmost.release(first)
    assert parse_release(release_to_json(release)) == release
    assert release["end"].value == value
    assert f"a quantile with probability {advice}" in release["end"].estimate("uniform", "absolute").remark
