"""Consumers: priors, losses, and the best reading of an answer."""

from utmost.consumer import losses, priors
from utmost.consumer.consumer import Consumer
from utmost.consumer.loss_classes import is_monotone, is_strictly_monotone, is_trivial, metric_for
from utmost.consumer.loss_operations import lift_loss, loss_rows
from utmost.consumer.minimax import Minimax, MinimaxReading

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
