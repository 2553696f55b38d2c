"""The plan's ε, split over its queries: their own, the least for wanted errors, the rest by share, exactly."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost
from utmost import ledger
from utmost.cli import run
from utmost.errors import InputError
from utmost.publish import execute, plans, pricing
from utmost.publish.calibration import privacy_setting
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_splits import propose_splits
from utmost.publish.plan_writer import write_plan
from utmost.publish.wanted_errors import WantedError, find_epsilon
from utmost.queries import Count
from utmost.reports.preview import describe

SETTING = privacy_setting("replace", units=200)
SOURCE = {"location": "people.csv", "columns": {"x": "integer"}}
TOP = {"neighbours": "replace", "budget": "b", "source": SOURCE}
BOUNDS = {"column": "x", "low": 0, "high": 10, "step": 1, "nulls": "drop"}
MEDIAN = {"name": "z", "kind": "quantile", "probability": "1/2", **BOUNDS}


def least_epsilon(error: int) -> Fraction:
    return find_epsilon(Count("x > 3"), SETTING, WantedError(Fraction(error)))


FIVE = least_epsilon(5)


def count(name: str, **price: Any) -> dict[str, Any]:
    return {"name": name, "kind": "count", "where": "x > 3", **price}


def plan(folder: Path, *queries: dict[str, Any], **entries: Any) -> dict[str, Any]:
    (folder / "people.csv").write_text("x\n" + "".join(f"{k % 10}\n" for k in range(200)))
    files = {"ledger": str(folder / "ledger.sqlite"), "source": {**SOURCE, "location": str(folder / "people.csv")}}
    return {**TOP, **files, "query": list(queries), **entries}


def epsilons(folder: Path, *queries: dict[str, Any], **entries: Any) -> dict[str, Fraction]:
    preview = execute.preview(plan(folder, *queries, **entries))
    return {spec.name: spec.epsilon for spec in preview.plan.queries}


def test_what_own_prices_and_wanted_errors_leave_is_split_by_share(tmp_path: Path) -> None:
    queries = (count("own", epsilon="0.25"), count("five", error=5), count("one"), count("two", share=2))
    left = 1 - Fraction("0.25") - FIVE
    assert epsilons(tmp_path, *queries, epsilon=1) == {
        "own": Fraction(1, 4),
        "five": FIVE,
        "one": left / 3,
        "two": left * 2 / 3,
    }


PRICES = st.one_of(
    st.builds(lambda digits: {"epsilon": f"{digits}/100"}, st.integers(1, 20)),
    st.builds(lambda error: {"error": error}, st.integers(20, 200)),
    st.builds(lambda share: {"share": f"{share}/7"}, st.integers(1, 30)),
    st.just({}),
)


@given(st.lists(PRICES, min_size=1, max_size=6), st.integers(1, 400))
def test_a_split_adds_up_to_the_plans_epsilon_or_is_refused_before_anything_is_charged(
    prices: list[dict[str, Any]], hundredths: int
) -> None:
    """Every query gets what it says, and shares get all of the rest; else the refusal says what is needed."""
    total = Fraction(hundredths, 100)
    queries = [count(str(k), **price) for k, price in enumerate(prices)]
    needed = [
        Fraction(price["epsilon"]) if "epsilon" in price else least_epsilon(price["error"])
        for price in prices
        if price.keys() & {"epsilon", "error"}
    ]
    shares = [Fraction(price.get("share", 1)) for price in prices if not price.keys() & {"epsilon", "error"}]
    left = total - sum(needed, Fraction(0))
    content = {**TOP, "query": queries, "epsilon": str(total)}
    if left < 0 or (shares and not left):
        with pytest.raises(InputError, match=r"epsilon of the plan must be .*, got .*: raise it"):
            execute.price_plan(plans.plan_from_mapping(content), SETTING)
        return
    specs = execute.price_plan(plans.plan_from_mapping(content), SETTING).queries
    split = [spec.epsilon for spec in specs if spec.share is not None]
    assert [spec.epsilon for spec in specs if spec.share is None] == needed
    assert split == [left * share / sum(shares) for share in shares]
    assert sum(spec.epsilon for spec in specs) + (0 if shares else left) == total


def test_a_plan_that_is_split_has_the_digest_of_one_that_says_each_price_and_is_released(tmp_path: Path) -> None:
    queries = (count("five", error=5), count("one"), count("two", share=2))
    split_plan = plans.plan_from_mapping(plan(tmp_path, *queries, epsilon=1))
    left = 1 - FIVE
    prices = {"five": FIVE, "one": left / 3, "two": left * 2 / 3}
    said = [count(name, epsilon=str(price)) for name, price in prices.items()]
    with ledger.open_ledger("ledger.sqlite", tmp_path) as budget_ledger:
        budget_ledger.open(ledger.Budget("b", Fraction(1)))
    preview = execute.preview(split_plan)
    assert plan_digest(preview.plan) == plan_digest(plans.plan_from_mapping(plan(tmp_path, *said)))
    release = utmost.release(split_plan)
    assert {answer.name: answer.epsilon for answer in release} == prices
    assert release.entry.left == 0


def test_a_plan_with_a_price_is_written_and_read_back_equal(tmp_path: Path) -> None:
    for queries in (
        (count("five", error=5), count("one"), count("two", share="2/3"), count("own", epsilon="0.1")),
        (count("one"), count("two", share=2)),
        (count("own", epsilon="0.1"), count("five", error=5)),
    ):
        written_plan = plans.plan_from_mapping(plan(tmp_path, *queries, epsilon="4/5"), tmp_path)
        text = write_plan(written_plan)
        assert "\nepsilon = 0.8\n" in text.partition("[[query]]")[0]
        assert plans.parse_plan(text, tmp_path) == written_plan
        priced_plan = execute.preview(written_plan).plan
        assert execute.preview(plans.parse_plan(write_plan(priced_plan), tmp_path)).plan == priced_plan


def test_the_preview_says_how_the_epsilon_was_split_and_how_much_is_not_used(tmp_path: Path) -> None:
    queries = (count("own", epsilon="0.25"), count("five", error=5), count("two", share=2), count("one"))
    report = describe(execute.preview(plan(tmp_path, *queries, epsilon=1)))
    text = "\n".join(str(block) for block in report)
    for sentence in ("own: ε 0.25 of its own.", "five: error 5 → ε 0.5382.", "two: share 2 of 3 → ε 0.1412."):
        assert sentence in text
    assert report.json["split"] == {"epsilon": "1", "unused": "0"}
    assert [query.get("share") for query in report.json["queries"]] == [None, None, "2", "1"]
    unused = describe(execute.preview(plan(tmp_path, *queries[:2], epsilon=1)))
    assert unused.json["split"] == {"epsilon": "1", "unused": str(Fraction("0.2118"))}
    assert unused.json["cost"] == str(Fraction("0.7882"))


def test_the_terminal_prints_the_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = write_plan(plans.plan_from_mapping(plan(tmp_path, count("five", error=5), epsilon=1), tmp_path))
    (tmp_path / "plan.toml").write_text(text)
    assert run(["release", str(tmp_path / "plan.toml"), "--dry-run"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Split ε 1 of the plan: 0.5382 for wanted errors, 0.4618 not used" in shown
    assert run(["calibrate", str(tmp_path / "plan.toml"), "--epsilon", "1", "--json"]) == 0
    assert [split["total"] for split in json.loads(capsys.readouterr().out)["proposals"]] == ["1"] * 3


def test_a_plan_with_a_price_is_scaled_in_its_own_proportions(tmp_path: Path) -> None:
    queries = (count("five", error=5), count("one"), count("two", share=2))
    scaled = propose_splits(plan(tmp_path, *queries, epsilon=1), 2).splits[1]
    assert scaled.epsilons == (Fraction("1.076"), Fraction("0.3078"), Fraction("0.6157"))


def test_found_cells_with_a_wanted_error_are_priced_like_the_others(tmp_path: Path) -> None:
    cells = {"name": "cells", "kind": "count", "by": ["x"], "error": 20}
    preview = execute.preview(plan(tmp_path, cells, count("rest"), epsilon=1, delta="1e-6"))
    first, second = preview.plan.queries
    assert (first.delta, first.epsilon + second.epsilon) == (Fraction("1e-6"), 1)
    assert preview.planned_answers[0].error.half_width <= 20


@pytest.mark.parametrize(
    ("queries", "refusal"),
    [
        (
            [count("a", error=5), count("b", error=5), count("c")],
            "epsilon of the plan must be more than 1.0764: its queries need 1.0764 for wanted errors, got 1: raise it",
        ),
        (
            [count("a", error=5), count("b", epsilon="0.5")],
            "must be at least 1.0382: its queries need 0.5382 for wanted errors and 0.5 of their own, got 1",
        ),
        ([count("a", error=5), count("b", epsilon="0.4618"), count("c")], "must be more than 1:"),
        ([count("a", epsilon=1), count("b")], "must be more than its queries have of their own, got 1: raise it"),
        ([count("a", error=5, share=2)], 'query "a": share must not be given with error'),
        (
            [{**MEDIAN, "error": "1e-9"}, count("b")],
            'query "z": error must be larger: no epsilon up to 1000 reaches it',
        ),
        ([count("a", error=5), count("b", share=0)], 'query "b": share must be > 0'),
    ],
)
def test_a_price_that_does_not_suffice_is_refused_with_what_to_raise(
    tmp_path: Path, queries: list[dict[str, Any]], refusal: str
) -> None:
    with pytest.raises(InputError) as error:
        execute.preview(plan(tmp_path, *queries, epsilon=1))
    assert refusal in str(error.value)
    assert "\n" not in str(error.value)


PERSONS = {"neighbours": "add-remove", "unit": {"column": "x", "rows": 2}}
TENTH = Fraction(1, 10)


def test_the_persons_over_the_bound_of_a_query_take_a_part_of_its_price(tmp_path: Path) -> None:
    queries = (count("own", epsilon="0.2", over=True), count("share", share=2, over="1/5"), count("rest"))
    found = epsilons(tmp_path, *queries, **PERSONS, epsilon="0.8")
    assert found == {
        "own": Fraction("0.18"),
        "own: over the bound": Fraction("0.02"),
        "share": Fraction("0.32"),
        "share: over the bound": Fraction("0.08"),
        "rest": Fraction("0.2"),
    }


@given(st.lists(st.tuples(PRICES, st.sampled_from([None, True, "1/5", "0.9"])), min_size=1, max_size=5))
def test_asking_for_persons_over_the_bound_changes_no_price_but_that_of_a_wanted_error(
    asked: list[tuple[dict[str, Any], Any]],
) -> None:
    """A query and the count of the persons over its bound cost what the query alone does, in their stated parts."""
    plain = [count(str(k), **price) for k, (price, _) in enumerate(asked)]
    with_over = [
        query | ({} if part is None else {"over": part}) for query, (_, part) in zip(plain, asked, strict=True)
    ]
    prices, pairs = (
        pricing.pair_queries(
            execute.price_plan(plans.plan_from_mapping({**TOP, "query": queries, "epsilon": 9}), SETTING).queries
        )
        for queries in (plain, with_over)
    )
    wanted = any("error" in price and part is not None for price, part in asked)
    for before, after, (price, part) in zip(prices, pairs, asked, strict=True):
        share = Fraction(0) if part is None else TENTH if part is True else Fraction(part)
        assert after.part == share
        assert after.query.epsilon == after.price * (1 - share)
        if "error" in price:
            assert after.query.epsilon == before.query.epsilon  # the error is that of the query itself
        elif "epsilon" in price or not wanted:
            assert after.price == before.price


def test_a_plan_with_over_has_the_digest_of_one_that_asks_for_both_and_is_written_and_read_back(tmp_path: Path) -> None:
    queries = (
        count("own", epsilon="0.2", over=True),
        count("error", error=50, over="1/3"),
        count("share", over="0.25"),
    )
    written_plan = plans.plan_from_mapping(plan(tmp_path, *queries, **PERSONS, epsilon=1), tmp_path)
    text = write_plan(written_plan)
    assert text.count("[[query]]") == 3
    assert "epsilon = 0.2\nover = true\n" in text
    assert plans.parse_plan(text, tmp_path) == written_plan
    preview = execute.preview(written_plan)
    said = [
        {
            "name": spec.name,
            "kind": spec.query.kind,
            "where": "x > 3",
            "epsilon": str(spec.epsilon),
        }
        for spec in preview.plan.queries
    ]
    assert [entry["kind"] for entry in said] == ["count", "over"] * 3
    said_plan = plans.plan_from_mapping(plan(tmp_path, *said, **PERSONS), tmp_path)
    assert plan_digest(preview.plan) == plan_digest(said_plan)
    assert execute.preview(plans.parse_plan(write_plan(preview.plan), tmp_path)).plan == preview.plan


def test_the_preview_has_a_line_for_each_of_the_two_and_says_where_the_price_goes(tmp_path: Path) -> None:
    queries = (count("five", error=5, over=True), count("own", epsilon=1, over="1/4"))
    report = describe(execute.preview(plan(tmp_path, *queries, **PERSONS)))
    text = "\n".join(str(block) for block in report)
    assert [entry["name"] for entry in report.json["queries"]] == [
        "five",
        "five: over the bound",
        "own",
        "own: over the bound",
    ]
    assert [entry.get("over") for entry in report.json["queries"]] == [None, "1/10", None, "1/4"]
    assert "five: over the bound: 1/10 of ε 359/300 → ε 359/3000." in text
    assert "own: over the bound: 1/4 of ε 1 → ε 0.25." in text


def test_splits_are_proposed_for_the_price_of_a_query_and_its_persons_over_the_bound(tmp_path: Path) -> None:
    queries = (count("a", epsilon=1, over="1/2"), count("b", epsilon=1))
    proposals = propose_splits(plan(tmp_path, *queries, **PERSONS), 2)
    assert [split.epsilons for split in proposals.splits[:2]] == [(1, 1)] * 2
    equal = proposals.splits[0]
    shown = execute.preview(plan(tmp_path, *queries, **PERSONS)).planned_answers
    assert [error.half_width for error in equal.errors] == [shown[0].error.half_width, shown[2].error.half_width]
    balanced = proposals.splits[2]
    assert balanced.largest is not None
    assert balanced.largest <= 1


def test_found_cells_with_over_keep_all_of_their_delta(tmp_path: Path) -> None:
    cells = {"name": "cells", "kind": "count", "by": ["x"], "over": True}
    priced_plan = plans.plan_from_mapping(plan(tmp_path, cells, **PERSONS, epsilon=1, delta="1e-6"), tmp_path)
    assert plans.parse_plan(write_plan(priced_plan), tmp_path) == priced_plan
    first, second = execute.preview(priced_plan).plan.queries
    assert (first.epsilon, first.delta) == (Fraction("0.9"), Fraction("1e-6"))
    assert (second.epsilon, second.delta, second.query.candidates.by) == (TENTH, 0, ("x",))


LONG = "1/" + "3" * 41
PRIMES = [prime for prime in range(2, 3000) if all(prime % k for k in range(2, 55) if k < prime)]


@pytest.mark.parametrize(
    ("queries", "entries", "message"),
    [
        ([count("q", share=LONG)], {"epsilon": 1}, "share must be a number of at most 40 digits"),
        ([count("q", epsilon=1, over=LONG)], {}, "over must be a number of at most 40 digits"),
        ([count("q", by=["x"], epsilon=1, delta=LONG)], {}, "delta must be a number of at most 40 digits"),
        ([count("q", by=["x"], epsilon=1)], {"delta": LONG}, "delta must be a number of at most 40 digits"),
        ([count(f"q{p}", share=f"1/{p}") for p in PRIMES], {"epsilon": 1}, "take shorter shares"),
        ([count(f"q{p}", epsilon=f"1/{p}") for p in PRIMES], {}, "denominators that stay short when they are added up"),
    ],
    ids=["share", "over", "delta", "delta of the plan", "many shares", "many prices"],
)
def test_amounts_that_no_ledger_holds_are_refused_before_anything_is_computed_with_them(
    tmp_path: Path, queries: list[dict[str, Any]], entries: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        plans.plan_from_mapping(plan(tmp_path, *queries, **entries))
