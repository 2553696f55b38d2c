"""The families of losses, in the order of help and forms; their parser; losses on the points of a space."""

from __future__ import annotations

from utmost.consumer.losses.binary import BINARY, NIB
from utmost.consumer.losses.drawn import DRAWN
from utmost.consumer.losses.linear import ABSOLUTE, ASYMMETRIC
from utmost.consumer.losses.loss import Exacts, Legality, Loss, LossFamily
from utmost.consumer.losses.power import POWER
from utmost.consumer.losses.squared import SQUARED
from utmost.consumer.losses.table import MATRIX, Table
from utmost.errors import InputError
from utmost.exact import Number
from utmost.registry import Registry
from utmost.spaces import Label, Space

LOSSES: Registry[LossFamily] = Registry("loss", [ABSOLUTE, SQUARED, BINARY, NIB, POWER, ASYMMETRIC, DRAWN, MATRIX])


def parse(text: str) -> Loss:
    """The loss that the command line names: one of `LOSSES.forms()`.

    >>> parse("asymmetric:2,1").name, parse("power:1.5").name
    ('asymmetric:2,1', 'power:3/2')
    """
    kind, _, arguments = text.strip().partition(":")
    family = LOSSES.find(kind)
    if family is None or family.takes_text != bool(arguments):
        raise LOSSES.refusal(text)
    with LOSSES.input_errors(text):
        return family.parse(arguments)


def over(loss: Loss, space: Space) -> Loss:
    """The loss on a space's points: |i − j| becomes d(i, j), so absolute is d, squared d², power d^p (FMPD23 eq. 12).

    On a line nothing changes; binary, nib and matrices are what they are.

    >>> from utmost.consumer.losses import absolute, squared
    >>> from utmost.spaces import space
    >>> triangle = space([[0, 1, "sqrt(2)"], [1, 0, 1], ["sqrt(2)", 1, 0]])
    >>> str(over(absolute, triangle).exact(0, 2)), over(squared, triangle).exact(0, 2)
    ('2^(1/2)', Fraction(2, 1))
    """
    if loss.ignores_distance or space.shape.line_step() == 1:
        return loss
    distances: list[list[Number]] = space.distances.tolist()
    distance_of_id = {id(d): d for row in distances for d in row}
    loss_of_id = {key: loss.at_distance(d) for key, d in distance_of_id.items()}
    return Table(tuple(tuple(loss_of_id[id(d)] for d in row) for row in distances), loss.name, space.labels)


def labels_of(loss: Loss) -> tuple[Label, ...] | None:
    """The names of the secrets in the order of the loss's rows; None where it is a loss of counts, or names none."""
    return loss.labels


def check_points(loss: Loss, space: Space) -> None:
    """Refuse a loss that was made for other points, or for these in another order."""
    if loss.labels is not None and [str(label) for label in loss.labels] != [str(label) for label in space.labels]:
        raise InputError(
            f"the loss must be on the points of {space.name}, in their order, got one on other points",
            "loss",
            "make it with losses.over(loss, space)",
        )


def square(loss: Loss, size: int) -> Exacts:
    """ℓ as a size × size matrix: a table whose readings are not the secrets is refused."""
    loss.check(size)
    return loss.matrix(size)


def legality(loss: Loss, size: int) -> Legality:
    """Whether ℓ on the counts 0..size−1 is legal (GRS12 §2.2) and strictly legal (§5.3), decided exactly.

    >>> from utmost.consumer.losses import asymmetric, binary
    >>> legality(binary, 5)
    Legality(witness=None, strict_witness=(0, 1, 2))
    >>> legality(asymmetric(2, 1), 5).witness
    (1, 0, 2)
    """
    return loss.legality(size)
