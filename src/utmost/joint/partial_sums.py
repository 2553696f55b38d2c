"""The parts of each cell added up two by two: nodes for partial sums beside the cells of a tree."""

from __future__ import annotations

from dataclasses import dataclass

from utmost.joint.tree import CountTree


@dataclass(frozen=True)
class PartialSums:
    """Nodes 0 … n−1 are the cells of the tree, the others sums of two nodes; cells known to be empty have none.

    `terms` are the one or two nodes that a node is the sum of, or nothing; `order` lists nodes after their terms, those
    that are not empty alone. `part_counts` is of how many parts, not known to be empty, each cell is the sum.
    """

    tree: CountTree
    terms: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    part_counts: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.terms)


def partial_sums(tree: CountTree) -> PartialSums:
    """Neighbours are added first, so that as few digits as can be are multiplied.

    >>> from utmost.joint.tree import hierarchy
    >>> partial_sums(hierarchy([["town"]], [("a",), ("b",), ("c",)])).terms
    ((4, 3), (), (), (), (1, 2))
    """
    terms: list[tuple[int, ...]] = [()] * tree.size
    order: list[int] = []
    counts = [0] * tree.size
    for node in reversed(range(tree.size)):
        if tree.known_total(node) == 0:
            continue
        present = [part for part in tree.parts[node] if tree.known_total(part) != 0]
        counts[node] = len(present)
        while len(present) > 2:
            pairs = list(zip(present[::2], present[1::2], strict=False))
            sums = range(len(terms), len(terms) + len(pairs))
            terms.extend(pairs)
            order.extend(sums)
            present = [*sums, *present[2 * len(pairs) :]]
        terms[node] = tuple(present)
        order.append(node)
    return PartialSums(tree, tuple(terms), tuple(order), tuple(counts))
