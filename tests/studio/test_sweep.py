"""The whole studio, swept: no address opens a file outside the folder, and no response or log has a value of the table.

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

from curating import MARK, NUMBER, open_budget, write_visits

PAYS = """neighbours = "replace"
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
TRUTHS = ("98765432202", "987654322.02", "9.8765432")  # the true sum is 987654322020.5
NEVER = (MARK, NUMBER, *TRUTHS)
LINK = re.compile(r'(?:href|src|action|data-chart|data-live|data-draft)="(/[^"#]*)"')
SECRET = "outside-the-folder"
PAGE = {"/api/designer/best": "/designer", "/api/designer/capacity": "/designer/type"}
ENDLESS = ("/vega/", "/static/", "/logout")
WATCHED: list[str] = []


def _opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and WATCHED and SECRET in str(arguments[0]):
        WATCHED.append(str(arguments[0]))


sys.addaudithook(_opened)


@dataclass
class Swept:
    """Somebody who asks, and what must not be in any answer."""

    client: Any
    headers: dict[str, str]
    never: tuple[str, ...]
    seen: list[str] = field(default_factory=list)

    def ask(self, path: str, method: str = "GET", **content: Any) -> Any:
        """An answer that is no server error and gives nothing away."""
        answer = self.client.request(method, path, headers=self.headers, **content)
        assert answer.status_code < 500 or answer.status_code == 503, (method, path, answer.text[:300])
        for word in self.never:
            assert word not in answer.text, (method, path, word)
            assert word not in str(answer.headers), (method, path, word)
        self.seen.append(path)
        return answer

    def crawl(self, start: str, most: int = 250) -> None:
        """Follow every link of every page."""
        waiting, known = [start], {start}
        while waiting and len(self.seen) < most:
            path = waiting.pop(0)
            answer = self.ask(path)
            if "text/html" not in answer.headers.get("content-type", ""):
                continue
            for found in map(unescape, LINK.findall(answer.text)):
                if found not in known and not found.startswith(ENDLESS):
                    known.add(found)
                    waiting.append(found)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Files that would be read without a complaint, beside the studio's folder."""
    folder = tmp_path / SECRET
    folder.mkdir()
    (folder / "m.csv").write_text("0,1\n1,0\n")
    (folder / "plan.toml").write_text(PAYS)
    (folder / "r.release.json").write_text("{}")
    return folder


@pytest.fixture
def swept(team: Any, outside: Path) -> Any:
    """A team's studio with a table, a plan, and a release of it."""
    write_visits(team.settings)
    open_budget(team.settings)
    (team.settings.folder / "pays.toml").write_text(PAYS)
    ann = Swept(team.client, {"Authorization": f"Bearer {team.keys['ann']}"}, NEVER)
    offer = ann.ask("/api/curator/offers", "POST", json={"plan": PAYS}).json()
    accepted = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    made = ann.ask("/api/curator/releases", "POST", json=accepted).json()
    assert made["state"] == "done", made
    return team, ann, made["file"], offer["key"]


def test_no_link_and_no_error_shows_a_value_or_a_true_answer(swept, caplog):
    team, ann, file, key = swept
    bob = Swept(team.client, {"Authorization": f"Bearer {team.keys['bob']}"}, (*NEVER, PAYS[:40]))
    ann.crawl("/")
    bob.crawl("/")
    assert len(ann.seen) > 50
    assert len(bob.seen) > 20
    for where in ("clinic = 5", "clinic >", f"pay = {10**400}", "born = 'x'", "CAST(clinic AS INTEGER) = 1"):
        ann.ask("/api/curator/preview", "POST", json={"plan": PAYS.replace("clinic = 'north'", where)})
        ann.ask("/api/curator/offers", "POST", json={"plan": PAYS.replace("clinic = 'north'", where)})
    wrong = PAYS.replace('clinic = "text"', 'clinic = "integer"').replace("clinic = 'north'", "clinic = 1")
    ann.ask("/api/curator/offers", "POST", json={"plan": wrong})
    for path in (
        f"/curator/releases/{file}",
        f"/curator/confirm/{key}",
        "/curator/plan",
        "/metrics",
        "/curator/budget",
    ):
        assert bob.ask(path).status_code == 403
    assert not [word for word in NEVER if word in caplog.text]


def words(outside: Path) -> list[str]:
    """What names a file, in the words of the command line and in those of people who try."""
    table = outside / "m.csv"
    named = [f"matrix:{table}", f"2*graph:{table}", f"file://{table}", str(table), str(outside / "plan.toml")]
    return [*named, f"../{SECRET}/m.csv", f"../{SECRET}/r.release.json"]


def properties(specification: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    """The fields of the JSON that an operation takes."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = content.get("$ref", "").rpartition("/")[2]
    return list(specification["components"]["schemas"].get(name, {}).get("properties", ()))


def with_names(path: str, word: str) -> Iterator[str]:
    """The path with a word for each of its parameters; the others as they are known."""
    names = re.findall(r"\{(\w+)\}", path)
    usual = {"shelf_name": "releases", "number": "0", "key": "GRS12", "job": "none"}
    for name in names:
        given = {**usual, **dict.fromkeys(set(names) - set(usual), "x"), name: quote(word, safe="")}
        yield re.sub(r"\{(\w+)\}", lambda found, given=given: given[found[1]], path)


def page(path: str) -> str:
    """The page whose twin this is."""
    return path.removeprefix("/api").removesuffix("/reading")


def asked(specification: dict[str, Any], file: str, word: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every parameter of every operation with this word in it, also on the page whose twin the operation is."""
    for path, methods in specification["paths"].items():
        for method, operation in methods.items():
            for named in with_names(path, word):
                yield method.upper(), named, {}
                yield method.upper(), page(named), {}
            plain = re.sub(r"\{name\}|\{file\}", file, path.replace("{shelf_name}", "releases"))
            if "{" in plain:
                continue
            for one in operation.get("parameters", ()):
                if one["in"] == "query":
                    given = {"query": "pay", one["name"]: word}
                    yield method.upper(), plain, {"params": given}
                    yield (
                        method.upper(),
                        PAGE.get(plain, plain.removeprefix("/api").removesuffix("/reading")),
                        {"params": given},
                    )
            for name in properties(specification, operation):
                yield method.upper(), plain, {"json": {name: word}}


def test_no_word_opens_a_file_outside_the_folder(swept, outside):
    _, ann, file, _ = swept
    specification = ann.ask("/openapi.json").json()
    WATCHED[:] = ["watching"]
    try:
        for word in words(outside):
            for method, path, content in asked(specification, file, word):
                ann.ask(path, method, **content)
            for path in ("/api/curator/preview", "/api/curator/offers"):
                plan = PAYS.replace("visits.csv", word)
                assert ann.ask(path, "POST", json={"plan": plan}).status_code == 422
    finally:
        touched = WATCHED[1:]
        WATCHED.clear()
    assert len(ann.seen) > 1000
    assert not touched, touched


def test_the_hook_sees_what_is_opened(outside):
    WATCHED[:] = ["watching"]
    (outside / "m.csv").read_text()
    assert len(WATCHED) == 2
    WATCHED.clear()
