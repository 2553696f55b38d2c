"""The designer's pages say what the library says, for what is small at once and for what is large by a job."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost as ut
from utmost.channel import channel
from utmost.studio import forms


def matrix(content: dict[str, Any]) -> Any:
    return channel(content["rows"], content["inputs"], content["outputs"])


def test_the_mechanism_shown_is_the_certified_optimum(studio: Any) -> None:
    best = studio.get("/api/designer/best", params={"space": "line:5", "alpha": "1/3", "loss": "squared"}).json()
    consumer = ut.Consumer(ut.priors.uniform(5), ut.losses.squared)
    expected = ut.optimal(ut.line(5), ut.alpha("1/3"), consumer)
    assert Fraction(best["loss"]["exact"]) == expected.loss
    assert best["gap"] == "0"
    assert best["private"]
    mechanism = matrix(best["mechanism"])
    assert ut.least_epsilon(mechanism.restrict(mechanism.inputs), ut.discrete(5)).ratio is not None
    assert (mechanism.rows == expected.channel.rows).all()
    assert best["signature"] == list(ut.signature(expected.channel, ut.alpha("1/3")))


def test_no_usual_mechanism_is_better_than_the_best_and_the_geometric_is_as_good(studio: Any) -> None:
    usual_mechanisms = {
        usual_mechanism["name"]: usual_mechanism for usual_mechanism in studio.get("/api/designer/rivals").json()
    }
    assert usual_mechanisms["geometric"]["times"]["exact"] == "1"
    assert float(usual_mechanisms["Laplace"]["times"]["text"]) > 1
    assert float(usual_mechanisms["randomised response"]["times"]["text"]) > 1
    assert set(usual_mechanisms) == {"the best", "geometric", "Laplace", "randomised response", "silence"}


def test_the_curve_falls_with_epsilon_and_has_the_question_on_it(studio: Any) -> None:
    data = studio.get("/api/designer/curve", params={"alpha": "1/2"}).json()["data"]
    losses = [row["loss"] for row in sorted(data["curve"], key=lambda row: row["epsilon"])]
    assert losses == sorted(losses, reverse=True)
    assert any(row["loss"] == data["here"][0]["loss"] for row in data["curve"])


@pytest.mark.slow
@pytest.mark.parametrize("space", ["discrete:3", "line:3", "cycle:3"])
def test_three_secrets_have_a_triangle(studio: Any, space: str) -> None:
    assert studio.get("/api/designer/simplex", params={"space": space}).json()["data"]
    assert "/api/designer/simplex" in studio.get("/designer", params={"space": space}).text


def test_a_grid_is_drawn_as_maps(studio: Any) -> None:
    chart = studio.get("/api/designer/mechanism", params={"space": "grid:2x2"}).json()
    assert "Where the answer falls" in chart["words"]


@pytest.mark.slow
def test_a_large_program_is_a_job_that_is_certified(studio: Any) -> None:
    question = {"space": "grid:4x4", "alpha": "1/2"}
    assert "takes a while" in studio.get("/designer", params=question).text
    assert studio.get("/api/designer/best", params=question).status_code == 422
    job = studio.post("/api/designer/best/job", json=question).json()
    finished_job = studio.wait_for_job(job["id"])
    assert finished_job["state"] == "done", finished_job["error"]
    assert finished_job["result"]["private"]
    page = studio.get(finished_job["page"])
    assert page.status_code == 200
    assert finished_job["result"]["proof"] in page.text.replace("&#39;", "'")
    assert studio.get("/api/designer/mechanism", params={**question, "job": job["id"]}).json()["data"]


def test_the_members_of_a_type_are_counted_and_listed(studio: Any) -> None:
    job = studio.post("/api/designer/members/job", json={"space": "discrete:3", "alpha": "1/2"}).json()
    finished_job = studio.wait_for_job(job["id"])
    assert (finished_job["result"]["vertices"], finished_job["result"]["kernels"]) == (
        6,
        5,
    )  # FMPD23 Table 5a, and README
    assert all(
        ut.is_private(matrix(mechanism), ut.discrete(3), ut.alpha("1/2"))
        for mechanism in _relabel_inputs(finished_job["result"])
    )
    assert "Kernel mechanism 5" in studio.get(finished_job["page"]).text


def _relabel_inputs(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**mechanism, "inputs": [0, 1, 2]} for mechanism in result["mechanisms"]]


def test_capacities_answer_for_a_million_secrets(studio: Any) -> None:
    capacity = studio.get("/api/designer/capacity", params={"space": "hamming:20", "alpha": "1/2"}).json()
    assert capacity["secrets"] == 1 << 20
    assert Fraction(capacity["multiplicative"]["value"]["exact"]) == Fraction(4, 3) ** 20  # a product of 20 coins


def test_refinement_comes_with_its_evidence(studio: Any) -> None:
    comparison = studio.get("/api/designer/refine").json()
    assert comparison["forward"]
    assert comparison["backward"] is False
    first, second = (ut.geometric(3, ut.alpha(level)).channel() for level in ("1/3", "1/2"))
    product = first.rows @ matrix(comparison["post"]).rows
    assert (product == second.rows).all()
    objector = comparison["prefers_first"]
    assert Fraction(objector["with_first"]) < Fraction(objector["with_second"])
    assert "Better served by the first" in studio.get("/designer/refine").text


def test_tables_are_read_and_compared(studio: Any) -> None:
    table = "a b\n0 2/3 1/3\n1 1/3 2/3"
    comparison = studio.get("/api/designer/refine", params={"first": "response 2 1/2", "second": table}).json()
    assert comparison["forward"]
    assert comparison["backward"]


def test_large_mechanisms_are_compared_by_a_job(studio: Any) -> None:
    mechanisms = {"first": "geometric 14 1/3", "second": "geometric 14 1/2"}
    assert "in a job" in studio.get("/designer/refine", params=mechanisms).text
    job = studio.post("/api/designer/refine/job", json=mechanisms).json()
    assert studio.wait_for_job(job["id"])["result"]["forward"]


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("space", "line:0"),
        ("space", "line:401"),
        ("space", "hamming:20"),
        ("space", "matrix:/etc/passwd"),
        ("space", "1*graph:/etc/passwd"),
        ("space", "line:6;drop"),
        ("alpha", "2"),
        ("alpha", "nan"),
        ("epsilon", "-1"),
        ("prior", "/etc/passwd"),
        ("prior", "1/2,1/2"),
        ("prior", "binomial:2"),
        ("prior", "secret.csv"),
        ("loss", "matrix:/etc/passwd"),
        ("loss", "power:-1"),
        ("loss", "<script>alert(1)</script>"),
    ],
)
def test_bad_input_is_one_line_beside_its_field(studio: Any, field: str, value: str) -> None:
    page = studio.get("/designer", params={field: value})
    assert page.status_code == 422
    assert "<script>alert" not in page.text
    answer = studio.get("/api/designer/best", params={field: value})
    assert answer.status_code == 422
    assert answer.json()["field"] == field


@pytest.mark.few
@pytest.mark.parametrize("text", ["", "a\nb", "geometric 999 1/2", "0 1\n0 1/2 1/3", "a b\n0 x y", "geometric 3 7"])
def test_a_mechanism_that_is_none_is_refused(studio: Any, text: str) -> None:
    assert studio.get("/api/designer/refine", params={"first": text}).json()["field"] == "first"
    assert studio.get("/designer/refine", params={"first": text}).status_code == 422


def test_words_never_name_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "1,2").write_text("1\n3\n")
    assert list(forms.parse_prior("1/4,3/4", 2).exact()) == [Fraction(1, 4), Fraction(3, 4)]
    with pytest.raises(ut.InputError):
        forms.parse_prior("1,2", 2)  # the weights of the text, which do not sum to 1; not those of the file
    with pytest.raises(ut.InputError):
        forms.parse_loss("matrix:1,2")
