"""Generality: which mechanisms can be post-processed into which, and which are maximally general (KL10 §3).

M₁ ≤_G M₂, "M₂ is at least as general as M₁", when M₁ is M₂ with its answers processed further (Def. 3.1.2). KL10 calls
it a partial order; it is a preorder, since mechanisms that differ in how they name, split or never use outputs are each
at least as general as the other. Up to that it is an order, and `canonical` picks the representative.

A mechanism is *maximally general* at a level when every private mechanism that is at least as general is equivalent to
it. Theorem (KL10 Thm 3.3.3, for any constraints): that is so exactly when every output that occurs is an extreme ray of
the cone of columns that privacy allows, and a column is one exactly when its row graph is connected.

Proof. The tight constraints of a column c with a connected graph fix it up to a factor, and where c = c₁ + c₂ with both
allowed, a constraint that is tight for c is tight for both: so they are multiples of c, and c is extreme. If the graph
has two parts, `split_output` writes c = c₁ + c₂ with neither a multiple of c. Now let M = M′·A with M′ private and
every column of M extreme. Each is a sum of multiples of columns of M′, so these are multiples of it; hence M and M′
have the same sum of columns in each direction and are equivalent. If a column of M is not extreme, tell its summands
apart: M′ is private, and M is M′ with them merged. The two are not equivalent, since the sum over columns of |c|²/Σ_x
c[x] is the same for equivalent mechanisms, and larger for M′ (it is convex, strictly so across directions). ∎

Where the relation is not connected no row graph connects all secrets, and KL10's set would be empty. Read component by
component the theorem holds: an output of a maximally general mechanism comes from one, which its graph connects.

To make a mechanism more general, one output is split into two: private columns c₁ + c₂ = c, neither a multiple of c,
with more tight constraints than c (KL10 App. B). The paper takes its ratios ρ₁, ρ₂ over all pairs of secrets on two
sides; only related pairs may count. On a line of four at α = 1/2 the column (8, 4, 3, 3/2)/16 has the parts {0, 1} and
{2, 3}; over all pairs (e^ε/ρ₁)·(e^ε/ρ₂) = (3/8)·(8/3) = 1, and the printed weights a and b divide by 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import TypeAlias

import numpy as np

from utmost.axioms.constraint_graphs import (
    Column,
    PrivacyConstraints,
    RowGraph,
    Secrets,
    privacy_constraints,
    row_graph,
    row_graphs,
)
from utmost.channel import Channel, Matrix, Mechanism, align_inputs
from utmost.channel.channel import Label, trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, sign
from utmost.qif import Refinement, refinement
from utmost.qif.exact_algebra import common_field
from utmost.qif.hyper import bundle_columns, exact_channel
from utmost.result_values import short_repr


def split_output(column: Column, graph: RowGraph, privacy: PrivacyConstraints) -> tuple[Column, Column]:
    """c₁ and c₂ of KL10 Appendix B for a column whose graph has two parts or more.

    With C₁ the first part and C₂ the others, and E₁ > 1 the largest factor by which C₁ may be raised against C₂ (E₂
    the other way round): c₁ is a·c with C₁ raised by E₁, c₂ is b·c with C₂ raised by E₂, where a·E₁ + b = a + b·E₂ = 1,
    so a = (E₂−1)/(E₁E₂−1) and b = (E₁−1)/(E₁E₂−1). Within C₁ and within C₂ ratios stay, so tight constraints do;
    in both columns a constraint between C₁ and C₂ is tight now. Where no related pair leads across, c₁ is c on C₁ and 0
    elsewhere, c₂ the rest: they are the limits E₁, E₂ → ∞.
    """
    first_part = set(graph.parts[0])
    first_factor, second_factor = (
        raisable(column, first_part, privacy),
        raisable(column, _secrets_outside(graph, first_part), privacy),
    )
    if first_factor is None or second_factor is None:
        return _scale(column, first_part, 1, 0), _scale(column, first_part, 0, 1)
    total = first_factor * second_factor - 1
    first_weight, second_weight = simplify([(second_factor - 1) / total, (first_factor - 1) / total])
    return _scale(column, first_part, first_weight * first_factor, first_weight), _scale(
        column, first_part, second_weight, second_weight * second_factor
    )


def peel_extreme_ray(column: Column, graph: RowGraph, privacy: PrivacyConstraints) -> tuple[Column, Column]:
    """A multiple of an extreme ray, as large as leaves the rest private, and that rest.

    The ray is reached by raising the first part until a constraint joins it to another, and so on until all that
    constraints can join is joined. Its tight constraints include the column's; the rest keeps these too, and since
    no more could be taken off, it has another: at most k columns come of one with k parts (Carathéodory).
    """
    ray, ray_graph = column, graph
    while not ray_graph.connected:
        first_part = set(ray_graph.parts[0])
        factor = raisable(ray, first_part, privacy)
        ray = _scale(ray, first_part, 1, 0) if factor is None else _scale(ray, first_part, factor, 1)
        ray_graph = row_graph(ray, privacy, graph.output)
    share = min(_removable_shares(column, ray, privacy))
    extreme_part = simplify([share * value for value in ray])
    return extreme_part, simplify([a - b for a, b in zip(column, extreme_part, strict=True)])


def raisable(column: Sequence[Number], raised: Collection[int], privacy: PrivacyConstraints) -> Number | None:
    """The largest factor by which the secrets inside may be raised against the others; None if nothing limits it."""
    leaving = [b for b in privacy.constraints if b.high in raised and b.low not in raised and column[b.low]]
    return min(simplify([column[b.low] / (b.factor * column[b.high]) for b in leaving]), default=None)


def simplify(values: Sequence[Number]) -> Column:
    """The same numbers; quotients of irrational ones without the common factors that pile up step by step."""
    field = common_field(values) if any(isinstance(value, Real) for value in values) else None
    return tuple(values if field is None else [field.number(field.ratio(value)) for value in values])


def _secrets_outside(graph: RowGraph, first_part: Collection[int]) -> set[int]:
    return {x for part in graph.parts for x in part if x not in first_part}


def _scale(
    column: Column, secrets: Collection[int], inside_factor: Number | int, outside_factor: Number | int
) -> Column:
    """The column with the secrets inside times one factor and the rest times another."""
    return simplify(
        [value * inside_factor if x in secrets else value * outside_factor for x, value in enumerate(column)]
    )


def _removable_shares(column: Column, ray: Column, privacy: PrivacyConstraints) -> Column:
    """By each constraint of the column, how much of the ray can be taken off."""
    ratios = [value / entry for value, entry in zip(column, ray, strict=True) if entry]
    slacks = [bound.slack(column) / slack for bound in privacy.constraints if (slack := bound.slack(ray))]
    return simplify(ratios + slacks)


MAX_OUTPUTS = 4096  # of a mechanism that `generalize` may make
MAX_LABEL_CHARS = 12  # characters of a merged output's label
Split: TypeAlias = Callable[[Column, RowGraph, PrivacyConstraints], tuple[Column, Column]]


def at_least_as_general(first: Channel | Mechanism, second: Channel | Mechanism) -> Refinement:
    """Is the second mechanism at least as general as the first (first ≤_G second, KL10 Def. 3.1.2), with the proof.

    `post_processing` A with second·A = first; or else a `witness`, a consumer who is better served by the first.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> fine, coarse = geometric(2, alpha("1/3")), geometric(2, alpha("1/2"))
    >>> at_least_as_general(coarse, fine).refines, at_least_as_general(fine, coarse).refines
    (True, False)
    """
    return refinement(second, first)


def canonical(mechanism: Channel | Mechanism) -> Channel:
    """The one representative of all mechanisms that are equivalent to this one, inputs in their own order.

    Outputs that never occur are dropped, proportional ones merged, and what is left is sorted by its posterior under
    the uniform prior, largest first, and named 0, 1, …. Two mechanisms on the same inputs are each at least as general
    as the other exactly when these are equal: the sum over columns of f(c), for f convex and homogeneous, can only
    fall with processing, so it is the same for both, and with f = |c|²/Σ_x c[x] only proportional columns were mixed.

    >>> from utmost.channel import channel
    >>> print(canonical(channel([["1/4", "1/4", "1/2", 0], ["1/3", "1/3", "1/3", 0]], outputs="abcd")))
         0    1
    0  1/2  1/2
    1  1/3  2/3
    """
    source = exact_channel(mechanism)
    columns = sorted((group.column for group in bundle_columns(source.rows)), key=cmp_to_key(_compare_columns))
    return trusted_channel(source.inputs, range(len(columns)), np.stack(columns, axis=1))


def _compare_columns(left: Matrix, right: Matrix) -> int:
    """Which of two columns comes first: that with the larger share of its sum at the first secret where they differ."""
    totals = left.sum(), right.sum()
    return next((order for a, b in zip(left, right, strict=True) if (order := sign(b * totals[0] - a * totals[1]))), 0)


def equivalent(first: Channel | Mechanism, second: Channel | Mechanism) -> bool:
    """Is each at least as general as the other: are their canonical forms equal. Inputs may be in any order."""
    first_form, second_channel = canonical(first), exact_channel(second)
    return first_form == canonical(align_inputs(second_channel, first_form.inputs, "those of the other mechanism"))


@dataclass(frozen=True, slots=True)
class Maximality:
    """Is a mechanism maximally general; if not, `output` is one whose `parts` no tight constraints join."""

    __repr__ = short_repr

    holds: bool
    output: Label | None
    parts: tuple[tuple[Label, ...], ...]

    def __bool__(self) -> bool:
        return self.holds

    @property
    def reason(self) -> str:
        """Why (not), in words."""
        if self.holds:
            return "the row graph of every output is connected"
        parts_text = " | ".join(", ".join(str(x) for x in part) for part in self.parts)
        return f"the row graph of output {self.output} falls apart: {parts_text}"


def maximally_general(mechanism: Channel | Mechanism, secrets: Secrets, level: Level) -> Maximality:
    """Is no private mechanism strictly more general than this one (KL10 Def. 3.1.3, decided by Thm 3.3.3).

    The mechanism must be private at the level, for the pairs of a symmetric relation or of a space.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric, response
    >>> from utmost.spaces import discrete, line
    >>> half = alpha("1/2")
    >>> bool(maximally_general(geometric(3, half), line(4), half))
    True
    >>> bool(maximally_general(response(3, half), discrete(3), half))
    True
    >>> maximally_general(geometric(2, alpha("3/4")), line(3), half).reason
    'the row graph of output 0 falls apart: 0 | 1 | 2'
    """
    return maximality(row_graphs(mechanism, secrets, level), tuple(secrets.labels))


def maximality(graphs: Sequence[RowGraph], labels: Sequence[Label]) -> Maximality:
    """The same from the row graphs of a private mechanism."""
    disconnected = next((graph for graph in graphs if not graph.connected), None)
    if disconnected is None:
        return Maximality(True, None, ())
    return Maximality(False, disconnected.output, tuple(tuple(labels[x] for x in part) for part in disconnected.parts))


@dataclass(frozen=True, slots=True)
class Step:
    """An output split into two, `names`, with `columns` that sum to its own: a strictly more general mechanism."""

    __repr__ = short_repr

    output: Label
    names: tuple[Label, Label]
    columns: tuple[Column, Column]


@dataclass(frozen=True, slots=True, eq=False)
class Generalization:
    """A maximally general `channel` and a `post_processing` of it: channel·post_processing = source, exactly.

    Each step splits an output in two, so its post-processing merges them. In the end proportional outputs are merged,
    which is an equivalence; the post-processing divides a merged output by the shares of what it was merged from.
    """

    __repr__ = short_repr

    source: Channel
    steps: tuple[Step, ...]
    channel: Channel
    post_processing: Channel

    def stages(self) -> Iterator[Channel]:
        """The mechanism before the first step and after each, every one strictly more general than the one before."""
        columns: dict[Label, Column] = dict(_occurring_columns(self.source))
        yield _channel_of_columns(self.source, columns)
        for step in self.steps:
            columns.pop(step.output)
            columns |= zip(step.names, step.columns, strict=True)
            yield _channel_of_columns(self.source, columns)


def generalize(
    mechanism: Channel | Mechanism, secrets: Secrets, level: Level, split: Split | None = None
) -> Generalization:
    """A maximally general mechanism that is at least as general, of the same definition: KL10 Appendix B, repeated.

    `split` is `split_output` (KL10's, if left out) or `peel_extreme_ray`, and tells an output whose row graph has
    k > 1 parts as two whose graphs contain it. `split_output` joins parts in both, so a column with k parts ends as at
    most 2^(k−1); `peel_extreme_ray` joins all in one and some in the other, so it ends as at most k. Hence it ends;
    beyond 4096 outputs it is refused. KL10 bounds the steps by the number of spanning trees; an output of constant
    likelihood on a line of 3 takes 3, and the line has 1.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> general = generalize(channel([[1], [1]], outputs=["?"]), line(2), alpha("1/2"))
    >>> print(general.channel)
       ?.1  ?.2
    0  2/3  1/3
    1  1/3  2/3
    """
    privacy = privacy_constraints(secrets, level)
    source = privacy.align(mechanism)
    splitter = split_output if split is None else split
    used_labels = {str(output) for output in source.outputs}
    steps: list[Step] = []
    leaves: list[tuple[int, Label, Column]] = []
    for y, output in enumerate(source.outputs):
        output_steps, output_leaves = _split_to_rays(source.rows[:, y].tolist(), output, privacy, splitter, used_labels)
        steps += output_steps
        leaves += [(y, name, column) for name, column in output_leaves]
        if len(leaves) > MAX_OUTPUTS:
            raise InputError(_output_limit_text(splitter))
    return _merge_proportional(source, steps, leaves)


def _split_to_rays(
    values: Sequence[Number], output: Label, privacy: PrivacyConstraints, split: Split, used_labels: set[str]
) -> tuple[list[Step], list[tuple[Label, Column]]]:
    """The steps from one output to extreme rays, and these."""
    steps: list[Step] = []
    leaves: list[tuple[Label, Column]] = []
    pending = [(output, tuple(values))] if any(values) else []
    while pending:
        name, column = pending.pop()
        graph = row_graph(column, privacy, name)
        if graph.connected:
            leaves.append((name, column))
            continue
        if len(leaves) + len(pending) > MAX_OUTPUTS:
            raise InputError(_output_limit_text(split))
        columns = split(column, graph, privacy)
        names = _claim_label(f"{name}.1", used_labels), _claim_label(f"{name}.2", used_labels)
        steps.append(Step(name, names, columns))
        pending += [(names[1], columns[1]), (names[0], columns[0])]
    return steps, leaves


def _output_limit_text(split: Split) -> str:
    advice = (
        "peeled makes at most one output for each part of a row graph"
        if split is split_output
        else "take fewer secrets"
    )
    return f"a generalized mechanism must have at most {MAX_OUTPUTS} outputs, got more: {advice}"


def _claim_label(label: str, used_labels: set[str]) -> str:
    while label in used_labels:
        label += "'"
    used_labels.add(label)
    return label


def _merge_proportional(
    source: Channel, steps: Sequence[Step], leaves: Sequence[tuple[int, Label, Column]]
) -> Generalization:
    """Proportional leaves as one output each, and the post-processing that restores the source."""
    rows = np.empty((len(source.inputs), len(leaves)), dtype=object)
    rows[:] = list(zip(*(column for _, _, column in leaves), strict=True))
    groups = bundle_columns(rows)
    names = _merged_labels([[leaves[k][1] for k in group.members] for group in groups])
    post_processing_rows = np.full((len(groups), len(source.outputs)), Fraction(0), dtype=object)
    for g, group in enumerate(groups):
        for k, share in zip(group.members, group.shares, strict=True):
            post_processing_rows[g, leaves[k][0]] += share
    channel = trusted_channel(source.inputs, names, np.stack([group.column for group in groups], axis=1))
    return Generalization(source, tuple(steps), channel, trusted_channel(names, source.outputs, post_processing_rows))


def _merged_labels(groups: Sequence[Sequence[Label]]) -> list[Label]:
    """Of one label itself, of several their sum, cut short; none twice."""
    used_labels = {str(group[0]) for group in groups if len(group) == 1}
    names: list[Label] = []
    for group in groups:
        full_label = "+".join(str(label) for label in group)
        short_label = full_label if len(full_label) <= MAX_LABEL_CHARS else f"{group[0]}+{len(group) - 1} more"
        names.append(group[0] if len(group) == 1 else _claim_label(short_label, used_labels))
    return names


def _occurring_columns(source: Channel) -> Iterator[tuple[Label, Column]]:
    for y, output in enumerate(source.outputs):
        if any(source.rows[:, y]):
            yield output, tuple(source.rows[:, y].tolist())


def _channel_of_columns(source: Channel, columns: dict[Label, Column]) -> Channel:
    rows = np.empty((len(source.inputs), len(columns)), dtype=object)
    rows[:] = list(zip(*columns.values(), strict=True))
    return trusted_channel(source.inputs, columns, rows)
