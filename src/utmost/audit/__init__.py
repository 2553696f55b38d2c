"""Audits: lower bounds on the ε of a channel or of a black box."""

from utmost.audit.boxes import Box, command, each, load
from utmost.audit.finding import Finding, channel_bound, sampled_bound

__all__ = ["Box", "Finding", "channel_bound", "command", "each", "load", "sampled_bound"]
