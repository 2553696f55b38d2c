"""The families of losses over an interval, in the order of help, and the parser of what the command line names."""

from __future__ import annotations

from utmost.continuous.losses.huber import HUBER
from utmost.continuous.losses.linear import ABSOLUTE, ASYMMETRIC
from utmost.continuous.losses.loss import ContinuousLoss, ContinuousLossFamily
from utmost.continuous.losses.power import POWER, SQUARED
from utmost.continuous.losses.step import STEP
from utmost.registry import Registry

CONTINUOUS_LOSSES: Registry[ContinuousLossFamily] = Registry(
    "loss", [ABSOLUTE, SQUARED, HUBER, POWER, ASYMMETRIC, STEP]
)


def parse_continuous_loss(text: str) -> ContinuousLoss:
    """The loss that the command line names: one of `CONTINUOUS_LOSSES.forms()`.

    >>> parse_continuous_loss("huber:0.1").name, parse_continuous_loss("power:1").name
    ('huber:1/10', 'power:1')
    """
    kind, _, arguments = text.strip().partition(":")
    family = CONTINUOUS_LOSSES.find(kind)
    if family is None or family.takes_text != bool(arguments):
        raise CONTINUOUS_LOSSES.refusal(text)
    with CONTINUOUS_LOSSES.input_errors(text):
        return family.parse(arguments)
