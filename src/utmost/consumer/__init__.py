"""Consumers: priors, losses, and the best reading of an answer."""

from utmost.consumer import losses, priors
from utmost.consumer.consumer import Consumer, Minimax, MinimaxReading
from utmost.consumer.loss_classes import is_monotone, is_strictly_monotone, is_trivial, lift_loss, loss_rows, metric_for

__all__ = [
    "Consumer",
    "Minimax",
    "MinimaxReading",
    "is_monotone",
    "is_strictly_monotone",
    "is_trivial",
    "lift_loss",
    "loss_rows",
    "losses",
    "metric_for",
    "priors",
]
