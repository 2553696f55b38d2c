"""Canonical noise in plans: its prices, what is refused, releases that were altered, and readings by Bayes' theorem."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import utmost
from cli.conftest import utmost as run_utmost
from utmost import ledger
from utmost.errors import InputError
from utmost.publish import execute, plan_writer, plans, release_file
from utmost.publish.calibration import calibrate_error, privacy_setting
from utmost.publish.estimate import belief_curves, chart_data
from utmost.publish.plan_splits import propose_splits
from utmost.publish.release_model import Answer
from utmost.publish.tidy_table import tidy_table
from utmost.queries import Count
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice, canonical_lattice
from utmost.queries.query import UNIVERSAL_CANONICAL_CLAIM

__all__ = ["run_utmost"]

TOP = {"neighbours": "replace", "budget": "b", "source": {"location": "bundled:anes96"}}
DELTA, ONE = Fraction("1e-6"), Fraction(1)
AGES = {"column": "age", "low": 18, "high": 91, "step": 1, "nulls": "drop"}
QUANTILE = {"kind": "quantile", "probability": "0.5", **AGES}


def plan_content(count: int = 2, **entries: Any) -> dict[str, Any]:
    queries = [{"name": f"q{k}", "kind": "count", "where": f"age > {20 + k}"} for k in range(count)]
    return {**TOP, "epsilon": 1, "delta": "1e-6", "noise": "canonical", "query": queries, **entries}


@pytest.fixture
def open_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    monkeypatch.chdir(tmp_path)

    def open_one(composition: str = "approximate") -> None:
        with ledger.open_ledger("ledger.sqlite") as budget_ledger:
            terms = (ONE, Fraction(0) if composition == "pure" else DELTA, composition)
            budget_ledger.open(ledger.Budget("b", *terms, neighbours="replace"))

    return open_one


def check_round_trip(release: Any) -> dict[str, Any]:
    document = json.loads(release_file.release_to_json(release))
    jsonschema.Draft202012Validator(release_file.release_schema()).validate(document)
    assert release_file.release_from_content(document) == release
    return dict(document)


def test_sums_split_epsilon_and_delta_and_charge_what_the_noise_has(open_budget: Callable[..., None]) -> None:
    open_budget()
    content = plan_content(2)
    content["query"].append({"name": "sum", "kind": "sum", **AGES, "nulls": 18})
    preview = execute.preview(content)
    for planned in preview.planned_answers:
        assert (planned.spec.noise, planned.spec.epsilon) == ("canonical", Fraction(1, 3))
        assert 0 < planned.spec.delta <= DELTA / 3
        assert planned.law.mechanism.told_delta(planned.law.sensitivity) == planned.spec.delta
    release = utmost.release(content)
    document = check_round_trip(release)
    assert (release.definition, release.epsilon) == ("approximate", ONE)
    assert release.delta == sum(answer.noise_delta for answer in release) == preview.plan.delta
    assert [answer.optimal.partition(":")[0] for answer in release] == ["universal", "universal", "none claimed"]
    assert document["queries"][0]["mechanism"]["name"] == "canonical"
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        state = budget_ledger.state("b")
        assert (state.spent, state.delta_spent) == (1, release.delta)


def test_the_best_noise_for_a_few_counts_is_canonical_and_the_preview_says_why(
    run_utmost: Any, open_budget: Callable[..., None]
) -> None:
    open_budget()
    Path("plan.toml").write_text(
        plan_writer.write_plan(plans.plan_from_mapping(plan_content(1, noise="best"), Path.cwd()))
    )
    text = " ".join(run_utmost("release", "plan.toml", "--dry-run").out.split())
    assert "pure ε 1 would give ±3, canonical noise gives ±3 and never more than ±14" in text
    assert "ε 1 and δ 3.84264e-07" in text
    planned = execute.preview(plan_content(3, noise="best")).planned_answers
    assert {answer.spec.noise for answer in planned} == {"canonical"}


def test_a_wanted_error_finds_the_least_epsilon(open_budget: Callable[..., None]) -> None:
    open_budget()
    content = plan_content(2)
    content["query"][0]["error"] = 12
    spec, other = (planned.spec for planned in execute.preview(content).planned_answers)
    share = DELTA / 2
    assert canonical_lattice(spec.epsilon, share, 1, CanonicalLattice(ONE, 1, None, None)).half_width() == 12
    less = spec.epsilon - Fraction(1, 10**4)
    assert canonical_lattice(less, share, 1, CanonicalLattice(ONE, 1, None, None)).half_width() == 13
    assert spec.epsilon + other.epsilon == 1
    check_round_trip(utmost.release(content))


@pytest.mark.parametrize("own", [{}, {"epsilon": "1/4"}, {"noise": "gaussian"}], ids=str)
def test_loss_distributions_have_the_law_of_canonical_noise(
    open_budget: Callable[..., None], own: dict[str, Any]
) -> None:
    open_budget("pld")
    content = plan_content(2)
    content["query"][1] |= own
    release = utmost.release(content)
    document = check_round_trip(release)
    assert (release.definition, release.delta) == ("pld", DELTA)
    assert Fraction("0.999") < release.epsilon <= 1
    assert release["q0"].noise_delta <= DELTA / 2
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        state = budget_ledger.state("b")
        assert (state.spent, state.delta_spent) == (release.epsilon, 0)
    document["guarantee"]["epsilon"] = "1/2"
    with pytest.raises(InputError, match="guarantee must have epsilon"):
        release_file.release_from_content(document)


@pytest.mark.parametrize(
    ("composition", "top", "query", "problem"),
    [
        ("pure", {}, {}, "noise must be geometric in a budget without δ: canonical noise is private only but for a δ"),
        ("zcdp", {}, {}, "noise must not be canonical in a budget that counts ρ: canonical noise has no ρ"),
        ("zcdp", {"noise": "best"}, {"noise": "canonical"}, "canonical noise has no ρ"),
        ("approximate", {"delta": None}, {}, "delta is missing"),
        ("approximate", {"noise": "canonic"}, {}, "noise must be geometric, gaussian, canonical or best"),
        (
            "approximate",
            {"noise": "best"},
            {**QUANTILE, "noise": "canonical"},
            "must be geometric for a quantile",
        ),
        (
            "approximate",
            {"noise": "best"},
            {"kind": "count", "by": ["age"], "delta": "1e-8", "noise": "canonical"},
            "with keys that are found in the data: canonical noise is for counts, sums",
        ),
        ("approximate", {}, {"rho": "0.1"}, "rho must be left out with canonical noise"),
        ("approximate", {}, {"delta": "1e-30"}, "delta must be at least 1e-27 with canonical noise"),
        ("pld", {}, {"delta": "1e-30"}, "delta must be at least 1e-27 with canonical noise"),
    ],
)
def test_what_cannot_have_canonical_noise_is_refused_in_a_line(
    open_budget: Callable[..., None], composition: str, top: dict[str, Any], query: dict[str, Any], problem: str
) -> None:
    open_budget(composition)
    content = {key: value for key, value in plan_content(1, **top).items() if value is not None}
    content["query"][0] |= query
    if query.get("kind"):
        del content["query"][0]["where"]
    with pytest.raises(InputError) as refusal:
        execute.release(content)
    assert problem in str(refusal.value)
    assert "\n" not in str(refusal.value)
    with ledger.open_ledger("ledger.sqlite") as budget_ledger:
        assert budget_ledger.state("b").charges == 0


def test_a_kind_without_it_keeps_its_mechanism_where_the_plan_asks(
    run_utmost: Any, open_budget: Callable[..., None]
) -> None:
    open_budget()
    content = plan_content(1)
    content["query"].append({"name": "median", **QUANTILE})
    planned = execute.preview(content).planned_answers
    assert [(answer.spec.noise, answer.keeps_mechanism) for answer in planned] == [
        ("canonical", None),
        ("geometric", "canonical"),
    ]
    Path("plan.toml").write_text(plan_writer.write_plan(plans.plan_from_mapping(content, Path.cwd())))
    text = " ".join(run_utmost("release", "plan.toml", "--dry-run").out.split())
    assert "There is no canonical noise for median: answered as without it." in text


def test_a_written_plan_is_read_back_equal_and_another_delta_is_another_release(
    tmp_path: Path, open_budget: Callable[..., None]
) -> None:
    open_budget()
    content = plan_content(2)
    content["query"][1] |= {"noise": "canonical", "delta": "1e-7", "share": 3}
    plan = plans.plan_from_mapping(content, tmp_path)
    assert plans.parse_plan(plan_writer.write_plan(plan), tmp_path) == plan
    source = {"location": "bundled:anes96", "fingerprint": "f"}
    first = utmost.release(plan_content(1, source=source, epsilon="0.4", delta="4e-7"))
    assert utmost.release(plan_content(1, source=source, epsilon="0.4", delta="4e-7")) == first
    other = utmost.release(plan_content(1, source=source, epsilon="0.4", delta="1e-8"))
    assert other.entry.number != first.entry.number


@pytest.fixture
def document(open_budget: Callable[..., None]) -> dict[str, Any]:
    open_budget()
    return json.loads(release_file.release_to_json(utmost.release(plan_content(2))))


def mechanism_of(document: dict[str, Any]) -> dict[str, Any]:
    return dict(document)["queries"][0]["mechanism"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d["guarantee"].update(epsilon="1/2"), "guarantee must have epsilon"),
        (lambda d: d["guarantee"].update(delta="1/100000000"), "guarantee must have delta"),
        (lambda d: d["guarantee"].update(definition="zcdp"), "delta must be more"),
        (lambda d: d["guarantee"].update(rho="1/100"), "guarantee must have rho"),
        (lambda d: d["queries"][0].update(epsilon="1/10"), "mechanism must have epsilon"),
        (lambda d: d["queries"][0].update(delta="1/100000000"), "delta must be"),
        (lambda d: d["queries"][0].update(delta="0"), "delta must be"),
        (lambda d: d["queries"][0].pop("delta"), "delta"),
        (lambda d: d["queries"][0].update(rho="1/100"), "rho"),
        (lambda d: d["queries"][0].update(sensitivity=2), "mechanism must have epsilon"),
        (lambda d: d["queries"][0].update(sensitivity=0), "sensitivity must be from 1"),
        (lambda d: d["queries"][0].update(sensitivity=10**9), "sensitivity must be from 1"),
        (lambda d: d["queries"][0].update(value=-(10**6)), "within its mechanism's reach"),
        (lambda d: mechanism_of(d).update(reach=mechanism_of(d)["reach"] + 1), "delta must be"),
        (lambda d: mechanism_of(d).update(reach=mechanism_of(d)["reach"] - 1), "delta must be"),
        (lambda d: mechanism_of(d).update(reach=0), "reach from 1"),
        (lambda d: mechanism_of(d).update(reach=2**61), "reach from 1"),
        (lambda d: mechanism_of(d).update(reach=2**60), "epsilon times a distance"),
        (lambda d: mechanism_of(d).update(reach="14"), "reach"),
        (lambda d: mechanism_of(d).update(epsilon="1/10"), "mechanism must have epsilon"),
        (lambda d: mechanism_of(d).update(epsilon="0"), "epsilon > 0"),
        (lambda d: mechanism_of(d).update(high=10**6), "mechanism must have high"),
        (lambda d: mechanism_of(d).update(low=None), "mechanism must have low"),
        (lambda d: mechanism_of(d).update(name="geometric"), "reach"),
        (lambda d: mechanism_of(d).pop("reach"), "reach"),
    ],
)
def test_an_altered_release_is_refused(
    document: dict[str, Any], change: Callable[[dict[str, Any]], Any], problem: str
) -> None:
    change(document)
    with pytest.raises(InputError, match=problem) as refusal:
        release_file.release_from_content(document)
    assert "\n" not in str(refusal.value)


# Readings


def answer_of(mechanism: CanonicalLattice, value: int) -> Answer:
    error = mechanism.error_law()
    fields: dict[str, Any] = {"noise_delta": mechanism.told_delta(1)}
    return Answer(
        "q", Count("x = 1"), mechanism.epsilon, 1, mechanism, UNIVERSAL_CANONICAL_CLAIM, error, value, **fields
    )


@pytest.mark.parametrize("rate", ["1/2", "1/10"])
@pytest.mark.parametrize("value", [-9, -2, 17, 49])
@pytest.mark.parametrize(
    ("prior", "loss"), [("uniform", "absolute"), ("binomial:0.3", "squared"), ("uniform", "binary")]
)
def test_the_posterior_is_that_of_bayes(rate: str, value: int, prior: str, loss: str) -> None:
    mechanism = CanonicalLattice(Fraction(rate), 12, 0, 40)
    estimate = answer_of(mechanism, value).estimate(prior, loss)
    belief = belief_curves(estimate)
    weights = belief.prior * [float(mechanism.law.mass(value - truth)) for truth in range(41)]
    assert belief.posterior == pytest.approx(weights / weights.sum(), rel=1e-9, abs=0)
    distances = np.abs(np.arange(41)[:, None] - np.arange(41)[None, :])
    costs = {"absolute": distances, "squared": distances**2, "binary": distances > 0}[loss]
    losses = weights @ costs / weights.sum()
    (reading,) = estimate.readings
    assert reading.loss is not None
    assert reading.loss.expected == pytest.approx(min(losses), rel=1e-9, abs=1e-12)
    assert losses[int(reading.estimate)] == pytest.approx(min(losses), rel=1e-9, abs=1e-12)
    assert reading.loss.face_value == pytest.approx(losses[min(max(value, 0), 40)], rel=1e-9, abs=1e-12)
    assert reading.interval is not None
    low, high = (int(end) for end in reading.interval)
    assert weights[low : high + 1].sum() / weights.sum() >= 0.95
    assert max(0, value - 12) <= low <= high <= min(40, value + 12)
    assert reading.unbiased == value
    assert estimate.claim.startswith("optimal: no mechanism with ε")


@pytest.mark.parametrize(("prior", "loss"), [("binomial:0.4", "absolute"), ("uniform", "squared")])
def test_the_losses_beforehand_are_the_mean_over_all_answers(prior: str, loss: str) -> None:
    mechanism = CanonicalLattice(Fraction(1, 3), 7, 0, 12)
    estimate = answer_of(mechanism, 3).estimate(prior, loss)
    answers, counts = np.arange(-7, 20), np.arange(13)
    likelihood = np.array([[float(mechanism.law.mass(int(y - x))) for y in answers] for x in counts])
    joint = belief_curves(estimate).prior[:, None] * likelihood
    costs = np.abs(counts[:, None] - counts[None, :]) ** (2 if loss == "squared" else 1)
    assert estimate.before is not None
    assert estimate.before.expected == pytest.approx(sum(min(joint[:, k] @ costs) for k in range(27)), rel=1e-9)
    face = np.abs(counts[:, None] - np.clip(answers, 0, 12)[None, :]) ** (2 if loss == "squared" else 1)
    assert estimate.before.face_value == pytest.approx(float((joint * face).sum()), rel=1e-9)


def test_a_count_up_to_a_million_is_read_where_the_truth_can_be() -> None:
    mechanism = CanonicalLattice(Fraction(1, 100), 1381, 0, 10**6)
    estimate = answer_of(mechanism, 345_678).estimate("uniform", "absolute")
    (reading,) = estimate.readings
    assert (reading.estimate, reading.interval is not None) == (345_678, True)
    data = chart_data(estimate)
    belief = belief_curves(estimate)
    possible = np.nonzero(belief.posterior)[0] + int(belief.axis.first)
    assert (possible.min(), possible.max()) == (345_678 - 1381, 345_678 + 1381)
    assert belief.posterior.sum() == pytest.approx(1, abs=1e-12)
    assert len(data.remap) > 100
    poisson = answer_of(mechanism, 999_999).estimate("poisson:999500", "squared")
    assert 999_000 < poisson.readings[0].estimate < 10**6


def test_a_prior_that_leaves_no_truth_within_the_reach_gets_its_nearest() -> None:
    mechanism = CanonicalLattice(Fraction(1), 14, None, None)
    estimate = answer_of(mechanism, 1000).estimate("uniform", "absolute", at_least=0, at_most=30)
    assert estimate.estimate == 30
    assert "very unlikely under your prior" in estimate.remark
    assert np.isfinite(belief_curves(estimate).posterior).all()


def test_a_loss_that_falls_away_from_the_truth_has_no_claim_and_other_losses_do() -> None:
    mechanism = CanonicalLattice(Fraction(1), 14, 0, 2)
    odd = utmost.losses.matrix([[abs(x - w) % 2 for w in range(3)] for x in range(3)])
    assert answer_of(mechanism, 1).estimate("uniform", odd).claim.startswith("none claimed")


def test_an_interval_of_a_number_beyond_an_end_stays_within_the_ends(open_budget: Callable[..., None]) -> None:
    open_budget()
    content = plan_content(1)
    content["query"] = [{"name": "c", "kind": "count", "keys": {"vote": [0, 1, 7]}, "epsilon": "1/10"}]
    release = utmost.release(content)
    written = check_round_trip(release)
    written["queries"][0]["value"] = [-90, 5, 1000]
    altered = release_file.release_from_content(written)
    for row in tidy_table(altered).rows:
        assert row.low is not None
        assert row.high is not None
        assert 0 <= float(row.low) <= float(row.high) <= 944
    reading = altered["c"].estimate("uniform", "absolute")
    assert reading.total is not None
    assert reading.total[0] == 915
    (low, high), *_ = altered["c"].estimate("uniform", "absolute").interval
    assert low == 0 < high


# Calibration


def test_calibration_finds_the_least_epsilon_at_a_delta(run_utmost: Any) -> None:
    setting = privacy_setting()
    result = calibrate_error(Count("x"), setting, 5, noise="canonical", delta="1e-3")
    plain = calibrate_error(Count("x"), setting, 5)
    assert result.epsilon < plain.epsilon

    def chance(amount: Fraction) -> float:
        lattice = canonical_lattice(amount, Fraction("1e-3"), 1, CanonicalLattice(ONE, 1, None, None))
        return 1 - 2 * float(lattice.law.tail(5))

    assert chance(result.epsilon) >= 0.95 > chance(result.below)
    wide = calibrate_error(Count("x"), privacy_setting(kept=4), 20, noise="canonical", delta="1e-6")
    assert wide.epsilon < calibrate_error(Count("x"), privacy_setting(kept=4), 20).epsilon
    asked = ("calibrate", "count", "--error", "5", "--noise", "canonical")
    text = run_utmost(*asked, "--delta", "1e-6").out
    assert "δ" in text
    assert json.loads(run_utmost(*asked, "--delta", "1e-6", "--json").out)["delta"] == "1e-6"
    refused = run_utmost(*asked)
    assert (refused.code, "delta is missing" in refused.err) == (2, True)


def test_proposals_split_epsilon_and_delta(tmp_path: Path, open_budget: Callable[..., None]) -> None:
    open_budget()
    proposal = propose_splits(plans.plan_from_mapping(plan_content(3), tmp_path), 1, delta="1e-6")
    assert proposal.measure == "ε"
    assert all(split.total <= 1 for split in proposal.splits)
    expected = canonical_lattice(Fraction("0.3333"), DELTA / 3, 1, CanonicalLattice(ONE, 1, None, None)).half_width()
    assert {error.half_width for error in proposal.splits[0].errors} == {expected}
    with pytest.raises(InputError, match="delta must be given with epsilon"):
        propose_splits(plans.plan_from_mapping(plan_content(3), tmp_path), 1)
    with pytest.raises(InputError, match="canonical noise has no ρ"):
        propose_splits(plans.plan_from_mapping(plan_content(3), tmp_path), rho="0.1")
    mixed = plan_content(2)
    mixed["query"][0]["noise"] = "best"
    with pytest.raises(InputError, match="canonical noise has no ρ"):
        propose_splits(plans.plan_from_mapping(mixed, tmp_path), 1, delta="1e-6")
