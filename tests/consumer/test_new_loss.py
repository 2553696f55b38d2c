"""A new loss is one class and one registration: everything else follows from the registry.

The family is defined here and registered for one test at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import example_releases
import utmost as ut
from utmost.cli import main
from utmost.consumer.family import Parameter, Slider
from utmost.consumer.losses import LOSSES, ErrorLoss, LossFamily
from utmost.consumer.losses.loss import Floats
from utmost.exact import Number, rational

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class Capped(ErrorLoss):
    """|i − j|, at most `cap`."""

    cap: Fraction

    @property
    def name(self) -> str:
        return f"capped:{self.cap}"

    def at(self, error: int) -> Number:
        return min(Fraction(abs(error)), self.cap)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        return np.minimum(np.abs(np.subtract(truth, reading, dtype=np.float64)), float(self.cap))

    @property
    def monotone(self) -> bool:
        return True


CAPPED = LossFamily(
    kind="capped",
    example="capped:3",
    meaning="|i − j|, at most 3",
    choice="capped: an error costs no more than so much",
    parameters=(
        Parameter(name="cap", label="Cap", description="the largest cost", default="3", slider=Slider("1", "9")),
    ),
    parse=lambda text: Capped(rational(text, "capped")),
)


@pytest.fixture(autouse=True)
def capped_family() -> Iterator[None]:
    with LOSSES.registration(CAPPED):
        yield


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The output of a command."""
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    captured = capsys.readouterr()
    assert exit_info.value.code == 0, captured.err
    return captured.out


def test_a_consumer_and_an_optimum_take_it():
    loss = ut.losses.parse("capped:2")
    reader = ut.Consumer(ut.priors.uniform(5), loss)
    rows = [[min(abs(i - j), 2) for j in range(5)] for i in range(5)]
    same = ut.Consumer(ut.priors.uniform(5), ut.losses.matrix(rows))
    optimum = ut.optimal(ut.line(5), ut.alpha("1/2"), reader)
    assert optimum.loss == ut.optimal(ut.line(5), ut.alpha("1/2"), same).loss
    assert optimum.loss == reader.expected_loss(ut.geometric(4, ut.alpha("1/2")))


def test_its_legality_is_decided_as_that_of_its_matrix():
    for size in range(1, 8):
        entries = ut.losses.matrix(ut.losses.parse("capped:2").matrix(size).tolist())
        verdict, expected = ut.losses.parse("capped:2").legality(size), ut.losses.legality(entries, size)
        assert (verdict.legal, verdict.strict) == (expected.legal, expected.strict)


def test_it_is_refused_on_a_space_where_it_says_nothing_of_distances():
    with pytest.raises(ut.InputError, match="loss capped must be on a line"):
        ut.losses.over(ut.losses.parse("capped:2"), ut.cycle(5))


@pytest.mark.parametrize("size", [301, 5001])
def test_counts_are_read_with_it(size: int):
    prior, level = ut.priors.poisson(size, 40), ut.epsilon("0.5")
    all_readings = ut.readings(prior, level, ut.losses.parse("capped:3"))
    drawn = ut.losses.drawn([(-3, 3), (0, 0), (3, 3)])
    assert all_readings.expected_loss == pytest.approx(ut.readings(prior, level, drawn).expected_loss)
    assert ut.read(prior, level, ut.losses.parse("capped:3"), 38).estimate == all_readings.remap[38]


def test_the_command_line_takes_it_and_lists_it(capsys: pytest.CaptureFixture[str]):
    document = json.loads(run(capsys, "optimal", "line:4", "--alpha", "1/2", "--loss", "capped:2", "--json"))
    assert document["loss_function"] == "capped:2"
    assert "capped:3" in run(capsys, "optimal", "--help")
    assert "capped:3" in run(capsys, "calibrate", "count", "--help")


def test_a_release_is_read_with_it_and_its_claim_is_computed(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "count.release.json"
    example_releases.write_release(path, [example_releases.count(404, "0.1")])
    assert "GRS12 Thm 3.2" in run(capsys, "estimate", str(path), "--loss", "capped:3", "--json")


def test_the_studio_offers_it_with_its_fields():
    pytest.importorskip("fastapi")
    from utmost.studio import forms
    from utmost.studio.consumer.forms import choices, form_model, offered_families

    assert ("capped", CAPPED.choice) in choices(offered_families(LOSSES))
    form = form_model()(loss="capped", cap="5/2")
    assert form.parse_loss() == Capped(Fraction(5, 2))
    assert forms.parse_loss("capped:2") == Capped(Fraction(2))


def test_the_documentation_has_a_line_for_each_loss():
    page = (DOCS / "consumer.md").read_text()
    for family in LOSSES:
        formula = family.meaning.replace("|", "\\|")
        assert family is CAPPED or f"| `{family.example}` | {formula} | {family.best_reading} |" in page
