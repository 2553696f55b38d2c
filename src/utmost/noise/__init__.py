"""Exact draws of noise."""

from utmost.noise.canonical import CanonicalLaw, canonical_law, canonical_noise
from utmost.noise.entropy import EntropySource, system_source
from utmost.noise.fine_canonical import FineLaw, fine_canonical_noise, fine_law
from utmost.noise.geometric import check_level, geometric_noise
from utmost.noise.row_sampling import (
    ChannelSampler,
    channel_sampler,
    draw_channel,
    draw_row,
    permute_and_flip_law,
    row_sampler,
)
from utmost.noise.table_sampling import SamplingTable, draw_samples, sampling_table
from utmost.noise.tight_canonical import TightLaw, tight_law

__all__ = [
    "CanonicalLaw",
    "ChannelSampler",
    "EntropySource",
    "FineLaw",
    "SamplingTable",
    "TightLaw",
    "canonical_law",
    "canonical_noise",
    "channel_sampler",
    "check_level",
    "draw_channel",
    "draw_row",
    "draw_samples",
    "fine_canonical_noise",
    "fine_law",
    "geometric_noise",
    "permute_and_flip_law",
    "row_sampler",
    "sampling_table",
    "system_source",
    "tight_law",
]
