"""The consumer's pages: what they say is what the command line says, and it is in the address."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import example_releases
from machine_speed import slowness
from utmost.consumer import Consumer, losses, priors
from utmost.errors import InputError
from utmost.exact import epsilon
from utmost.mechanisms import geometric
from utmost.publish import release_file
from utmost.queries import Count, Quantiles, Top
from utmost.studio.consumer import forms, results
from utmost.studio.consumer.forms import ReadingForm

SURVEY, OPEN, WARD = "survey.release.json", "open.release.json", "ward.release.json"
ROOT = "/api/consumer/releases/"


def write_releases(folder: Path) -> None:
    """Three releases: with a public end, without, and on eight values."""
    folder.mkdir(exist_ok=True)
    example_releases.write_release(folder / SURVEY, example_releases.survey())
    example_releases.write_release(folder / OPEN, example_releases.survey(example_releases.OPEN), example_releases.OPEN)
    ward = example_releases.setting(7)
    example_releases.write_release(
        folder / WARD, [example_releases.answer(Count("ill"), "1/2", ward, "ill", value=3)], ward
    )


@pytest.fixture
def release_studio(studio):
    write_releases(studio.settings.releases)
    return studio


def get_reading(release_studio: Any, file: str = SURVEY, **form: str) -> dict[str, Any]:
    answer = release_studio.get(f"{ROOT}{file}/reading?{urlencode(form)}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def get_refusal(release_studio: Any, file: str = SURVEY, **form: str) -> tuple[str, str]:
    answer = release_studio.get(f"{ROOT}{file}/reading?{urlencode(form)}")
    assert answer.status_code == 422, answer.text
    return answer.json()["field"], answer.json()["message"]


@pytest.fixture
def estimate_entry(capsys):
    """The entry that `utmost estimate … --json` prints for one answer."""
    from utmost.cli import main

    def run_estimate(*arguments: str) -> dict[str, Any]:
        with pytest.raises(SystemExit) as exit_info:
            main(["estimate", *arguments, "--json"])
        assert exit_info.value.code == 0
        return dict(json.loads(capsys.readouterr().out)["queries"][0])

    return run_estimate


def test_the_list_has_the_releases_and_each_leads_to_its_reading(release_studio):
    page = release_studio.get("/consumer").text
    for file in (SURVEY, OPEN, WARD):
        assert f'href="/consumer/releases/{file}"' in page
    assert {release["file"] for release in release_studio.get("/api/consumer").json()["releases"]} == {
        SURVEY,
        OPEN,
        WARD,
    }
    assert release_studio.get(f"/consumer/releases/{SURVEY}").status_code == 200


def test_a_release_has_its_answers(release_studio):
    release = release_studio.get(f"{ROOT}{SURVEY}").json()
    assert [answer_view["name"] for answer_view in release["answers"]] == [
        answer.name for answer in example_releases.survey()
    ]
    assert release["answers"][1]["cells"] == ["1", "2", "3", "4"]
    assert release["epsilon"] == "11/10"
    assert not release_studio.get(f"{ROOT}{OPEN}").json()["answers"][0]["bounded"]


@pytest.mark.few
@pytest.mark.parametrize(
    ("form", "prior", "loss"),
    [
        ({}, "uniform", "absolute"),
        ({"prior": "binomial", "p": "0.45"}, "binomial:0.45", "absolute"),
        ({"prior": "poisson", "mean": "400", "loss": "squared"}, "poisson:400", "squared"),
        ({"prior": "zipf", "s": "1/2", "loss": "binary"}, "zipf:1/2", "binary"),
        ({"prior": "steps", "bars": "1,3,2", "loss": "power", "power": "1.5"}, "steps:1,3,2", "power:3/2"),
        ({"loss": "asymmetric", "under": "3", "over": "1/2"}, "uniform", "asymmetric:3,1/2"),
        ({"loss": "drawn", "drawn": "-20:8,0:0,20:4"}, "uniform", "drawn:-20:8,0:0,20:4"),
    ],
)
def test_a_reading_is_what_utmost_estimate_says(release_studio, estimate_entry, form, prior, loss):
    """The same entry as `utmost estimate --json`, but for losses over all answers, which may need a search."""
    reading = get_reading(release_studio, query="dole", coverage="0.9", **form)
    options = ("--query", "dole", "--prior", prior, "--loss", loss, "--coverage", "0.9")
    entry = estimate_entry(str(release_studio.settings.releases / SURVEY), *options)
    if reading["searched"]:
        overall = release_studio.get(
            f"{ROOT}{SURVEY}/over?{urlencode({'query': 'dole', 'coverage': '0.9', **form})}"
        ).json()
        assert float(overall["before"]["expected"]["exact"].split(" ")[0]) == pytest.approx(
            entry["loss"]["before"]["expected"]
        )
        assert len(overall["remap"]["data"]["steps"]) > 1
        entry["loss"]["before"] = None
    assert reading["entry"] == entry
    assert reading["readings"][0]["estimate"]["exact"] == str(entry["estimate"])


def test_the_command_that_a_page_tells_gives_the_same(release_studio, estimate_entry, monkeypatch):
    import shlex

    form = {"query": "educ", "cell": "3", "prior": "steps", "bars": "0,1,2", "loss": "drawn", "drawn": "-5:1,0:0,9:4"}
    reading = get_reading(release_studio, **form, at_most="500")
    monkeypatch.chdir(release_studio.settings.releases)
    arguments = shlex.split(reading["command"])
    assert arguments[:2] == ["utmost", "estimate"]
    assert estimate_entry(*arguments[2:])["estimate"] == reading["entry"]["estimate"]


def test_everything_is_in_the_address(release_studio):
    """A reading that is shared or reloaded is the same reading; what does not matter is left out."""
    form = {"query": "dole", "prior": "binomial", "p": "0.45", "s": "3", "loss": "squared", "under": "9"}
    reading = get_reading(release_studio, **form)
    address_form = {name: values[0] for name, values in parse_qs(reading["address"]).items()}
    assert address_form == {"query": "dole", "prior": "binomial", "p": "0.45", "loss": "squared"}
    assert get_reading(release_studio, **address_form) == reading
    page = unescape(release_studio.get(f"/consumer/releases/{SURVEY}?{reading['address']}").text)
    assert reading["readings"][0]["estimate"]["text"] in page
    assert f"/api/consumer/releases/{SURVEY}/reading?{reading['address']}" in page


def test_pages_say_the_reading_without_script(release_studio):
    page = release_studio.get(f"/consumer/releases/{SURVEY}?prior=binomial&p=0.45").text
    text = re.sub(r"<[^>]+>", " ", page)
    assert re.search(
        r"Released\s+404\s+Best reading\s+410\s+95 %\s+interval\s+394\s+to\s+435", re.sub(r"\s+", " ", text)
    )
    assert "No: it would have given the same." in text
    assert "GRS12 Thm 3.2" in text
    for number, exact in re.findall(r'<data class="number" value="([^"]+)" title="exactly ([^"]+)"', page):
        assert number == exact


def test_histograms_are_read_cell_by_cell_or_all_at_once(release_studio):
    reading = get_reading(release_studio, query="educ", prior="zipf", s="1/2")
    assert [cell_reading["cell"] for cell_reading in reading["readings"]] == ["1", "2", "3", "4"]
    assert reading["readings"][0]["unbiased"] is not None
    assert reading["readings"][1]["unbiased"] is None
    assert set(reading["pictures"]) == {"cells"}
    cell_reading = get_reading(release_studio, query="educ", cell="3", prior="zipf", s="1/2")
    assert cell_reading["entry"]["estimate"] == reading["entry"]["estimate"][2:3]
    assert {"beliefs", "costs"} <= set(cell_reading["pictures"])
    assert get_refusal(release_studio, query="educ", cell="9")[0] == "cell"
    page = release_studio.get(f"/consumer/releases/{SURVEY}?query=educ").text
    assert "cell=3" in page


@pytest.mark.slow
def test_a_mean_of_a_secret_number_of_rows_and_a_sum_are_read_in_their_own_unit(release_studio):
    mean = get_reading(release_studio, query="age of dole voters")
    assert 18 <= float(Fraction(mean["readings"][0]["estimate"]["exact"])) <= 91
    assert "remap" not in mean["pictures"]
    assert mean["claim"].startswith("None claimed")
    years = get_reading(release_studio, query="years")
    assert years["points"] == 73 * 944 + 1


def test_a_quantile_is_read_at_face_value_and_the_page_says_why(release_studio):
    reading = get_reading(release_studio, query="median")
    assert reading["reader"] is None
    assert reading["pictures"] == {}
    page = release_studio.get(f"/consumer/releases/{SURVEY}?query=median").text
    assert "there is no posterior" in page
    assert 'name="prior"' not in page


def test_several_quantiles_and_the_largest_cells_are_shown_at_face_value(release_studio):
    shares = (Fraction(1, 4), Fraction(1, 2))
    several = Quantiles("age", example_releases.AGES, shares, None)
    ages = (several.grid.value(10), several.grid.value(27))
    top = Top({"educ": (1, 2, 3, 4)}, 2)
    answers = [
        example_releases.answer(several, "0.1", example_releases.CLOSED, "ages", value=ages, positions=[10, 27]),
        example_releases.answer(top, "0.1", example_releases.CLOSED, "most", value=((3,), (1,))),
    ]
    example_releases.write_release(release_studio.settings.releases / "choices.release.json", answers)
    for query, cells in (("ages", ["1/4", "1/2"]), ("most", ["3", "1"])):
        reading = get_reading(release_studio, "choices.release.json", query=query)
        assert [cell["cell"] for cell in reading["readings"]] == cells
        page = release_studio.get(f"/consumer/releases/choices.release.json?query={query}")
        assert page.status_code == 200
        assert "there is no posterior" in page.text


def test_a_release_without_a_public_end_asks_for_one_beside_its_field(release_studio):
    field, message = get_refusal(release_studio, OPEN, query="dole")
    assert field == "at_most"
    assert "--" not in message
    page = release_studio.get(f"/consumer/releases/{OPEN}?query=dole")
    assert page.status_code == 422
    assert re.search(r'id="f-at_most"[^>]*aria-invalid="true"', page.text)
    assert "such as 1000" in page.text
    assert get_reading(release_studio, OPEN, query="dole", at_most="1000")["readings"][0]["estimate"]["text"] == "404"


@pytest.mark.few
@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"prior": "binomial", "p": "2"}, "p"),
        ({"prior": "binomial", "p": "half"}, "p"),
        ({"prior": "poisson", "mean": "-1"}, "mean"),
        ({"prior": "zipf", "s": "101"}, "s"),
        ({"prior": "steps", "bars": "0,0"}, "bars"),
        ({"prior": "steps", "bars": "1,x"}, "bars"),
        ({"prior": "weights", "weights": "1,2,3"}, "prior"),
        ({"prior": "file", "kept": "0" * 24}, "prior"),
        ({"loss": "power", "power": "33"}, "power"),
        ({"loss": "asymmetric", "under": "0", "over": "0"}, "under"),
        ({"loss": "drawn", "drawn": "5"}, "drawn"),
        ({"loss": "drawn", "drawn": "0:0,1:0"}, "drawn"),
        ({"coverage": "1"}, "coverage"),
        ({"at_least": "10", "at_most": "5"}, "at_most"),
        ({"grid": "1.5"}, "grid"),
        ({"grid": "1000000"}, "grid"),
        ({"query": "nobody"}, "query"),
    ],
)
def test_a_mistake_is_told_beside_its_field_on_the_page_too(release_studio, form, field):
    problem_field, message = get_refusal(release_studio, **form)
    assert problem_field == field
    page = release_studio.get(f"/consumer/releases/{SURVEY}?{urlencode(form)}")
    assert page.status_code == 422
    match = re.search(rf'data-error="{field}">([^<]*)<', page.text)
    assert match is not None
    assert unescape(match.group(1)) == message


def test_a_loss_that_is_not_legal_is_shown_with_its_witness(release_studio):
    reading = get_reading(release_studio, WARD, loss="drawn", drawn="-2:9,0:0,2:4")
    assert reading["legality"]["witness"] == [1, 0, 2]
    assert "equally far" in reading["legality"]["words"]
    assert reading["best"]
    falling = get_reading(release_studio, WARD, loss="drawn", drawn="0:9,2:4")
    assert "falls away" in falling["legality"]["words"]
    assert not falling["best"]
    assert get_reading(release_studio, WARD, loss="drawn", drawn="-2:4,0:0,2:4")["legality"]["legal"]


def test_a_mechanism_made_for_one_reader_is_no_better_decided_exactly(release_studio):
    """GRS12 Thm 3.2 at 8 values: equality of exact numbers, and the certificate's gap is 0."""
    form = {"prior": "binomial", "p": "0.3", "loss": "squared"}
    comparison = release_studio.get(f"{ROOT}{WARD}/tailored?{urlencode(form)}").json()
    assert comparison["equal"] is True
    assert comparison["gap"]["exact"] == "0"
    reader = Consumer(priors.binomial(8, "0.3"), losses.squared)
    assert comparison["geometric"]["exact"] == str(reader.expected_loss(geometric(7, epsilon("1/2"))))
    assert comparison["tailored"] == comparison["geometric"]
    assert comparison["remap"] == reader.remap(geometric(7, epsilon("1/2")))
    page = release_studio.get(f"/consumer/releases/{WARD}/tailored?{urlencode(form)}").text
    assert "The same, decided exactly" in page


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        (
            example_releases.count(6, "1/2", 7),
            {"prior": "steps", "bars": "1,5,0,2", "loss": "drawn", "drawn": "-3:2,0:0,1:1"},
        ),
        (example_releases.count(4, "1/10", 6), {"prior": "zipf", "s": "1", "loss": "asymmetric"}),
        (example_releases.count(2, "1", 5), {"prior": "weights", "loss": "power"}),
    ],
)
def test_it_is_the_same_for_every_prior_and_two_sided_loss(answer, form):
    explicit_prior = priors.normalised([1, 2, 3, 4, 5, 6]) if form["prior"] == "weights" else None
    assert results.tailor_mechanism(answer, ReadingForm(**form), explicit_prior).equal


def test_no_mechanism_is_made_where_the_theorem_is_silent_or_values_are_many(release_studio):
    assert release_studio.get(f"{ROOT}{SURVEY}/tailored").status_code == 422
    assert not get_reading(release_studio)["tailored"]
    assert get_reading(release_studio, at_most="30", at_least="1")["tailored"]
    assert not get_reading(release_studio, WARD, loss="drawn", drawn="0:9,2:4")["tailored"]
    assert release_studio.get(f"{ROOT}{SURVEY}/tailored?at_least=395&at_most=418").json()["equal"] is None


@given(st.integers(1, 60), st.integers(2, 400), st.sampled_from(["uniform", "binomial:0.2", "zipf:1"]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bars_are_a_histogram_that_can_be_sent_back(value, units, prior):
    answer = example_releases.count(min(value, units), "0.1", units)
    kind, _, parameter = prior.partition(":")
    form = ReadingForm(prior=kind, p=parameter or "1/2", s=parameter or "1")
    reader = results.make_reader(answer, form, None)
    assert reader is not None
    bars = forms.prior_bars(reader)
    assert len(bars.heights) == len(bars.labels) <= 24
    assert max(bars.heights) == 100
    second_reader = results.make_reader(answer, ReadingForm(prior="steps", bars=bars.text), None)
    assert second_reader is not None
    assert forms.prior_bars(second_reader) == bars


def test_a_drawing_begins_as_the_loss_that_is_chosen():
    answer = example_releases.count(404, "0.1")
    points = forms.loss_points(answer, ReadingForm(loss="asymmetric", under="2", over="1"))
    assert points.errors == ["-40", "-30", "-20", "-10", "0", "10", "20", "30", "40"]
    assert points.costs == [8, 6, 4, 2, 0, 1, 2, 3, 4]
    form = ReadingForm(loss="drawn", drawn=points.text)
    assert forms.loss_points(answer, form).text == points.text


def upload_release(release_studio: Any, text: str) -> Any:
    return release_studio.post("/consumer/uploads", files={"file": ("mine.json", text.encode())})


def test_a_release_of_ones_own_is_read_and_is_nobody_elses(release_studio):
    text = release_file.release_to_json(replace(example_releases.release(example_releases.survey()), title="Brought"))
    answer = upload_release(release_studio, text)
    assert answer.status_code == 303
    page = answer.headers["location"]
    assert "Brought" in release_studio.get(page).text
    assert "Brought" in release_studio.get("/consumer").text
    assert release_studio.get(f"/api{page}/reading?query=dole").json()["readings"][0]["value"]["text"] == "404"
    release_studio.client.cookies.clear()
    other = release_studio.get(f"/api{page}")
    assert other.status_code == 422
    assert "upload it again" in other.json()["message"]
    uploads = list(release_studio.settings.state_folder.rglob("*.release.json"))
    assert len(uploads) == 1
    assert not list(release_studio.settings.folder.rglob(uploads[0].name))


def test_weights_of_ones_own_are_a_prior(release_studio):
    weights = "\n".join(["1"] * 3 + ["2"] * 5)
    answer = release_studio.post(
        f"/consumer/releases/{WARD}/weights?loss=squared", files={"weights_file": ("w.csv", weights.encode())}
    )
    assert answer.status_code == 303
    query = answer.headers["location"].partition("?")[2]
    assert parse_qs(query)["prior"] == ["file"]
    assert parse_qs(query)["loss"] == ["squared"]
    uploaded = release_studio.get(f"{ROOT}{WARD}/reading?{query}").json()
    typed = get_reading(release_studio, WARD, loss="squared", prior="weights", weights=weights.replace("\n", ","))
    assert uploaded["readings"] == typed["readings"]
    wrong = release_studio.post(f"/consumer/releases/{WARD}/weights", files={"weights_file": ("w.csv", b"1,two")})
    assert wrong.status_code == 422
    assert "prior must be a number" in wrong.text


def test_programs_bring_releases_and_weights_too(release_studio):
    upload = release_studio.post(
        "/api/consumer/uploads",
        json={"text": release_file.release_to_json(example_releases.release(example_releases.survey()))},
    )
    assert upload.status_code == 201
    assert upload.json()["size"] == len(example_releases.survey())
    weights = release_studio.post("/api/consumer/weights", json={"text": json.dumps([0.5, 1, 2])})
    assert weights.json()["size"] == 3


def test_only_so_much_is_kept(release_studio):
    from utmost.studio.consumer import release_store

    for k in range(release_store.MAX_FILES_PER_VISITOR + 4):
        assert release_studio.post("/api/consumer/weights", json={"text": f"1,{k}"}).status_code == 201
    assert len(list(release_studio.settings.state_folder.rglob("*.weights"))) == release_store.MAX_FILES_PER_VISITOR


def test_the_file_is_there_to_download(release_studio):
    answer = release_studio.get(f"/consumer/releases/{SURVEY}/file")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.content == (release_studio.settings.releases / SURVEY).read_bytes()


def test_readings_follow_a_slider_up_to_ten_thousand_counts():
    """The work of one reading with its pictures, in processor time; the browser's part is in the stories."""
    import time

    answer = example_releases.count(3333, "1/10", 10_000)
    for form in (
        ReadingForm(prior="binomial", p="0.3"),
        ReadingForm(prior="zipf", loss="squared"),
        ReadingForm(loss="power"),
    ):
        results.read_answer(answer, "f", form, None)  # what is made once
        start = time.process_time()
        results.read_answer(answer, "f", form, None)
        assert time.process_time() - start < 0.1 * slowness()


def test_curves_have_few_points_however_many_values_there_are():
    reading = results.read_answer(example_releases.count(9_000, "1/1000", 20_000), "f", ReadingForm(view="whole"), None)
    rows = reading.pictures["beliefs"].data["curves"]
    assert len(rows) <= 3 * 500
    assert rows[0]["x"] < 1000
    assert rows[-1]["x"] > 19_000


def test_too_many_values_for_a_page_are_refused_with_advice():
    with pytest.raises(InputError, match="narrow the range") as refusal:
        results.read_answer(example_releases.count(5, "1", 10**7 - 1), "f", ReadingForm(prior="zipf"), None)
    assert refusal.value.field == "at_most"
    reading = results.read_answer(example_releases.count(5, "1", 10**9), "f", ReadingForm(), None)
    assert reading.remark.startswith("Only the values near")
