"""Runs the notebooks of this folder and stores their outputs: python examples/notebooks/run.py [NAME …].

Each runs in a folder of its own, which is removed afterwards. The packages are those of `make site` and `make oracles`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

QUIET = ["--IPKernelApp.log_level=ERROR"]  # it warns that what it talks to on this machine is not encrypted
FOLDER = Path(__file__).parent
TIMEOUT_SECONDS = 300  # of a cell
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def run_notebook(path: Path) -> Any:
    """The notebook with the outputs of a new run, and nothing of the machine or the time of the run."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        options = {"timeout": TIMEOUT_SECONDS, "extra_arguments": QUIET, "coalesce_streams": True}
        NotebookClient(notebook, resources=resources, **options).execute()
    notebook.metadata = nbformat.from_dict(METADATA)
    for position, cell in enumerate(notebook.cells):
        cell.id = f"cell-{position}"
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            store_drawing(output)
    return notebook


def store_drawing(output: Any) -> None:
    """Keep a chart as a drawing (SVG) alone, which is a small part of its description and picture."""
    import altair as alt

    import utmost as ut

    data = output.get("data", {})
    descriptions = [kind for kind in data if kind.startswith("application/vnd.vegalite")]
    if not descriptions:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chart.svg"
        ut.charts.save_chart(alt.Chart.from_dict(data[descriptions[0]]), path)
        data["image/svg+xml"] = path.read_text(encoding="utf-8")
    del data[descriptions[0]], data["image/png"]


def main(names: list[str]) -> None:
    """Run and store the named notebooks, or all."""
    import nbformat

    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            nbformat.write(run_notebook(path), path)
            print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
