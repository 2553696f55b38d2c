"""A new space is one shape and one registration: everything else follows from the registry.

The family is defined here and registered for one test at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import utmost as ut
from utmost.cli import main
from utmost.spaces import Space, parse_space
from utmost.spaces.distance_order import IntArray
from utmost.spaces.registry import SPACES, forms
from utmost.spaces.space import Numbered, SpaceFamily, parse_size

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class StarShape(Numbered):
    """Point 0 at distance 1 from the others, which are 2 apart."""

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        distance: IntArray = np.where(x == other, 0, np.where((x == 0) | (other == 0), 1, 2))
        return distance


def star(points: int) -> Space:
    return Space.from_shape(f"star:{points}", StarShape(points))


STAR = SpaceFamily(
    kind="star",
    example="star:4",
    points="0 … 3",
    meaning="1 to the centre 0, 2 between the others",
    python="star(4)",
    parse=lambda text: star(parse_size("star", text)),
)


@pytest.fixture(autouse=True)
def star_family() -> Iterator[None]:
    with SPACES.registration(STAR):
        yield


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The output of a command."""
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    captured = capsys.readouterr()
    assert exit_info.value.code == 0, captured.err
    return captured.out


def test_it_is_parsed_also_within_products_and_multiples():
    space = parse_space("1/2*star:4+line:2")
    assert len(space) == 8
    assert parse_space("star:4").edges == ((0, 1), (0, 2), (0, 3))
    assert space.distance(2, 4) == 1


def test_an_optimum_on_it_is_that_on_its_table():
    reader = ut.Consumer(ut.priors.uniform(4), ut.losses.binary)
    table = ut.space([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]])
    assert ut.optimal(star(4), ut.alpha("1/2"), reader).loss == ut.optimal(table, ut.alpha("1/2"), reader).loss


def test_the_command_line_takes_it_and_lists_it(capsys: pytest.CaptureFixture[str]):
    arguments = ["optimal", "star:4", "--alpha", "1/2", "--loss", "binary", "--json"]
    assert json.loads(run(capsys, *arguments))["space"] == "star:4"
    for command in ("optimal", "type", "check"):
        assert "star:4" in run(capsys, command, "--help")


def test_an_unknown_space_is_refused_with_a_list_that_has_it():
    with pytest.raises(ut.InputError, match="star:4") as error:
        parse_space("tree:4")
    assert error.value.field == "space"


def test_the_studio_takes_it_and_lists_it():
    pytest.importorskip("fastapi")
    from utmost.studio import forms as input_parser

    assert len(input_parser.parse_space("star:4")) == 4
    assert "star:4" in forms(files=False)
    with pytest.raises(ut.InputError, match="star:4"):
        input_parser.parse_space("matrix:FILE")


def test_the_documentation_has_a_line_for_each_space():
    page = (DOCS / "spaces.md").read_text()
    for family in SPACES:
        distance = family.meaning.replace("|", "\\|")
        line = f"| `{family.example}` | `{family.python}` | {family.points} | {distance} |"
        assert family is STAR or line in page
