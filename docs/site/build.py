"""Builds the documentation site: python docs/site/build.py OUTPUT.

The pages of docs/ and those at the root are copied to one folder, the links between them are adjusted, and Sphinx makes
the site from that folder. A warning is an error. Nothing is loaded from the network, now or when the site is viewed.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import main as run_sphinx

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
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
        "flights",
        "python",
        "plan",
        "sources",
        "predicates",
        "budgets",
        "ledger",
        "calibrate",
        "local",
        "studio",
        "data",
    ],
    "Analyst": ["consumer", "estimate", "notebook", "release-file"],
    "Designer": [
        *("designer", "spaces", "mechanisms", "capacity", "kernels", "universal", "canonical", "qif"),
        *("continuous-laws", "continuous-loss", "continuous-grid"),
    ],
    "Auditor": ["audit", "precision", "noise", "definitions", "profiles", "generality"],
    "Papers": ["papers/grs12", "papers/fmm21", "papers/gmp13", "papers/kl10", "papers/fmpd23"],
    "Reference": [
        *("api", "commands", "glossary", "architecture", "performance", "dependencies"),
        *("contributing", "security", "changelog"),
    ],
}
LINK = re.compile(r"\]\(([^)#\s]+)")


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
    for name, page in ROOT_PAGES.items():
        text = with_site_links((ROOT / name).read_text(encoding="utf-8"), ROOT)
        (target / page).write_text(text + (contents() if page == "index.md" else ""), encoding="utf-8")


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
        up = "" if folder == ROOT else "../" * len(folder.relative_to(DOCS).parts)
        if path.is_relative_to(DOCS):
            return f"]({up}{path.relative_to(DOCS).as_posix()}"
        return f"]({up}{ROOT_PAGES[name]}" if name in ROOT_PAGES else f"]({REPOSITORY}/{name}"

    return LINK.sub(site_link, text)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
