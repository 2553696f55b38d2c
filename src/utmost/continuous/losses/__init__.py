"""Losses over an interval: what it costs to read w when the truth is x."""

from utmost.continuous.losses.huber import Huber, huber
from utmost.continuous.losses.linear import Linear, absolute, asymmetric
from utmost.continuous.losses.loss import ContinuousLoss, LegalityViolation, LipschitzViolation, user_loss
from utmost.continuous.losses.power import Power, power, squared
from utmost.continuous.losses.registry import CONTINUOUS_LOSSES, parse_continuous_loss
from utmost.continuous.losses.step import Step, step

__all__ = [
    "CONTINUOUS_LOSSES",
    "ContinuousLoss",
    "Huber",
    "LegalityViolation",
    "Linear",
    "LipschitzViolation",
    "Power",
    "Step",
    "absolute",
    "asymmetric",
    "huber",
    "parse_continuous_loss",
    "power",
    "squared",
    "step",
    "user_loss",
]
