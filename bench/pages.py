"""Rewrite the marked blocks of the pages from bench/figures.json: `python bench/pages.py`.

A block stands between `<!-- bench:NAME -->` and `<!-- /bench -->`, each on a line of its own.
"""

from __future__ import annotations

import re
from pathlib import Path

import figures

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^<!-- bench:(?P<name>[\w-]+) -->\n(?P<text>.*?)^<!-- /bench -->$", re.MULTILINE | re.DOTALL)


def block_text(lines: list[str]) -> str:
    """What stands between the markers."""
    return "\n" + "\n".join(lines) + "\n\n"


def rewrite(page: str, blocks: dict[str, list[str]]) -> str:
    """The page with its blocks as they are in the file; a block that the file does not have is an error."""
    return BLOCK.sub(
        lambda match: f"<!-- bench:{match['name']} -->\n{block_text(blocks[match['name']])}<!-- /bench -->", page
    )


def page_paths() -> list[Path]:
    """README and all pages of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rewrite_pages() -> None:
    """Bring each page up to the file."""
    blocks = figures.read()["blocks"]
    for path in page_paths():
        page = path.read_text(encoding="utf-8")
        if (result := rewrite(page, blocks)) != page:
            path.write_text(result, encoding="utf-8")


if __name__ == "__main__":
    rewrite_pages()
