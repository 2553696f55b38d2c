"""What the tests of the curator's side share: a table with marks in it, drafts, and forms read from pages."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from utmost import ledger
from utmost.ledger import Budget
from utmost.studio.settings import Settings

TEXT_MARK = "Xanthippe-7f3a"  # a value that only the table has
NUMBER_MARK = "987654321987"  # and a number
VISITS = f"""person,age,pay,clinic,born
1,70,10.5,north,1950-01-02
1,70,11,north,1950-01-02
1,70,12,south,1950-01-02
2,34,{NUMBER_MARK},{TEXT_MARK},1990-05-06
3,81,,,
"""
SURVEY = """neighbours = "replace"
budget = "survey"

[source]
location = "bundled:anes96"

[[query]]
name = "dole"
kind = "count"
where = "vote = 1"
epsilon = 0.1

[[query]]
name = "schooling"
kind = "histogram"
keys = { educ = [1, 2, 3, 4, 5, 6, 7] }
epsilon = "1/3"
"""


def write_visits(settings: Settings) -> Path:
    """A CSV file of visits in the studio's folder."""
    path = settings.folder / "visits.csv"
    path.write_text(VISITS, encoding="utf-8")
    return path


def open_budget(settings: Settings, name: str = "survey", epsilon: str = "1", **options: Any) -> None:
    """A budget in the studio's ledger."""
    with ledger.open_ledger(settings.ledger, settings.folder) as budget_ledger:
        budget_ledger.open(Budget(name, epsilon, **options))  # type: ignore[arg-type]


def count_charges(settings: Settings, name: str = "survey") -> int:
    """How often a budget was charged."""
    with ledger.open_ledger(settings.ledger, settings.folder) as budget_ledger:
        return len(budget_ledger.history(name))


def make_offer(studio: Any, plan: str = SURVEY) -> dict[str, str]:
    """A new offer: all that accepting it must repeat."""
    answer = studio.post("/api/curator/offers", json={"plan": plan})
    assert answer.status_code == 201, answer.text
    return {name: answer.json()[name] for name in ("key", "plan", "cost", "takes")}


class HtmlForm(HTMLParser):
    """The fields of a page's form by name, as a browser would send them; and its texts."""

    def __init__(self, text: str, action: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._action, self._inside, self._select, self._area = action, False, "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        name = attributes.get("name") or ""
        if tag == "form":
            self._inside = attributes.get("action") == self._action
        if not self._inside:
            return
        if tag == "input" and name and (attributes.get("type") != "checkbox" or "checked" in attributes):
            self.fields[name] = attributes.get("value") or ""
        if tag == "select":
            self._select = name
        if tag == "option" and self._select and (self._select not in self.fields or "selected" in attributes):
            self.fields[self._select] = attributes.get("value") or ""
        if tag == "textarea":
            self._area, self.fields[name] = name, ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        if tag == "select":
            self._select = ""
        if tag == "textarea":
            self.fields[self._area] = self.fields[self._area].removeprefix("\n").replace("\n", "\r\n")
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.fields[self._area] += data
