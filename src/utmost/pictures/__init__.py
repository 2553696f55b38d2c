"""Pictures: channels, beliefs and curves as altair charts; .svg, .png or .html, without a browser or network."""

from utmost.pictures.beliefs import Belief, beliefs
from utmost.pictures.curves import Curve, curves
from utmost.pictures.heat import picture
from utmost.pictures.write import write

__all__ = ["Belief", "Curve", "beliefs", "curves", "picture", "write"]
