"""Several quantiles at once: the ε of the whole tree by brute force, its draw, its errors, its files."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import utmost
from noise.word_sources import CountedWords, fixed_stream
from queries.test_sensitivity import GRIDS, neighbouring_answers, settings
from utmost import ledger
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.noise import entropy
from utmost.noise.row_sampling import permute_and_flip_law
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan, plan_from_mapping
from utmost.publish.release_file import parse_release, release_to_json
from utmost.queries import Quantile
from utmost.queries.answer_mechanisms.mechanism import Drawn
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.quantiles import Quantiles, Split, rank_losses, splits
from utmost.reports.preview import shown_error

ROW_SETTINGS = [setting for setting in settings() if setting.unit.groups is None]
OPEN = PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit(), None, None)
SHARES = [("1/4", "1/2", "3/4"), ("1/3", "1/2"), ("1/10", "1/2", "3/4")]


def quantiles(shares: tuple[str, ...], grid: Grid = GRIDS[0]) -> Quantiles:
    return Quantiles("x", grid, tuple(map(Fraction, shares)), None)


def tree_law(query: Quantiles, counts: list[int], weight: Any) -> dict[tuple[int, ...], Any]:
    """The exact probability of all positions together; `weight(index, loss)` is e^(−rate·loss) of a choice."""
    scale = 1 << (query.levels - 1)

    def law(split: Split | None, first: int, side: list[int]) -> dict[tuple[int, ...], Any]:
        if split is None:
            return {(): Fraction(1)}
        losses, answers = rank_losses(side, split.relative), {}
        chances = permute_and_flip_law([weight(split.index, loss - min(losses)) for loss in losses])
        for place, chance in enumerate(chances):
            half = side[place] // 2
            lefts = law(split.left, first, [*side[:place], half])
            rights = law(split.right, first + place, [half, *side[place + 1 :]])
            for left, p in lefts.items():
                for right, q in rights.items():
                    answers[*left, first + place, *right] = chance * p * q
        return answers

    return law(query.tree, 0, [scale * count for count in counts])


@pytest.mark.parametrize("setting", ROW_SETTINGS, ids=str)
@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_the_epsilon_of_the_whole_tree_bounds_every_ratio_over_all_neighbours(
    setting: PrivacySetting, shares: tuple[str, ...]
) -> None:
    """All answers on three positions, in exact fractions: with ε = L·ln(2^d), every e^(−rate·loss) is a power of 2."""
    query = quantiles(shares)
    mechanism = query.select_mechanism(Fraction(query.levels), setting).mechanism
    assert query.actual_epsilon(mechanism, setting) == query.levels
    units = loss_rates(query, mechanism.rates)
    common = math.lcm(*(unit.denominator for unit in units))
    bound, worst = Fraction(2) ** (query.levels * common), Fraction(1)

    def weight(index: int, loss: int) -> Fraction:
        return Fraction(1, 2) ** int(units[index] * common * loss)

    for a, b in _neighbouring_counts(query, setting):
        first, second = tree_law(query, a, weight), tree_law(query, b, weight)
        assert sum(first.values()) == 1
        worst = max(worst, *(max(first[key] / second[key], second[key] / first[key]) for key in first))
    assert 1 < worst <= bound


def loss_rates(query: Quantiles, rates: tuple[Fraction, ...]) -> list[Fraction]:
    """The rates of the losses in whole numbers."""
    scale = 1 << (query.levels - 1)
    choices = splits(query.tree)
    return [rate / (scale * choice.relative.denominator) for rate, choice in zip(rates, choices, strict=True)]


def _neighbouring_counts(query: Quantiles, setting: PrivacySetting) -> Iterator[tuple[list[int], list[int]]]:
    for other_units in ([], [(1,)], [(0,), (1,), (2,)]):
        yield from neighbouring_answers(query, setting, 3, list(other_units))


@pytest.fixture
def fixed_words(monkeypatch: pytest.MonkeyPatch) -> CountedWords:
    source = CountedWords(fixed_stream(3))
    monkeypatch.setattr(entropy, "_thread_keystream", lambda: source)
    return source


def test_the_draw_has_the_law_of_the_tree(fixed_words: CountedWords) -> None:
    query, counts = quantiles(("1/4", "1/2", "3/4")), [2, 1, 3]
    mechanism = query.select_mechanism(Fraction(2), OPEN).mechanism
    rates, draw = loss_rates(query, mechanism.rates), query.prepare_draw(mechanism)
    law = tree_law(query, counts, lambda index, loss: math.exp(-float(rates[index]) * loss))
    drawn = Counter(tuple(draw(counts).details["positions"]) for _ in range(4000))
    seen = [drawn[key] for key in law]
    assert chisquare(seen, [4000 * float(chance) for chance in law.values()]).pvalue > 1e-4


@hypothesis_settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=9, max_size=9), st.integers(1, 20))
def test_answers_never_cross_and_are_on_the_grid(counts: list[int], number: int) -> None:
    shares = tuple(str(Fraction(k, number + 1)) for k in range(1, number + 1))
    query = quantiles(shares, Grid(Fraction(0), Fraction(8), Fraction(1)))
    mechanism = query.select_mechanism(Fraction(1), OPEN).mechanism
    query.check_drawn(mechanism, query.prepare_draw(mechanism)(counts))


def test_the_words_that_are_taken_depend_on_the_grid_and_on_the_number_of_shares(fixed_words: CountedWords) -> None:
    """A full tree covers the grid once on each level, and each position of a split twice."""
    query = quantiles(("1/4", "1/2", "3/4"))
    draw = query.prepare_draw(query.select_mechanism(Fraction(1), OPEN).mechanism)
    for counts in ([0, 0, 0], [5, 0, 0], [1, 70, 10**9]):
        before = fixed_words.taken
        draw(counts)
        assert fixed_words.taken - before == 4 * (3 + 4)


@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_the_rows_on_a_wrong_side_are_within_the_bound_with_the_probability_told(shares: tuple[str, ...]) -> None:
    """The whole law, with one row at each of six positions, against the bound and half a row for each level above."""
    query, counts = quantiles(shares, Grid(Fraction(0), Fraction(5), Fraction(1))), [1] * 6
    mechanism = query.select_mechanism(Fraction(30), OPEN).mechanism
    rates, rank = loss_rates(query, mechanism.rates), query.face_value(mechanism, 0.9).rank
    assert rank is not None
    allowed, far = rank + (query.levels - 1) / 2, 0.0
    law = tree_law(query, counts, lambda index, loss: math.exp(-float(rates[index]) * loss))
    for positions, chance in law.items():
        wrong = (
            rank_losses(counts, share)[p] / share.denominator
            for share, p in zip(query.probabilities, positions, strict=True)
        )
        far += float(chance) if max(wrong) >= allowed else 0.0
    assert far <= 0.1


@hypothesis_settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.sampled_from(SHARES),
    st.sampled_from((1, 4, 20)),
    st.sampled_from((0.5, 0.9)),
)
def test_the_bound_on_the_rows_on_a_wrong_side_holds_for_every_table(
    counts: list[int], shares: tuple[str, ...], epsilon: int, coverage: float
) -> None:
    """The whole law on four positions; for each level above the last, half of the most rows that share a value."""
    query = quantiles(shares, Grid(Fraction(0), Fraction(3), Fraction(1)))
    mechanism = query.select_mechanism(Fraction(epsilon), OPEN).mechanism
    rates, rank = loss_rates(query, mechanism.rates), query.face_value(mechanism, coverage).rank
    assert rank is not None
    allowed = rank + (query.levels - 1) * max(counts) / 2
    wrong = [[loss / share.denominator for loss in rank_losses(counts, share)] for share in query.probabilities]
    law = tree_law(query, counts, lambda index, loss: math.exp(-float(rates[index]) * loss))
    far = [p for places, p in law.items() if any(row[j] >= allowed for row, j in zip(wrong, places, strict=True))]
    assert sum(far) <= 1 - coverage + 1e-12


def test_the_error_that_is_printed_is_the_bound_that_is_proved_rounded_up() -> None:
    """Two levels at the rate (1/24)/(2·10) each, 211 candidates: (1 + ln(2·105))·960 and ln(20·2·105)·960 rows."""
    flights = PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit("p", rows=20), None, None)
    query = quantiles(("1/4", "1/2", "3/4"), Grid(Fraction(-30), Fraction(180), Fraction(1)))
    error = query.error_law(query.select_mechanism(Fraction(1, 12), flights).mechanism)
    assert error.expected == pytest.approx((1 + math.log(210)) * 960, rel=1e-11)
    assert error.half_width == pytest.approx(math.log(4200) * 960, rel=1e-11)
    shown = shown_error(error)
    texts = str(shown.expected), str(shown.half_width)
    assert texts == ("6094 rows", "8010 rows")


def mean_rank_errors(number: int, epsilon: Fraction, repeats: int) -> tuple[float, float]:
    """The mean over draws of the worst rank error of the tree, and of separate quantiles at the same price."""
    counts = [1 + (k * 7919) % 40 for k in range(200)]
    grid, shares = (
        Grid(Fraction(0), Fraction(199), Fraction(1)),
        [Fraction(k, number + 1) for k in range(1, number + 1)],
    )
    together = Quantiles("x", grid, tuple(shares), None)
    apart = [Quantile("x", grid, share, None) for share in shares]
    losses = [query.losses(counts) for query in apart]
    draw = together.prepare_draw(together.select_mechanism(epsilon, OPEN).mechanism)
    draws = [query.prepare_draw(query.select_mechanism(epsilon / number, OPEN).mechanism) for query in apart]

    def worst(positions: list[int]) -> float:
        return max(row[p] / s.denominator for row, p, s in zip(losses, positions, shares, strict=True))

    tree = [worst(draw(counts).details["positions"]) for _ in range(repeats)]
    single = [
        worst([one(row).details["position"] for one, row in zip(draws, losses, strict=True)]) for _ in range(repeats)
    ]
    return sum(tree) / repeats, sum(single) / repeats


@pytest.mark.slow
@pytest.mark.parametrize(("number", "at_most"), [(3, 0.7), (9, 0.5)])
def test_quantiles_together_err_less_than_apart_at_the_same_price(
    number: int, at_most: float, fixed_words: CountedWords
) -> None:
    together, apart = mean_rank_errors(number, Fraction(1, 10), 60)
    assert together < at_most * apart


def plan(**changes: Any) -> dict[str, Any]:
    bounds = {"column": "x", "low": 0, "high": 9, "step": 1, "nulls": "drop"}
    query = {"name": "q", "kind": "quantile", **bounds, "probabilities": ["1/4", "0.5", "3/4"], "epsilon": 50}
    return {
        "neighbours": "add-remove",
        "budget": "b",
        "source": {"location": "data.csv", "columns": {"x": "integer"}},
        "query": [query | changes],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text("x\n" + "".join(f"{k % 10}\n" for k in range(400)))
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(100), unit="row", neighbours="add-remove"))
    return tmp_path


def test_a_release_has_the_values_in_order_and_is_read_back(folder: Path) -> None:
    release = utmost.release(plan_from_mapping(plan(), folder))
    text = release_to_json(release)
    query = json.loads(text)["queries"][0]
    assert (query["probabilities"], query["mechanism"]["name"]) == (["1/4", "1/2", "3/4"], "permute-and-flip-tree")
    assert len(query["value"]) == len(query["positions"]) == 3
    assert parse_release(text) == release
    reading = release["q"].estimate("uniform", "absolute")
    assert (reading.cells, reading.value) == (("1/4", "1/2", "3/4"), release["q"].value)
    assert "values" in release._repr_html_()


def test_a_plan_with_several_shares_is_written_as_it_is_read(folder: Path) -> None:
    first = plan_from_mapping(plan(), folder)
    assert parse_plan(write_plan(first), folder).queries == first.queries
    assert plan_from_mapping(plan(probabilities="1/4, 0.5, 3/4"), folder).queries == first.queries


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probability": "1/2"}, "probabilities must not be given beside probability"),
        ({"probabilities": ["1/2", "1/4"]}, "probabilities must be .* that rise"),
        ({"probabilities": ["1/2", "1/2"]}, "probabilities must be .* that rise"),
        ({"probabilities": []}, "probabilities must be from 1"),
        ({"probabilities": [2]}, "probabilities must be from 0 to 1"),
        ({"probabilities": [True]}, "probabilities must be a number"),
    ],
)
def test_shares_that_cannot_be_answered_are_refused(folder: Path, changes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_from_mapping(plan(**changes), folder)


@pytest.mark.parametrize(("positions", "values"), [([1, 0], (1, 0)), ([0, 3], (0, 3)), ([0], (0,)), ([0, 1], (0, 2))])
def test_values_that_no_draw_can_give_are_refused(positions: list[int], values: tuple[int, ...]) -> None:
    query = quantiles(("1/3", "1/2"))
    with pytest.raises(InputError, match=r"positions must rise|value must be those"):
        query.check_drawn(None, Drawn(tuple(map(Fraction, values)), {"positions": positions}))  # type: ignore[arg-type]
