"""No two entries of a registry have one name: the later would take the place of the earlier."""

from __future__ import annotations

import ast
import importlib
import inspect

import pytest

from utmost.registry import Family, Registry

DICTIONARIES = (
    ("utmost.queries.registry", "QUERY_KINDS"),
    ("utmost.queries.answer_mechanisms.registry", "ANSWER_MECHANISMS"),
)
TUPLES = (
    ("utmost.mechanisms.registry", "MECHANISMS"),
    ("utmost.ledger.compositions.registry", "COMPOSITIONS"),
    ("utmost.data.engines.registry", "ENGINES"),
)


@pytest.mark.parametrize(("module_name", "name"), DICTIONARIES)
def test_a_dictionary_has_as_many_entries_as_its_source(module_name, name):
    module = importlib.import_module(module_name)
    assignments = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.AnnAssign)]
    (written,) = [node.value for node in assignments if getattr(node.target, "id", "") == name]
    assert isinstance(written, ast.Dict)
    assert len(getattr(module, name)) == len(written.keys)


@pytest.mark.parametrize(("module_name", "name"), TUPLES)
def test_the_names_of_a_tuple_differ(module_name, name):
    names = [entry.name for entry in getattr(importlib.import_module(module_name), name)]
    assert len(set(names)) == len(names) > 1


@pytest.mark.parametrize("kind", ["1/4,0,3/4", "uniform:", "Uniform", "p.csv", ""])
def test_a_kind_that_could_be_another_text_is_not_registered(kind):
    with pytest.raises(ValueError, match="small letters"):
        Registry("prior", [Family(kind=kind, example="x", meaning="x")])
