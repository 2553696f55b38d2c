"""Row graphs: where the constraints of differential privacy hold with equality, output by output (KL10 Def. 3.3.2).

KL10 writes a mechanism with a row for each output; our channels have a column for each. The graph of an output joins
two related secrets where its likelihood changes as fast as privacy allows. Where the graph connects the secrets it
fixes the likelihood function up to a constant, so such an output *is* a likelihood function: a spanning tree with a
direction on each edge. The tree alone is not enough: all outputs of the geometric mechanism have the same one.

Everything here holds for any `PrivacyConstraints` α^d·c[high] ≤ c[low] on a column. A symmetric relation and a level
give KL10's, all with d = 1; a space and a level give those of a privacy type (FMPD23), with d the distances of the
pairs that generate the metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from utmost.axioms.definition import Relation
from utmost.channel import Channel, Mechanism, align_exact_inputs, align_inputs
from utmost.channel.channel import Label
from utmost.errors import InputError
from utmost.exact import Level, Number, sign
from utmost.polytopes.type_members import Constraint
from utmost.qif.hyper import exact_channel
from utmost.result_values import short_repr
from utmost.spaces import Space
from utmost.spaces.space import label_text

Secrets: TypeAlias = Relation | Space
Column: TypeAlias = tuple[Number, ...]
Edge: TypeAlias = tuple[int, int]  # (high, low): from the likelier secret to the other
ONE = Fraction(1)
SLACK_MARGIN = 1e-9  # by how much a slack ratio of doubles must be seen to be slack
MIN_PRECISE_DOUBLE = 1e-290  # doubles below this may have lost digits


@dataclass(frozen=True, slots=True)
class PrivacyConstraints:
    """What privacy asks of every column of a mechanism on these secrets: `constraints`, each pair both ways.

    Constraint k has the factor α^lengths[k], whose double is factors[k]. At α = 0 nothing is asked.
    """

    __repr__ = short_repr

    secrets: Secrets
    level: Level
    labels: tuple[Label, ...]
    constraints: tuple[Constraint, ...]
    lengths: tuple[Number, ...]
    factors: tuple[float, ...]

    def components(self) -> tuple[tuple[int, ...], ...]:
        """The secrets that constraints connect, least first: between two such sets nothing is protected."""
        return parts_of(range(len(self.labels)), [(constraint.low, constraint.high) for constraint in self.constraints])

    def channel(self, mechanism: Channel | Mechanism) -> Channel:
        """The exact channel of a mechanism with its inputs in the order of the labels; refused if it is not private."""
        source = self.align(mechanism)
        for y, output in enumerate(source.outputs):
            self.tight(source.rows[:, y].tolist(), output)
        return source

    def tight(self, column: Sequence[Number], output: Label) -> list[int]:
        """Which constraints hold with equality for one column; refused if one is broken.

        Doubles only leave out constraints that are proved slack: they are off by less than `SLACK_MARGIN` if not tiny.
        """
        doubles = [float(value) for value in column]
        tight_indices = []
        for k, constraint in enumerate(self.constraints):
            lower_limit = self.factors[k] * doubles[constraint.high]
            if lower_limit > MIN_PRECISE_DOUBLE and doubles[constraint.low] > (1 + SLACK_MARGIN) * lower_limit:
                continue
            slack = sign(constraint.slack(column))
            if slack < 0:
                raise InputError(self._violation_text(constraint, output))
            if slack == 0:
                tight_indices.append(k)
        return tight_indices

    def _violation_text(self, constraint: Constraint, output: Label) -> str:
        high, low = (label_text(self.labels[x]) for x in (constraint.high, constraint.low))
        return (
            f"the mechanism must be private at this level, got inputs {high} and {low} told apart by more at output "
            f"{label_text(output)}: give the level it has"
        )

    def align(self, mechanism: Channel | Mechanism) -> Channel:
        """The channel with its inputs in the order of the secrets, private or not."""
        if isinstance(self.secrets, Space):
            return align_exact_inputs(mechanism, self.secrets)
        source = exact_channel(mechanism)
        return align_inputs(source, self.labels, f"the {len(self.labels)} secrets of the relation")


def privacy_constraints(secrets: Secrets, level: Level) -> PrivacyConstraints:
    """The constraints of ε-differential privacy for a symmetric relation, or those of the privacy type of a space.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> [(bound.low, bound.high, str(bound.factor)) for bound in privacy_constraints(line(2), alpha("1/2")).constraints]
    [(0, 1, '1/2'), (1, 0, '1/2')]
    """
    pairs = _pair_distances(secrets)
    if level.alpha == 0:
        return PrivacyConstraints(secrets, level, tuple(secrets.labels), (), (), ())
    directed = [(a, b, level.power(d), d) for x, y, d in pairs for a, b in ((x, y), (y, x))]
    constraints = tuple(Constraint(low, high, factor) for low, high, factor, _ in directed)
    doubles = tuple(float(factor) for _, _, factor, _ in directed)
    return PrivacyConstraints(
        secrets, level, tuple(secrets.labels), constraints, tuple(d for *_, d in directed), doubles
    )


def _pair_distances(secrets: Secrets) -> list[tuple[int, int, Number]]:
    """Which secrets are related, each pair once, and how far apart they are."""
    if isinstance(secrets, Space):
        return [(x, y, secrets.distance(x, y)) for x, y in secrets.edges]
    if not secrets.symmetric:
        raise InputError(
            "relation must be symmetric, as differential privacy needs it, got one that is not",
            "relation",
            "add the other direction of each pair",
        )
    return [(x, y, ONE) for x, y in secrets.edges]


@dataclass(frozen=True, slots=True)
class RowGraph:
    """The graph of one output: `edges` from the likelier to the less likely secret, and the `parts` they connect.

    Secrets from which the output cannot come are left out. `output` is its label, secrets are given by position.
    """

    __repr__ = short_repr

    output: Label
    edges: tuple[Edge, ...]
    lengths: tuple[Number, ...]
    parts: tuple[tuple[int, ...], ...]

    @property
    def connected(self) -> bool:
        """Do the edges connect all secrets from which the output can come; so for one that never occurs."""
        return len(self.parts) <= 1

    @property
    def tree(self) -> tuple[Edge, ...]:
        """Edges that connect the same secrets without a cycle: one spanning tree of each part, breadth first."""
        return tuple(edge for _, edge, _ in self._steps())

    @property
    def heights(self) -> tuple[tuple[int, Number], ...] | None:
        """(secret, k) with likelihood proportional to α^k, least k being 0; None if the graph is not connected.

        Read off the tree alone, KL10 §3.3: the constraints that hold with equality determine the likelihood function.
        """
        if not self.connected:
            return None
        heights: dict[int, Number] = {x: Fraction(0) for component in self.parts for x in component[:1]}
        for x, (high, low), length in self._steps():
            heights[x] = heights[high] + length if x == low else heights[low] - length
        min_height = min(heights.values(), default=Fraction(0))
        return tuple((x, heights[x] - min_height) for x in sorted(heights))

    def _steps(self) -> Iterator[tuple[int, Edge, Number]]:
        """(newly reached secret, edge, its length), from the first secret of each part outwards."""
        incident_edges: dict[int, list[tuple[int, Edge, Number]]] = {}
        for edge, length in zip(self.edges, self.lengths, strict=True):
            for x, neighbour in (edge, edge[::-1]):
                incident_edges.setdefault(x, []).append((neighbour, edge, length))
        for component in self.parts:
            visited, queue = {component[0]}, [component[0]]
            for x in queue:
                for neighbour, edge, length in incident_edges.get(x, []):
                    if neighbour not in visited:
                        visited.add(neighbour)
                        queue.append(neighbour)
                        yield neighbour, edge, length


def row_graphs(mechanism: Channel | Mechanism, secrets: Secrets, level: Level) -> tuple[RowGraph, ...]:
    """The row graph of each output; the mechanism must be private at the level.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> padded = channel([["1/2", "1/2"], ["1/4", "3/4"], ["1/4", "3/4"]])
    >>> [(graph.edges, graph.parts) for graph in row_graphs(padded, line(3), alpha("1/2"))]
    [(((0, 1),), ((0, 1), (2,))), ((), ((0,), (1,), (2,)))]
    """
    privacy = privacy_constraints(secrets, level)
    source = privacy.align(mechanism)
    return tuple(row_graph(source.rows[:, y].tolist(), privacy, output) for y, output in enumerate(source.outputs))


def row_graph(column: Sequence[Number], privacy: PrivacyConstraints, output: Label) -> RowGraph:
    """The graph of one column; refused if it breaks a constraint."""
    tight_edges: dict[Edge, tuple[Edge, Number]] = {}
    for k in privacy.tight(column, output):
        constraint = privacy.constraints[k]
        if column[constraint.low]:
            pair = (min(constraint.low, constraint.high), max(constraint.low, constraint.high))
            tight_edges.setdefault(pair, ((constraint.high, constraint.low), privacy.lengths[k]))
    edges = [edge for edge, _ in tight_edges.values()]
    support = [x for x, value in enumerate(column) if value]
    return RowGraph(output, tuple(edges), tuple(length for _, length in tight_edges.values()), parts_of(support, edges))


def parts_of(nodes: Sequence[int], edges: Sequence[Edge]) -> tuple[tuple[int, ...], ...]:
    """The connected components of a graph, each sorted, in order of their least node."""
    adjacency: dict[int, list[int]] = {x: [] for x in nodes}
    for x, neighbour in edges:
        adjacency[x].append(neighbour)
        adjacency[neighbour].append(x)
    visited: set[int] = set()
    components = []
    for start in sorted(adjacency):
        if start in visited:
            continue
        component, queue = {start}, [start]
        for x in queue:
            unvisited = [neighbour for neighbour in dict.fromkeys(adjacency[x]) if neighbour not in component]
            component.update(unvisited)
            queue += unvisited
        visited |= component
        components.append(tuple(sorted(component)))
    return tuple(components)
