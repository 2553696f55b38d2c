"""Consumers: priors, losses, and the best reading of an answer."""

from utmost.consumer import losses, priors
from utmost.consumer.minimax import Minimax, MinimaxReading
from utmost.consumer.reading import Consumer, Mechanism

__all__ = ["Consumer", "Mechanism", "Minimax", "MinimaxReading", "losses", "priors"]
