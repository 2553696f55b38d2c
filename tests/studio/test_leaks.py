"""Every address of the studio: none opens a file outside the folder, and no response or log has a value of the table.

Every parameter of every page and of the API is sent words that name files; every link is followed, as a curator and as
a consumer. A hook of the interpreter sees each file that is opened, so that one which is read in silence is seen too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from curator_helpers import NUMBER_MARK, TEXT_MARK, open_budget, write_visits

PAY_PLAN = """neighbours = "replace"
budget = "survey"
[source]
location = "visits.csv"
columns = { pay = "number", clinic = "text" }
[[query]]
name = "pay"
kind = "sum"
column = "pay"
low = 0
high = 1000000000000
step = 1
nulls = 0
epsilon = "1/10"
[[query]]
name = "north"
kind = "count"
where = "clinic = 'north'"
epsilon = "1/10"
"""
TRUE_ANSWERS = ("98765432202", "987654322.02", "9.8765432")  # the true sum is 987654322020.5
SECRET_VALUES = (TEXT_MARK, NUMBER_MARK, *TRUE_ANSWERS)
LINK_PATTERN = re.compile(r'(?:href|src|action|data-chart|data-live|data-draft)="(/[^"#]*)"')
OUTSIDE_FOLDER = "outside-the-folder"
PAGE_OF_API = {"/api/designer/best": "/designer", "/api/designer/capacity": "/designer/type"}
SKIPPED_PATHS = ("/vega/", "/static/", "/logout")
OPENED_PATHS: list[str] = []


def _record_opening(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and OPENED_PATHS and OUTSIDE_FOLDER in str(arguments[0]):
        OPENED_PATHS.append(str(arguments[0]))


sys.addaudithook(_record_opening)


@dataclass
class Crawler:
    """A client that asks for pages, and the texts that no answer may contain."""

    client: Any
    headers: dict[str, str]
    secrets: tuple[str, ...]
    visited: list[str] = field(default_factory=list)

    def ask(self, path: str, method: str = "GET", **content: Any) -> Any:
        """An answer that is no server error and gives nothing away."""
        answer = self.client.request(method, path, headers=self.headers, **content)
        assert answer.status_code < 500 or answer.status_code == 503, (method, path, answer.text[:300])
        for word in self.secrets:
            assert word not in answer.text, (method, path, word)
            assert word not in str(answer.headers), (method, path, word)
        self.visited.append(path)
        return answer

    def crawl(self, start: str, max_pages: int = 250) -> None:
        """Follow every link of every page."""
        queue, queued = [start], {start}
        while queue and len(self.visited) < max_pages:
            path = queue.pop(0)
            answer = self.ask(path)
            if "text/html" not in answer.headers.get("content-type", ""):
                continue
            for link in map(unescape, LINK_PATTERN.findall(answer.text)):
                if link not in queued and not link.startswith(SKIPPED_PATHS):
                    queued.add(link)
                    queue.append(link)


@pytest.fixture
def outside_folder(tmp_path: Path) -> Path:
    """Readable files beside the studio's folder."""
    files_folder = tmp_path / OUTSIDE_FOLDER
    files_folder.mkdir()
    (files_folder / "m.csv").write_text("0,1\n1,0\n")
    (files_folder / "plan.toml").write_text(PAY_PLAN)
    (files_folder / "r.release.json").write_text("{}")
    return files_folder


@pytest.fixture
def released_team(team: Any, outside_folder: Path) -> Any:
    """A team's studio with a table, a plan, and a release of it."""
    write_visits(team.settings)
    open_budget(team.settings)
    (team.settings.folder / "pays.toml").write_text(PAY_PLAN)
    ann = Crawler(team.client, {"Authorization": f"Bearer {team.tokens['ann']}"}, SECRET_VALUES)
    offer = ann.ask("/api/curator/offers", "POST", json={"plan": PAY_PLAN}).json()
    accepted_offer = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    release = ann.ask("/api/curator/releases", "POST", json=accepted_offer).json()
    assert release["state"] == "done", release
    return team, ann, release["file"], offer["key"]


@pytest.mark.slow
def test_no_link_and_no_error_shows_a_value_or_a_true_answer(released_team, caplog):
    team, ann, file, key = released_team
    bob = Crawler(team.client, {"Authorization": f"Bearer {team.tokens['bob']}"}, (*SECRET_VALUES, PAY_PLAN[:40]))
    ann.crawl("/")
    bob.crawl("/")
    assert len(ann.visited) > 50
    assert len(bob.visited) > 20
    for where in ("clinic = 5", "clinic >", f"pay = {10**400}", "born = 'x'", "CAST(clinic AS INTEGER) = 1"):
        ann.ask("/api/curator/preview", "POST", json={"plan": PAY_PLAN.replace("clinic = 'north'", where)})
        ann.ask("/api/curator/offers", "POST", json={"plan": PAY_PLAN.replace("clinic = 'north'", where)})
    wrong_kind_plan = PAY_PLAN.replace('clinic = "text"', 'clinic = "integer"').replace(
        "clinic = 'north'", "clinic = 1"
    )
    ann.ask("/api/curator/offers", "POST", json={"plan": wrong_kind_plan})
    for path in (
        f"/curator/releases/{file}",
        f"/curator/confirm/{key}",
        "/curator/plan",
        "/metrics",
        "/curator/budget",
    ):
        assert bob.ask(path).status_code == 403
    assert not [word for word in SECRET_VALUES if word in caplog.text]


def file_words(outside_folder: Path) -> list[str]:
    """What names a file, in the words of the command line and in those of people who try."""
    table_path = outside_folder / "m.csv"
    file_names = [
        f"matrix:{table_path}",
        f"2*graph:{table_path}",
        f"file://{table_path}",
        str(table_path),
        str(outside_folder / "plan.toml"),
    ]
    return [*file_names, f"../{OUTSIDE_FOLDER}/m.csv", f"../{OUTSIDE_FOLDER}/r.release.json"]


def body_fields(specification: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    """The fields of the JSON that an operation takes."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = content.get("$ref", "").rpartition("/")[2]
    return list(specification["components"]["schemas"].get(name, {}).get("properties", ()))


def paths_with_word(path: str, word: str) -> Iterator[str]:
    """The path with a word for each of its parameters; the others as they are known."""
    names = re.findall(r"\{(\w+)\}", path)
    usual_values = {"shelf_name": "releases", "number": "0", "key": "GRS12", "job": "none"}
    for name in names:
        values = {**usual_values, **dict.fromkeys(set(names) - set(usual_values), "x"), name: quote(word, safe="")}
        yield re.sub(r"\{(\w+)\}", lambda match, values=values: values[match[1]], path)


def page(path: str) -> str:
    """The page whose twin this is."""
    return path.removeprefix("/api").removesuffix("/reading")


def requests_with_word(
    specification: dict[str, Any], file: str, word: str
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every parameter of every operation with this word in it, also on the page whose twin the operation is."""
    for path, methods in specification["paths"].items():
        for method, operation in methods.items():
            for path_with_word in paths_with_word(path, word):
                yield method.upper(), path_with_word, {}
                yield method.upper(), page(path_with_word), {}
            filled_path = re.sub(r"\{name\}|\{file\}", file, path.replace("{shelf_name}", "releases"))
            if "{" in filled_path:
                continue
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "query":
                    parameters = {"query": "pay", parameter["name"]: word}
                    yield method.upper(), filled_path, {"params": parameters}
                    yield (
                        method.upper(),
                        PAGE_OF_API.get(filled_path, filled_path.removeprefix("/api").removesuffix("/reading")),
                        {"params": parameters},
                    )
            for name in body_fields(specification, operation):
                yield method.upper(), filled_path, {"json": {name: word}}


@pytest.mark.slow
def test_no_word_opens_a_file_outside_the_folder(released_team, outside_folder):
    _, ann, file, _ = released_team
    specification = ann.ask("/openapi.json").json()
    OPENED_PATHS[:] = ["watching"]
    try:
        for word in file_words(outside_folder):
            for method, path, content in requests_with_word(specification, file, word):
                ann.ask(path, method, **content)
            for path in ("/api/curator/preview", "/api/curator/offers"):
                plan = PAY_PLAN.replace("visits.csv", word)
                assert ann.ask(path, "POST", json={"plan": plan}).status_code == 422
    finally:
        opened_paths = OPENED_PATHS[1:]
        OPENED_PATHS.clear()
    assert len(ann.visited) > 1000
    assert not opened_paths, opened_paths


def test_the_hook_sees_what_is_opened(outside_folder):
    OPENED_PATHS[:] = ["watching"]
    (outside_folder / "m.csv").read_text()
    assert len(OPENED_PATHS) == 2
    OPENED_PATHS.clear()
