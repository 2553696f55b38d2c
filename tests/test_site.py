"""The documentation site is built from the pages as they are, without a warning, and loads nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "preconnect", "modulepreload", "manifest"}

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # what Sphinx itself uses may be deprecated


@pytest.fixture(scope="module")
def build() -> ModuleType:
    pytest.importorskip("furo", reason="the site's builder is not installed: make site")
    specification = importlib.util.spec_from_file_location("build_site", ROOT / "docs" / "site" / "build.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(build: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert build.main(folder) == 0  # a warning is an error
    return folder


class Loads(HTMLParser):
    """Addresses that a page loads when it is viewed."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if LOADING.get(tag) in attributes:
            self.addresses.append(attributes[LOADING[tag]])
        if tag == "link" and LOADING_LINKS & set(attributes.get("rel", "").split()):
            self.addresses.append(attributes["href"])


def test_every_page_is_in_the_site(site: Path):
    names = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in PAGES]
    assert [name for name in names if not (site / name).exists()] == []
    assert all((site / f"{name}.html").exists() for name in ("index", "changelog", "contributing", "security"))


def test_every_notebook_is_a_page_with_its_code_and_outputs(site: Path):
    for path in NOTEBOOKS:
        text = (site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
        cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
        assert text.count('class="highlight-python') == len(cells)
        outputs = [output.get("data", {}) for cell in cells for output in cell["outputs"]]
        as_html = [data for data in outputs if data.keys() & {"text/html", "image/svg+xml"}]
        assert text.count('class="cell-output"') == len(as_html)


def test_the_navigation_goes_by_role_and_names_only_pages_that_exist(build: ModuleType, site: Path):
    text = (site / "index.html").read_text(encoding="utf-8")
    captions = re.findall(r'<span class="caption-text">([^<]*)</span>', text)
    assert captions == ["Curator", "Analyst", "Designer", "Auditor", "Papers", "Reference"]
    assert all((site / f"{page}.html").exists() for pages in build.NAVIGATION.values() for page in pages)


def test_no_page_loads_anything_from_elsewhere(site: Path):
    for page in sorted(site.rglob("*.html")):
        elsewhere = [address for address in Loads(page).addresses if re.match(r"(\w+:)?//", address)]
        assert elsewhere == [], page.name
    for style in sorted(site.rglob("*.css")):
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style.name


def test_the_search_knows_the_words_of_the_pages_and_needs_no_server(site: Path):
    script = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("Search.setIndex(").removesuffix(")"))
    assert set(index["docnames"]) >= {"plan", "papers/grs12", "index"}
    assert "quantil" in index["terms"]  # stems


def test_links_to_pages_at_the_root_and_to_sources_lead_on(build: ModuleType):
    text = "[a](../CHANGELOG.md) [b](../pyproject.toml) [c](plan.md#x) [d](https://a.example/b)"
    changed = build.with_site_links(text, ROOT / "docs")
    assert changed.split() == [
        "[a](changelog.md)",
        f"[b]({build.REPOSITORY}/pyproject.toml)",
        "[c](plan.md#x)",
        "[d](https://a.example/b)",
    ]
    assert build.with_site_links("[a](docs/plan.md)", ROOT) == "[a](plan.md)"
    assert build.with_site_links("[a](readings.ipynb)", NOTEBOOKS[0].parent) == "[a](../notebooks/readings.md)"
    assert (
        build.with_site_links("[a](../examples/notebooks/readings.ipynb)", ROOT / "docs")
        == "[a](notebooks/readings.md)"
    )
    assert build.with_site_links("[a](../../SECURITY.md)", ROOT / "docs" / "papers") == "[a](../security.md)"
