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

WEIGHTS_PATTERN = re.compile(r"[0-9eE.,/+\s-]*,[0-9eE.,/+\s-]*")
ARGUMENTS_PATTERN = re.compile(r"[0-9eE.,;:/+ -]*")
SPACE_PATTERN = re.compile(r"[a-z0-9:.+*/() ]+")


def parse_space(text: str) -> Space:
    """A space by its name, sums and multiples of such; never one that names a file."""
    from utmost import spaces
    from utmost.spaces.registry import SPACES, forms

    file_kinds = [family.kind for family in SPACES if family.reads_files]
    with errors_for_field("space"):
        if SPACE_PATTERN.fullmatch(text) is None or any(kind in text for kind in file_kinds):
            raise InputError(f"space must be {forms(files=False)}", "space")
        return spaces.parse_space(text)


def parse_prior(text: str, size: int) -> Prior:
    """A prior by its name, or its weights between commas."""
    from utmost.consumer import priors

    prior_text = text.strip()
    with errors_for_field("prior"):
        if priors.named_family(prior_text) is not None and _has_plain_arguments(prior_text):
            return priors.parse(prior_text, size)
        if WEIGHTS_PATTERN.fullmatch(prior_text) is None:
            raise priors.PRIORS.refusal(prior_text, files=False)
        weights = [weight.strip() for weight in prior_text.split(",")]
        if len(weights) != size:
            raise InputError(
                f"prior must have {size} weights, one for each secret in order, got {len(weights)}", "prior"
            )
        return priors.explicit(weights)


def parse_loss(text: str) -> Loss:
    """A loss by its name."""
    from utmost.consumer import losses

    loss_text = text.strip()
    with errors_for_field("loss"):
        family = losses.LOSSES.find(loss_text.partition(":")[0])
        if family is None or family.reads_files or not _has_plain_arguments(loss_text):
            raise losses.LOSSES.refusal(loss_text, files=False)
        return losses.parse(loss_text)


def _has_plain_arguments(text: str) -> bool:
    """Are there only numbers and signs after the colon."""
    return ARGUMENTS_PATTERN.fullmatch(text.partition(":")[2]) is not None
