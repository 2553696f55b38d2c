"""A table that adds up, on a page, as JSON and as CSV: what the command line says."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from utmost.cli import run
from utmost.studio.consumer import tables

DOCS = Path(__file__).parents[2] / "docs" / "joint.md"
FILE, API, PAGE = "places.release.json", "/api/consumer/releases/", "/consumer/releases/"
SCRIPT = '<script>alert(1)</script>"'


def release_text() -> str:
    """The release that the docs read."""
    (text,) = re.findall(rf"^```json {re.escape(FILE)}\n(.*?)^```$", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return str(text)


@pytest.fixture
def table_studio(studio: Any) -> Any:
    studio.settings.releases.mkdir(exist_ok=True)
    (studio.settings.releases / FILE).write_text(release_text())
    scripted = release_text().replace("Ashford", json.dumps(SCRIPT)[1:-1]).replace('"places', '"<b>')
    (studio.settings.releases / "scripted.release.json").write_text(scripted)
    return studio


def address(root: str, file: str = FILE, ending: str = "table", **form: str) -> str:
    return f"{root}{file}/{ending}?{urlencode(form)}"


def test_the_json_is_what_the_command_prints(
    table_studio: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {"table": "places", "prior": "divisions:1/2", "loss": "squared", "coverage": "0.9"}
    answer = table_studio.get(address(API, **form)).json()
    assert answer["command"] == (
        f"utmost estimate {FILE} --table places --prior divisions:1/2 --loss squared --coverage 0.9"
    )
    monkeypatch.chdir(table_studio.settings.releases)
    assert run([*answer["command"].split()[1:], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert answer["entry"]["cells"] == printed["cells"]
    assert printed["coverage"] == 0.9


def test_the_page_has_the_table_its_csv_and_a_picture(table_studio: Any) -> None:
    assert f'href="{PAGE}{FILE}/table?table=places"' in table_studio.get(f"{PAGE}{FILE}").text
    page = table_studio.get(address(PAGE, table="places", where="town in ('Elton', 'Frome')")).text
    assert "north, Ashford" in page
    assert "town in ('Elton', 'Frome')" in unescape(page)
    assert "data-picture" in page
    (link,) = re.findall(r'<a href="([^"]+)" download>All counts', page)
    answer = table_studio.get(unescape(link))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    best = {row["town"] or row["region"] or row["level"]: int(row["best"]) for row in rows}
    assert best["total"] == best["north"] + best["south"]
    assert best["south"] == best["Derwent"] + best["Elton"] + best["Frome"]


def test_rows_and_columns_are_on_the_page_too(table_studio: Any) -> None:
    page = table_studio.get(address(PAGE, table="sexes")).text
    assert "north, f" in page
    assert 'name="prior"' not in page
    assert table_studio.get(address(API, table="sexes")).json()["entry"]["cells"][0]["whole"] == 22
    assert table_studio.get(address(PAGE, ending="table.csv", table="sexes")).text.startswith("level,region,sex,answer")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "field", "words"),
    [
        ({"table": "place"}, "table", "table must be one of places, sexes, got place"),
        ({"prior": "uniform"}, "prior", "prior must be divisions"),
        ({"loss": "binary"}, "loss", "loss must be convex in the error"),
        ({"loss": "matrix:/etc/passwd"}, "loss", "loss must be"),
        ({"coverage": "2"}, "coverage", "coverage must be strictly between 0 and 1"),
        ({"where": "town = 'z'"}, "where", "sum must be of cells of the table"),
        ({"where": "__import__('os')"}, "where", "there is no function"),
    ],
)
def test_what_cannot_be_read_is_said_beside_its_field(
    table_studio: Any, form: dict[str, str], field: str, words: str
) -> None:
    answer = table_studio.get(address(API, **form))
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert words in answer.json()["message"]
    page = table_studio.get(address(PAGE, **form))
    assert page.status_code == 422
    assert f'id="f-{field}"' in page.text
    assert words.split(",", maxsplit=1)[0] in unescape(page.text)


def test_texts_of_a_file_are_no_markup(table_studio: Any) -> None:
    page = table_studio.get(address(PAGE, "scripted.release.json", table="<b>")).text
    assert SCRIPT not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page


def test_large_tables_are_left_to_the_command_line(table_studio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from utmost.errors import InputError
    from utmost.publish import release_file

    monkeypatch.setattr(tables, "MAX_TABLE_CELLS", 8)
    release = release_file.read_release(table_studio.settings.releases / FILE)
    with pytest.raises(InputError, match="table must have at most 8 cells for a page, got 9"):
        tables._open_table(release, tables.TableForm(table="places"))


def test_a_release_without_tables_has_none_to_read(table_studio: Any) -> None:
    import example_releases

    example_releases.write_release(table_studio.settings.releases / "plain.release.json", example_releases.survey())
    answer = table_studio.get(address(API, "plain.release.json"))
    assert answer.status_code == 422
    assert answer.json()["message"] == "table must be of a release that has tables, got none"
    assert "read together" not in table_studio.get(f"{PAGE}plain.release.json").text


def test_a_csv_that_cannot_be_made_is_refused(table_studio: Any) -> None:
    answer = table_studio.get(address(PAGE, ending="table.csv", prior="uniform"))
    assert answer.status_code == 422
    assert "prior must be divisions" in answer.text
