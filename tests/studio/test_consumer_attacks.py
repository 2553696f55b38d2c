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
from utmost.publish import release_file
from utmost.publish.release_file import release_content
from utmost.queries import Count, Histogram

FILE = "survey.release.json"
ROOT = f"/api/consumer/releases/{FILE}"
SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7*7 }}${1}`"
MAX_SECONDS = 5.0  # seconds


@pytest.fixture
def release_studio(studio):
    studio.settings.releases.mkdir()
    example_releases.write_release(studio.settings.releases / FILE, example_releases.survey())
    return studio


def check_no_server_error(response: Any) -> Any:
    """A refusal in one line, never a server error."""
    assert response.status_code < 500, response.text
    return response


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


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("name", UPLOADS)
def test_what_is_no_release_is_refused_beside_the_field_and_not_kept(release_studio, name):
    answer = check_no_server_error(release_studio.post("/consumer/uploads", files={"file": ("x.json", UPLOADS[name])}))
    assert answer.status_code == 422
    assert 'data-error="file">release' in answer.text
    assert not list(release_studio.settings.state_folder.rglob("*.release.json"))


def test_a_body_beyond_the_limit_is_cut_off(release_studio):
    answer = release_studio.post("/consumer/uploads", files={"file": ("x.json", b" " * (9 << 20))})
    assert answer.status_code == 413


@pytest.mark.few
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
def test_wrong_types_are_refused(release_studio, change):
    content = release_content(example_releases.release(example_releases.survey())) | change
    answer = check_no_server_error(release_studio.post("/api/consumer/uploads", json={"text": json.dumps(content)}))
    assert answer.status_code == 422
    assert answer.json()["field"] == "file"


NASTY_VALUES = [
    *(0, -1, 1, 10**18, -(10**18), 10**59, 10**61, 10**900, None, True, "", "0", "-1", "1/0", "1e400", "1e-400", "NaN"),
    *("exp(1)", "1/" + "9" * 1000, 1.5, 1e308, [], {}, ["x"], "9" * 1500, [[1]], [0] * 50),
]


@given(st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_altered_release_is_read_or_refused_and_soon(release_studio, data):
    content = copy.deepcopy(release_content(example_releases.release(example_releases.survey())))
    query = content["queries"][data.draw(st.integers(0, len(content["queries"]) - 1))]
    target = data.draw(st.sampled_from([query, *(value for value in query.values() if isinstance(value, dict))]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(st.sampled_from(NASTY_VALUES))
    upload = check_no_server_error(release_studio.post("/api/consumer/uploads", json={"text": json.dumps(content)}))
    if upload.status_code != 201:
        return
    start = time.process_time()
    form = urlencode({"query": str(query["name"]), "at_most": "5000", "loss": "drawn"})
    check_no_server_error(release_studio.get(f"/api/consumer/uploads/{upload.json()['id']}/reading?{form}"))
    check_no_server_error(release_studio.get(f"/consumer/uploads/{upload.json()['id']}?{form}"))
    assert time.process_time() - start < MAX_SECONDS


def test_a_histogram_of_very_many_cells_is_read_one_by_one(release_studio):
    keys = tuple(range(5000))
    answer = example_releases.answer(
        Histogram({"k": keys}), "0.2", example_releases.CLOSED, "wide", value=tuple(k % 900 for k in keys)
    )
    upload_id = release_studio.post(
        "/api/consumer/uploads", json={"text": release_file.release_to_json(example_releases.release([answer]))}
    ).json()["id"]
    page = check_no_server_error(release_studio.get(f"/consumer/uploads/{upload_id}"))
    assert page.status_code == 422
    assert "cell must be chosen" in page.text
    assert len(page.text) < 200_000
    assert (
        release_studio.get(f"/api/consumer/uploads/{upload_id}/reading?cell=77").json()["readings"][0]["value"]["text"]
        == "77"
    )


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize(
    "name",
    [
        *("..", ".", "../survey.toml", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "....//x"),
        *("survey.release.json/..", "survey.toml", "ledger.sqlite", ".hidden.release.json", "a\x00.release.json"),
        *("link.release.json", "C:\\x.release.json", "x" * 400, "%", "☃.release.json", "folder.release.json"),
    ],
)
def test_no_name_leads_out_of_the_releases(release_studio, name, tmp_path):
    secret = "nobody may see this"
    (tmp_path / "secret.release.json").write_text(secret)
    (release_studio.settings.folder / "survey.toml").write_text(secret)
    (release_studio.settings.folder / "ledger.sqlite").write_text(secret)
    (release_studio.settings.releases / ".hidden.release.json").write_text(secret)
    os.symlink(tmp_path / "secret.release.json", release_studio.settings.releases / "link.release.json")
    (release_studio.settings.releases / "folder.release.json").mkdir()
    for raw in (name, quote(name, safe=""), quote(quote(name, safe=""), safe="")):
        for path in ("/consumer/releases/{}", "/consumer/releases/{}/file", "/consumer/uploads/{}"):
            for address in (path.format(raw), f"/api{path.format(raw)}", f"/api{path.format(raw)}/reading"):
                with suppress(httpx.InvalidURL):  # the client itself refuses to send it
                    answer = release_studio.get(address)
                    assert answer.status_code in (404, 405, 422, 303, 307, 200)
                    assert secret not in answer.text
                    assert answer.status_code != 200 or raw in (".", "..")


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize(
    "form",
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
def test_wild_parameters_are_answered_or_refused_and_soon(release_studio, form):
    for query in ("dole", "years"):
        start = time.process_time()
        check_no_server_error(release_studio.get(f"{ROOT}/reading?{urlencode({'query': query} | form)}"))
        check_no_server_error(release_studio.get(f"{ROOT}/over?{urlencode({'query': query} | form)}"))
        assert time.process_time() - start < MAX_SECONDS
    check_no_server_error(release_studio.get(f"/consumer/releases/{FILE}?{urlencode(form)}"))


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
form_texts = st.fixed_dictionaries(
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


@given(form_texts)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_said_is_answered_or_refused_beside_a_field_of_the_form(release_studio, form):
    answer = check_no_server_error(release_studio.get(f"{ROOT}/reading?{urlencode(form)}"))
    if answer.status_code == 422:
        assert (
            f'data-error="{answer.json()["field"]}">'
            in release_studio.get(f"/consumer/releases/{FILE}?{urlencode(form)}").text
        )


@pytest.mark.parametrize(
    "form", [{"p": "1" * 61}, {"weights": "1" * 20_001}, {"prior": "matrix"}, {"loss": "matrix:x"}]
)
def test_long_texts_and_unknown_words_never_reach_the_library(release_studio, form):
    assert release_studio.get(f"{ROOT}/reading?{urlencode(form)}").status_code == 422


def test_no_word_is_taken_for_a_file(release_studio, monkeypatch, tmp_path):
    """A file of weights in the working folder, of a name that could be a prior, is not opened."""
    monkeypatch.chdir(tmp_path)
    for name in ("1,2", "binomial:", "weights", "uniform"):
        (tmp_path / name).write_text("1\n" * 945)
    assert release_studio.get(f"{ROOT}/reading?prior=weights&weights=1,2").status_code == 422
    assert release_studio.get(f"{ROOT}/reading?prior=binomial&p=").status_code == 422


@pytest.mark.slow
@pytest.mark.few
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
def test_weights_that_are_none_are_refused(release_studio, weights):
    start = time.process_time()
    answer = check_no_server_error(release_studio.post("/api/consumer/weights", json={"text": weights}))
    assert answer.status_code == 422
    assert time.process_time() - start < MAX_SECONDS
    files = {"weights_file": ("w", weights.encode())}
    assert (
        check_no_server_error(release_studio.post(f"/consumer/releases/{FILE}/weights", files=files)).status_code == 422
    )


def test_script_in_a_release_is_text(release_studio):
    """In titles, names, predicates and cells; in pages, in JSON, and in what charts are made of."""
    histogram_answer = example_releases.answer(
        Histogram({SCRIPT: (SCRIPT, "b")}), "0.2", example_releases.CLOSED, "cells", value=(3, 4)
    )
    count_answer = example_releases.answer(Count(SCRIPT), "0.1", example_releases.CLOSED, SCRIPT, value=404)
    plain_release = example_releases.release([count_answer, histogram_answer])
    release = replace(plain_release, title=SCRIPT, guarantee=f"{plain_release.guarantee} {SCRIPT}")
    (release_studio.settings.releases / "evil.release.json").write_text(release_file.release_to_json(release))
    upload_id = release_studio.post(
        "/api/consumer/uploads", json={"text": release_file.release_to_json(release)}
    ).json()["id"]
    root = "/consumer/releases/evil.release.json"
    pages = [root, f"{root}?query=cells", f"{root}?{urlencode({'query': 'cells', 'cell': SCRIPT})}", "/consumer"]
    pages += [f"/consumer/uploads/{upload_id}", f"{root}/tailored?{urlencode({'query': SCRIPT, 'at_most': '3'})}"]
    pages += [f"{root}?{urlencode({'p': SCRIPT[:50], 'prior': 'binomial', 'drawn': SCRIPT, 'at_most': SCRIPT[:50]})}"]
    for path in pages:
        answer = check_no_server_error(release_studio.get(path))
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text
        assert "49" not in answer.text.partition("{{")[2][:10]
        assert "script-src 'self'" in answer.headers["content-security-policy"]
    json_response = release_studio.get(f"/api{root}/reading?query=cells")
    assert json_response.headers["content-type"] == "application/json"
    assert json_response.headers["x-content-type-options"] == "nosniff"
    specs = json.dumps([picture["spec"] for picture in json_response.json()["pictures"].values()])
    assert "alert" not in specs
    assert release_studio.get(f"/api{root}/reading").json()["readings"][0]["value"]["text"] == "404"


def test_the_command_that_is_told_is_quoted(release_studio):
    import shlex

    release = replace(
        example_releases.release(
            [example_releases.answer(Count("x"), "0.1", example_releases.CLOSED, "a; rm -rf '$HOME'", value=1)]
        )
    )
    (release_studio.settings.releases / "q.release.json").write_text(release_file.release_to_json(release))
    command = release_studio.get("/api/consumer/releases/q.release.json/reading").json()["command"]
    assert shlex.split(command)[4] == "a; rm -rf '$HOME'"


def test_a_consumer_reaches_releases_and_nothing_else(team):
    folder = team.settings.folder
    team.settings.releases.mkdir()
    example_releases.write_release(team.settings.releases / FILE, example_releases.survey())
    example_releases.write_release(folder / "draft.release.json", example_releases.survey())
    (folder / "people.csv").write_text("name,age\nann,3\n")
    (folder / "plan.toml").write_text("secret")
    bob = {"Authorization": f"Bearer {team.tokens['bob']}"}
    assert [release["file"] for release in team.get("/api/consumer", headers=bob).json()["releases"]] == [FILE]
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


def test_an_upload_needs_the_token_of_its_form(release_studio):
    text = release_file.release_to_json(example_releases.release(example_releases.survey()))
    assert release_studio.client.post("/consumer/uploads", files={"file": ("x", text.encode())}).status_code == 403
    assert release_studio.client.post("/api/consumer/uploads", json={"text": text}).status_code == 403
