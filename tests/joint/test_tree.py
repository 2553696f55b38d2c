import pytest

from utmost.errors import InputError
from utmost.exact import alpha
from utmost.joint.laws import GeometricNoise
from utmost.joint.tree import hierarchy

LEVELS = [("region",), ("region", "town")]
CELLS = [("n", "a"), ("n", "b"), ("s", "c")]


def test_a_total_is_put_on_top_of_the_levels():
    tree = hierarchy(LEVELS, CELLS)
    assert tree.columns == ((), ("region",), ("region", "town"))
    assert tree.parts == ((1, 2), (3, 4), (5,), (), (), ())
    assert tree.leaves == (3, 4, 5)
    assert tree.label(0) == "the total"
    assert tree.label(4) == "n, b"


def test_an_empty_cell_has_empty_parts():
    assert hierarchy(LEVELS, CELLS, {(): 7}, [("n",)]).totals == {0: 7, 1: 0, 3: 0, 4: 0}


def test_answers_go_to_the_cells_of_their_keys():
    law = GeometricNoise(alpha("1/2"))
    tree = hierarchy(LEVELS, CELLS).with_answers(1, {("s",): 4}, law, "F").with_answers(1, {("s",): 6}, law, "G")
    assert [[answer.value for answer in answers] for answers in tree.answers] == [[], [], [4, 6], [], [], []]


@pytest.mark.parametrize(
    ("levels", "cells", "totals", "words"),
    [
        ([("town",), ("region", "town")], CELLS, {}, "levels must each have the columns of the one before"),
        ([("region",), ("region",)], CELLS, {}, "levels must each have the columns of the one before"),
        (LEVELS, [], {}, "cells must be from 1 to"),
        (LEVELS, [("n",)], {}, "cells must have 2 values each, got n"),
        (LEVELS, [*CELLS, ("n", "a")], {}, "cells must be listed once each"),
        (LEVELS, CELLS, {("x",): 3}, "key must be one of the table's, got x"),
        (LEVELS, CELLS, {("n",): -1}, "totals must be from 0 to"),
        (LEVELS, CELLS, {("n",): 5, (): 4}, "totals must add up, got others for the parts of the total"),
        (LEVELS, CELLS, {("s",): 5, ("s", "c"): 4}, "totals must add up, got others for the parts of s"),
        (LEVELS, CELLS, {("n",): 0, ("n", "a"): 4}, "totals must be 0 in an empty cell, got another at n, a"),
    ],
)
def test_what_is_no_hierarchy_is_refused(levels, cells, totals, words):
    with pytest.raises(InputError, match="^" + words):
        hierarchy(levels, cells, totals)
