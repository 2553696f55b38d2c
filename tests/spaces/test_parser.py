"""Spaces as the command line writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import number
from utmost.spaces import Space, cycle, discrete, grid, hamming, line, parse_space, product_space, scale_space
from utmost.spaces.registry import SPACES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("line:6", line(6)),
        ("discrete:5", discrete(5)),
        ("grid:3x4", grid(3, 4)),
        ("grid:3x4:euclidean", grid(3, 4)),
        ("grid:3x4:manhattan", grid(3, 4, "manhattan")),
        ("hamming:3", hamming(3)),
        ("cycle:5", cycle(5)),
        (" line:2 + cycle:3 ", product_space(line(2), cycle(3))),
        ("1/2*line:4", scale_space(line(4), "1/2")),
        (
            "1/2*line:2+3*cycle:3+hamming:1",
            product_space(product_space(scale_space(line(2), "1/2"), scale_space(cycle(3), 3)), hamming(1)),
        ),
        ("2*(line:2+1/3*(cycle:3))", scale_space(product_space(line(2), scale_space(cycle(3), "1/3")), 2)),
        ("sqrt(2)*line:3", scale_space(line(3), "sqrt(2)")),
        ("(1+sqrt(2))*line:3", scale_space(line(3), "1+sqrt(2)")),
        ("2*sqrt(2)*line:3", scale_space(line(3), "2*sqrt(2)")),
        ("((line:3))", line(3)),
        ("line:2^3", line(8)),
    ],
)
def test_each_form_is_read(text: str, expected: object) -> None:
    parsed = parse_space(text)
    assert isinstance(expected, type(parsed))
    assert (parsed.name, parsed.labels, parsed.edges) == (expected.name, expected.labels, expected.edges)
    assert (parsed.distances == expected.distances).all()


@pytest.mark.parametrize("text", ["discrete:10^9", "hamming:50", "cycle:123456789", "grid:99999x99999", "line:10^7"])
def test_huge_spaces_are_cheap_to_name(text: str) -> None:
    assert len(parse_space(text)) > 10**6
    with pytest.raises(InputError, match="can be written out"):
        _ = parse_space(text).distances


INVALID_SPACES = """line
line: line:0 line:-3 line:1.5 line:1000000000000 line:nan line:1e9999 grid:3 grid:0x3 grid:3x0 grid:x3
grid:3x grid:3x3x3 grid:3x3:chebyshev grid:axb grid:-1x-1 hamming:-1 hamming:0 hamming:99 cycle:0 cycle:x discrete:0
discrete:10^99 ring:5 LINE:5 line:3+ +line:3 line:3++line:3 *line:3 0*line:3 -1*line:3 x*line:3 2*3 1-1/2*line:3 (line:3
line:3) () (line:3)(line:3) line:3*2 1e+2*line:3 matrix: graph: matrix matrix:absent.csv graph:absent.csv : + *"""


@pytest.mark.parametrize(
    "bad", ["", " ", *INVALID_SPACES.split(), "(" * 50 + "line:3" + ")" * 50, "line:1+" * 600, "x" * 10**6]
)
def test_a_text_that_is_no_space_is_refused_in_one_line(bad: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_space(bad)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("bad", ["", "ring:5", "grid:3", "2*", "line"])
def test_the_refusal_lists_the_forms(bad: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_space(bad)
    examples = [family.example for family in SPACES]
    assert examples == ["line:6", "discrete:5", "grid:3x4", "hamming:3", "cycle:5", "matrix:FILE", "graph:FILE"]
    for form in (*examples, "manhattan"):
        assert form in str(caught.value)
    assert "A+B" in str(caught.value)
    assert "1/2*A" in str(caught.value)


@given(st.text(alphabet="line:2+*()/discrt:xgahm13 -^", max_size=25))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_space_or_an_input_error(text: str) -> None:
    outcome: object
    try:
        outcome = parse_space(text)
    except InputError as error:
        outcome = error
    assert len(outcome) >= 1 if isinstance(outcome, Space) else "\n" not in str(outcome)


def test_many_factors_of_one_point_are_no_trouble() -> None:
    from utmost.spaces import symmetries

    product = parse_space("+".join(["line:1"] * 200 + ["line:2"] * 2))
    assert len(product) == 4
    assert symmetries(product).order == 8


def test_a_file_may_have_signs_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a+b (1)*2.csv").write_text("0,1\n1,0\n")
    Path("plain.csv").write_text("a,b,sqrt(2)\n")
    assert len(parse_space("matrix:a+b (1)*2.csv")) == 2
    product = parse_space("1/2*graph:plain.csv+line:2")
    assert product.distance(0, 3) == number("sqrt(2)/2") + 1
    assert product.name == "1/2*graph:plain.csv+line:2"
    assert parse_space("2*graph:plain.csv").distance(0, 1) == 2 * number("sqrt(2)")
