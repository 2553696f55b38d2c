"""Exact draws of noise."""

from utmost.noise.entropy import EntropySource, system_source
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

__all__ = [
    "ChannelSampler",
    "EntropySource",
    "SamplingTable",
    "channel_sampler",
    "check_level",
    "draw_channel",
    "draw_row",
    "draw_samples",
    "geometric_noise",
    "permute_and_flip_law",
    "row_sampler",
    "sampling_table",
    "system_source",
]
