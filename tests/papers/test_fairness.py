"""What is called an erratum, and what is not."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from utmost.papers import KEYS, SOURCE_TEXT
from utmost.papers.items import Report, document

PAGES = Path(__file__).parents[2] / "docs" / "papers"
REPAIRED_BY_CONTEXT = {
    "KL10": "as §3.3 says",  # the relation is said to be symmetric
    "FMM21": "§X compares it with G_N",
    "GRS12": "as §2 assumes throughout",
    "FMPD23": "§I reports Brenner and Nissim",
}


@pytest.mark.parametrize("key", REPAIRED_BY_CONTEXT)
def test_what_the_papers_own_context_repairs_is_a_remark(key: str) -> None:
    module = import_module(f"utmost.papers.{key.lower()}.errata")
    assert any(REPAIRED_BY_CONTEXT[key] in line for line in module.REMARKS)
    assert not any(REPAIRED_BY_CONTEXT[key] in line for line in module.ERRATA)


@pytest.mark.parametrize("key", KEYS)
def test_page_and_document_say_that_the_text_was_taken_by_machine(key: str) -> None:
    page = " ".join((PAGES / f"{key.lower()}.md").read_text(encoding="utf-8").split())
    assert SOURCE_TEXT.partition(":")[0] in page
    assert document(Report(key, KEYS[key], (), (), ()))["source"] == SOURCE_TEXT
