"""Channels: mechanisms as matrices."""

from utmost.channel.channel import (
    Channel,
    Matrix,
    Mechanism,
    align_exact_inputs,
    align_inputs,
    channel,
    channel_entry,
    channel_of,
    choice,
    deterministic,
    identity,
    merge,
    mix,
    normalise,
)
from utmost.channel.concentration import Concentration, RenyiWitness, concentration
from utmost.channel.files import parse_channel, read_channel, write_channel
from utmost.channel.privacy import PrivacyLoss, is_private, least_epsilon

__all__ = [
    "Channel",
    "Concentration",
    "Matrix",
    "Mechanism",
    "PrivacyLoss",
    "RenyiWitness",
    "align_exact_inputs",
    "align_inputs",
    "channel",
    "channel_entry",
    "channel_of",
    "choice",
    "concentration",
    "deterministic",
    "identity",
    "is_private",
    "least_epsilon",
    "merge",
    "mix",
    "normalise",
    "parse_channel",
    "read_channel",
    "write_channel",
]
