"""Kinds suggested by the first rows of a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from utmost.data.engines.csv_types import suggest_kinds
from utmost.data.engines.schema import ColumnKind
from utmost.data.sources import Source, open_table

VALUE_TEXTS = "1 -3 +7 12.0 1.5 .5 1e-3 inf nan true False t 2020-01-31 x 1,5"
VALUES = st.sampled_from([*VALUE_TEXTS.split(" "), "", " 4 ", "2020-01-31 12:00", "9" * 17, "9" * 25])


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=6))
def test_a_file_whose_rows_are_all_first_has_the_kinds_that_are_found(tmp_path_factory, rows):
    """But for columns without any value, which are found to be integers and suggested as texts."""
    path = Path(tmp_path_factory.mktemp("suggested")) / "a.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("a", "b"), *rows])
    with open_table(Source("a.csv"), path.parent) as table:
        detected_kinds = dict(table.kinds)
    for name, values in zip(("a", "b"), zip(*rows, strict=True), strict=True):
        if any(values):
            assert suggest_kinds(path)[name] == detected_kinds[name]
        else:
            assert suggest_kinds(path)[name] is ColumnKind.TEXT


def test_the_rest_of_the_file_is_not_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "1\n" * 10 + "x\n")
    assert suggest_kinds(path, 10) == {"a": ColumnKind.INTEGER}
    assert suggest_kinds(path, 11) == {"a": ColumnKind.TEXT}
