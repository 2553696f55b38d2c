"""What holds of a ledger wherever it lies: every test runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from utmost.errors import BudgetError, InputError, LedgerError
from utmost.ledger import Budget, Part, QueryCost, ReleaseCost, open_ledger
from utmost.ledger.stores.registry import make_store

TENTH = Fraction(1, 10)
AWKWARD = "ε 'quoted\"; DROP TABLE utmost_budgets; -- %s ? \\ 雪"


def release_cost(budget="survey", epsilon=TENTH, part=None, plan="digest", fingerprint=None, **options):
    costs = options.pop("costs", (QueryCost("count", epsilon, "geometric", 1),))
    return ReleaseCost(
        budget,
        options.get("unit", "row"),
        options.get("neighbours", "replace"),
        costs,
        part,
        plan,
        fingerprint,
        options.get("unit_kind"),
    )


def part_of(value, kind="text", column="region", table=None, source="people.csv"):
    return Part(column, value, kind, table, source)


def run_statements(location, *statements):
    """Statements on the ledger's tables, behind its back."""
    store = make_store(location, None)
    with store.writing() as session:
        for statement in statements:
            session.run(statement)
    store.close()


def test_a_budget_is_read_back_as_it_was_opened(ledger):
    budget = Budget(AWKWARD, Fraction(1, 3), unit=AWKWARD, neighbours="add-remove", remember=False)
    opened_budget = ledger.open(budget)
    assert ledger.budget(AWKWARD) == opened_budget
    assert ledger.budgets() == [opened_budget]
    assert (opened_budget.epsilon, opened_budget.delta, opened_budget.composition) == (budget.epsilon, 0, "pure")
    assert (opened_budget.unit, opened_budget.neighbours, opened_budget.remember) == (AWKWARD, "add-remove", False)
    age = datetime.now(UTC) - datetime.fromisoformat(opened_budget.opened)
    assert timedelta(seconds=-2) < age < timedelta(minutes=5)
    assert opened_budget.opened.endswith("Z")


def test_budgets_are_listed_in_the_order_they_were_opened(ledger):
    for name in ("b", "a", "c"):
        ledger.open(Budget(name, Fraction(1)))
    assert [budget.name for budget in ledger.budgets()] == ["b", "a", "c"]


def test_a_name_is_given_once(ledger):
    first = ledger.open(Budget("survey", Fraction(1)))
    with pytest.raises(InputError, match="budget 'survey' must have a new name"):
        ledger.open(Budget("survey", Fraction(5)))
    assert ledger.budgets() == [first]


def test_ten_tenths_are_exactly_one_and_the_eleventh_is_refused(ledger):
    ledger.open(Budget("survey", Fraction(1)))
    entries = [ledger.charge(release_cost()) for _ in range(10)]
    assert [entry.spent for entry in entries] == [Fraction(k, 10) for k in range(1, 11)]
    assert [entry.left for entry in entries] == [1 - Fraction(k, 10) for k in range(1, 11)]
    with pytest.raises(BudgetError, match=r"^budget 'survey' has ε 0 left, this plan costs 0\.1: lower its epsilons"):
        ledger.charge(release_cost())
    state = ledger.state("survey")
    assert (state.spent, state.left, state.charges) == (1, 0, 10)


def test_a_charge_is_there_when_the_ledger_is_opened_again(location):
    costs = (QueryCost(AWKWARD, Fraction(1, 7), "geometric", 2**62), QueryCost("b", TENTH))
    with open_ledger(location) as ledger:
        ledger.open(Budget("survey", Fraction(1)))
        entry = ledger.charge(
            release_cost(costs=costs, part=Part("region", AWKWARD, AWKWARD, AWKWARD), plan="p", fingerprint="f")
        )
    with open_ledger(location) as ledger:
        (charge,) = ledger.history("survey")
        assert ledger.state("survey").spent == entry.spent == Fraction(1, 7) + TENTH == charge.epsilon
    assert (charge.number, charge.plan, charge.fingerprint) == (entry.id, "p", "f")
    assert (charge.part, charge.costs, charge.kept) == (Part("region", AWKWARD, AWKWARD, AWKWARD), costs, False)
    assert datetime.fromisoformat(charge.charged).tzinfo is not None


def test_a_refusal_says_what_is_left_and_what_is_asked_and_charges_nothing(ledger):
    ledger.open(Budget("survey", Fraction(1)))
    ledger.charge(release_cost(epsilon=Fraction(3, 4)))
    with pytest.raises(BudgetError) as refusal:
        ledger.charge(release_cost(epsilon=Fraction(1, 2)))
    message = "budget 'survey' has ε 0.25 left, this plan costs 0.50: lower its epsilons or open a new budget"
    assert str(refusal.value) == message
    with pytest.raises(BudgetError) as preview_refusal:
        ledger.state_after(release_cost(epsilon=Fraction(1, 2)))
    assert str(preview_refusal.value) == message
    with pytest.raises(BudgetError, match=r"has ε 0\.25 left, this plan costs 1/3"):
        ledger.charge(release_cost(epsilon=Fraction(1, 3)))
    assert len(ledger.history("survey")) == ledger.state("survey").charges == 1


def test_the_state_after_is_what_charging_leads_to_and_changes_nothing(ledger):
    ledger.open(Budget("survey", Fraction(1)))
    ledger.charge(release_cost())
    before = ledger.state("survey")
    expected_state = ledger.state_after(release_cost())
    assert ledger.state("survey") == before
    entry = ledger.charge(release_cost())
    assert (expected_state.spent, expected_state.left, expected_state.charges) == (entry.spent, entry.left, 2)


def test_what_a_charge_takes_is_of_one_moment_while_others_charge(ledger, location):
    ledger.open(Budget("survey", Fraction(10)))

    def charge_repeatedly() -> None:
        with open_ledger(location) as other_ledger:
            for _ in range(30):
                other_ledger.charge(release_cost())

    with ThreadPoolExecutor(1) as thread:
        charging, differences = thread.submit(charge_repeatedly), []
        while not charging.done():
            now, after = ledger.states_around(release_cost())
            differences.append((after.spent - now.spent, now.left - after.left, after.charges - now.charges))
        charging.result()
    assert set(differences) == {(TENTH, TENTH, 1)}


def test_the_largest_parts_count_and_the_cost_of_a_part_is_what_it_adds(ledger):
    ledger.open(Budget("survey", Fraction(1), neighbours="add-remove"))

    def part_cost(value, epsilon):
        return release_cost(epsilon=epsilon, part=part_of(value), neighbours="add-remove")

    assert ledger.charge(part_cost("north", Fraction(1, 2))).spent == Fraction(1, 2)
    assert ledger.charge(part_cost("south", Fraction(1, 2))).spent == Fraction(1, 2)
    assert ledger.charge(part_cost("south", Fraction(1, 4))).spent == Fraction(3, 4)
    with pytest.raises(BudgetError, match=r"has ε 0\.25 left, this plan costs 0\.50"):
        ledger.charge(part_cost("north", Fraction(3, 4)))
    assert ledger.charge(part_cost("north", Fraction(1, 2))).left == 0


@pytest.mark.parametrize(
    ("unit", "neighbours"), [("person", "replace"), ("row", "add-remove"), ("Row", "replace")], ids=str
)
def test_other_units_and_other_neighbours_are_refused(ledger, unit, neighbours):
    ledger.open(Budget("survey", Fraction(1)))
    for method in (ledger.charge, ledger.state_after, ledger.find_release):
        with pytest.raises(InputError, match="protects each row under replace, this plan asks for each") as refusal:
            method(release_cost(unit=unit, neighbours=neighbours))
        assert not isinstance(refusal.value, BudgetError)
    assert ledger.history("survey") == []


def test_budgets_do_not_touch_each_other(ledger):
    for name in ("a", "b"):
        ledger.open(Budget(name, Fraction(1)))
    ledger.charge(release_cost("a", Fraction(1)))
    assert (ledger.state("a").left, ledger.state("b").left) == (0, 1)
    assert ledger.charge(release_cost("b", Fraction(1))).left == 0
    assert [len(ledger.history(name)) for name in ("a", "b")] == [1, 1]


def test_what_is_kept_is_remembered_for_the_same_plan_and_fingerprint_alone(ledger):
    for name in ("survey", "other"):
        ledger.open(Budget(name, Fraction(1)))
    cost = release_cost(plan="p", fingerprint="f")
    assert ledger.find_release(cost) is None
    entry = ledger.charge(cost)
    assert ledger.find_release(cost) is None  # charged, and not finished
    document = {"value": [1, "2/3", 0.25], "ε": "雪"}
    ledger.store_release(entry.id, json.dumps(document, ensure_ascii=False))
    assert ledger.find_release(cost) == document
    for changed in (
        release_cost(plan="q", fingerprint="f"),
        release_cost(plan="p", fingerprint="g"),
        release_cost(plan="p"),
    ):
        assert ledger.find_release(changed) is None
    assert ledger.find_release(release_cost("other", plan="p", fingerprint="f")) is None
    assert [charge.kept for charge in ledger.history("survey")] == [True]


def test_of_two_releases_at_once_both_are_charged_and_the_first_kept_wins(ledger):
    ledger.open(Budget("survey", Fraction(1)))
    cost = release_cost(fingerprint="f")
    first, second = ledger.charge(cost), ledger.charge(cost)
    ledger.store_release(second.id, '{"of": "second"}')
    ledger.store_release(first.id, '{"of": "first"}')
    assert ledger.find_release(cost) == {"of": "second"}
    assert ledger.state("survey").spent == 2 * TENTH


def test_a_release_is_kept_once(ledger):
    ledger.open(Budget("survey", Fraction(1)))
    cost = release_cost(fingerprint="f")
    entry = ledger.charge(cost)
    ledger.store_release(entry.id, '{"a": 1}')
    with pytest.raises(InputError, match="kept once"):
        ledger.store_release(entry.id, '{"a": 2}')
    assert ledger.find_release(cost) == {"a": 1}


@pytest.mark.parametrize(("remember", "fingerprint"), [(False, "f"), (True, None)], ids=["forgets", "no fingerprint"])
def test_nothing_is_remembered_without_a_fingerprint_or_by_a_budget_that_forgets(ledger, remember, fingerprint):
    ledger.open(Budget("survey", Fraction(1), remember=remember))
    cost = release_cost(fingerprint=fingerprint)
    ledger.store_release(ledger.charge(cost).id, '{"a": 1}')
    assert ledger.find_release(cost) is None
    assert [charge.kept for charge in ledger.history("survey")] == [False]


@pytest.mark.parametrize("entry", [0, -1, 17, 2**70])
def test_a_release_without_a_charge_is_refused(ledger, entry):
    ledger.open(Budget("survey", Fraction(1)))
    with pytest.raises(InputError, match="entry must be the number of a charge"):
        ledger.store_release(entry, "{}")


@pytest.mark.parametrize("document", ["", "[1]", "{", '"text"', '{"a": "\ud800"}'], ids=repr)
def test_what_is_no_document_is_not_kept(ledger, document):
    ledger.open(Budget("survey", Fraction(1)))
    entry = ledger.charge(release_cost(fingerprint="f"))
    with pytest.raises(InputError, match="document must be the JSON of a release"):
        ledger.store_release(entry.id, document)


def test_a_budget_that_is_not_there_is_named(ledger):
    ledger.open(Budget("survey", Fraction(1)))
    for method in (ledger.budget, ledger.state, ledger.history):
        with pytest.raises(InputError, match="no budget 'surveys' in this ledger"):
            method("surveys")
    with pytest.raises(InputError, match="no budget 'surveys' in this ledger"):
        ledger.charge(release_cost("surveys"))


def test_a_ledger_that_is_not_there_says_how_to_make_one(ledger):
    with pytest.raises(InputError, match="utmost budget open"):
        ledger.budgets()
    with pytest.raises(InputError, match="utmost budget open"):
        ledger.charge(release_cost())


def test_a_ledger_of_a_later_version_is_refused_by_everything(location, ledger):
    ledger.open(Budget("survey", Fraction(1)))
    run_statements(location, "UPDATE utmost_ledger SET version = 6")
    for method in (
        ledger.budgets,
        lambda: ledger.charge(release_cost()),
        lambda: ledger.open(Budget("b", Fraction(1))),
    ):
        with pytest.raises(LedgerError, match=r"made by a later utmost \(tables 6, known 5\): upgrade utmost"):
            method()


@pytest.mark.parametrize(
    ("damage", "call"),
    [
        ("DELETE FROM utmost_ledger", "budgets"),
        ("UPDATE utmost_budgets SET epsilon = 'many'", "budgets"),
        ("UPDATE utmost_budgets SET neighbours = 'friends'", "budgets"),
        ("UPDATE utmost_costs SET epsilon = '1/0'", "state"),
        ("UPDATE utmost_costs SET epsilon = 'x'", "state"),
        ("UPDATE utmost_costs SET epsilon = '-1'", "state"),
        ("UPDATE utmost_costs SET epsilon = '-1'", "history"),
        ("UPDATE utmost_charges SET part_column = 'region'", "state"),
        ("UPDATE utmost_releases SET document = '{'", "find_release"),
    ],
)
def test_what_no_utmost_writes_is_damage(location, ledger, damage, call):
    ledger.open(Budget("survey", Fraction(1)))
    ledger.store_release(ledger.charge(release_cost(fingerprint="f")).id, "{}")
    run_statements(location, damage)
    calls = {"budgets": ledger.budgets, "find_release": lambda: ledger.find_release(release_cost(fingerprint="f"))}
    with pytest.raises(LedgerError, match="is damaged"):
        calls.get(call, lambda: getattr(ledger, call)("survey"))()
    if call != "find_release":
        with pytest.raises(LedgerError, match="is damaged"):
            ledger.charge(release_cost())


def test_a_pld_budget_spends_less_than_the_sum_and_refuses_what_is_more(ledger):
    panel = ledger.open(Budget("panel", Fraction(1), Fraction(1, 10**6), "pld"))
    assert ledger.budget("panel") == panel
    fifty = tuple(QueryCost("count", Fraction(1, 50), "geometric", 1) for _ in range(50))
    first = ledger.charge(release_cost("panel", costs=fifty))
    second = ledger.charge(release_cost("panel", costs=fifty, part=part_of("north")))
    assert Fraction(1, 2) < first.spent < second.spent < 1  # the sums are 1 and 2
    assert ledger.state("panel").spent == second.spent
    with pytest.raises(BudgetError, match=r"budget 'panel' has ε 0\.\d+ left"):
        ledger.charge(release_cost("panel", costs=fifty))
    assert len(ledger.history("panel")) == 2


def test_a_ledger_shows_its_location_without_its_password(ledger, location):
    password = location.partition("@")[0].rpartition(":")[2] if "@" in location else "no password in a path"
    assert repr(ledger).startswith("<Ledger: ledger ")
    assert password not in repr(ledger)
