"""FMPD23, checked: every table and figure of the paper, its theorems on examples, and its errata."""

from collections.abc import Sequence

from utmost.papers import KEYS
from utmost.papers.fmpd23 import capacities, channels, examples, existence, regions, tables
from utmost.papers.fmpd23.errata import ERRATA, REMARKS
from utmost.papers.items import Item, LabelledMatrix, Report, Value, statement_item

__all__ = ["report", "summary_item"]

ITEM_BY_RESULT = {
    "Thm 3, and Property 2 with it": "Theorem 3",
    "Properties 1 and 3": "Properties 1 and 3",
    "Thm 4": "Theorem 4",
    "Thm 5": "Theorem 5",
    "Cor. 9": "Corollary 9",
    "Thm 10": "Theorem 10",
    "Thm 11": "Theorem 11",
    "Cor. 13": "Corollary 13",
    "Thm 14, Cor. 17, 18": "Theorem 14, Corollaries 17 and 18",
    "Lemmas 19 and 21": "Lemmas 19 and 21",
    "Cor. 20": "Corollary 20",
    "Cor. 22, as its proof has it": "Corollary 22, as its proof has it",
    "§VI-A: geometric and ℓ_nib": "Section VI-A, open question",
    "§VI-B: K_A and K_B": "Section VI-B, K_A and K_B",
    "Fig. 8: K": "Figure 8, K",
}


def report() -> Report:
    """All items, computed now: a summary, then channels, regions, existence, capacities, examples, tables."""
    modules = (channels, regions, existence, capacities, examples, tables)
    items = tuple(item for module in modules for item in module.items())
    return Report("FMPD23", KEYS["FMPD23"], (summary_item(items), *items), ERRATA, REMARKS)


def summary_item(items: Sequence[Item]) -> Item:
    """The results that hold, each with the item that shows it; and that every printed capacity is right."""
    verdicts = {item.name: item.agrees for item in items}
    printed_count, correct_count = tables.count_correct_capacities()
    rows: list[list[Value]] = [
        [f"Tables 4a, 5a, 6a, 7a: {correct_count} of {printed_count}", correct_count == printed_count]
    ]
    rows += [[name, verdicts[name] is True] for name in ITEM_BY_RESULT.values()]
    return statement_item(
        "What stands",
        "the results that hold, and the items below that show it",
        "all capacities, and the theorems, corollaries and lemmas named here",
        LabelledMatrix("result", ("shown by", "holds"), ("all printed capacities", *ITEM_BY_RESULT), rows),
        all(row[-1] is True for row in rows),
        "of Thm 6, statements (1), (2), (4), and (5) from left to right, hold; so do Thm 15, Lemmas 1, 2, 16, A2, A6."
        " What does not, by kind: see the errata at the end",
    )
