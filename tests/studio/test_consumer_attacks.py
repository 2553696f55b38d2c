"""What a hostile reader tries: files that are none, names that lead out, numbers without end, script in every text."""

from __future__ import annotations

import copy
import json
import os
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import example_releases
from utmost.data.queries import Count, Histogram
from utmost.publish import release_file
from utmost.publish.release_encoder import release_content

FILE = "survey.release.json"
ROOT = f"/api/consumer/releases/{FILE}"
SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7*7 }}${1}`"
SOON = 5.0  # seconds


@pytest.fixture
def shop(studio):
    studio.settings.releases.mkdir()
    example_releases.write_release(studio.settings.releases / FILE, example_releases.survey())
    return studio


def honest(answer: Any) -> Any:
    """A refusal in one line, never a server error."""
    assert answer.status_code < 500, answer.text
    return answer


UPLOADS = {
    "empty": b"",
    "not text": b"\xff\xfe\x00\x01",
    "not JSON": b"utmost",
    "a list": b"[1, 2, 3]",
    "nan": b'{"schema": NaN}',
    "deep": b'{"schema":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "another schema": b'{"schema": "utmost-release/99"}',
    "long number": b'{"schema": "utmost-release/1", "units": ' + b"9" * 500_000 + b"}",
    "nothing else": b'{"schema": "utmost-release/1"}',
    "a lone surrogate": b'{"schema": "\\ud800"}',
    "huge": b'{"schema": "' + b"x" * (5 << 20) + b'"}',
}


@pytest.mark.parametrize("name", UPLOADS)
def test_what_is_no_release_is_refused_beside_the_field_and_not_kept(shop, name):
    answer = honest(shop.post("/consumer/uploads", files={"file": ("x.json", UPLOADS[name])}))
    assert answer.status_code == 422
    assert 'data-error="file">release' in answer.text
    assert not list(shop.settings.state_folder.rglob("*.release.json"))


def test_a_body_beyond_the_limit_is_cut_off(shop):
    answer = shop.post("/consumer/uploads", files={"file": ("x.json", b" " * (9 << 20))})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "change",
    [
        {"title": 5},
        {"queries": []},
        {"queries": [5]},
        {"guarantee": None},
        {"units": True},
        {"ledger": []},
        {"neighbours": "friends"},
        {"part": 7},
        {"more": 1},
    ],
)
def test_wrong_types_are_refused(shop, change):
    made = release_content(example_releases.release(example_releases.survey())) | change
    answer = honest(shop.post("/api/consumer/uploads", json={"text": json.dumps(made)}))
    assert answer.status_code == 422
    assert answer.json()["field"] == "file"


NASTY = [
    *(0, -1, 1, 10**18, -(10**18), 10**59, 10**61, 10**900, None, True, "", "0", "-1", "1/0", "1e400", "1e-400", "NaN"),
    *("exp(1)", "1/" + "9" * 1000, 1.5, 1e308, [], {}, ["x"], "9" * 1500, [[1]], [0] * 50),
]


@given(st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_altered_release_is_read_or_refused_and_soon(shop, data):
    made = copy.deepcopy(release_content(example_releases.release(example_releases.survey())))
    query = made["queries"][data.draw(st.integers(0, len(made["queries"]) - 1))]
    place = data.draw(st.sampled_from([query, *(part for part in query.values() if isinstance(part, dict))]))
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(st.sampled_from(NASTY))
    kept = honest(shop.post("/api/consumer/uploads", json={"text": json.dumps(made)}))
    if kept.status_code != 201:
        return
    began = time.process_time()
    said = urlencode({"query": str(query["name"]), "at_most": "5000", "loss": "drawn"})
    honest(shop.get(f"/api/consumer/uploads/{kept.json()['id']}/reading?{said}"))
    honest(shop.get(f"/consumer/uploads/{kept.json()['id']}?{said}"))
    assert time.process_time() - began < SOON


def test_a_histogram_of_very_many_cells_is_read_one_by_one(shop):
    keys = tuple(range(5000))
    answer = example_releases.answer(
        Histogram({"k": keys}), "0.2", example_releases.CLOSED, "wide", value=tuple(k % 900 for k in keys)
    )
    kept = shop.post(
        "/api/consumer/uploads", json={"text": release_file.release_to_json(example_releases.release([answer]))}
    ).json()["id"]
    page = honest(shop.get(f"/consumer/uploads/{kept}"))
    assert page.status_code == 422
    assert "cell must be chosen" in page.text
    assert len(page.text) < 200_000
    assert shop.get(f"/api/consumer/uploads/{kept}/reading?cell=77").json()["readings"][0]["value"]["text"] == "77"


@pytest.mark.parametrize(
    "name",
    [
        *("..", ".", "../survey.toml", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "....//x"),
        *("survey.release.json/..", "survey.toml", "ledger.sqlite", ".hidden.release.json", "a\x00.release.json"),
        *("link.release.json", "C:\\x.release.json", "x" * 400, "%", "☃.release.json", "folder.release.json"),
    ],
)
def test_no_name_leads_out_of_the_releases(shop, name, tmp_path):
    secret = "nobody may see this"
    (tmp_path / "secret.release.json").write_text(secret)
    (shop.settings.folder / "survey.toml").write_text(secret)
    (shop.settings.folder / "ledger.sqlite").write_text(secret)
    (shop.settings.releases / ".hidden.release.json").write_text(secret)
    os.symlink(tmp_path / "secret.release.json", shop.settings.releases / "link.release.json")
    (shop.settings.releases / "folder.release.json").mkdir()
    for raw in (name, quote(name, safe=""), quote(quote(name, safe=""), safe="")):
        for path in ("/consumer/releases/{}", "/consumer/releases/{}/file", "/consumer/uploads/{}"):
            for address in (path.format(raw), f"/api{path.format(raw)}", f"/api{path.format(raw)}/reading"):
                with suppress(httpx.InvalidURL):  # the client itself refuses to send it
                    answer = shop.get(address)
                    assert answer.status_code in (404, 405, 422, 303, 307, 200)
                    assert secret not in answer.text
                    assert answer.status_code != 200 or raw in (".", "..")


@pytest.mark.parametrize(
    "said",
    [
        {"loss": "power", "power": "1e9"},
        {"loss": "power", "power": "32"},
        {"loss": "power", "power": "0.0000001"},
        {"loss": "power", "power": "nan"},
        {"prior": "zipf", "s": "nan"},
        {"prior": "zipf", "s": "inf"},
        {"prior": "zipf", "s": "100"},
        {"prior": "binomial", "p": "2"},
        {"prior": "binomial", "p": "1/99999999999999999999"},
        {"prior": "binomial", "p": "1/0"},
        {"prior": "binomial", "p": "exp(1)"},
        {"prior": "poisson", "mean": "1e15"},
        {"prior": "poisson", "mean": "1e-15"},
        {"prior": "poisson", "mean": "1e99"},
        {"prior": "steps", "bars": ",".join(["1"] * 9000)},
        {"prior": "steps", "bars": ",".join(["1000000000"] * 900)},
        {"prior": "weights", "weights": ",".join(["1"] * 9999)},
        {"prior": "weights", "weights": "/etc/passwd"},
        {"prior": "weights", "weights": ",".join(["1e99"] * 945)},
        {"loss": "asymmetric", "under": "1e99", "over": "1e-99"},
        {"loss": "drawn", "drawn": ",".join(f"{k}:{k * k}" for k in range(199))},
        {"loss": "drawn", "drawn": ",".join(f"{k}:1" for k in range(2000))},
        {"loss": "drawn", "drawn": "0:5"},
        {"loss": "drawn", "drawn": "-1e30:1e12,0:0,1e30:0"},
        {"loss": "drawn", "drawn": ":,:,:"},
        {"coverage": "0.9999999999"},
        {"coverage": "-1"},
        {"at_least": "-1e30", "at_most": "1e30"},
        {"at_most": "1e31"},
        {"grid": "99999999999999999999"},
        {"grid": "2"},
        {"cell": "x", "query": "dole"},
        {"query": "x" * 500},
    ],
)
def test_wild_parameters_are_answered_or_refused_and_soon(shop, said):
    for query in ("dole", "years"):
        began = time.process_time()
        honest(shop.get(f"{ROOT}/reading?{urlencode({'query': query} | said)}"))
        honest(shop.get(f"{ROOT}/over?{urlencode({'query': query} | said)}"))
        assert time.process_time() - began < SOON
    honest(shop.get(f"/consumer/releases/{FILE}?{urlencode(said)}"))


numbers = st.one_of(
    st.sampled_from(
        ["0", "1", "-1", "1/2", "0.95", "1e9", "1e-9", "nan", "", " 5 ", "1/0", "400", "944", "945", "1000"]
    ),
    st.integers(-2000, 2000).map(str),
    st.fractions(max_denominator=50).map(str),
    st.text(max_size=8),
)
listings = st.lists(numbers, max_size=5).map(",".join)
drawings = st.lists(st.tuples(numbers, numbers).map(":".join), max_size=5).map(",".join)
said_texts = st.fixed_dictionaries(
    {
        "query": st.sampled_from([answer.name for answer in example_releases.survey()] * 3 + ["", "x"]),
        "prior": st.sampled_from(["uniform", "binomial", "poisson", "zipf", "steps", "weights", "file"]),
        "loss": st.sampled_from(["absolute", "squared", "binary", "power", "asymmetric", "drawn"]),
    },
    optional={
        **dict.fromkeys(
            ("p", "mean", "s", "power", "under", "over", "coverage", "at_least", "at_most", "grid"), numbers
        ),
        "bars": listings,
        "weights": listings,
        "drawn": drawings,
        "cell": st.sampled_from(["", "1", "4", "x"]),
        "view": st.sampled_from(["near", "whole"]),
    },
)


@given(said_texts)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_said_is_answered_or_refused_beside_a_field_of_the_form(shop, said):
    answer = honest(shop.get(f"{ROOT}/reading?{urlencode(said)}"))
    if answer.status_code == 422:
        assert (
            f'data-error="{answer.json()["field"]}">' in shop.get(f"/consumer/releases/{FILE}?{urlencode(said)}").text
        )


@pytest.mark.parametrize(
    "said", [{"p": "1" * 61}, {"weights": "1" * 20_001}, {"prior": "matrix"}, {"loss": "matrix:x"}]
)
def test_long_texts_and_unknown_words_never_reach_the_library(shop, said):
    assert shop.get(f"{ROOT}/reading?{urlencode(said)}").status_code == 422


def test_no_word_is_taken_for_a_file(shop, monkeypatch, tmp_path):
    """A file of weights in the working folder, of a name that could be a prior, is not opened."""
    monkeypatch.chdir(tmp_path)
    for name in ("1,2", "binomial:", "weights", "uniform"):
        (tmp_path / name).write_text("1\n" * 945)
    assert shop.get(f"{ROOT}/reading?prior=weights&weights=1,2").status_code == 422
    assert shop.get(f"{ROOT}/reading?prior=binomial&p=").status_code == 422


@pytest.mark.parametrize(
    "weights",
    [
        "1\n" * 300_000,
        "[" * 10_000,
        "[[1, 2], [3]]",
        '["1", {"a": 1}]',
        "[true, null]",
        "NaN, 1",
        "[NaN]",
        "-1, 2",
        "0, 0",
        "1e99999, 1",
        "[1e400]",
        "exp(9), 1",
        "\x00",
        "",
    ],
)
def test_weights_that_are_none_are_refused(shop, weights):
    began = time.process_time()
    answer = honest(shop.post("/api/consumer/weights", json={"text": weights}))
    assert answer.status_code == 422
    assert time.process_time() - began < SOON
    files = {"weights_file": ("w", weights.encode())}
    assert honest(shop.post(f"/consumer/releases/{FILE}/weights", files=files)).status_code == 422


def test_script_in_a_release_is_text(shop):
    """In titles, names, predicates and cells; in pages, in JSON, and in what charts are made of."""
    wide = example_releases.answer(
        Histogram({SCRIPT: (SCRIPT, "b")}), "0.2", example_releases.CLOSED, "cells", value=(3, 4)
    )
    made = replace(
        example_releases.release(
            [example_releases.answer(Count(SCRIPT), "0.1", example_releases.CLOSED, SCRIPT, value=404), wide]
        ),
        title=SCRIPT,
        guarantee=SCRIPT,
    )
    (shop.settings.releases / "evil.release.json").write_text(release_file.release_to_json(made))
    kept = shop.post("/api/consumer/uploads", json={"text": release_file.release_to_json(made)}).json()["id"]
    root = "/consumer/releases/evil.release.json"
    pages = [root, f"{root}?query=cells", f"{root}?{urlencode({'query': 'cells', 'cell': SCRIPT})}", "/consumer"]
    pages += [f"/consumer/uploads/{kept}", f"{root}/tailored?{urlencode({'query': SCRIPT, 'at_most': '3'})}"]
    pages += [f"{root}?{urlencode({'p': SCRIPT[:50], 'prior': 'binomial', 'drawn': SCRIPT, 'at_most': SCRIPT[:50]})}"]
    for path in pages:
        answer = honest(shop.get(path))
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text
        assert "49" not in answer.text.partition("{{")[2][:10]
        assert "script-src 'self'" in answer.headers["content-security-policy"]
    twin = shop.get(f"/api{root}/reading?query=cells")
    assert twin.headers["content-type"] == "application/json"
    assert twin.headers["x-content-type-options"] == "nosniff"
    specs = json.dumps([picture["spec"] for picture in twin.json()["pictures"].values()])
    assert "alert" not in specs
    assert shop.get(f"/api{root}/reading").json()["readings"][0]["value"]["text"] == "404"


def test_the_command_that_is_told_is_quoted(shop):
    import shlex

    made = replace(
        example_releases.release(
            [example_releases.answer(Count("x"), "0.1", example_releases.CLOSED, "a; rm -rf '$HOME'", value=1)]
        )
    )
    (shop.settings.releases / "q.release.json").write_text(release_file.release_to_json(made))
    told = shop.get("/api/consumer/releases/q.release.json/reading").json()["command"]
    assert shlex.split(told)[4] == "a; rm -rf '$HOME'"


def test_a_consumer_reaches_releases_and_nothing_else(team):
    folder = team.settings.folder
    team.settings.releases.mkdir()
    example_releases.write_release(team.settings.releases / FILE, example_releases.survey())
    example_releases.write_release(folder / "draft.release.json", example_releases.survey())
    (folder / "people.csv").write_text("name,age\nann,3\n")
    (folder / "plan.toml").write_text("secret")
    bob = {"Authorization": f"Bearer {team.tokens['bob']}"}
    assert [one["file"] for one in team.get("/api/consumer", headers=bob).json()["releases"]] == [FILE]
    assert team.get(f"{ROOT}/reading?query=dole", headers=bob).status_code == 200
    assert team.get(f"/consumer/releases/{FILE}", headers=bob).status_code == 200
    for name in ("draft.release.json", "people.csv", "plan.toml", "..%2fplan.toml", "ledger.sqlite"):
        assert team.get(f"/api/consumer/releases/{name}", headers=bob).status_code in (404, 422)
        assert team.get(f"/consumer/releases/{name}/file", headers=bob).status_code in (404, 422)
    for path in (
        "/curator",
        "/api/curator",
        "/api/curator/source?location=people.csv",
        "/api/curator/budgets",
        "/metrics",
    ):
        assert team.get(path, headers=bob).status_code == 403
    assert team.get(f"{ROOT}/reading").status_code == 401
    page = team.get(f"/consumer/releases/{FILE}", headers=bob).text
    assert "/curator" not in page


def test_an_upload_needs_the_token_of_its_form(shop):
    text = release_file.release_to_json(example_releases.release(example_releases.survey()))
    assert shop.client.post("/consumer/uploads", files={"file": ("x", text.encode())}).status_code == 403
    assert shop.client.post("/api/consumer/uploads", json={"text": text}).status_code == 403
