"""A consumer, a prior and a loss or a loss alone (minimax): its best reading of an answer, and how good that is.

A consumer without a prior minimises the worst expected loss over the secrets (end of GRS12 §4).

The best reading of an answer is random in general, and is found by a linear program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Matrix, Mechanism, align_inputs, channel_of, deterministic
from utmost.channel.channel import EXACT_HINT, Label, label_positions, matrix_product, numeric_labels, trusted_channel
from utmost.consumer.grouped_losses import grouped_loss, has_irrational_losses_alone, split_loss_bounds
from utmost.consumer.inputs import Secrets, match_labels, permuted_loss, read_loss, read_prior, read_secrets
from utmost.consumer.loss_bounds import BOUND_BITS, is_too_long
from utmost.consumer.loss_bounds import loss_bounds as least_loss_bounds
from utmost.consumer.losses import Legality, Loss, square
from utmost.consumer.priors import Explicit, Prior, explicit
from utmost.errors import InputError
from utmost.exact import Number, Real, ball, ball_endpoints, decimal, rational
from utmost.exact.input_text import escape_control
from utmost.exact.working_precision import working_precision
from utmost.lp import Bounds, LinearProgram, ProgramCertificate, certified_optimum
from utmost.notebook import Figure, report_html
from utmost.spaces import Space

if TYPE_CHECKING:
    from flint import arb

UNNAMED_SECRETS_TEXT = (
    "the consumer must name its secrets to read a channel whose inputs are not numbers, got none named: make it with "
    "Consumer(prior, loss, secrets), the labels in the order of the prior's weights"
)
LONG_LOSS_TEXT = "this mechanism's exact expected loss must have at most 10^4 terms to be written out, got more"
MAX_NAME_CHARS = 40  # of a prior or loss in a line
FILTER_BITS = 192  # bits of the balls that irrational scores are compared with first


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Consumer:
    """A prior and a loss over the same secrets.

    `Consumer(prior, loss, space=S)` takes what people have: the prior as an array, a list, a series or a dict by label,
    or a function of the label; the loss as "distance", the name of another, an array, a frame, or a function of the
    distance or of (guess, truth). Doubles are read exactly, and weights divided by their exact sum.

    Every method takes a channel, or a mechanism that has one, whose inputs are the secrets, in any order: they are
    matched by label. `secrets` names them in the order of the prior's weights and of the loss's rows. Without it they
    are those of a loss made by `losses.over`; else numbers in increasing order, and a channel with other labels is
    refused, unless their order makes no difference. With exact entries, prior and loss every answer is exact.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> reader = Consumer(priors.uniform(6), losses.absolute)
    >>> reader.expected_loss(geometric(5, alpha("1/2")))
    Fraction(43, 48)
    """

    prior: Prior
    loss: Loss
    secrets: tuple[Label, ...] | None

    def __init__(
        self, prior: object, loss: object, secrets: Iterable[Label] | None = None, *, space: Space | None = None
    ) -> None:
        """Read prior and loss, so that a mistake is told here and not far away."""
        owner = read_secrets(secrets, space)
        if owner.labels is None and isinstance(loss, Loss):
            owner = Secrets(loss.labels, owner.space)
        read, labels = read_prior(prior, owner, None)
        if owner.space is not None and read.size != len(owner.space):
            raise InputError(
                f"prior must have {len(owner.space)} weights, one for each point of {owner.space.name[:40]}, "
                f"got {read.size}",
                "prior",
            )
        object.__setattr__(self, "prior", read)
        object.__setattr__(self, "loss", read_loss(loss, Secrets(labels, owner.space)))
        object.__setattr__(self, "secrets", self._check_secrets(labels))

    def _check_secrets(self, secrets: Iterable[Label] | None) -> tuple[Label, ...] | None:
        """The labels, one for each weight of the prior, and those of the loss where it has any."""
        of_loss = self.loss.labels
        if secrets is None:
            return of_loss
        labels = tuple(secrets)
        if len(labels) != self.prior.size or len(set(labels)) != len(labels):
            raise InputError(
                f"secrets must be {self.prior.size} distinct labels, one for each weight of the prior", "secrets"
            )
        if of_loss is not None and list(map(str, of_loss)) != list(map(str, labels)):
            raise InputError("secrets must be those of the loss, in its order, got others", "secrets", "leave them out")
        return labels

    def __repr__(self) -> str:
        """Prior and loss by name."""
        prior, loss = (name[:MAX_NAME_CHARS] for name in (self.prior.name, self.loss.name))
        return escape_control(f"<Consumer: prior {prior} on {self.prior.size} secrets, loss {loss}>", frozenset())

    def _repr_html_(self) -> str:
        return report_html(self, "consumer")

    def costs(self) -> Matrix:
        """The matrix c[x, w] = π_x·ℓ(x, w): what reading w costs when the secret is x, weighted by the prior."""
        return _costs(self.prior, self.loss)

    def posterior(self, mechanism: Channel | Mechanism, output: int | str) -> Matrix:
        """The law of the secret given an output, by Bayes' rule."""
        weights, column = _same_kind(self._weights(), self._channel(mechanism).column(output))
        joint = weights * column
        total = joint.sum()
        if not total:
            raise InputError("this output has probability 0 under the prior, so it has no posterior")
        law: Matrix = joint / total
        return law

    def scores(self, mechanism: Channel | Mechanism) -> Matrix:
        """S[w, y] = Σ_x π_x·C[x,y]·ℓ(x,w): the joint loss of reading output y as w."""
        return matrix_product(self.costs().T, self._channel(mechanism).rows)

    def remap(self, mechanism: Channel | Mechanism) -> list[int]:
        """The best reading of each output, as a position among the secrets; the smallest of those that tie.

        An output that never occurs is read as 0.
        """
        return best_readings(self.costs(), self._channel(mechanism).rows)

    def expected_loss(self, mechanism: Channel | Mechanism) -> Number | float:
        """The consumer's expected loss (GRS12 eq. 2) under the best remap: Σ_y min_w S[w, y].

        Where the exact number is too long to be written out, it is refused; `loss_bounds` has it between two fractions.
        """
        source, weights = self._channel(mechanism), self._weights()
        losses = _exact_or_float_array(self.loss.matrix(self.prior.size))
        if has_irrational_losses_alone(weights, losses, source.rows):
            return grouped_loss(weights, losses, source.rows)
        costs, rows = _same_kind(self.costs(), source.rows)
        if is_too_long(costs, rows):
            raise InputError(LONG_LOSS_TEXT, "mechanism", "consumer.loss_bounds(mechanism) has it to 40 digits")
        return _plain_number(sum(costs[:, w] @ rows[:, y] for y, w in enumerate(best_readings(costs, rows))))

    def loss_bounds(self, mechanism: Channel | Mechanism) -> Bounds:
        """Two fractions, `lower` and `upper`, that `expected_loss` lies between, about 10⁻⁴⁰ of it apart, at once.

        They are equal where all numbers are rational and not too many. Doubles are taken as the fractions they are.

        >>> from utmost.consumer import losses, priors
        >>> from utmost.exact import epsilon
        >>> from utmost.mechanisms import exponential
        >>> reader = Consumer(priors.uniform(3), losses.absolute)
        >>> bounds = reader.loss_bounds(exponential([[0, -1, -2], [-1, 0, -1], [-2, -1, 0]], epsilon(1)))
        >>> decimal(bounds.lower), bounds.upper - bounds.lower < Fraction(1, 10**40)
        ('0.635941', True)
        """
        source, weights = self._channel(mechanism), self._weights()
        losses = _exact_or_float_array(self.loss.matrix(self.prior.size))
        if has_irrational_losses_alone(weights, losses, source.rows):
            return split_loss_bounds(weights, losses, source.rows, BOUND_BITS)
        return least_loss_bounds(self.costs(), source.rows)

    def face_value_loss(self, mechanism: Channel | Mechanism) -> Number | float:
        """The expected loss of reading each output as the secret of the same label."""
        source = self._channel(mechanism)
        if set(source.outputs) - set(source.inputs) or self.readings(source.inputs) != source.inputs:
            raise InputError("outputs and readings must be inputs too for a reading at face value", "outputs")
        scores = self.scores(source)
        return _plain_number(sum(scores[source.inputs.index(label), y] for y, label in enumerate(source.outputs)))

    def induced(self, mechanism: Channel | Mechanism) -> Channel:
        """The mechanism followed by the best remap: from secrets to readings."""
        source = self._channel(mechanism)
        readings = self.readings(source.inputs)
        mapping = [readings[w] for w in self.remap(source)]
        return source.then(deterministic(mapping, source.outputs, readings))

    def readings(self, secrets: tuple[int | str, ...]) -> tuple[int | str, ...]:
        """What an answer can be read as: the secrets, or the actions w0, w1, … of a table with other columns."""
        width = self.loss.action_count(self.prior.size)
        return secrets if width == len(secrets) else tuple(f"w{k}" for k in range(width))

    def is_direct(self, mechanism: Channel | Mechanism) -> bool:
        """Is reading at face value optimal (GRS12 Def. 5.1): decided exactly where the entries are exact."""
        source = self._channel(mechanism)
        return self.face_value_loss(source) == self.expected_loss(source)

    def legality(self) -> Legality:
        """Is the loss legal, strictly legal, and if not where."""
        return self.loss.legality(self.prior.size)

    def in_order_of(self, labels: Iterable[Label]) -> Consumer:
        """The same consumer with its secrets in this order; itself where it names none. They must be the same labels.

        >>> from utmost.consumer import losses
        >>> Consumer({"b": "1/4", "a": "3/4"}, losses.binary).in_order_of(["a", "b"]).prior.exact()[0]
        Fraction(3, 4)
        """
        order = tuple(labels)
        if self.secrets is None or list(map(str, self.secrets)) == list(map(str, order)):
            return self
        positions = match_labels(self.secrets, order, "the consumer", "the points")
        weights = _weights(self.prior)[positions].tolist()
        prior = explicit(weights) if not self.prior.is_exact else Explicit(tuple(weights), self.prior.name)
        return Consumer(prior, permuted_loss(self.loss, positions, order), order)

    def _is_symmetric(self) -> bool:
        """Is it the same consumer in whatever order the secrets stand."""
        weights = self._weights()
        return self.loss.ignores_order and all(weight == weights[0] for weight in weights)

    def _weights(self) -> Matrix:
        return _weights(self.prior)

    def _channel(self, mechanism: Channel | Mechanism) -> Channel:
        source = channel_of(mechanism)
        if len(source.inputs) != self.prior.size:
            raise InputError(f"the prior has {self.prior.size} secrets, the mechanism {len(source.inputs)} inputs")
        if self.secrets is None:
            if numeric_labels(source.inputs) is None and not self._is_symmetric():
                raise InputError(UNNAMED_SECRETS_TEXT)
            return source.in_order()
        return align_inputs(source, self.secrets, "the consumer's secrets")


def _weights(prior: Prior) -> Matrix:
    if not prior.is_exact:
        return np.asarray(np.exp(prior.logs()))
    return _exact_or_float_array(prior.exact())


def _costs(prior: Prior, loss: Loss) -> Matrix:
    losses, weights = _exact_or_float_array(loss.matrix(prior.size)), _weights(prior)
    dtype = object if losses.dtype == weights.dtype == object else float
    costs: Matrix = weights.astype(dtype)[:, None] * losses.astype(dtype)
    return costs


def _exact_or_float_array(values: Any) -> npt.NDArray[Any]:
    """An object array of exact numbers, or a float array if any entry is a float."""
    array = np.asarray(values, dtype=object)
    return array.astype(float) if any(isinstance(value, float) for value in array.flat) else array


def _same_kind(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Two matrices as they are if both are exact, else both as floats."""
    if left.dtype == right.dtype == object:
        return left, right
    return left.astype(float), right.astype(float)


def best_readings(costs: Matrix, rows: Matrix) -> list[int]:
    """For each output y the smallest w that minimises Σ_x c[x,w]·C[x,y].

    Irrational scores are compared as balls first; only those whose balls meet are compared exactly.
    """
    costs, rows = _same_kind(costs, rows)
    if not any(isinstance(value, Real) for matrix in (costs, rows) for value in matrix.flat):
        return [first_minimum(column) for column in matrix_product(costs.T, rows).T]
    table = _ball_scores(costs, rows)
    return [_exact_minimiser(costs, rows[:, y], [line[y] for line in table]) for y in range(rows.shape[1])]


def _ball_scores(costs: Matrix, rows: Matrix) -> list[list[arb]]:
    from flint import arb_mat

    with working_precision(FILTER_BITS):
        left, right = (arb_mat([[ball(v, FILTER_BITS) for v in line] for line in matrix]) for matrix in (costs.T, rows))
        table: list[list[arb]] = (left * right).tolist()
        return table


def _exact_minimiser(costs: Matrix, column: Matrix, scores: list[arb]) -> int:
    """The smallest minimiser among the readings whose balls reach below every other's upper end."""
    ceiling = min(ball_endpoints(score)[1] for score in scores)
    rivals = [w for w, score in enumerate(scores) if ball_endpoints(score)[0] <= ceiling]
    if len(rivals) == 1:
        return rivals[0]
    return rivals[first_minimum(np.array([costs[:, w] @ column for w in rivals], dtype=object))]


def first_minimum(column: Matrix) -> int:
    """Where the least entry stands, the first of those that tie; compared exactly where entries are exact."""
    best = 0
    for w in range(1, len(column)):
        if column[w] < column[best]:
            best = w
    return best


def _plain_number(value: Any) -> Number | float:
    result: Number | float = float(value) if isinstance(value, float) else value
    return result


@dataclass(frozen=True, slots=True, repr=False)
class MinimaxReading:
    """A randomised remap, the worst expected loss it leaves, and the certificate that none does better."""

    remap: Channel
    loss: Fraction
    certificate: ProgramCertificate

    def __repr__(self) -> str:
        """The worst expected loss, and the shape of the remap."""
        shape = f"{len(self.remap.inputs)} outputs, {len(self.remap.outputs)} secrets"
        return f"<MinimaxReading: worst expected loss {decimal(self.loss)}; {shape}>"

    def _repr_html_(self) -> str:
        return report_html(self, "consumer", "describe_reading")

    def plot(self) -> Figure:
        """A heat map of the remap, or some of its laws where it is large."""
        return self.remap.plot()


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Minimax:
    """A loss alone: `Minimax(loss)`, or `Minimax("distance", space=S)` with all that a `Consumer` takes for a loss."""

    loss: Loss

    def __init__(self, loss: object, *, space: Space | None = None) -> None:
        """Read the loss."""
        object.__setattr__(self, "loss", read_loss(loss, read_secrets(None, space)))

    def __repr__(self) -> str:
        """The loss by name."""
        return escape_control(f"<Minimax: loss {self.loss.name[:MAX_NAME_CHARS]}>", frozenset())

    def _repr_html_(self) -> str:
        return report_html(self, "consumer", "describe_minimax")

    def worst_loss(self, induced: Channel | Mechanism) -> Number | float:
        """max_x Σ_w Z[x,w]·ℓ(x,w) of a channel from secrets to readings, which have the secrets' labels or order.

        Of a float channel, or with a float loss, it is a float.
        """
        source = self._channel(induced)
        columns = label_positions(source.outputs, source.inputs) or range(len(source.outputs))
        losses = _exact_or_float_array(square(self.loss, len(source.inputs)))
        rows, losses = _same_kind(source.rows[:, list(columns)], losses)
        return _plain_number(max((rows * losses).sum(axis=1)))

    def reading(self, mechanism: Channel | Mechanism) -> MinimaxReading:
        """The randomised remap Y that minimises max_x Σ_w (C·Y)[x,w]·ℓ(x,w), certified; rational entries only."""
        source = self._channel(mechanism)
        certificate = certified_optimum(remap_program(source, square(self.loss, len(source.inputs))))
        remap = np.array(certificate.proof.x[:-1], dtype=object).reshape(len(source.outputs), len(source.inputs))
        return MinimaxReading(trusted_channel(source.outputs, source.inputs, remap), certificate.upper, certificate)

    def _channel(self, mechanism: Channel | Mechanism) -> Channel:
        """The channel with its inputs in the order of the loss's rows, by label."""
        labels = self.loss.labels
        return (
            channel_of(mechanism).in_order()
            if labels is None
            else align_inputs(mechanism, labels, "the loss's secrets")
        )


def remap_program(source: Channel, losses: Matrix) -> LinearProgram:
    """minimise t over stochastic Y and t with t ≥ Σ_{y,w} C[x,y]·Y[y,w]·ℓ(x,w) for every x.

    Variables: Y row by row, then t. Rows: one for each x, then one for each row of Y.
    """
    if not source.exact:
        raise InputError("a minimax reading needs a channel with exact entries", hint=EXACT_HINT)
    inputs, outputs = len(source.inputs), len(source.outputs)
    x, y, w = (
        grid.ravel() for grid in np.meshgrid(np.arange(inputs), np.arange(outputs), np.arange(inputs), indexing="ij")
    )
    products = [-rational(source.rows[i, k] * losses[i, j], "loss") for i, k, j in zip(x, y, w, strict=True)]
    remap_cells = np.arange(outputs * inputs)
    rows = np.concatenate([x, np.arange(inputs), inputs + remap_cells // inputs])
    columns = np.concatenate([y * inputs + w, np.full(inputs, outputs * inputs), remap_cells])
    values = np.array([*products, *[Fraction(1)] * (inputs + outputs * inputs)], dtype=object)
    cost = [Fraction(0)] * (outputs * inputs) + [Fraction(1)]
    rhs = [Fraction(0)] * inputs + [Fraction(1)] * outputs
    return LinearProgram(cost, rows, columns, values, rhs, np.arange(inputs + outputs) >= inputs)
