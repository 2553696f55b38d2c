"""The studio's ledger: budgets, what is left of them, and what was charged."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from utmost import ledger
from utmost.errors import InputError
from utmost.exact import rational
from utmost.ledger import Budget, Ledger, json_output
from utmost.studio.form_errors import FieldError
from utmost.studio.number_format import format_rounded
from utmost.studio.settings import Settings

FIELDS = ("epsilon", "delta", "composition", "unit", "neighbours", "name")
Line = Annotated[str, Field(max_length=1000)]


class NewBudget(BaseModel):
    """A budget to be opened. Unit and neighbours are fixed for good."""

    name: str = Field(max_length=100, examples=["survey"])
    epsilon: Line = Field(description="ε that all releases may tell together, exactly", examples=["1"])
    delta: Line = Field(default="0", description="δ, with composition pld")
    composition: Literal["pure", "pld"] = "pure"
    unit: Line = Field(default="row", description="row, or the column that names a person")
    neighbours: Literal["replace", "add-remove"] = "replace"
    remember: bool = Field(default=True, description="Give the same release of the same data again for free")


class BudgetView(BaseModel):
    """A budget and what it has spent and left. Amounts are exact."""

    name: str
    epsilon: str
    delta: str
    composition: str
    unit: str
    neighbours: str
    protects: str
    remember: bool
    opened: str
    spent: str
    left: str
    charges: int

    @property
    def share(self) -> float:
        """How much of it is spent, from 0 to 1."""
        return float(rational(self.spent) / rational(self.epsilon))

    @property
    def remaining(self) -> str:
        """What is left, in few digits."""
        return format_rounded(rational(self.left))


class CostView(BaseModel):
    """What one query of a charge told."""

    query: str
    epsilon: str
    law: str
    steps: int


class ChargeView(BaseModel):
    """A charge: when, for which plan (a digest), and what each query told."""

    entry: int
    charged: str
    plan: str
    fingerprint: str | None
    part: dict[str, str] | None
    epsilon: str
    costs: list[CostView]
    kept: bool


class HistoryView(BaseModel):
    """A budget with its charges, the latest first."""

    budget: BudgetView
    charges: list[ChargeView]


def budget_views(settings: Settings) -> list[BudgetView]:
    """All budgets; none where there is no ledger yet."""
    with ledger.open_ledger(settings.ledger, settings.folder) as books:
        try:
            found = books.budgets()
        except InputError:  # no ledger yet
            return []
        return [_view(books, one) for one in found]


def budget_history(settings: Settings, name: str) -> HistoryView:
    """One budget and what was charged to it."""
    with ledger.open_ledger(settings.ledger, settings.folder) as books:
        charges: list[Any] = [json_output.charge_content(one) for one in books.history(name)]
        return HistoryView(budget=_view(books, books.budget(name)), charges=charges[::-1])


def open_budget_view(settings: Settings, new: NewBudget) -> BudgetView:
    """Open a budget; the first one makes the ledger."""
    try:
        asked = Budget(
            new.name.strip(),
            rational(new.epsilon, "epsilon"),
            rational(new.delta or "0", "delta"),
            new.composition,
            new.unit.strip() or "row",
            new.neighbours,
            new.remember,
        )
        with ledger.open_ledger(settings.ledger, settings.folder) as books:
            return _view(books, books.open(asked))
    except InputError as error:
        raise FieldError(_field(str(error)), str(error)) from None


def _field(words: str) -> str:
    """The field that a refusal is about; what begins with budget or ledger is about the name."""
    return next(
        (field for field in FIELDS if words.startswith(field)), "composition" if "accounting" in words else "name"
    )


def _view(books: Ledger, one: Budget) -> BudgetView:
    return BudgetView(
        **json_output.budget_content(one, books.state(one.name)), protects=json_output.protection_sentence(one)
    )
