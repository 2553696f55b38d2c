"""A new composition or store is one module and one line of registration: toys are registered here and charged.

The toy composition measures in ρ, as zero-concentrated privacy does: Σ ε²/2, and a budget's total is taken for a ρ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from cli.conftest import utmost
from utmost.errors import BudgetError, InputError
from utmost.ledger import Budget, Part, QueryCost, ReleaseCost, open_ledger
from utmost.ledger.compositions import registry
from utmost.ledger.costs import ChargeGroup, Composition
from utmost.ledger.stores import registry as stores
from utmost.ledger.stores.database import StoreKind
from utmost.ledger.stores.sqlite import SqliteStore

__all__ = ["utmost"]


class ToyComposition(Composition):
    """ρ = Σ ε²/2, on the whole table."""

    name, words, measure = "toy", "squares add up", "ρ"

    def spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        return sum((group.times * group.epsilon**2 / 2 for group in groups), Fraction(0))

    def why_part_adds_up(self, part: Part, groups: Sequence[ChargeGroup]) -> str | None:
        return "its budget adds up squares"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "COMPOSITIONS", (*registry.COMPOSITIONS, ToyComposition()))
    toy_store = StoreKind(("toy",), "toy:// URL", "toy://", lambda location, folder: SqliteStore(folder / "toy.sqlite"))
    monkeypatch.setattr(stores, "STORES", (*stores.STORES, toy_store))


def test_a_budget_is_opened_charged_and_shown_by_a_new_composition(utmost) -> None:
    document = utmost("budget", "open", "b", "--epsilon", 1, "--composition", "toy", "--json").document
    assert (document["composition"], document["epsilon"]) == ("toy", "1")
    ask = ReleaseCost("b", "row", "replace", (QueryCost("count", Fraction(1)),), plan="p")
    with open_ledger("ledger.sqlite") as ledger:
        assert [ledger.charge(ask).left for _ in range(2)] == [Fraction(1, 2), 0]
        with pytest.raises(BudgetError, match=r"^budget 'b' has ρ 0 left, this plan costs 0.5"):
            ledger.charge(ask)
    lines = [line.split(maxsplit=1)[1].strip() for line in utmost("budget", "show", "b").out.splitlines()]
    assert lines[2:5] == ["1, squares add up", "1 in 2 charges", "0"]


def test_what_a_new_composition_has_no_use_for_is_refused(utmost) -> None:
    result = utmost("budget", "open", "b", "--epsilon", 1, "--delta", "1e-6", "--composition", "toy")
    assert (result.code, result.err.partition(",")[0]) == (2, "utmost: delta must be 0 with toy composition")
    with pytest.raises(InputError, match='composition must be pure or approximate or zcdp or pld or toy, got "rdp"'):
        Budget("b", Fraction(1), composition="rdp")


def test_a_ledger_is_opened_in_a_new_store(tmp_path: Path) -> None:
    with open_ledger("toy://anywhere", tmp_path) as ledger:
        ledger.open(Budget("b", Fraction(1)))
    assert (tmp_path / "toy.sqlite").exists()
    with pytest.raises(InputError, match=r"ledger must be a file such as ledger.sqlite or a URL .* or toy://"):
        open_ledger("other://x").__enter__()


def test_the_page_on_the_ledger_names_every_composition() -> None:
    page = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text(encoding="utf-8")
    assert all(f"`{composition.name}`" in page for composition in registry.COMPOSITIONS[:-1])
