"""Measures of utility, and whether they respect generality: μ(M) ≥ μ(M·A) for every A (KL10 Axiom 3.1.4, §3.2).

Processing an answer further adds no information, so a measure of utility must not rise. |det|
and μ_Dob respect the axiom (KL10 Example 3.2.2, App. A). The negative expected loss of an answer *as it is* does not:
`rename_counterexample` produces the mechanism and the processing. That of an answer *as its consumer reads it best*
does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import TypeAlias

import numpy as np

from utmost.axioms.constraint_graphs import PrivacyConstraints, Secrets, privacy_constraints
from utmost.axioms.dobrushin import ergodicity
from utmost.channel import Channel, Matrix, Mechanism, align_inputs, deterministic
from utmost.channel.channel import trusted_channel
from utmost.consumer import Consumer
from utmost.consumer.losses import Table
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, sign
from utmost.polytopes.vertex_columns import exact_determinant
from utmost.qif.exact_algebra import Ratio, common_field
from utmost.qif.hyper import TableLike, channel_for, check_table, exact_channel

Measure: TypeAlias = Callable[[Channel], Number]
MAX_TESTED_OUTPUTS = 4  # outputs of mechanisms all of whose deterministic processings are tried


def negative_expected_loss(loss: TableLike) -> Measure:
    """−Σ_x Σ_w L[x,w]·M[x,w], KL10's −Trace(LᵀM): output w is taken as reading w, a prior is part of L.

    >>> from utmost.channel import identity
    >>> negative_expected_loss([[0, 1], [1, 0]])(identity("ab"))
    Fraction(0, 1)
    """

    def measure(mechanism: Channel) -> Number:
        source = channel_for(mechanism, loss)
        costs = check_table(loss, len(source.inputs), "loss")
        if costs.shape != source.rows.shape:
            raise InputError(
                f"loss must have {len(source.outputs)} columns, one for each output, got {costs.shape[1]}: "
                "output k is read as action k",
                "loss",
            )
        return -sum((a * b for a, b in zip(costs.flat, source.rows.flat, strict=True)), Fraction(0))

    return measure


def absolute_determinant(mechanism: Channel | Mechanism) -> Number:
    """|det M| of a mechanism with as many outputs as inputs, exact (KL10 Example 3.2.2).

    |det(M·A)| = |det M|·|det A| ≤ |det M| for square A. It has no natural extension to other shapes: √det(M·Mᵀ)
    falls when an output is split into two halves, which changes nothing.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> absolute_determinant(geometric(2, alpha("1/2")))
    Fraction(1, 12)
    """
    source = exact_channel(mechanism)
    if len(source.inputs) != len(source.outputs):
        raise InputError(
            f"a determinant needs as many outputs as inputs, got {len(source.inputs)} inputs and "
            f"{len(source.outputs)} outputs",
            hint="take another measure, such as Dobrushin's",
        )
    value = _determinant(source.rows)
    return value if sign(value) >= 0 else -value


def _determinant(rows: Matrix) -> Number:
    from flint import fmpq, fmpq_mat

    if not any(isinstance(value, Real) for value in rows.flat):
        determinant = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in rows]).det()
        return Fraction(int(determinant.p), int(determinant.q))
    field = common_field(rows.flat)
    if field is None:
        return exact_determinant(rows.tolist())
    value = _eliminate([[field.ratio(v) for v in row] for row in rows])
    return Fraction(0) if value is None else field.number(value)


def _eliminate(rows: list[list[Ratio]]) -> Ratio | None:
    """The determinant of rational functions, up to its sign; None if it is 0."""
    value: Ratio | None = None
    for k in range(len(rows)):
        pivot_row = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot_row is None:
            return None
        rows[k], rows[pivot_row] = rows[pivot_row], rows[k]
        pivot = rows[k]
        value = pivot[k] if value is None else value * pivot[k]
        for r in range(k + 1, len(rows)):
            factor = rows[r][k] / pivot[k]
            rows[r] = [a - factor * b for a, b in zip(rows[r], pivot, strict=True)]
    return value


def dobrushin(mechanism: Channel | Mechanism) -> Number:
    """μ_Dob, the negative of Dobrushin's coefficient of ergodicity (KL10 Example 3.2.3)."""
    return ergodicity(mechanism).value


@dataclass(frozen=True, slots=True, eq=False)
class Refutation:
    """A private mechanism and a processing of its answers that a measure rates higher: `after` > `before`."""

    mechanism: Channel
    post_processing: Channel
    before: Number
    after: Number

    def holds(self, measure: Measure) -> bool:
        """Whether it is what it says, computed anew."""
        values = measure(self.mechanism), measure(self.mechanism.then(self.post_processing))
        return values == (self.before, self.after) and self.before < self.after


def rename_counterexample(loss: TableLike, secrets: Secrets, level: Level) -> Refutation | None:
    """A private mechanism that loses less, taken as it is, once its answers are renamed; None if there is none.

    So KL10 Axiom 3.1.4 fails for the negative expected loss. There is such a mechanism for α < 1 unless L[x,w] does not
    depend on w. Proof: let readings w, w′ differ, D = L[·,w] − L[·,w′]. If Σ D ≠ 0, always say the dearer one, and
    rename it. If Σ D = 0, say w with probability 1/(1+f) where D > 0 and f/(1+f) elsewhere, f < 1 the largest factor
    that privacy asks for, and w′ otherwise: it is private, and exchanging the names saves 2·(1−f)/(1+f)·Σ max(D, 0). At
    α = 1 the same with f = 0 over whole components of the relation, where Σ D over one is not 0. ∎

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> refutation = rename_counterexample([[0, 1], [1, 0]], line(2), alpha("1/2"))
    >>> print(refutation.mechanism, refutation.before, refutation.after)
         0    1
    0  1/3  2/3
    1  2/3  1/3 -4/3 -2/3
    """
    privacy = privacy_constraints(secrets, level)
    costs = check_table(loss, len(privacy.labels), "loss")
    measure, width = negative_expected_loss(costs), costs.shape[1]
    for w, other in permutations(range(width), 2):
        dear = _dear_secrets(costs[:, w] - costs[:, other], privacy)
        mechanism = None if dear is None else _two_answer_mechanism(privacy, dear, (w, other), width)
        if mechanism is not None:
            return _refutation(mechanism, _swap_outputs(w, other, width), measure)
    return None


def _dear_secrets(difference: Matrix, privacy: PrivacyConstraints) -> set[int] | None:
    """Where to say w, so that exchanging it with w′ saves something; None if nothing can be saved."""
    total = sign(sum(difference, Fraction(0)))
    if total:
        return set(range(len(difference))) if total > 0 else None
    components = privacy.components() if privacy.level.alpha == 1 else [(x,) for x in range(len(difference))]
    dear = {
        x
        for component in components
        if sign(sum((difference[x] for x in component), Fraction(0))) > 0
        for x in component
    }
    return dear or None


def _two_answer_mechanism(
    privacy: PrivacyConstraints, likely_secrets: set[int], names: tuple[int, int], width: int
) -> Channel:
    """Says names[0] with the larger of two probabilities inside a set of secrets and the smaller outside.

    Always, if the set is all; else as far apart as privacy allows between any two related secrets.
    """
    size = len(privacy.labels)
    is_unlimited = len(likely_secrets) == size or privacy.level.alpha == 1
    factor: Number = Fraction(0) if is_unlimited else max((b.factor for b in privacy.constraints), default=Fraction(0))
    rows = np.full((size, width), Fraction(0), dtype=object)
    for x in range(size):
        likely = 1 / (1 + factor) if x in likely_secrets else factor / (1 + factor)
        rows[x, names[0]], rows[x, names[1]] = likely, 1 - likely
    return trusted_channel(privacy.labels, range(width), rows)


def _swap_outputs(first: int, second: int, width: int) -> Channel:
    swap = {first: second, second: first}
    return deterministic([swap.get(w, w) for w in range(width)], range(width), range(width))


def _refutation(mechanism: Channel, post_processing: Channel, measure: Measure) -> Refutation | None:
    before, after = measure(mechanism), measure(mechanism.then(post_processing))
    return Refutation(mechanism, post_processing, before, after) if before < after else None


def remap_counterexample(mechanism: Channel | Mechanism, consumer: Consumer) -> Refutation | None:
    """KL10's own reason (after GRS12): a mechanism loses less once the reader's best remap is applied to its answers.

    The mechanism's outputs must be the reader's readings. None where reading them at face value is already best.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> reader = Consumer(priors.parse("1/8,3/4,1/8", 3), losses.absolute)
    >>> refutation = remap_counterexample(geometric(2, alpha("1/2")), reader)
    >>> refutation.before, refutation.after
    (Fraction(-5, 8), Fraction(-1, 4))
    """
    secrets = consumer.secrets
    source = channel_for(mechanism) if secrets is None else align_inputs(exact_channel(mechanism), secrets)
    mapping = [source.outputs[w] for w in consumer.remap(source)]
    post_processing = deterministic(mapping, source.outputs, source.outputs)
    costs = Table(tuple(map(tuple, consumer.costs())), labels=source.inputs)
    return _refutation(source, post_processing, negative_expected_loss(costs))


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Whether a measure failed on one of the `tried` pairs of a mechanism and a processing; None proves nothing."""

    tried: int
    refutation: Refutation | None


def check_measure(measure: Measure, secrets: Secrets, level: Level, width: int | None = None) -> Trial:
    """Axiom 3.1.4 tested on any measure: small private mechanisms, each with every way to rename or merge answers.

    The mechanisms have `width` outputs, as many as secrets if not given: constant ones, those with two answers as far
    apart as privacy allows between a secret and the others, and randomised response. Up to 4 outputs all
    deterministic processings are tried, beyond that those that rename or merge one.
    """
    privacy = privacy_constraints(secrets, level)
    output_count = len(privacy.labels) if width is None else width
    count = 0
    for mechanism in _test_mechanisms(privacy, output_count):
        for post_processing in _processings(output_count):
            count += 1
            refutation = _refutation(mechanism, post_processing, measure)
            if refutation is not None:
                return Trial(count, refutation)
    return Trial(count, None)


def _test_mechanisms(privacy: PrivacyConstraints, width: int) -> Iterator[Channel]:
    size = len(privacy.labels)
    if width == size and privacy.level.alpha < 1:
        factor: Number = max((b.factor for b in privacy.constraints), default=Fraction(0))
        rows = np.full((size, size), factor / (1 + (size - 1) * factor), dtype=object)
        rows[np.diag_indices(size)] = 1 / (1 + (size - 1) * factor)
        yield trusted_channel(privacy.labels, range(size), rows)
    for names in permutations(range(width), 2):
        yield _two_answer_mechanism(privacy, set(range(size)), names, width)
        components = privacy.components() if privacy.level.alpha == 1 else [(x,) for x in range(size)]
        yield from (_two_answer_mechanism(privacy, set(component), names, width) for component in components)


def _processings(width: int) -> Iterator[Channel]:
    labels = range(width)
    if width <= MAX_TESTED_OUTPUTS:
        maps = product(labels, repeat=width)
    else:
        maps = (tuple(z if y == w else y for y in labels) for w, z in permutations(labels, 2))  # type: ignore[assignment]
    yield from (deterministic(mapping, labels, labels) for mapping in maps)
