"""`utmost demo`."""

from __future__ import annotations

import re

import pytest

from utmost.cli.demo import personas
from utmost.consumer.counts import read, readings
from utmost.exact import epsilon
from utmost.queries.answer_mechanisms.lattice import PreparedNoise

TRUE_COUNT = "393"  # respondents who expect to vote for Dole: docs/data.md
SIZE = 945


def fix_answer(monkeypatch, count):
    """Makes `count` the answer of the count query; the other queries keep their noise."""
    add_noise = PreparedNoise.add_noise
    monkeypatch.setattr(
        PreparedNoise,
        "add_noise",
        lambda noise, numbers: [count] if noise.mechanism.epsilon * 10 == 1 else add_noise(noise, numbers),
    )


@pytest.fixture
def fixed_answer(monkeypatch):
    fix_answer(monkeypatch, 420)


def test_the_document_has_the_release_and_three_readings_of_its_count(utmost):
    document = utmost("demo", "--json").document
    assert 0 <= document["value"] <= 944
    assert document["release"]["guarantee"]["epsilon"] == "1"
    assert [query["kind"] for query in document["release"]["queries"]] == ["count", "histogram", "mean", "quantile"]
    assert [(c["prior"], c["loss"]) for c in document["consumers"]] == [
        ("uniform", "absolute"),
        ("binomial:9/20", "squared"),
        ("half on 400", "binary"),
    ]


@pytest.mark.slow
def test_run_again_it_costs_nothing_and_says_the_same(utmost):
    first = utmost("demo", "--json").document
    again = utmost("demo", "--json").document
    assert again == first
    assert "nothing: the ledger remembers this release" in " ".join(utmost("demo").out.split())


@pytest.mark.usefixtures("fixed_answer")
def test_the_readings_differ_and_are_the_kernel_s(utmost):
    document = utmost("demo", "--json").document
    estimates = [c["estimate"] for c in document["consumers"]]
    assert document["value"] == 420
    assert len(set(estimates)) == 3
    for persona, consumer in zip(personas(SIZE), document["consumers"], strict=True):
        prior, loss = persona.consumer.prior, persona.consumer.loss
        all_readings = readings(prior, epsilon("0.1"), loss)
        assert consumer["estimate"] == read(prior, epsilon("0.1"), loss, 420).estimate
        assert consumer["expected_loss"] == pytest.approx(all_readings.expected_loss, rel=1e-11)
        assert consumer["expected_loss"] <= consumer["face_value_loss"]


def test_reading_well_halves_the_pollster_s_and_the_checker_s_loss(utmost):
    _, pollster, checker = utmost("demo", "--json").document["consumers"]
    assert pollster["expected_loss"] < 0.6 * pollster["face_value_loss"]
    assert checker["expected_loss"] < 0.6 * checker["face_value_loss"]


@pytest.mark.usefixtures("fixed_answer")
def test_neither_text_nor_document_nor_picture_contains_the_true_count(utmost, tmp_path):
    result, document = utmost("demo"), utmost("demo", "--json")
    assert "420" in result.out
    for text in (result.out, result.err, document.err):
        assert not re.search(rf"(?<![\d.]){TRUE_COUNT}(?!\d)", text)
    assert f">{TRUE_COUNT}<" not in (tmp_path / "utmost-demo" / "readings.svg").read_text()
    assert TRUE_COUNT not in [str(q["value"]) for q in document.document["release"]["queries"]]


@pytest.mark.usefixtures("fixed_answer")
def test_the_text_names_source_cost_guarantee_and_theorem_within_80_columns(utmost):
    result = utmost("demo")
    text = " ".join(result.out.split())
    for claim in (
        "American National Election Study",
        "public domain",
        "ε 1; budget survey: ε 0 spent, ε 1 left, ε 0 after it",
    ):
        assert claim in text
    assert "replacing one row by any other changes the probability" in text
    assert "GRS12 Theorem 3.2" in text
    assert "▲ the answer 420" in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert result.err == "drew utmost-demo/readings.svg\n"


def test_every_loss_of_the_demonstration_is_legal():
    assert all(persona.consumer.legality().legal for persona in personas(SIZE))


def test_the_picture_goes_to_the_file_of_the_plot_option(utmost, tmp_path):
    assert utmost("demo", "--plot", "beliefs.png").err == "drew beliefs.png\n"
    assert (tmp_path / "beliefs.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "utmost-demo" / "readings.svg").exists()


def test_a_default_picture_that_cannot_be_written_is_only_a_remark(utmost, tmp_path):
    (tmp_path / "utmost-demo" / "readings.svg").mkdir(parents=True)
    result = utmost("demo")
    assert result.code == 0
    assert "no picture" in result.err
    assert "GRS12" in result.out


def test_a_folder_that_cannot_be_made_is_refused_in_one_line(utmost, tmp_path):
    (tmp_path / "file").write_text("")
    result = utmost("demo", "file")
    assert result.code == 2
    assert result.err.startswith("utmost: folder must be one that can be written to")


@pytest.mark.slow
@pytest.mark.parametrize("answer", [0, 944])
def test_an_answer_at_an_end_is_shown_too(utmost, monkeypatch, answer):
    fix_answer(monkeypatch, answer)
    result = utmost("demo")
    assert result.code == 0
    assert ("the answer 944 ▲" if answer else "▲ the answer 0") in result.out
    assert max(map(len, result.out.splitlines())) <= 80
