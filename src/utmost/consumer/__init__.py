"""Consumers: priors, losses, and the best reading of an answer."""

from utmost.consumer import losses, priors
from utmost.consumer.minimax import Minimax, MinimaxReading
from utmost.consumer.reading import Consumer

__all__ = ["Consumer", "Minimax", "MinimaxReading", "losses", "priors"]
