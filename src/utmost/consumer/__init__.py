"""Consumers: priors, losses, and the best reading of an answer."""

from utmost.consumer import losses, priors
from utmost.consumer.consumer import Consumer
from utmost.consumer.minimax import Minimax, MinimaxReading

__all__ = ["Consumer", "Minimax", "MinimaxReading", "losses", "priors"]
