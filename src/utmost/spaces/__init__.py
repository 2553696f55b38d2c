"""Spaces: secrets with a metric."""

from utmost.spaces.shapes import databases, line, parse
from utmost.spaces.space import Label, Space, space

__all__ = ["Label", "Space", "databases", "line", "parse", "space"]
