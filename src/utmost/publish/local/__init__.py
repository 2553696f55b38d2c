"""The local model: every row is obfuscated by itself, before anything is counted; and what a reader makes of it.

`obfuscate` writes a table of `LocationMechanism` or `CategoryMechanism` with a note beside it; `read_metadata` gives
the note, `recover_frequencies` the shares of values and `read_locations` the best guesses of places.
"""

from utmost.publish.local.categories import CategoryMechanism
from utmost.publish.local.coordinates import DegreeCoordinates, PlaneCoordinates
from utmost.publish.local.execute import obfuscate
from utmost.publish.local.locations import LocationMechanism
from utmost.publish.local.metadata import TableMetadata, read_metadata
from utmost.publish.local.recovery import (
    Frequencies,
    LocationReading,
    estimate_frequencies,
    read_locations,
    recover_frequencies,
)
from utmost.publish.local.remap import LocationPrior, deconvolve, remap_reports, weighted_grid

__all__ = [
    "CategoryMechanism",
    "DegreeCoordinates",
    "Frequencies",
    "LocationMechanism",
    "LocationPrior",
    "LocationReading",
    "PlaneCoordinates",
    "TableMetadata",
    "deconvolve",
    "estimate_frequencies",
    "obfuscate",
    "read_locations",
    "read_metadata",
    "recover_frequencies",
    "remap_reports",
    "weighted_grid",
]
