"""δ in a ledger: it adds up beside ε, a budget without δ takes none, and older ledgers keep their hashes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from utmost.errors import BudgetError, InputError, LedgerError
from utmost.ledger import Budget, Part, QueryCost, ReleaseCost, chain, open_ledger
from utmost.ledger.compositions.approximate import APPROXIMATE
from utmost.ledger.compositions.pld import pld_epsilon
from utmost.ledger.costs import ChargeGroup
from utmost.ledger.stores import database
from utmost.ledger.stores.registry import make_store

TENTH, MILLIONTH = Fraction(1, 10), Fraction(1, 10**6)
NORTH, SOUTH = (Part("region", value, "text", None, "people.csv") for value in ("north", "south"))


def release_cost(delta=MILLIONTH, part=None, **options):
    cost = QueryCost("cells", TENTH, "any", 1, delta)
    return ReleaseCost("survey", "row", "add-remove", (cost,), part, "digest", **options)


def budget(delta=3 * MILLIONTH, **options):
    return Budget("survey", Fraction(1), delta, neighbours="add-remove", **options)


def test_a_budget_is_approximate_with_delta_and_pure_without():
    assert (budget().composition, budget(Fraction(0)).composition) == ("approximate", "pure")
    with pytest.raises(InputError, match="delta must be > 0 with approximate composition"):
        budget(Fraction(0), composition="approximate")


def test_epsilon_and_delta_add_up_to_the_last_of_either(ledger):
    ledger.open(budget())
    receipts = [ledger.charge(release_cost()) for _ in range(3)]
    assert [receipt.delta_spent for receipt in receipts] == [MILLIONTH, 2 * MILLIONTH, 3 * MILLIONTH]
    state = ledger.state("survey")
    assert (state.spent, state.delta_spent, state.delta_left) == (3 * TENTH, 3 * MILLIONTH, 0)
    with pytest.raises(BudgetError, match=r"^budget 'survey' has δ 0 left, this plan costs 1e-06: lower its deltas"):
        ledger.charge(release_cost())
    assert ledger.charge(release_cost(Fraction(0))).spent == 4 * TENTH
    assert [charge.delta for charge in ledger.history("survey")] == [MILLIONTH] * 3 + [0]


def test_a_budget_without_delta_takes_none(ledger):
    ledger.open(budget(Fraction(0)))
    with pytest.raises(InputError, match=r"^budget 'survey' has no δ: open one with --delta: utmost budget open NAME"):
        ledger.charge(release_cost())
    assert ledger.state("survey").charges == 0


def test_disjoint_parts_cost_the_largest_delta(ledger):
    ledger.open(budget())
    assert ledger.charge(release_cost(MILLIONTH, NORTH)).delta_spent == MILLIONTH
    receipt = ledger.charge(release_cost(2 * MILLIONTH, SOUTH))
    assert (receipt.spent, receipt.delta_spent) == (TENTH, 2 * MILLIONTH)


def test_each_amount_is_that_of_its_own_largest_part():
    groups = [
        ChargeGroup(TENTH, "any", 1, NORTH, delta=2 * MILLIONTH),
        ChargeGroup(3 * TENTH, "any", 1, SOUTH, delta=MILLIONTH),
    ]
    assert APPROXIMATE.spent(groups, budget()) == 3 * TENTH
    assert APPROXIMATE.delta_spent(groups, budget()) == 2 * MILLIONTH


def test_privacy_loss_distributions_compose_at_the_delta_that_charges_leave():
    terms = budget(10 * MILLIONTH, composition="pld")
    groups = [ChargeGroup(TENTH, "geometric", 1, times=50), ChargeGroup(TENTH, "any", 1, delta=9 * MILLIONTH)]
    assert terms.rule.spent(groups, terms) == pld_epsilon(groups, MILLIONTH) > pld_epsilon(groups, 10 * MILLIONTH)
    assert terms.rule.delta_spent(groups, terms) == 9 * MILLIONTH


def test_an_entry_says_who_charged_it_and_from_which_source(ledger):
    ledger.open(budget())
    ledger.charge(release_cost(charged_by="token of ann", source="flights.parquet"))
    ledger.charge(release_cost(Fraction(0), source="flights.parquet"))
    ledger.charge(release_cost(Fraction(0), source="other.parquet"))
    ledger.charge(release_cost(Fraction(0)))
    first, second, other, unnamed = ledger.history("survey")
    assert first.charged_by == "token of ann"
    assert second.charged_by not in (None, "", "token of ann")
    assert first.source == second.source != other.source
    assert unnamed.source is None


def test_an_entry_says_which_table_of_a_database_was_charged(ledger):
    ledger.open(budget())
    receipts = [
        ledger.charge(release_cost(Fraction(0), source="db", table=table)) for table in ("people", "visits", None)
    ]
    charges = ledger.history("survey")
    assert [charge.table for charge in charges] == ["people", "visits", None]
    assert len({charge.source for charge in charges}) == 1
    assert [charge.chain for charge in charges] == [receipt.chain for receipt in receipts]


def test_a_charge_without_a_table_has_the_hash_that_version_3_gave_it():
    """Written out as that version had it: the fields, the costs without δ, then who and from where, then δ."""
    fields = ["2026-01-01T00:00:00Z", "p", None, None, None, None, None, None, None]
    version_3 = chain.link_hash("h", "charge", fields, [["q", "1/10", "any", 1]], ["ann", "0123"], ["0"])
    cost = ["q", "1/10", "any", 1, "0", None, None]
    assert chain.charge_hash("h", [*fields, "ann", "0123", None], [cost]) == version_3
    assert chain.charge_hash("h", [*fields, "ann", "0123", "people"], [cost]) != version_3


def test_a_ledger_of_version_3_keeps_the_hashes_of_its_receipts(location):
    with open_ledger(location) as ledger:
        ledger.open(budget())
        receipt = ledger.charge(release_cost(charged_by="ann", source="flights.parquet"))
    downgrade(location, 3)
    with open_ledger(location) as ledger:
        assert [(charge.chain, charge.table) for charge in ledger.history("survey")] == [(receipt.chain, None)]
        ledger.charge(release_cost(Fraction(0), table="people"))
    with open_ledger(location) as ledger:
        first, second = ledger.history("survey")
        assert (first.chain, first.charged_by, first.table) == (receipt.chain, "ann", None)
        assert second.table == "people"


def test_the_name_of_a_source_is_not_in_the_ledger(tmp_path):
    with open_ledger("ledger.sqlite", tmp_path) as ledger:
        ledger.open(budget())
        ledger.charge(release_cost(source="flights.parquet"))
    assert b"flights.parquet" not in (tmp_path / "ledger.sqlite").read_bytes()


def test_a_closed_budget_takes_no_charge_and_stays_readable(location):
    with open_ledger(location) as ledger:
        ledger.open(budget())
        ledger.charge(release_cost())
        assert ledger.close_budget("survey").closed
        for use in (
            lambda: ledger.charge(release_cost()),
            lambda: ledger.state_after(release_cost()),
            lambda: ledger.close_budget("survey"),
        ):
            with pytest.raises(InputError, match=r"^budget 'survey' was closed at"):
                use()
    with open_ledger(location) as ledger:
        assert ledger.state("survey").charges == len(ledger.history("survey")) == 1
        assert ledger.budget("survey").closed


@pytest.mark.parametrize("change", ["closed = NULL", "closed_by = 'somebody'"])
def test_a_closing_that_is_taken_back_is_damage(location, change):
    with open_ledger(location) as ledger:
        ledger.open(budget())
        ledger.close_budget("survey")
    store = make_store(location, None)
    with store.writing() as session:
        session.run(f"UPDATE utmost_budgets SET {change}")
    store.close()
    with open_ledger(location) as ledger, pytest.raises(LedgerError, match="is damaged"):
        ledger.charge(release_cost())


def test_a_missing_or_unfitting_budget_leads_to_the_command_that_opens_one(ledger):
    ledger.open(Budget("rows", Fraction(1)))
    cost = ReleaseCost("tail numbers", "tailnum", "add-remove", (QueryCost("q", TENTH, delta=MILLIONTH),))
    command = "utmost budget open {} --epsilon 0.1 --delta 1e-06 --unit tailnum --neighbours add-remove"
    with pytest.raises(InputError, match=command.format("'tail numbers'")):
        ledger.state_after(cost)
    with pytest.raises(InputError, match=command.format("NAME")):
        ledger.state_after(ReleaseCost("rows", *(cost.unit, cost.neighbours, cost.costs)))


def make_version_2(location):
    """A ledger with one charge as version 2 of the tables had it."""
    with open_ledger(location) as ledger:
        ledger.open(budget(Fraction(0)))
        end = ledger.state("survey").chain
    store = make_store(location, None)
    with store.writing() as session:
        ((head,),) = session.rows("SELECT head_hash FROM utmost_budgets")
        assert head.startswith(end)
        fields = ["2026-01-01T00:00:00Z", "p", None, None, None, None, None, None, None]
        from utmost.ledger.chain import link_hash

        entry_hash = link_hash(head, "charge", fields, [["q", "1/10", "any", 1]])
        session.run(
            "INSERT INTO utmost_charges (budget, charged, plan, entry_hash) "
            f"VALUES (1, '2026-01-01T00:00:00Z', 'p', '{entry_hash}')"
        )
        session.run(
            "INSERT INTO utmost_costs (charge, place, query, epsilon, law, steps) VALUES (1, 0, 'q', '1/10', 'any', 1)"
        )
        session.run(f"UPDATE utmost_budgets SET head_hash = '{entry_hash}'")
    store.close()
    downgrade(location, 2)
    return entry_hash


def downgrade(location, version):
    """Make the tables of a ledger those of an older version: without the columns that later ones added."""
    store = make_store(location, None)
    with store.writing() as session:
        for statement in [s for to, statements in database.UPGRADES.items() if to > version for s in statements]:
            session.run(statement.replace("ADD COLUMN", "DROP COLUMN").rpartition(" ")[0])
        session.run(f"UPDATE utmost_ledger SET version = {version}")
    store.close()


def test_a_ledger_of_version_2_keeps_the_hashes_of_its_receipts(location):
    entry_hash = make_version_2(location)
    with open_ledger(location) as ledger:
        assert ledger.state("survey").spent == TENTH
        assert [charge.chain for charge in ledger.history("survey")] == [entry_hash[:16]]
        assert ledger.charge(release_cost(Fraction(0))).spent == 2 * TENTH
    with open_ledger(location) as ledger:
        first, second = ledger.history("survey")
        assert (first.chain, first.charged_by, first.delta) == (entry_hash[:16], None, 0)
        assert second.charged_by


def test_a_change_to_a_ledger_of_version_2_is_found_before_it_is_upgraded(location):
    make_version_2(location)
    store = make_store(location, None)
    with store.writing() as session:
        session.run("UPDATE utmost_costs SET epsilon = '1/100'")
    store.close()
    with open_ledger(location) as ledger, pytest.raises(LedgerError, match="is damaged"):
        ledger.charge(release_cost(Fraction(0)))


@pytest.mark.parametrize("delta", [1, -1, "3/2", Fraction(1, 10**41)])
def test_a_delta_that_is_none_is_refused(delta):
    with pytest.raises(InputError, match="delta of a cost must be"):
        QueryCost("q", TENTH, delta=delta)
