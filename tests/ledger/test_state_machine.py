"""A ledger against a model of it in plain Python, by random walks over both stores."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from postgres import database, server
from utmost.errors import BudgetError, InputError
from utmost.ledger import Budget, Charge, Ledger, Part, QueryCost, ReleaseCost, open_ledger
from utmost.ledger.ledger import user_name

NAMES = ("a", "b", "ε 'c'")
UNITS, RELATIONS = ("row", "person"), ("replace", "add-remove")
VALUES = {"region": ("n", "s", "w"), "sex": ("f", "m")}

PARTS = st.none() | st.sampled_from(
    [
        Part(column, value, "text", None, source)
        for column, values in VALUES.items()
        for value in values
        for source in ("people.csv", None)
    ]
)
COSTS = st.lists(
    st.builds(
        QueryCost,
        st.sampled_from(["q", "r"]),
        st.fractions(Fraction(1, 60), 1, max_denominator=60),
        st.sampled_from(["geometric", "any"]),
        st.integers(1, 9),
    ),
    min_size=1,
    max_size=3,
)


@dataclass
class Model:
    """A budget as a list; what it has spent by trying every change of a unit."""

    budget: Budget
    charges: list[Charge] = field(default_factory=list)
    parts: dict[int, Part | None] = field(default_factory=dict)
    releases: dict[tuple[str, str], dict] = field(default_factory=dict)

    def spent(self, release_cost: ReleaseCost | None = None) -> Fraction:
        charges = [(self.parts[charge.number], charge.epsilon) for charge in self.charges]
        if release_cost is not None:
            charges.append((release_cost.part, sum((cost.epsilon for cost in release_cost.costs), Fraction(0))))
        return max(self._affected_epsilon(charges, changed_rows) for changed_rows in self._changes())

    def _changes(self) -> list[list[dict[str, str]]]:
        """The sets of rows by which neighbours can differ."""
        rows = [dict(zip(VALUES, values, strict=True)) for values in product(*VALUES.values())]
        if self.budget.unit != "row":
            return [rows]
        return (
            [[row] for row in rows] if self.budget.neighbours == "add-remove" else list(map(list, product(rows, rows)))
        )

    def _affected_epsilon(self, charges, changed_rows) -> Fraction:
        affected = [
            epsilon
            for part, epsilon in charges
            if part is None or part.source is None or any(row[part.column] == part.value for row in changed_rows)
        ]
        return sum(affected, Fraction(0))


class Walk(RuleBasedStateMachine):
    """Every rule does the same to both and compares what comes back; `make_location` opens an empty store."""

    make_location = None

    def __init__(self) -> None:
        super().__init__()
        self.stack, self.models, self.entries = ExitStack(), {}, {}

    @initialize()
    def start(self) -> None:
        self.location = self.stack.enter_context(self.make_location())
        self._open()

    def _open(self) -> None:
        self.context = open_ledger(self.location)
        self.ledger: Ledger = self.context.__enter__()

    @rule()
    def close_and_open_again(self) -> None:
        self.context.__exit__(None, None, None)
        self._open()

    @rule(
        name=st.sampled_from(NAMES),
        epsilon=st.fractions(Fraction(1, 10), 4, max_denominator=30),
        unit=st.sampled_from(UNITS),
        neighbours=st.sampled_from(RELATIONS),
        remember=st.booleans(),
    )
    def open_budget(self, name, epsilon, unit, neighbours, remember) -> None:
        budget = Budget(name, epsilon, unit=unit, neighbours=neighbours, remember=remember)
        if name in self.models:
            with pytest.raises(InputError, match="new name"):
                self.ledger.open(budget)
        else:
            self.models[name] = Model(self.ledger.open(budget))

    @precondition(lambda self: self.models)
    @rule(
        data=st.data(),
        costs=COSTS,
        part=PARTS,
        plan=st.sampled_from("pq"),
        fingerprint=st.none() | st.sampled_from("fg"),
    )
    def charge(self, data, costs, part, plan, fingerprint) -> None:
        model = self.models[data.draw(st.sampled_from(sorted(self.models)))]
        release_cost = self._release_cost(model, tuple(costs), part, plan, fingerprint)
        after, remaining = model.spent(release_cost), model.budget.epsilon - model.spent()
        if after > model.budget.epsilon:
            for method in (self.ledger.state_after, self.ledger.charge):
                with pytest.raises(BudgetError):
                    method(release_cost)
            assert after - model.spent() > remaining
            return
        expected_state, entry = self.ledger.state_after(release_cost), self.ledger.charge(release_cost)
        assert (
            (entry.spent, entry.left)
            == (expected_state.spent, expected_state.left)
            == (after, model.budget.epsilon - after)
        )
        assert entry.id not in self.entries
        last = self.ledger.history(model.budget.name)[-1]
        stored_part = None if part is None else replace(part, source=last.part.source)
        assert (part is None or part.source is None) == (last.part is None or last.part.source is None)
        charge = Charge(entry.id, last.charged, plan, fingerprint, stored_part, tuple(costs), False)
        model.charges.append(replace(charge, chain=entry.chain, charged_by=user_name()))
        model.parts[entry.id] = part
        self.entries[entry.id] = model

    @precondition(lambda self: self.models)
    @rule(data=st.data(), costs=COSTS, unit=st.sampled_from([*UNITS, "Row"]), neighbours=st.sampled_from(RELATIONS))
    def charge_other_units(self, data, costs, unit, neighbours) -> None:
        budget = self.models[data.draw(st.sampled_from(sorted(self.models)))].budget
        release_cost = ReleaseCost(budget.name, unit, neighbours, tuple(costs), None, "p", "f")
        if (unit, neighbours) != (budget.unit, budget.neighbours):
            for method in (self.ledger.state_after, self.ledger.charge, self.ledger.find_release):
                with pytest.raises(InputError, match="open another budget"):
                    method(release_cost)

    @precondition(lambda self: self.entries)
    @rule(data=st.data(), content=st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2))
    def store_release(self, data, content) -> None:
        number = data.draw(st.sampled_from(sorted(self.entries)))
        model = self.entries[number]
        index = next(k for k, charge in enumerate(model.charges) if charge.number == number)
        charge = model.charges[index]
        if charge.kept:
            with pytest.raises(InputError, match="kept once"):
                self.ledger.store_release(number, json.dumps(content))
            return
        self.ledger.store_release(number, json.dumps(content))
        if model.budget.remember and charge.fingerprint is not None:
            model.charges[index] = replace(charge, kept=True)
            model.releases.setdefault((charge.plan, charge.fingerprint), content)

    @rule(number=st.integers(10**6, 10**7))
    def store_release_of_no_charge(self, number) -> None:
        if self.models:
            with pytest.raises(InputError, match="entry must be"):
                self.ledger.store_release(number, "{}")

    @precondition(lambda self: self.models)
    @rule(data=st.data(), plan=st.sampled_from("pqz"), fingerprint=st.none() | st.sampled_from("fgh"))
    def find_release(self, data, plan, fingerprint) -> None:
        model = self.models[data.draw(st.sampled_from(sorted(self.models)))]
        release_cost = self._release_cost(model, (QueryCost("q", Fraction(1)),), None, plan, fingerprint)
        assert self.ledger.find_release(release_cost) == model.releases.get((plan, fingerprint))

    def _release_cost(self, model, costs, part, plan, fingerprint) -> ReleaseCost:
        budget = model.budget
        return ReleaseCost(budget.name, budget.unit, budget.neighbours, costs, part, plan, fingerprint)

    @invariant()
    def same(self) -> None:
        if not self.models:
            return
        assert self.ledger.budgets() == [model.budget for model in self.models.values()]
        for name, model in self.models.items():
            assert self.ledger.history(name) == model.charges
            state = self.ledger.state(name)
            assert (state.spent, state.charges) == (model.spent(), len(model.charges))
            assert state.spent + state.left == model.budget.epsilon

    def teardown(self) -> None:
        if hasattr(self, "context"):
            self.context.__exit__(None, None, None)
        self.stack.close()


class Folder(tempfile.TemporaryDirectory):
    def __enter__(self) -> str:
        return str(Path(super().__enter__()) / "ledger.sqlite")


def test_an_sqlite_ledger_does_what_its_model_does(max_examples):
    walk = type("SqliteWalk", (Walk,), {"make_location": staticmethod(Folder)})
    run_state_machine_as_test(walk, settings=settings(max_examples=max_examples(40), stateful_step_count=30))


@pytest.mark.slow
def test_a_postgresql_ledger_does_what_its_model_does():
    if isinstance(server(), str):
        pytest.skip(server())
    walk = type("PostgresWalk", (Walk,), {"make_location": staticmethod(database)})
    run_state_machine_as_test(walk, settings=settings(max_examples=10, stateful_step_count=25))
