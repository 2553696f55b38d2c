"""Spaces, priors and losses as a visitor types them: those with names and those written out, never files.

The command line's words include FILE; on a page that would be a path of the machine that serves it. So what could be a
file is refused before the library reads it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.studio.form_errors import errors_for_field

if TYPE_CHECKING:
    from utmost.consumer.losses import Loss
    from utmost.consumer.priors import Prior
    from utmost.spaces import Space

PRIOR_PATTERN = re.compile(r"uniform|(binomial|poisson|zipf|steps):[0-9eE.,/+-]+")
WEIGHTS_PATTERN = re.compile(r"[0-9eE.,/+\s-]*,[0-9eE.,/+\s-]*")
LOSS_PATTERN = re.compile(r"absolute|squared|binary|nib|(power|asymmetric|drawn):[0-9eE.,;:/+ -]+")
SPACE_PATTERN = re.compile(r"[a-z0-9:.+*/() ]+")
FILE_WORDS = ("matrix", "graph")


def parse_space(text: str) -> Space:
    """A space by its name: line:6, discrete:5, grid:3x4, hamming:3, cycle:5, sums and multiples of these."""
    from utmost import spaces

    with errors_for_field("space"):
        if SPACE_PATTERN.fullmatch(text) is None or any(word in text for word in FILE_WORDS):
            raise InputError(
                "space must be line:6, discrete:5, grid:3x3, hamming:3 or cycle:5, a sum A+B or a multiple 2*A"
            )
        return spaces.parse_space(text)


def parse_prior(text: str, size: int) -> Prior:
    """A prior by its name, or its weights between commas."""
    from utmost.consumer import priors

    prior_text = text.strip()
    with errors_for_field("prior"):
        if PRIOR_PATTERN.fullmatch(prior_text) is not None:
            return priors.parse(prior_text, size)
        if WEIGHTS_PATTERN.fullmatch(prior_text) is None:
            raise InputError("prior must be uniform, binomial:0.3, poisson:4, zipf:1, or weights such as 1/4,0,3/4")
        weights = [weight.strip() for weight in prior_text.split(",")]
        if len(weights) != size:
            raise InputError(f"prior must have {size} weights, one for each secret in order, got {len(weights)}")
        return priors.explicit(weights)


def parse_loss(text: str) -> Loss:
    """A loss by its name."""
    from utmost.consumer import losses

    with errors_for_field("loss"):
        if LOSS_PATTERN.fullmatch(text.strip()) is None:
            raise InputError("loss must be absolute, squared, binary, nib, power:1.5 or asymmetric:2,1")
        return losses.parse(text.strip())
