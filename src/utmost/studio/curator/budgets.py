"""The studio's ledger: budgets, what is left of them, and what was charged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from utmost.errors import InputError
from utmost.exact import rational
from utmost.ledger import Budget, Ledger, open_ledger
from utmost.ledger.compositions import registry
from utmost.reports.budget import charge_document, describe, protection_sentence
from utmost.reports.numbers import Rounding, amount
from utmost.studio.settings import Settings

if TYPE_CHECKING:
    CompositionName = str
else:
    CompositionName = Literal["", *registry.names()]
ShortText = Annotated[str, Field(max_length=1000)]


class NewBudget(BaseModel):
    """A budget to be opened. Unit and neighbours are fixed for good."""

    name: str = Field(max_length=100, examples=["survey"])
    epsilon: ShortText = Field(description="Total ε for all releases, exactly", examples=["1"])
    delta: ShortText = Field(default="0", description="δ, which found cells need; 0 with composition pure")
    composition: CompositionName = Field(default="", description="Left empty: approximate with a δ")
    unit: ShortText = Field(default="row", description="row, or the column that names a person")
    neighbours: Literal["replace", "add-remove"] = "replace"
    remember: bool = Field(default=True, description="Give the same release of the same data again for free")


class BudgetView(BaseModel):
    """A budget and what it has spent and left. Amounts are exact; `limit`, `spent` and `left` are in its `measure`."""

    name: str
    epsilon: str
    delta: str
    measure: str = Field(description="What its composition adds up: ε, or another measure", examples=["ε"])
    limit: str
    composition: str
    unit: str
    neighbours: str
    protects: str
    remember: bool
    opened: str
    closed: str | None
    spent: str
    left: str
    delta_spent: str
    delta_left: str
    charges: int
    chain: str | None

    @property
    def composition_words(self) -> str:
        """How charges add up."""
        return registry.find(self.composition).words

    @property
    def has_delta(self) -> bool:
        """Does it have a δ, so that pages show it."""
        return self.delta != "0"

    @property
    def spent_share(self) -> float:
        """How much of it is spent, from 0 to 1: of ε or of δ, whichever is nearer to its end."""
        pairs = ((self.spent, self.limit), (self.delta_spent, self.delta))
        return max(float(rational(spent) / rational(limit)) for spent, limit in pairs if limit != "0")

    @property
    def remaining(self) -> str:
        """What remains, in few digits."""
        delta = f", δ {amount(rational(self.delta_left), Rounding.DOWN).typeset}" if self.has_delta else ""
        return f"{self.measure} {amount(rational(self.left), Rounding.DOWN).typeset}{delta}"

    @property
    def spent_sentence(self) -> str:
        """What is spent of it, exactly."""
        delta = f", δ {self.delta_spent} of {self.delta}" if self.has_delta else ""
        return f"Spent of {self.name}: {self.measure} {self.spent} of {self.limit}{delta}"


class CostView(BaseModel):
    """The cost of one query of a charge."""

    query: str
    epsilon: str
    delta: str
    law: str
    steps: int


class ChargeView(BaseModel):
    """A charge: when, by whom, for which plan and source (digests), and the cost of each query."""

    entry: int
    charged: str
    charged_by: str | None = Field(description="The system's user, or the name of a token")
    source: str | None = Field(description="The same for the same name of a source")
    plan: str
    fingerprint: str | None
    part: dict[str, str | None] | None
    epsilon: str
    delta: str
    costs: list[CostView]
    kept: bool
    unit_kind: str | None
    chain: str | None


class HistoryView(BaseModel):
    """A budget with its charges, the latest first."""

    budget: BudgetView
    charges: list[ChargeView]


def budget_views(settings: Settings) -> list[BudgetView]:
    """All budgets; none where there is no ledger yet."""
    with open_ledger(settings.ledger, settings.folder) as ledger:
        try:
            budgets = ledger.budgets()
        except InputError:  # no ledger yet
            return []
        return [_budget_view(ledger, budget) for budget in budgets]


def composition_choices() -> list[tuple[str, str]]:
    """The ways to compose charges: name and label of each."""
    named = [(composition.name, f"{composition.name}: {composition.words}") for composition in registry.COMPOSITIONS]
    return [("", "pure, or approximate with δ"), *named]


def budget_history(settings: Settings, name: str) -> HistoryView:
    """One budget and what was charged to it."""
    with open_ledger(settings.ledger, settings.folder) as ledger:
        charges: list[Any] = [charge_document(charge) for charge in ledger.history(name)]
        return HistoryView(budget=_budget_view(ledger, ledger.budget(name)), charges=charges[::-1])


def open_budget_view(settings: Settings, new_budget: NewBudget) -> BudgetView:
    """Open a budget; the first one makes the ledger."""
    try:
        budget = Budget(
            new_budget.name.strip(),
            rational(new_budget.epsilon, "epsilon"),
            rational(new_budget.delta or "0", "delta"),
            new_budget.composition,
            new_budget.unit.strip() or "row",
            new_budget.neighbours,
            new_budget.remember,
        )
        with open_ledger(settings.ledger, settings.folder) as ledger:
            return _budget_view(ledger, ledger.open(budget))
    except InputError as error:
        raise error.about(error.field if error.field in NewBudget.model_fields else "name") from None


def _budget_view(ledger: Ledger, budget: Budget) -> BudgetView:
    document = describe(budget, ledger.state(budget.name)).json
    return BudgetView(**document, protects=protection_sentence(budget))
