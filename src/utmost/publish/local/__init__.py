"""The local model: every row is obfuscated by itself, before anything is counted; and what a reader makes of it.

`obfuscate` writes a table of `Places` or `Answers` with a note beside it; `read` gives the note, `recovered` the shares
of values and `read_places` the best guesses of places.
"""

from utmost.publish.local.answers import Answers
from utmost.publish.local.coordinates import Degrees, Plane
from utmost.publish.local.frequencies import Frequencies, frequencies, recovered
from utmost.publish.local.places import Places
from utmost.publish.local.record import Record, read
from utmost.publish.local.remap import Grid, deconvolved, remapped, weighted
from utmost.publish.local.reports import Reading, read_places
from utmost.publish.local.run import obfuscate

__all__ = [
    "Answers",
    "Degrees",
    "Frequencies",
    "Grid",
    "Places",
    "Plane",
    "Reading",
    "Record",
    "deconvolved",
    "frequencies",
    "obfuscate",
    "read",
    "read_places",
    "recovered",
    "remapped",
    "weighted",
]
