"""FMPD23, what stands: said first, and taken from the items that show it."""

from __future__ import annotations

from collections.abc import Sequence

from utmost.papers.fmpd23.tables import capacities_right
from utmost.papers.items import Grid, Item, Value, statement

SHOWN_BY = {
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


def opening(items: Sequence[Item]) -> Item:
    """The results that hold, each with the item that shows it; and that every printed capacity is right."""
    verdicts = {item.name: item.agrees for item in items}
    printed, right = capacities_right()
    rows: list[list[Value]] = [[f"Tables 4a, 5a, 6a, 7a: {right} of {printed}", right == printed]]
    rows += [[name, verdicts[name] is True] for name in SHOWN_BY.values()]
    return statement(
        "What stands",
        "the results that hold, and the items below that show it",
        "all capacities, and the theorems, corollaries and lemmas named here",
        Grid("result", ("shown by", "holds"), ("all printed capacities", *SHOWN_BY), rows),
        all(row[-1] is True for row in rows),
        "of Thm 6, statements (1), (2), (4), and (5) from left to right, hold; so do Thm 15, Lemmas 1, 2, 16, A2, A6."
        " What does not, by kind: see the errata at the end",
    )
