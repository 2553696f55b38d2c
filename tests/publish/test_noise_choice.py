"""Plans that choose their noise: what it costs in each kind of budget, what it tells, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import utmost
from cli.conftest import utmost as run_utmost
from utmost import ledger
from utmost.errors import InputError
from utmost.ledger.compositions.zcdp import rho_limit
from utmost.noise.concentrated import delta_of_rho, epsilon_of_rho, rho_of
from utmost.noise.gaussian import half_width
from utmost.publish import execute, plan_writer, plans, release_file
from utmost.publish.release_model import Release
from utmost.reports.prices import price_sentences

__all__ = ["run_utmost"]

TOP = {"neighbours": "replace", "budget": "b", "source": {"location": "bundled:anes96"}}
DELTA = Fraction("1e-6")
ONE = Fraction(1)


def plan_content(count: int = 3, **entries: Any) -> dict[str, Any]:
    queries = [{"name": f"q{k}", "kind": "count", "where": f"age > {20 + k}"} for k in range(count)]
    return {**TOP, "epsilon": 1, "delta": "1e-6", "noise": "gaussian", "query": queries, **entries}


@pytest.fixture
def open_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    monkeypatch.chdir(tmp_path)

    def open_one(composition: str, epsilon: Fraction = ONE, delta: Fraction = DELTA) -> None:
        with ledger.open_ledger("ledger.sqlite") as budget_ledger:
            terms = (epsilon, Fraction(0) if composition == "pure" else delta, composition)
            budget_ledger.open(ledger.Budget("b", *terms, neighbours="replace"))

    return open_one


def check_round_trip(release: Release) -> dict[str, Any]:
    document = json.loads(release_file.release_to_json(release))
    jsonschema.Draft202012Validator(release_file.release_schema()).validate(document)
    assert release_file.release_from_content(document) == release
    return dict(document)


def test_sums_give_each_query_the_rho_that_its_epsilon_and_delta_convert_to(open_budget: Callable[..., None]) -> None:
    open_budget("approximate")
    preview = execute.preview(plan_content(4))
    for planned in preview.planned_answers:
        spec = planned.spec
        assert (spec.epsilon, spec.delta, spec.noise) == (Fraction(1, 4), DELTA / 4, "gaussian")
        assert spec.rho is not None
        assert delta_of_rho(spec.rho, spec.epsilon) <= spec.delta
        assert spec.rho >= rho_of(spec.epsilon, spec.delta) * (1 - Fraction(1, 10**11))
        assert planned.law.mechanism.variance == 1 / (2 * spec.rho)
    release = utmost.release(plan_content(4))
    document = check_round_trip(release)
    assert (document["guarantee"]["definition"], release.delta, document["schema"]) == (
        "approximate",
        DELTA,
        "utmost-release/2",
    )
    assert ONE - Fraction(1, 10**9) <= release.epsilon <= 1
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        assert (budget_ledger.state("b").left, budget_ledger.state("b").delta_left) == (0, 0)


def test_a_plan_stands_for_all_of_a_zcdp_budget_of_the_same_terms(open_budget: Callable[..., None]) -> None:
    open_budget("zcdp")
    release = utmost.release(plan_content(60))
    document = check_round_trip(release)
    rho, told_delta = rho_limit(ONE, DELTA), DELTA * 9 / 10
    assert release.rho is not None
    assert rho * (1 - Fraction(1, 10**9)) <= release.rho <= rho
    assert (release.definition, release.delta) == ("zcdp", told_delta)
    assert 0 <= release.epsilon - epsilon_of_rho(release.rho, told_delta) <= Fraction(1, 10**9)
    assert {answer.rho for answer in release} == {release.rho / 60}
    assert {answer.error.half_width for answer in release} == {69}
    assert document["queries"][0]["mechanism"]["sigma2"] == str(30 / release.rho)
    assert "zero-concentrated" in release.guarantee
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        assert budget_ledger.state("b").spent == release.rho


def test_mixed_noise_in_a_zcdp_budget_shares_rho(open_budget: Callable[..., None]) -> None:
    open_budget("zcdp")
    content = plan_content(3)
    content["query"][0] |= {"noise": "geometric", "share": 2}
    content["query"][1] |= {"rho": "0.001"}
    content["query"] += [
        {
            "name": "median",
            "kind": "quantile",
            "probability": "0.5",
            "column": "age",
            "low": 18,
            "high": 91,
            "step": 1,
            "nulls": "drop",
        },
        {"name": "own", "kind": "count", "where": "vote = 1", "noise": "geometric", "epsilon": "0.01"},
    ]
    preview = execute.preview(content)
    specs = {planned.spec.name: planned.spec for planned in preview.planned_answers}
    assert [specs[name].noise for name in ("q0", "q1", "q2", "median", "own")] == [
        "geometric",
        "gaussian",
        "gaussian",
        "geometric",
        "geometric",
    ]
    assert (specs["q1"].rho, specs["own"].epsilon) == (Fraction(1, 1000), Fraction(1, 100))
    left = rho_limit(ONE, DELTA) - Fraction(1, 1000) - Fraction(1, 20_000)
    assert specs["q2"].rho == pytest.approx(left / 4)
    assert specs["q0"].epsilon ** 2 / 2 == pytest.approx(left / 2)
    assert specs["q0"].epsilon ** 2 / 2 <= left / 2
    release = utmost.release(content)
    check_round_trip(release)
    assert release.rho is not None
    assert release.rho <= rho_limit(ONE, DELTA)


def test_the_best_noise_is_canonical_for_sums_and_gaussian_for_rho(open_budget: Callable[..., None]) -> None:
    open_budget("approximate")
    planned = execute.preview(plan_content(60, noise="best")).planned_answers[0]
    assert (planned.spec.noise, planned.error.half_width) == ("canonical", 180)
    assert 0 < planned.spec.delta <= DELTA / 60
    assert planned.other is not None
    assert (planned.other.noise, planned.other.error.half_width) == ("geometric", 180)
    assert planned.other.error.expected > planned.error.expected
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        budget_ledger.open(ledger.Budget("z", ONE, DELTA, "zcdp", neighbours="replace"))
    planned = execute.preview(plan_content(60, noise="best", budget="z")).planned_answers[0]
    assert (planned.spec.noise, planned.error.half_width) == ("gaussian", 69)
    assert planned.other is not None
    assert (planned.other.noise, planned.other.error.half_width) == ("geometric", 180)


@pytest.mark.parametrize("composition", ["approximate", "zcdp"])
def test_a_wanted_error_finds_the_least_price(open_budget: Callable[..., None], composition: str) -> None:
    open_budget(composition, Fraction(20), Fraction(1, 1000))
    content = plan_content(2)
    content |= {"epsilon": 20, "delta": "1e-3"}
    content["query"][0]["error"] = 30
    spec = execute.preview(content).planned_answers[0].spec
    assert spec.rho is not None
    least = spec.rho if composition == "zcdp" else None
    assert half_width(1 / (2 * spec.rho), Fraction(1, 20)) <= 30
    if least is not None:
        digit = Fraction(1, 10**6)
        assert half_width(1 / (2 * (least - digit)), Fraction(1, 20)) > 30
    check_round_trip(utmost.release(content))


def test_sixty_counts_are_within_64_where_their_loss_distributions_are_composed(
    open_budget: Callable[..., None],
) -> None:
    """The half width that was promised is 66; ρ alone gives 69, sums give 180."""
    open_budget("pld")
    release = utmost.release(plan_content(60, noise="best"))
    document = check_round_trip(release)
    assert (document["guarantee"]["definition"], release.rho, release.delta) == ("pld", None, DELTA)
    assert {answer.error.half_width for answer in release} == {64}
    assert Fraction("0.999") < release.epsilon <= 1
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        assert budget_ledger.state("b").spent == release.epsilon
    for name, value in (("epsilon", "1/2"), ("delta", "1/100"), ("definition", "zcdp")):
        altered = json.loads(json.dumps(document))
        altered["guarantee"][name] = value
        with pytest.raises(InputError, match="guarantee must have"):
            release_file.release_from_content(altered)


def test_a_single_count_gets_geometric_noise_where_loss_distributions_are_composed(
    open_budget: Callable[..., None],
) -> None:
    open_budget("pld")
    planned = execute.preview(plan_content(1, noise="best")).planned_answers[0]
    assert planned.spec.noise == "geometric"
    assert Fraction("0.99") <= planned.spec.epsilon <= Fraction("1.01")


def test_a_delta_at_which_a_little_rho_tells_nothing_is_searched_as_any_other(
    open_budget: Callable[..., None],
) -> None:
    open_budget("pld", Fraction(1, 10), Fraction(1, 10))
    preview = execute.preview(plan_content(1, epsilon="0.1", delta="0.1"))
    assert Fraction(99, 1000) <= preview.cost <= Fraction(1, 10)
    assert preview.planned_answers[0].spec.rho > rho_of(Fraction(1, 10), Fraction(1, 10))  # whose ε is 0


def test_own_prices_above_the_plans_are_refused_as_such_where_loss_distributions_are_composed(
    open_budget: Callable[..., None],
) -> None:
    open_budget("pld")
    content = plan_content(2, epsilon="0.1")
    content["query"][1]["epsilon"] = "0.5"
    with pytest.raises(InputError, match="epsilon of the plan must be more than its queries have of their own"):
        execute.preview(content)


def test_mixed_noise_where_loss_distributions_are_composed(open_budget: Callable[..., None]) -> None:
    open_budget("pld")
    content = plan_content(3)
    content["query"][0] |= {"noise": "geometric", "epsilon": "0.1"}
    content["query"][1] |= {"share": 3}
    release = utmost.release(content)
    check_round_trip(release)
    assert release["q0"].epsilon == Fraction(1, 10)
    first, second = release["q1"].rho, release["q2"].rho
    assert first is not None
    assert second is not None
    assert first / second == pytest.approx(3)


def test_a_histogram_of_persons_pays_for_the_root_of_its_groups(
    tmp_path: Path, open_budget: Callable[..., None]
) -> None:
    (tmp_path / "visits.csv").write_text("person,day\n" + "".join(f"{k // 4},{k % 7}\n" for k in range(200)))
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        terms = {"unit": "person", "neighbours": "add-remove"}
        budget_ledger.open(ledger.Budget("b", ONE, DELTA, "zcdp", **terms))
    content = {
        "neighbours": "add-remove",
        "budget": "b",
        "source": {"location": "visits.csv", "columns": {"person": "integer", "day": "integer"}},
        "unit": {"column": "person", "groups": 4},
        "epsilon": 1,
        "delta": "1e-6",
        "noise": "best",
        "query": [{"name": "days", "kind": "count", "keys": {"day": list(range(7))}}],
    }
    planned = execute.preview(content).planned_answers[0]
    assert planned.law.moves is not None
    assert (planned.law.moves.squared, planned.law.sensitivity, planned.law.ledger_law) == (4, 4, "gaussian")
    release = utmost.release(content)
    check_round_trip(release)
    reading = release["days"].estimate("uniform", "absolute", at_most=60)
    assert len(reading.readings) == 7


FOUND = {"name": "found", "kind": "count", "by": ["age"], "delta": "1e-8"}


@pytest.mark.parametrize("composition", ["approximate", "zcdp", "pld"])
@pytest.mark.parametrize("noise", ["best", "gaussian"])
def test_keys_that_are_found_keep_their_mechanism_and_their_delta_adds_up(
    open_budget: Callable[..., None], composition: str, noise: str
) -> None:
    open_budget(composition)
    content = plan_content(2, noise=noise)
    content["query"].append({**FOUND, "share": 3} if composition == "pld" else dict(FOUND))
    preview = execute.preview(content)
    found = preview.planned_answers[-1]
    assert (found.spec.noise, found.spec.delta) == ("geometric", Fraction("1e-8"))
    assert found.keeps_mechanism == ("gaussian" if noise == "gaussian" else None)
    release = utmost.release(content)
    check_round_trip(release)
    assert release.delta <= DELTA
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        state, own = budget_ledger.state("b"), release["found"].delta
        assert state.delta_spent == (release.delta if composition == "approximate" else own)
    content["query"][-1]["noise"] = "gaussian"
    with pytest.raises(InputError, match=r"noise must be geometric for a .* with keys that are found in the data"):
        execute.preview(content)


@pytest.mark.parametrize("composition", ["zcdp", "pld"])
def test_keys_found_with_more_than_a_tenth_of_delta_leave_the_rest_to_rho(
    open_budget: Callable[..., None], composition: str
) -> None:
    open_budget(composition, delta=DELTA * 10)
    content = plan_content(2, noise="best")
    content["query"].append({**FOUND, "epsilon": "0.5", "delta": str(DELTA / 2)})
    preview = execute.preview(content)
    release = utmost.release(content)
    check_round_trip(release)
    assert (release.delta, release["found"].delta) == (DELTA, DELTA / 2)
    assert release.epsilon <= 1
    if composition == "zcdp":
        assert release.rho is not None
        assert (
            epsilon_of_rho(release.rho, DELTA / 2) <= 1 < epsilon_of_rho(release.rho * Fraction("1.000001"), DELTA / 2)
        )
        assert "but for an event of probability 5e-07 at most; 5e-07-approximate zero" in release.guarantee
        sentences = " ".join(price_sentences([planned.spec for planned in preview.planned_answers], ONE))
        assert "found: ε 0.5 of its own stands for a ρ" in sentences


def test_a_release_without_found_keys_is_zero_concentrated_without_an_exception(
    open_budget: Callable[..., None],
) -> None:
    open_budget("zcdp")
    guarantee = utmost.release(plan_content(1)).guarantee
    assert "but for" not in guarantee
    assert "approximate" not in guarantee


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"delta": "1e-6"},
            "delta of the plan must be more than 1e-06, which its queries have of their own, got 1e-06",
        ),
        ({"delta": "2e-7"}, "budget 'b' has δ 1e-07 left for found keys (a tenth of its δ), this plan costs 2e-07"),
        ({"delta": "2e-7"}, "open a new budget with --delta 2e-06 or more"),
        ({"noise": "geometric"}, "epsilon of the plan must be more than 1, which in this budget is ρ 0.0241296"),
        ({"noise": "geometric"}, 'its queries have ρ 0.125 of their own: raise it, or give query "found" a share'),
    ],
)
def test_own_prices_of_found_keys_that_do_not_fit_are_refused_in_a_line(
    open_budget: Callable[..., None], change: dict[str, str], problem: str
) -> None:
    open_budget("zcdp")
    content = plan_content(2, noise="best")
    content["query"].append({**FOUND, "epsilon": "0.5", **change})
    with pytest.raises(InputError) as refusal:
        utmost.release(content)
    assert problem in str(refusal.value)
    assert "\n" not in str(refusal.value)
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        assert budget_ledger.state("b").charges == 0


def test_many_cells_weigh_more_than_one_number_where_loss_distributions_are_composed(
    open_budget: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "visits.csv").write_text("person,week\n1,1\n1,2\n2,2\n")
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        budget_ledger.open(ledger.Budget("b", ONE, DELTA, "pld", unit="person", neighbours="add-remove"))
    content = {
        "neighbours": "add-remove",
        "budget": "b",
        "source": {"location": "visits.csv", "columns": {"person": "integer", "week": "integer"}},
        "unit": {"column": "person", "groups": 16},
        "epsilon": 1,
        "delta": "1e-6",
        "noise": "best",
        "query": [
            {"name": "weeks", "kind": "count", "keys": {"week": list(range(52))}},
            {"name": "persons", "kind": "count"},
        ],
    }
    weeks, persons = execute.preview(content).planned_answers
    assert weeks.spec.noise == "gaussian"
    assert weeks.error.half_width < 96  # which geometric noise for both gives
    assert persons.other is not None


def test_a_written_plan_is_read_back_equal(tmp_path: Path) -> None:
    content = plan_content(3, title="t")
    content["query"][0] |= {"noise": "geometric", "epsilon": "0.1"}
    content["query"][1] |= {"rho": "1/1000"}
    content["query"][2] |= {"noise": "best", "delta": "1e-7", "share": 3}
    plan = plans.plan_from_mapping(content, tmp_path)
    assert plans.parse_plan(plan_writer.write_plan(plan), tmp_path) == plan
    priced = plans.plan_from_mapping(
        {**TOP, "rho": "0.01", "noise": "best", "query": plan_content(1)["query"]}, tmp_path
    )
    assert plans.parse_plan(plan_writer.write_plan(priced), tmp_path) == priced


@pytest.mark.parametrize(
    ("composition", "change", "problem"),
    [
        ("pure", {}, "noise must be geometric in a budget without δ"),
        ("approximate", {"noise": "gauss"}, 'noise must be geometric, gaussian, canonical or best, got "gauss"'),
        ("approximate", {"delta": None}, "delta is missing"),
        ("approximate", {"delta": 1}, "delta must be from 0 to below 1"),
        ("approximate", {"delta": -1}, "delta must be from 0 to below 1"),
        ("zcdp", {"rho": "0.1"}, "rho must not be given with epsilon"),
        ("zcdp", {"epsilon": None, "rho": 0}, "rho must be > 0"),
        ("zcdp", {"epsilon": None, "rho": -1}, "rho must be > 0"),
        (
            "zcdp",
            {"epsilon": None, "rho": 1, "noise": "geometric"},
            "rho must be left out where all noise is geometric",
        ),
    ],
)
def test_a_plan_that_cannot_be_priced_is_refused_in_a_line(
    open_budget: Callable[..., None], composition: str, change: dict[str, Any], problem: str
) -> None:
    open_budget(composition)
    content = {key: value for key, value in plan_content(1, **change).items() if value is not None}
    with pytest.raises(InputError) as refusal:
        execute.release(content)
    assert problem in str(refusal.value)
    assert "\n" not in str(refusal.value)
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        assert budget_ledger.state("b").charges == 0


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rho": "0.1", "epsilon": 1}, "rho must be given without epsilon, share and error"),
        ({"rho": "0.1", "noise": "geometric"}, "rho must be left out with geometric noise"),
        (
            {
                "kind": "quantile",
                "probability": "0.5",
                "column": "age",
                "low": 18,
                "high": 91,
                "step": 1,
                "nulls": "drop",
                "noise": "gaussian",
            },
            "noise must be geometric for a quantile here",
        ),
        ({"delta": 2}, "delta must be from 0 to below 1"),
        ({"noise": "geometric", "delta": "1e-7"}, "delta"),
    ],
)
def test_a_query_that_cannot_be_priced_is_refused_in_a_line(
    open_budget: Callable[..., None], change: dict[str, Any], problem: str
) -> None:
    open_budget("zcdp")
    content = plan_content(1)
    content["query"][0] |= change
    with pytest.raises(InputError, match=problem):
        execute.release(content)


@pytest.fixture
def gaussian_document(open_budget: Callable[..., None]) -> dict[str, Any]:
    open_budget("zcdp")
    return json.loads(release_file.release_to_json(utmost.release(plan_content(2))))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d["guarantee"].update(epsilon="1/2"), "guarantee must have epsilon"),
        (lambda d: d["guarantee"].update(delta="1/10000000"), "guarantee must have epsilon"),
        (lambda d: d["guarantee"].update(rho="1/1000"), "guarantee must have rho"),
        (lambda d: d["guarantee"].update(definition="approximate"), "guarantee must have epsilon"),
        (lambda d: d["guarantee"].update(definition="<b>"), "definition must be pure, approximate, zcdp or pld"),
        (lambda d: d["guarantee"].pop("rho"), "guarantee must have rho"),
        (lambda d: d["queries"][0]["mechanism"].update(sigma2="1000"), "guarantee must have"),
        (lambda d: d["queries"][0]["mechanism"].update(sigma2="0"), "variance must be > 0"),
        (lambda d: d["queries"][0]["mechanism"].update(high=10**6), "mechanism must have high"),
        (lambda d: d["queries"][0].update(sensitivity=2), "sensitivity must be 1"),
        (lambda d: d["queries"][0].update(delta="0"), "delta must be > 0 and below 1"),
        (lambda d: d["queries"][0].pop("rho"), "delta"),
        (lambda d: d["queries"][0].update(value=-1), "value must be within"),
        (lambda d: d["queries"][0].update(mechanism={**d["queries"][0]["mechanism"], "name": "geometric"}), "epsilon"),
    ],
)
def test_an_altered_release_is_refused(
    gaussian_document: dict[str, Any], change: Callable[[dict[str, Any]], Any], problem: str
) -> None:
    change(gaussian_document)
    with pytest.raises(InputError, match=problem):
        release_file.release_from_content(gaussian_document)


def test_stated_epsilons_of_answers_are_never_believed(gaussian_document: dict[str, Any]) -> None:
    honest = release_file.release_from_content(json.loads(json.dumps(gaussian_document)))
    gaussian_document["queries"][0]["epsilon"] = "1/100000"
    gaussian_document["queries"][0]["rho"] = "1/100000"
    assert release_file.release_from_content(gaussian_document) == honest


@pytest.mark.parametrize(
    ("composition", "near", "far"),
    [("approximate", Fraction(1, 10**10), Fraction(1, 10**6)), ("pld", Fraction(1, 10**5), Fraction(1, 100))],
)
def test_the_last_digits_of_an_epsilon_that_another_version_told_are_computed_anew(
    open_budget: Callable[..., None], composition: str, near: Fraction, far: Fraction
) -> None:
    open_budget(composition)
    release = utmost.release(plan_content(2))
    document = json.loads(release_file.release_to_json(release))
    for change in (near, -near):
        document["guarantee"]["epsilon"] = str(release.epsilon * (1 + change))
        assert release_file.release_from_content(document) == release
    document["guarantee"]["epsilon"] = str(release.epsilon * (1 - far))
    with pytest.raises(InputError, match="guarantee must have epsilon"):
        release_file.release_from_content(document)


def test_a_dry_run_says_what_pure_epsilon_would_give(run_utmost, open_budget: Callable[..., None]) -> None:
    open_budget("zcdp")
    Path("plan.toml").write_text(plan_writer.write_plan(plans.plan_from_mapping(plan_content(60), Path.cwd())))
    result = run_utmost("release", "plan.toml", "--dry-run")
    assert "pure ε 1 would give ±180, this gives ±69" in " ".join(result.out.split())
    document = json.loads(run_utmost("release", "plan.toml", "--dry-run", "--json").out)
    assert (document["definition"], document["queries"][0]["other_noise"]["noise"]) == ("zcdp", "geometric")
    result = run_utmost("release", "plan.toml", "--output", "r.json")
    assert result.code == 0
    assert "ρ = 0.000402" in run_utmost("estimate", "r.json", "--query", "q3").out


def test_the_same_plan_is_free_and_other_noise_is_not(open_budget: Callable[..., None]) -> None:
    open_budget("zcdp")
    source = {"location": "bundled:anes96", "fingerprint": "f"}
    first = utmost.release(plan_content(1, source=source, epsilon="0.5"))
    assert utmost.release(plan_content(1, source=source, epsilon="0.5")) == first
    other = utmost.release(plan_content(1, source=source, epsilon="0.1"))
    assert other.entry.number != first.entry.number
