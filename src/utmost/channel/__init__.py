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
from utmost.channel.privacy import Leak, aligned, exactly_aligned, is_private, least_epsilon

__all__ = [
    "Channel",
    "Leak",
    "Matrix",
    "Mechanism",
    "aligned",
    "channel",
    "channel_of",
    "choice",
    "deterministic",
    "entry",
    "exactly_aligned",
    "identity",
    "is_private",
    "least_epsilon",
    "merge",
    "mix",
]
