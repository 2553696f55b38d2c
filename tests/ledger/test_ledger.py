"""What holds of a ledger wherever it lies: every test runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from utmost.errors import BudgetError, InputError, LedgerError
from utmost.ledger import Budget, QueryCost, ReleaseCost, open_ledger
from utmost.ledger.ledger import _make_store

TENTH = Fraction(1, 10)
AWKWARD = "ε 'quoted\"; DROP TABLE utmost_budgets; -- %s ? \\ 雪"


def ask(budget="survey", epsilon=TENTH, part=None, plan="digest", fingerprint=None, **others):
    costs = others.pop("costs", (QueryCost("count", epsilon, "geometric", 1),))
    return ReleaseCost(
        budget, others.get("unit", "row"), others.get("neighbours", "replace"), costs, part, plan, fingerprint
    )


def run(location, *statements):
    """Statements on the ledger's tables, behind its back."""
    store = _make_store(location, None)
    with store.writing() as session:
        for statement in statements:
            session.run(statement)
    store.close()


def test_a_budget_is_read_back_as_it_was_opened(books):
    asked = Budget(AWKWARD, Fraction(1, 3), unit=AWKWARD, neighbours="add-remove", remember=False)
    made = books.open(asked)
    assert books.budget(AWKWARD) == made
    assert books.budgets() == [made]
    assert (made.epsilon, made.delta, made.composition) == (asked.epsilon, 0, "pure")
    assert (made.unit, made.neighbours, made.remember) == (AWKWARD, "add-remove", False)
    age = datetime.now(UTC) - datetime.fromisoformat(made.opened)
    assert timedelta(seconds=-2) < age < timedelta(minutes=5)
    assert made.opened.endswith("Z")


def test_budgets_are_listed_in_the_order_they_were_opened(books):
    for name in ("b", "a", "c"):
        books.open(Budget(name, Fraction(1)))
    assert [budget.name for budget in books.budgets()] == ["b", "a", "c"]


def test_a_name_is_given_once(books):
    first = books.open(Budget("survey", Fraction(1)))
    with pytest.raises(InputError, match="budget 'survey' must have a new name"):
        books.open(Budget("survey", Fraction(5)))
    assert books.budgets() == [first]


def test_ten_tenths_are_exactly_one_and_the_eleventh_is_refused(books):
    books.open(Budget("survey", Fraction(1)))
    entries = [books.charge(ask()) for _ in range(10)]
    assert [entry.spent for entry in entries] == [Fraction(k, 10) for k in range(1, 11)]
    assert [entry.left for entry in entries] == [1 - Fraction(k, 10) for k in range(1, 11)]
    with pytest.raises(BudgetError, match=r"^budget 'survey' has ε 0 left, this plan costs 0\.1: lower its epsilons"):
        books.charge(ask())
    state = books.state("survey")
    assert (state.spent, state.left, state.charges) == (1, 0, 10)


def test_a_charge_is_there_when_the_ledger_is_opened_again(location):
    costs = (QueryCost(AWKWARD, Fraction(1, 7), "geometric", 2**62), QueryCost("b", TENTH))
    with open_ledger(location) as books:
        books.open(Budget("survey", Fraction(1)))
        entry = books.charge(ask(costs=costs, part=("region", AWKWARD), plan="p", fingerprint="f"))
    with open_ledger(location) as books:
        (charge,) = books.history("survey")
        assert books.state("survey").spent == entry.spent == Fraction(1, 7) + TENTH == charge.epsilon
    assert (charge.number, charge.plan, charge.fingerprint) == (entry.id, "p", "f")
    assert (charge.part, charge.costs, charge.kept) == (("region", AWKWARD), costs, False)
    assert datetime.fromisoformat(charge.charged).tzinfo is not None


def test_a_refusal_says_what_is_left_and_what_is_asked_and_charges_nothing(books):
    books.open(Budget("survey", Fraction(1)))
    books.charge(ask(epsilon=Fraction(3, 4)))
    with pytest.raises(BudgetError) as refusal:
        books.charge(ask(epsilon=Fraction(1, 2)))
    message = "budget 'survey' has ε 0.25 left, this plan costs 0.50: lower its epsilons or open a new budget"
    assert str(refusal.value) == message
    with pytest.raises(BudgetError) as dry:
        books.afford(ask(epsilon=Fraction(1, 2)))
    assert str(dry.value) == message
    with pytest.raises(BudgetError, match=r"has ε 0\.25 left, this plan costs 1/3"):
        books.charge(ask(epsilon=Fraction(1, 3)))
    assert len(books.history("survey")) == books.state("survey").charges == 1


def test_to_afford_is_what_charging_leads_to_and_changes_nothing(books):
    books.open(Budget("survey", Fraction(1)))
    books.charge(ask())
    before = books.state("survey")
    seen = books.afford(ask())
    assert books.state("survey") == before
    entry = books.charge(ask())
    assert (seen.spent, seen.left, seen.charges) == (entry.spent, entry.left, 2)


def test_what_a_charge_takes_is_of_one_moment_while_others_charge(books, location):
    books.open(Budget("survey", Fraction(10)))

    def others() -> None:
        with open_ledger(location) as theirs:
            for _ in range(30):
                theirs.charge(ask())

    with ThreadPoolExecutor(1) as thread:
        going, seen = thread.submit(others), []
        while not going.done():
            now, after = books.outlook(ask())
            seen.append((after.spent - now.spent, now.left - after.left, after.charges - now.charges))
        going.result()
    assert set(seen) == {(TENTH, TENTH, 1)}


def test_the_largest_parts_count_and_the_cost_of_a_part_is_what_it_adds(books):
    books.open(Budget("survey", Fraction(1), neighbours="add-remove"))

    def part(value, epsilon):
        return ask(epsilon=epsilon, part=("region", value), neighbours="add-remove")

    assert books.charge(part("north", Fraction(1, 2))).spent == Fraction(1, 2)
    assert books.charge(part("south", Fraction(1, 2))).spent == Fraction(1, 2)
    assert books.charge(part("south", Fraction(1, 4))).spent == Fraction(3, 4)
    with pytest.raises(BudgetError, match=r"has ε 0\.25 left, this plan costs 0\.50"):
        books.charge(part("north", Fraction(3, 4)))
    assert books.charge(part("north", Fraction(1, 2))).left == 0


@pytest.mark.parametrize(
    ("unit", "neighbours"), [("person", "replace"), ("row", "add-remove"), ("Row", "replace")], ids=str
)
def test_other_units_and_other_neighbours_are_refused(books, unit, neighbours):
    books.open(Budget("survey", Fraction(1)))
    for method in (books.charge, books.afford, books.remembered):
        with pytest.raises(InputError, match="protects each row under replace, this plan asks for each") as refusal:
            method(ask(unit=unit, neighbours=neighbours))
        assert not isinstance(refusal.value, BudgetError)
    assert books.history("survey") == []


def test_budgets_do_not_touch_each_other(books):
    for name in ("a", "b"):
        books.open(Budget(name, Fraction(1)))
    books.charge(ask("a", Fraction(1)))
    assert (books.state("a").left, books.state("b").left) == (0, 1)
    assert books.charge(ask("b", Fraction(1))).left == 0
    assert [len(books.history(name)) for name in ("a", "b")] == [1, 1]


def test_what_is_kept_is_remembered_for_the_same_plan_and_fingerprint_alone(books):
    for name in ("survey", "other"):
        books.open(Budget(name, Fraction(1)))
    asked = ask(plan="p", fingerprint="f")
    assert books.remembered(asked) is None
    entry = books.charge(asked)
    assert books.remembered(asked) is None  # charged, and not finished
    document = {"value": [1, "2/3", 0.25], "ε": "雪"}
    books.keep(entry.id, json.dumps(document, ensure_ascii=False))
    assert books.remembered(asked) == document
    for changed in (ask(plan="q", fingerprint="f"), ask(plan="p", fingerprint="g"), ask(plan="p")):
        assert books.remembered(changed) is None
    assert books.remembered(ask("other", plan="p", fingerprint="f")) is None
    assert [charge.kept for charge in books.history("survey")] == [True]


def test_of_two_releases_at_once_both_are_charged_and_the_first_kept_wins(books):
    books.open(Budget("survey", Fraction(1)))
    asked = ask(fingerprint="f")
    first, second = books.charge(asked), books.charge(asked)
    books.keep(second.id, '{"of": "second"}')
    books.keep(first.id, '{"of": "first"}')
    assert books.remembered(asked) == {"of": "second"}
    assert books.state("survey").spent == 2 * TENTH


def test_a_release_is_kept_once(books):
    books.open(Budget("survey", Fraction(1)))
    asked = ask(fingerprint="f")
    entry = books.charge(asked)
    books.keep(entry.id, '{"a": 1}')
    with pytest.raises(InputError, match="kept once"):
        books.keep(entry.id, '{"a": 2}')
    assert books.remembered(asked) == {"a": 1}


@pytest.mark.parametrize(("remember", "fingerprint"), [(False, "f"), (True, None)], ids=["forgets", "no fingerprint"])
def test_nothing_is_remembered_where_the_budget_or_the_ask_says_so(books, remember, fingerprint):
    books.open(Budget("survey", Fraction(1), remember=remember))
    asked = ask(fingerprint=fingerprint)
    books.keep(books.charge(asked).id, '{"a": 1}')
    assert books.remembered(asked) is None
    assert [charge.kept for charge in books.history("survey")] == [False]


@pytest.mark.parametrize("entry", [0, -1, 17, 2**70])
def test_a_release_without_a_charge_is_refused(books, entry):
    books.open(Budget("survey", Fraction(1)))
    with pytest.raises(InputError, match="entry must be the number of a charge"):
        books.keep(entry, "{}")


@pytest.mark.parametrize("document", ["", "[1]", "{", '"text"', '{"a": "\ud800"}'], ids=repr)
def test_what_is_no_document_is_not_kept(books, document):
    books.open(Budget("survey", Fraction(1)))
    entry = books.charge(ask(fingerprint="f"))
    with pytest.raises(InputError, match="document must be the JSON of a release"):
        books.keep(entry.id, document)


def test_a_budget_that_is_not_there_is_named(books):
    books.open(Budget("survey", Fraction(1)))
    for method in (books.budget, books.state, books.history):
        with pytest.raises(InputError, match="budget 'surveys' must be in the ledger"):
            method("surveys")
    with pytest.raises(InputError, match="budget 'surveys' must be in the ledger"):
        books.charge(ask("surveys"))


def test_a_ledger_that_is_not_there_says_how_to_make_one(books):
    with pytest.raises(InputError, match="utmost budget open"):
        books.budgets()
    with pytest.raises(InputError, match="utmost budget open"):
        books.charge(ask())


def test_a_ledger_of_a_later_version_is_refused_by_everything(location, books):
    books.open(Budget("survey", Fraction(1)))
    run(location, "UPDATE utmost_ledger SET version = 2")
    for method in (books.budgets, lambda: books.charge(ask()), lambda: books.open(Budget("b", Fraction(1)))):
        with pytest.raises(LedgerError, match=r"made by a later utmost \(tables 2, known 1\): upgrade utmost"):
            method()


@pytest.mark.parametrize(
    ("damage", "look"),
    [
        ("DELETE FROM utmost_ledger", "budgets"),
        ("UPDATE utmost_budgets SET epsilon = 'many'", "budgets"),
        ("UPDATE utmost_budgets SET neighbours = 'friends'", "budgets"),
        ("UPDATE utmost_costs SET epsilon = '1/0'", "state"),
        ("UPDATE utmost_costs SET epsilon = 'x'", "state"),
        ("UPDATE utmost_costs SET epsilon = '-1'", "state"),
        ("UPDATE utmost_costs SET epsilon = '-1'", "history"),
        ("UPDATE utmost_charges SET part_column = 'region'", "state"),
        ("UPDATE utmost_releases SET document = '{'", "remembered"),
    ],
)
def test_what_no_utmost_writes_is_damage(location, books, damage, look):
    books.open(Budget("survey", Fraction(1)))
    books.keep(books.charge(ask(fingerprint="f")).id, "{}")
    run(location, damage)
    looks = {"budgets": books.budgets, "remembered": lambda: books.remembered(ask(fingerprint="f"))}
    with pytest.raises(LedgerError, match="is damaged"):
        looks.get(look, lambda: getattr(books, look)("survey"))()
    if look != "remembered":
        with pytest.raises(LedgerError, match="is damaged"):
            books.charge(ask())


def test_a_pld_budget_spends_less_than_the_sum_and_refuses_what_is_more(books):
    pytest.importorskip("dp_accounting", reason="dp-accounting is not installed: make engines")
    made = books.open(Budget("panel", Fraction(1), Fraction(1, 10**6), "pld"))
    assert books.budget("panel") == made
    fifty = tuple(QueryCost("count", Fraction(1, 50), "geometric", 1) for _ in range(50))
    first = books.charge(ask("panel", costs=fifty))
    second = books.charge(ask("panel", costs=fifty, part=("region", "north")))
    assert Fraction(1, 2) < first.spent < second.spent < 1  # the sums are 1 and 2
    assert books.state("panel").spent == second.spent
    with pytest.raises(BudgetError, match=r"budget 'panel' has ε 0\.\d+ left"):
        books.charge(ask("panel", costs=fifty))
    assert len(books.history("panel")) == 2


def test_a_ledger_shows_its_place_without_its_password(books, location):
    password = location.partition("@")[0].rpartition(":")[2] if "@" in location else "no password in a path"
    assert repr(books).startswith("<Ledger: ledger ")
    assert password not in repr(books)
