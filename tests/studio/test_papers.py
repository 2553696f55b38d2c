"""Papers in the studio: computed as a job, kept for everybody, published beside computed."""

from __future__ import annotations

from typing import Any

import pytest

from utmost import papers
from utmost.reports.papers import describe
from utmost.studio.papers import tasks


def test_every_paper_is_listed_before_it_is_computed(studio: Any) -> None:
    paper_list = studio.get("/api/papers").json()["papers"]
    assert [paper["key"] for paper in paper_list] == list(papers.KEYS)
    assert studio.get("/papers").status_code == 200
    assert studio.get("/api/papers/GRS12").status_code == 404
    assert "Compute its tables" in studio.get("/papers/GRS12").text


@pytest.mark.slow
def test_a_paper_computed_in_the_studio_is_the_one_of_the_command_line(studio: Any) -> None:
    job = studio.post("/api/papers/GRS12/compute").json()
    assert studio.wait_for_job(job["id"])["state"] == "done"
    report = studio.get("/api/papers/GRS12").json()
    expected = papers.document(papers.report("GRS12"))
    assert [(item["name"], item["computed"], item["agrees"]) for item in report["items"]] == [
        (item["name"], item["computed"], item["agrees"]) for item in expected["items"]
    ]
    assert report["errata"] == expected["errata"]
    page = studio.get("/papers/GRS12").text
    assert all(item["name"].replace("'", "&#39;") in page for item in expected["items"])
    score = describe(papers.report("GRS12")).text("score").strip()
    assert score.replace("'", "&#39;") in page
    figure_numbers = [number for number, item in enumerate(report["items"]) if item["figure"]]
    assert figure_numbers
    for number in figure_numbers:
        assert studio.get(f"/api/papers/GRS12/figures/{number}").json()["data"]
    assert studio.get("/api/papers/GRS12/figures/999").status_code == 404
    assert studio.get("/api/papers").json()["papers"][0]["computed"] is True


def test_a_key_that_is_no_paper_is_refused(studio: Any) -> None:
    for key in ("GRS13", "..%2f..%2fetc%2fpasswd", "grs12", "GRS12%0a"):
        assert studio.get(f"/api/papers/{key}").status_code in (404, 422)
        assert studio.post(f"/api/papers/{key}/compute").status_code in (404, 422)


def test_a_report_of_another_version_is_not_shown(studio: Any) -> None:
    path = tasks.report_path(studio.settings.state_folder, "GMP13")
    assert path.name.startswith("gmp13-")
    assert tasks.read_report(path) is None
