"""Channels: mechanisms as matrices."""

from utmost.channel.channel import (
    Channel,
    Matrix,
    Mechanism,
    channel,
    channel_of,
    deterministic,
    entry,
    identity,
    merge,
    mix,
)
from utmost.channel.choice import choice
from utmost.channel.privacy import Leak, is_private, least_epsilon

__all__ = [
    "Channel",
    "Leak",
    "Matrix",
    "Mechanism",
    "channel",
    "channel_of",
    "choice",
    "deterministic",
    "entry",
    "identity",
    "is_private",
    "least_epsilon",
    "merge",
    "mix",
]
