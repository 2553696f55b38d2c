"""Budgets that count in ρ: what they hold, what they tell, and what they refuse."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from cli.conftest import utmost
from utmost.errors import BudgetError, InputError
from utmost.ledger import Budget, Ledger, Part, QueryCost, ReleaseCost
from utmost.ledger.compositions.zcdp import ZCDP, epsilon_for_rho
from utmost.ledger.costs import ChargeGroup
from utmost.noise.concentrated import epsilon_of_rho
from utmost.publish import execute

__all__ = ["utmost"]

TERMS = {"epsilon": Fraction(1), "delta": Fraction("1e-6"), "composition": "zcdp"}


def cost_of(epsilon: str, delta: str = "0", number: int = 1) -> ReleaseCost:
    costs = tuple(QueryCost(f"q{k}", Fraction(epsilon), delta=Fraction(delta)) for k in range(number))
    return ReleaseCost("b", "row", "replace", costs, plan="p")


def test_what_a_full_budget_has_told_converts_to_its_epsilon_and_delta() -> None:
    budget = Budget("b", **TERMS)
    rho, found_delta = ZCDP.limit(budget), ZCDP.delta_limit(budget)
    assert epsilon_of_rho(rho, budget.delta - found_delta) <= budget.epsilon * (1 + Fraction(1, 10**12))
    assert found_delta == Fraction("1e-7")


def test_it_holds_482_counts_where_sums_hold_100(ledger: Ledger) -> None:
    ledger.open(Budget("b", **TERMS))
    state = ledger.charge(cost_of("1/100", number=482))
    assert (state.measure, state.spent) == ("ρ", Fraction(482, 20_000))
    with pytest.raises(BudgetError, match=r"^budget 'b' has ρ .* left, this plan costs 0.00005"):
        ledger.charge(cost_of("1/100"))


def gaussian_cost(composition: str, rho: str = "1/100", budget: str = "b") -> ReleaseCost:
    cost = QueryCost("q", Fraction(1, 2), "gaussian", 3, Fraction("1e-7"), Fraction(rho), 2)
    return ReleaseCost(budget, "row", "replace", (cost,), plan=composition)


def test_gaussian_noise_costs_its_rho_and_keeps_it_in_the_ledger(ledger: Ledger) -> None:
    ledger.open(Budget("b", **TERMS))
    first, second = ledger.charge(gaussian_cost("zcdp")), ledger.charge(gaussian_cost("zcdp"))
    assert (first.spent, second.spent, second.delta_spent) == (Fraction(1, 100), Fraction(1, 50), 0)
    (cost,) = ledger.history("b")[0].costs
    assert (cost.law, cost.rho, cost.numbers, cost.steps) == ("gaussian", Fraction(1, 100), 2, 3)
    with pytest.raises(BudgetError, match="has ρ"):
        ledger.charge(gaussian_cost("zcdp"))


def test_where_sums_are_spent_gaussian_noise_costs_its_epsilon_and_delta(ledger: Ledger) -> None:
    ledger.open(Budget("b", Fraction(1), Fraction("2e-7"), "approximate"))
    ledger.charge(gaussian_cost("approximate"))
    state = ledger.charge(gaussian_cost("approximate"))
    assert (state.spent, state.delta_spent, state.left, state.delta_left) == (1, Fraction("2e-7"), 0, 0)


def test_a_pure_budget_takes_no_gaussian_noise(ledger: Ledger) -> None:
    ledger.open(Budget("b", Fraction(1)))
    with pytest.raises(InputError, match=r"^budget 'b' has no δ, which Gaussian noise needs: open one with --delta: "):
        ledger.charge(gaussian_cost("pure"))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"law": "gaussian"}, "rho must be given for a cost of law gaussian"),
        ({"law": "concentrated"}, "rho must be given for a cost of law concentrated"),
        ({"rho": Fraction(0)}, "rho of a cost must be > 0"),
        ({"rho": 0.1}, "rho of a cost must be"),
        ({"numbers": 0}, "numbers of a cost must be from 1"),
        ({"numbers": 2**31}, "numbers of a cost must be from 1"),
    ],
)
def test_a_cost_without_its_rho_is_refused(fields: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        QueryCost("q", Fraction(1), **fields)  # type: ignore[arg-type]


def test_delta_of_charges_adds_up_to_a_tenth_of_the_budgets(ledger: Ledger) -> None:
    ledger.open(Budget("b", **TERMS))
    state = ledger.charge(cost_of("1/100", "6e-8"))
    assert (state.delta_spent, state.delta_left) == (Fraction("6e-8"), Fraction("4e-8"))
    with pytest.raises(
        BudgetError, match=r"^budget 'b' has δ 4e-08 left for found keys .*, this plan costs 6e-08: lower"
    ):
        ledger.charge(cost_of("1/100", "6e-8"))
    assert ledger.charge(cost_of("1/100", "4e-8")).delta_left == 0


@pytest.mark.parametrize(("neighbours", "worst_parts"), [("add-remove", 1), ("replace", 2)])
def test_parts_that_share_no_row_compose_in_parallel(neighbours: str, worst_parts: int) -> None:
    budget = Budget("b", neighbours=neighbours, **TERMS)
    parts = [Part("region", name, "text", None, "people.csv") for name in ("north", "south", "west")]
    groups = [ChargeGroup(Fraction(1, 10), "any", 1, part) for part in parts]
    assert ZCDP.spent(groups, budget) == worst_parts * Fraction(1, 200)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(5)])
def test_randomised_response_is_as_concentrated_as_its_charge(epsilon: Fraction) -> None:
    """D_a ≤ a·ε²/2 for the worst ε-private answer, and nearly so for small a·ε: Rényi divergences in doubles."""
    p = 1 / (1 + math.exp(-epsilon))
    for order in (1.01, 1.5, 2.0, 8.0, 64.0):
        terms = (order * math.log(x) + (1 - order) * math.log(1 - x) for x in (p, 1 - p))
        divergence = math.log(math.fsum(map(math.exp, terms))) / (order - 1)
        assert divergence <= order * float(epsilon) ** 2 / 2 * (1 + 1e-9)


def test_it_needs_a_delta() -> None:
    with pytest.raises(InputError, match=r"^delta must be > 0 with zcdp composition, got 0: say --delta 1e-6"):
        Budget("b", Fraction(1), composition="zcdp")


def test_a_plan_is_charged_and_told_in_rho(utmost, tmp_path: Path) -> None:
    """Preview, release, file, list and history say ρ where the budget counts in it; the release says its own ε."""
    (tmp_path / "people.csv").write_text("age\n" + "30\n" * 10, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(
        'neighbours = "replace"\nbudget = "b"\n[source]\nlocation = "people.csv"\ncolumns = { age = "integer" }\n'
        '[[query]]\nname = "old"\nkind = "count"\nwhere = "age > 40"\nepsilon = "0.1"\n',
        encoding="utf-8",
    )
    ledger = ("--ledger", tmp_path / "ledger.sqlite")
    shown = utmost("budget", "open", "b", "--epsilon", 1, "--delta", "1e-6", "--composition", "zcdp", *ledger).out
    assert "ε 1 at δ = 0.000001" in shown
    preview = execute.preview(tmp_path / "plan.toml")
    assert (preview.measure, preview.left - preview.after) == ("ρ", Fraction(1, 200))
    assert "ρ" in repr(preview)
    dry_run = utmost("release", tmp_path / "plan.toml", "--dry-run").out
    assert "for which ρ 0.005 is taken from the budget" in " ".join(dry_run.split())
    result = utmost("release", tmp_path / "plan.toml", "--output", tmp_path / "r.json")
    assert "budget b, ρ 0.0191296 left." in " ".join(result.out.split())
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (document["ledger"]["measure"], document["guarantee"]["epsilon"]) == ("ρ", "1/10")
    assert "counts" in utmost("budget", "list", *ledger).out
    document["ledger"]["measure"] = "<b>"
    (tmp_path / "s.json").write_text(json.dumps(document), encoding="utf-8")
    assert utmost("estimate", tmp_path / "s.json").code == 2


@pytest.mark.parametrize("rho", ["0.025", "1/8", "0.5", "2", "0.001", "0.123456789012"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_a_budget_that_is_given_by_rho_has_exactly_that(rho: str, delta: str) -> None:
    epsilon = epsilon_for_rho(Fraction(rho), Fraction(delta))
    budget = Budget("b", epsilon, Fraction(delta), "zcdp")
    assert ZCDP.limit(budget) == Fraction(rho)
    assert float(epsilon) == pytest.approx(float(epsilon_of_rho(Fraction(rho), Fraction(delta) * 9 / 10)), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "--epsilon is missing"),
        (("--rho", 1, "--epsilon", 1), "--rho must be given in place of --epsilon, got both"),
        (("--rho", 1, "--composition", "pld"), "--rho must be of a zcdp budget, got composition pld"),
        (("--rho", 1), "delta is missing: ρ is told as ε at a δ"),
        (("--rho", "1/3", "--delta", "1e-6"), "rho must be a decimal of at most 12 digits, got another"),
        (("--rho", "-1", "--delta", "1e-6"), "rho must be > 0, got -1"),
        (("--rho", "1e6", "--delta", "1e-6"), "rho must convert to an epsilon of at most 1000 at this delta"),
        (("--rho", "0.000001", "--delta", "1e-3"), "rho must be larger: at this delta it converts to no epsilon"),
        (("--rho", "1e300", "--delta", "1e-6"), "rho must convert to an epsilon of at most 1000"),
        (("--rho", "x", "--delta", "1e-6"), "--rho must be"),
        (("--epsilon", 1, "--delta", "1", "--composition", "zcdp"), "delta must be from 0 to below 1"),
    ],
)
def test_terms_that_make_no_budget_are_refused_in_a_line(utmost, options: tuple[object, ...], problem: str) -> None:
    result = utmost("budget", "open", "b", *options)
    assert (result.code, problem in result.err, result.err.count("\n")) == (2, True, 1), result.err
