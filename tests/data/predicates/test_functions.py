"""The registry of functions and its table in the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data.predicates.corpus import PREDICATES
from data.predicates.engines import compile_text
from spark import quiet
from utmost.data.engines.schema import ColumnKind
from utmost.data.predicates import check_types, parse_predicate
from utmost.data.predicates.functions import FUNCTIONS
from utmost.data.predicates.syntax import Call, walk
from utmost.errors import InputError

pytestmark = quiet
PAGE = Path(__file__).parents[3] / "docs" / "plan.md"


def test_the_docs_have_a_row_for_each_function() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    expected = [f"| `{function.form}` | {function.meaning} |" for function in FUNCTIONS.values()]
    assert [row for row in rows if row in expected] == expected


def test_every_function_is_in_the_corpus_that_all_engines_agree_on() -> None:
    trees = [parse_predicate(text).tree for text in PREDICATES]
    assert {node.name for tree in trees for node in walk(tree) if isinstance(node, Call)} == set(FUNCTIONS)


@pytest.mark.parametrize("name", ["div", "case", "when", "end", "bin", "hour", "lower"])
def test_columns_may_be_called_like_functions_and_words_of_case(name: str) -> None:
    check_types(parse_predicate(f"{name} = 1 and 2 < {name} * {name}"), {name: ColumnKind.INTEGER})


def test_an_expression_that_grows_too_large_for_an_engine_is_refused(duckdb: Any) -> None:
    duckdb.con.execute("CREATE TABLE sizes (big BIGINT)")
    table = duckdb.table("sizes")
    text = "big"
    for _ in range(15):
        text = f"bin({text}, 2)"
    with pytest.raises(InputError, match="too large once it is written out"):
        compile_text(f"{text} > 1", table)
