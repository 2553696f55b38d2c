"""Describe the ε of a channel and where it is attained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.reports.blocks import Report
from utmost.reports.mechanism import json_epsilon, privacy_paragraph

if TYPE_CHECKING:
    from utmost.channel import PrivacyLoss


def describe(privacy_loss: PrivacyLoss) -> Report:
    """The ε, and the output and inputs where it is attained."""
    return Report(
        {"privacy": privacy_paragraph(privacy_loss, None)}, lambda: {"epsilon": json_epsilon(privacy_loss, None)}
    )
