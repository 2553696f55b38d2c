"""Builds the documentation site: python docs/site/build.py OUTPUT.

The pages of docs/ and those at the root are copied to one folder, the links between them are adjusted, and Sphinx makes
the site from that folder. Notebooks become pages with the outputs that are stored in them; nothing of them is run. A
warning is an error. Nothing is loaded from the network, now or when the site is viewed.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.cmd.build import main as run_sphinx

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
NOTEBOOKS = ROOT / "examples" / "notebooks"  # pages notebooks/NAME of the site
REPOSITORY = "https://github.com/utmost-privacy/utmost/blob/main"
# Pages at the root of the repository, and what they are called in the site.
ROOT_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
# Navigation by role. A page that is not named here is added to the last part.
NAVIGATION = {
    "Curator": [
        "curator",
        "notebooks/first_release",
        "flights",
        "python",
        "notebooks/table_by_region",
        "notebooks/found_keys",
        "plan",
        "tables",
        "planning",
        "sources",
        "predicates",
        "budgets",
        "ledger",
        "calibrate",
        "local",
        "studio",
        "data",
        "other-tools",
    ],
    "Analyst": ["consumer", "notebooks/readings", "estimate", "joint", "notebook", "release-file"],
    "Designer": [
        *("designer", "notebooks/city_map", "notebooks/own_type", "spaces", "mechanisms", "capacity", "kernels"),
        *("universal", "several-counts", "canonical", "qif"),
        *("continuous-laws", "continuous-loss", "continuous-grid"),
    ],
    "Auditor": ["audit", "notebooks/broken_mechanism", "precision", "noise", "definitions", "profiles", "generality"],
    "Papers": ["papers/grs12", "papers/fmm21", "papers/gmp13", "papers/kl10", "papers/fmpd23"],
    "Reference": [
        *("api", "commands", "glossary", "architecture", "performance", "dependencies"),
        *("contributing", "security", "changelog"),
    ],
}
LINK = re.compile(r"\]\(([^)#\s]+)")
HTML_KINDS = ("image/svg+xml", "text/html")  # of an output of a notebook, the first that it has is shown
SHRINKING_SVG = '<svg style="max-width: 100%; height: auto"'
FENCE = "`" * 5  # around code and outputs; longer than any in them


def main(output: Path) -> int:
    """Build the site in `output`; return the exit code of Sphinx."""
    with tempfile.TemporaryDirectory(prefix="utmost-site-") as folder:
        pages, cache = Path(folder) / "pages", Path(folder) / "cache"
        copy_pages(pages)
        options = ["-b", "html", "--fail-on-warning", "--keep-going", "--quiet"]
        return run_sphinx([*options, "-c", str(DOCS / "site"), "-d", str(cache), str(pages), str(output)])


def copy_pages(target: Path) -> None:
    """All pages in one folder; the start page leads to the others."""
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("site"))
    for path in target.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(with_site_links(text, DOCS / path.relative_to(target).parent), encoding="utf-8")
    (target / "notebooks").mkdir()
    for notebook in NOTEBOOKS.glob("*.ipynb"):
        text = notebook_page(notebook, f"{REPOSITORY}/{notebook.relative_to(ROOT).as_posix()}")
        (target / "notebooks" / f"{notebook.stem}.md").write_text(with_site_links(text, NOTEBOOKS), encoding="utf-8")
    for name, page in ROOT_PAGES.items():
        text = with_site_links((ROOT / name).read_text(encoding="utf-8"), ROOT)
        (target / page).write_text(text + (contents() if page == "index.md" else ""), encoding="utf-8")


def notebook_page(path: Path, address: str) -> str:
    """The Markdown of a notebook; `address` is where its file can be had."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    parts = [part for cell in notebook["cells"] for part in cell_parts(cell)]
    return "\n\n".join([*parts, f"The notebook: [{path.name}]({address})."]) + "\n"


def cell_parts(cell: dict[str, Any]) -> Iterator[str]:
    """A text as it is; code in a block, and its outputs below."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield fenced("python", source)
    for output in cell["outputs"]:
        yield output_part(output)


def output_part(output: dict[str, Any]) -> str:
    """A table or a picture as HTML, other outputs as text."""
    if output["output_type"] == "stream":
        return fenced("text", "".join(output["text"]).rstrip())
    data = {
        kind: "".join(body).replace("<svg", SHRINKING_SVG, 1)
        for kind, body in output["data"].items()
        if kind.startswith(("text/", "image/svg"))
    }
    for kind in HTML_KINDS:
        if kind in data:
            return fenced("{raw} html", f'<div class="cell-output" style="overflow-x: auto">\n{data[kind]}\n</div>')
    return fenced("text", data["text/plain"])


def fenced(kind: str, body: str) -> str:
    """A block of this kind."""
    return f"{FENCE}{kind}\n{body}\n{FENCE}"


def contents() -> str:
    """The navigation as Sphinx reads it, shown in the sidebar only."""
    parts = {role: list(pages) for role, pages in NAVIGATION.items()}
    named = {page for pages in parts.values() for page in pages}
    written = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    parts["Reference"] += sorted(written - named)
    trees = (["```{toctree}", ":hidden:", f":caption: {role}", "", *pages, "```"] for role, pages in parts.items())
    return "".join("\n" + "\n".join(lines) + "\n" for lines in trees)


def with_site_links(text: str, folder: Path) -> str:
    """The text of a page in `folder`, with links that lead to pages of the site, or to files of the repository."""

    def site_link(match: re.Match[str]) -> str:
        path = (folder / match[1]).resolve()
        if "://" in match[1] or not path.is_relative_to(ROOT):
            return match[0]
        name = path.relative_to(ROOT).as_posix()
        up = "" if folder == ROOT else "../" if folder == NOTEBOOKS else "../" * len(folder.relative_to(DOCS).parts)
        if path.parent == NOTEBOOKS and path.suffix == ".ipynb":
            return f"]({up}notebooks/{path.stem}.md"
        if path.is_relative_to(DOCS):
            return f"]({up}{path.relative_to(DOCS).as_posix()}"
        return f"]({up}{ROOT_PAGES[name]}" if name in ROOT_PAGES else f"]({REPOSITORY}/{name}"

    return LINK.sub(site_link, text)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
