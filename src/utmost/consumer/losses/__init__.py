"""Losses of a consumer: what it costs to believe j when the truth is i."""

from utmost.consumer.losses.binary import Binary, Nib, binary, nib
from utmost.consumer.losses.drawn import PiecewiseLoss, drawn
from utmost.consumer.losses.linear import Linear, absolute, asymmetric
from utmost.consumer.losses.loss import ErrorLoss, Legality, Loss, LossFamily
from utmost.consumer.losses.power import Power, power
from utmost.consumer.losses.registry import LOSSES, check_points, labels_of, legality, over, parse, square
from utmost.consumer.losses.squared import Squared, squared
from utmost.consumer.losses.table import Table, matrix

__all__ = [
    "LOSSES",
    "Binary",
    "ErrorLoss",
    "Legality",
    "Linear",
    "Loss",
    "LossFamily",
    "Nib",
    "PiecewiseLoss",
    "Power",
    "Squared",
    "Table",
    "absolute",
    "asymmetric",
    "binary",
    "check_points",
    "drawn",
    "labels_of",
    "legality",
    "matrix",
    "nib",
    "over",
    "parse",
    "power",
    "square",
    "squared",
]
