"""A new prior is one class and one registration: everything else follows from the registry.

The family is defined here and registered for one test at a time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import example_releases
import utmost as ut
from utmost.cli import main
from utmost.consumer.family import Parameter, Slider
from utmost.consumer.priors import PRIORS, Prior, PriorFamily
from utmost.consumer.priors.prior import Floats, check_size, normalise_logs
from utmost.exact import Number, rational

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class Rising(Prior):
    """Weights proportional to k + start."""

    size: int
    start: Fraction

    @property
    def name(self) -> str:
        return f"rising:{self.start}"

    def proportions(self) -> tuple[Number, ...]:
        return tuple(k + self.start for k in range(self.size))

    def logs(self) -> Floats:
        return normalise_logs(np.log(np.arange(self.size) + float(self.start)))


RISING = PriorFamily(
    kind="rising",
    example="rising:1",
    meaning="weight k + 1",
    choice="large values are likelier (rising)",
    parameters=(
        Parameter(name="start", label="Start", description="the least weight", default="1", slider=Slider("1", "9")),
    ),
    parse=lambda size, text: Rising(check_size(size), rational(text, "rising")),
)


@pytest.fixture(autouse=True)
def rising_family() -> Iterator[None]:
    with PRIORS.registration(RISING):
        yield


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The output of a command."""
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    captured = capsys.readouterr()
    assert exit_info.value.code == 0, captured.err
    return captured.out


def test_a_consumer_and_an_optimum_take_it():
    prior = ut.priors.parse("rising:1", 3)
    assert prior.exact() == (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))
    reader = ut.Consumer(prior, ut.losses.absolute)
    optimum = ut.optimal(ut.line(3), ut.alpha("1/2"), reader)
    assert optimum.loss == reader.expected_loss(ut.geometric(2, ut.alpha("1/2")))
    explicit = ut.Consumer(ut.priors.explicit(["1/6", "1/3", "1/2"]), ut.losses.absolute)
    assert ut.optimal(ut.line(3), ut.alpha("1/2"), explicit).loss == optimum.loss


def test_large_counts_are_read_with_it():
    all_readings = ut.readings(ut.priors.parse("rising:1", 2001), ut.epsilon("0.1"), ut.losses.squared)
    same = ut.readings(ut.priors.normalised(range(1, 2002)), ut.epsilon("0.1"), ut.losses.squared)
    assert all_readings.remap.tolist() == same.remap.tolist()


def test_the_command_line_takes_it_and_lists_it(capsys: pytest.CaptureFixture[str]):
    document = json.loads(run(capsys, "optimal", "line:3", "--alpha", "1/2", "--prior", "rising:1", "--json"))
    assert document["prior"] == "rising:1"
    assert "rising:1" in run(capsys, "optimal", "--help")
    assert "rising:1" in run(capsys, "estimate", "--help")


def test_a_release_is_read_with_it(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "count.release.json"
    example_releases.write_release(path, [example_releases.count(404, "0.1")])
    arguments = ["estimate", str(path), "--prior", "rising:1", "--loss", "squared", "--json"]
    assert "rising:1" in run(capsys, *arguments)


def test_an_unknown_prior_is_refused_with_a_list_that_has_it():
    with pytest.raises(ut.InputError, match="rising:1") as error:
        ut.priors.parse("falling:1", 3)
    assert error.value.field == "prior"


def test_a_value_error_of_its_parser_is_an_input_error():
    family = PriorFamily(
        kind="fixed", example="fixed:1", meaning="", parse=lambda size, text: Rising(size, Fraction(text))
    )
    with PRIORS.registration(family), pytest.raises(ut.InputError, match="write it like fixed:1") as error:
        ut.priors.parse("fixed:one", 3)
    assert (error.value.field, type(error.value.__cause__)) == ("prior", ValueError)


@pytest.mark.parametrize(("text", "advice"), [("risng:1", "did you mean rising:1?"), ("mine.csv", "no such file")])
def test_a_refusal_says_what_may_have_been_meant(text: str, advice: str):
    with pytest.raises(ut.InputError) as error:
        ut.priors.parse(text, 3)
    assert error.value.hint == advice


def test_the_script_of_the_documentation_is_a_command_line_that_has_it(tmp_path: Path):
    page = (DOCS / "consumer.md").read_text(encoding="utf-8")
    script = tmp_path / "my_utmost.py"
    script.write_text(page.partition("```py my_utmost.py\n")[2].partition("```")[0], encoding="utf-8")
    arguments = ["optimal", "line:3", "--alpha", "1/2", "--prior", "rising:1", "--json"]
    finished = subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout)["prior"] == "rising:1"


def test_the_studio_offers_it_with_its_fields():
    pytest.importorskip("fastapi")
    from utmost.studio import forms
    from utmost.studio.consumer.forms import choices, form_model, offered_families

    assert ("rising", "large values are likelier (rising)") in choices(offered_families(PRIORS))
    form = form_model()(prior="rising", start="2")
    assert form.prior_kind() == "rising:2"
    assert "start=2" in form.address()
    assert form_model()(prior="rising").address() == "prior=rising"
    assert forms.parse_prior("rising:1", 3).name == "rising:1"


def test_a_kind_is_registered_once():
    with pytest.raises(ValueError, match="rising already"):
        PRIORS.register(RISING)


def test_the_documentation_has_a_line_for_each_prior():
    page = (DOCS / "consumer.md").read_text()
    for family in PRIORS:
        assert family is RISING or f"| `{family.example}` | {family.meaning} |" in page
