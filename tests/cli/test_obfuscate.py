"""`utmost obfuscate` and `utmost recover`: what they write, say and refuse."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from utmost.cli import obfuscate as module
from utmost.cli import run
from utmost.errors import InputError

PLANAR = ("--planar", "--x", "east", "--y", "north", "--unit", "km", "--step", "0.01", "--epsilon", "0.5")
RESPONSE = ("--response", "--column", "vote", "--values", "0,1,none", "--epsilon", "1")
DEGREES = ("--planar", "--x", "lon", "--y", "lat", "--unit", "km", "--step", "0.01", "--epsilon", "1", "--degrees")
BOX = ("--box", "2.2,48.8,2.5,48.95")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rows = [f"Ann{k},{k % 7}.5,{k % 5},{k % 2},{2.2 + k / 1000:.3f},48.9" for k in range(200)]
    (tmp_path / "in.csv").write_text("name,east,north,vote,lon,lat\n" + "\n".join(rows) + "\n")
    (tmp_path / "secret.csv").write_text("east,north,vote\n1,2,0\nsecret,3,secret\n")
    return tmp_path


@pytest.mark.usefixtures("people")
def test_places_are_written_with_metadata_and_the_text_says_what_it_costs(utmost):
    result = utmost("obfuscate", "in.csv", "out.csv", *PLANAR)
    assert (result.code, result.err) == (0, "")
    text = " ".join(result.out.split())
    assert "Wrote 200 rows of east and north to out.csv" in text
    assert "e^(ε·(d + r))" in text
    assert "ε = 1/2 per km, r = 1/100*2^(1/2) km (at most 0.0141422)" in text
    assert "two runs on the same people cost twice as much" in text
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0] == "east,north"
    assert len(lines) == 201
    metadata = json.loads(Path("out.csv.json").read_text())
    assert metadata["mechanism"]["step"] == "1/100"
    assert metadata["guarantee"]["rounding"] == "1/100*2^(1/2)"


@pytest.mark.usefixtures("people")
def test_the_document_is_the_metadata_and_names_the_file(utmost):
    document = utmost("obfuscate", "in.csv", "out.parquet", *DEGREES, *BOX, "--json").document
    metadata = json.loads(Path("out.parquet.json").read_text())
    assert document == metadata | {"output": "out.parquet"}
    assert metadata["mechanism"]["coordinates"]["origin"] == ["47/20", "391/8"]  # the middle of the box
    assert float(metadata["guarantee"]["stretch"].split("/")[0]) > 0
    with_origin = utmost(
        "obfuscate", "in.csv", "out.parquet", *DEGREES, *BOX, "--origin", "2.3,48.9", "--json"
    ).document
    assert with_origin["mechanism"]["coordinates"]["origin"] == ["23/10", "489/10"]


@pytest.mark.usefixtures("people")
def test_kept_columns_and_a_kept_order_are_warned_of(utmost):
    result = utmost("obfuscate", "in.csv", "out.csv", *RESPONSE, "--others", "none", "--keep", "name", "--in-order")
    assert result.code == 0
    assert "with no protection: name" in result.err
    assert "kept the order of the rows" in result.err
    assert Path("out.csv").read_text().splitlines()[:1] == ["name,vote"]
    assert [line.split('"')[1] for line in Path("out.csv").read_text().splitlines()[1:3]] == ["Ann0", "Ann1"]


@pytest.mark.usefixtures("people")
def test_frequencies_come_back(utmost):
    assert utmost("obfuscate", "in.csv", "out.csv", *RESPONSE, "--others", "none").code == 0
    result = utmost("recover", "out.csv", "--output", "shares.csv")
    assert result.code == 0
    assert "hold all true shares at once" in " ".join(result.out.split())
    assert result.err == "saved shares.csv\n"
    assert Path("shares.csv").read_text().splitlines()[0] == "value,count,estimate,likeliest,standard_error,low,high"
    document = utmost("recover", "out.csv", "--json", "--confidence", "0.9").document
    assert document["values"] == ["0", "1", "none"]
    assert sum(document["counts"]) == document["rows"] == 200
    assert sum(document["estimate_decimal"]) == pytest.approx(1)
    assert document["confidence"] == "9/10"
    assert all("exp(-1)" in share for share in document["estimate"])
    assert all(0 <= low <= high <= 1 for low, high in document["interval"])


@pytest.mark.usefixtures("people")
def test_places_come_back_as_guesses_and_a_map(utmost):
    assert utmost("obfuscate", "in.csv", "out.csv", *PLANAR, "--box", "0,0,10,5").code == 0
    result = utmost("recover", "out.csv", "--output", "guesses.csv", "--cells", "5")
    assert result.code == 0
    assert "rounds of EM" in " ".join(result.out.split())
    lines = Path("guesses.csv").read_text().splitlines()
    assert lines[0] == "east,north"
    assert len(lines) == 201
    document = utmost("recover", "out.csv", "--json", "--loss", "squared", "--cells", "4").document
    assert document["prior"] == "estimated"
    assert sum(weight for _, _, weight in document["cells"]) == pytest.approx(1)
    assert document["rows"] == 200
    Path("map.csv").write_text("x,y,weight\n1,1,1\n5,3,1\n")
    result = utmost("recover", "out.csv", "--prior", "map.csv", "--loss", "binary")
    assert "2 places of the prior that was given" in " ".join(result.out.split())
    assert "misses on average" in " ".join(result.out.split())


def test_the_dual_and_alpha_are_taken(utmost, people):
    document = utmost(
        "obfuscate",
        "in.csv",
        "out.csv",
        "--response",
        "--column",
        "vote",
        "--values",
        "0,1",
        "--alpha",
        "1/3",
        "--dual",
        "--json",
    ).document
    assert document["mechanism"]["name"] == "response-dual"
    assert document["mechanism"]["truth"] == "1/4"
    assert utmost("recover", "out.csv", "--json").document["estimate_decimal"]


@pytest.mark.usefixtures("people")
def test_missing_places_by_each_policy(utmost):
    Path("gaps.csv").write_text("east,north\n1,2\n,3\n")
    refusal = utmost("obfuscate", "gaps.csv", "out.csv", *PLANAR)
    assert refusal.code == 2
    assert not Path("out.csv").exists()
    assert utmost("obfuscate", "gaps.csv", "out.csv", *PLANAR, "--missing", "drop", "--json").document["rows"] == 1
    document = utmost("obfuscate", "gaps.csv", "out.csv", *PLANAR, "--missing", "-1,1/3", "--json").document
    assert document["rows"] == 2
    assert document["mechanism"]["missing"] == ["-1", "1/3"]


BAD = [
    ((), "IN"),
    (("in.csv",), "OUT"),
    (("in.csv", "out.csv"), "--alpha or --epsilon"),
    (("in.csv", "out.csv", "--epsilon", "1"), "--planar or --response"),
    (("in.csv", "out.csv", *PLANAR, "--response"), "one of the two"),
    (("in.csv", "out.csv", *PLANAR, "--values", "a,b"), "--values must not be given with --planar"),
    (("in.csv", "out.csv", *RESPONSE, "--step", "1"), "--step must not be given with --response"),
    (("in.csv", "out.csv", *PLANAR[:-4], "--epsilon", "1"), "--step must be given with --planar"),
    (("in.csv", "out.csv", *PLANAR[:-1], "0"), "epsilon must be > 0"),
    (("in.csv", "out.csv", *PLANAR[:-1], "-1"), "epsilon must be >= 0"),
    (("in.csv", "out.csv", *PLANAR[:-2], "--alpha", "1"), "epsilon must be > 0"),
    (("in.csv", "out.csv", *PLANAR, "--unit", "parsec"), "--unit must be one of m, km, ft, mi"),
    (("in.csv", "out.csv", *PLANAR, "--coordinates", "px"), "--coordinates must be one of"),
    (("in.csv", "out.csv", *PLANAR, "--step", "0"), "step must be > 0"),
    (("in.csv", "out.csv", *PLANAR, "--step", "x"), "--step must be a number"),
    (("in.csv", "out.csv", *PLANAR, "--step", "1e9"), "epsilon times step"),
    (("in.csv", "out.csv", *PLANAR, "--box", "1,2,3"), "--box must be 4 numbers"),
    (("in.csv", "out.csv", *PLANAR, "--box", "1,1,0,0"), "--box must be left,bottom,right,top"),
    (("in.csv", "out.csv", *PLANAR, "--origin", "1,1"), "--origin must come with --degrees"),
    (("in.csv", "out.csv", *PLANAR, "--missing", "guess"), "--missing must be refuse, drop"),
    (("in.csv", "out.csv", *PLANAR, "--missing", "1,x"), "--missing must be a number"),
    (("in.csv", "out.csv", *DEGREES), "--box must be given with --degrees"),
    (("in.csv", "out.csv", *DEGREES, "--origin", "0,0"), "--box must be given with --degrees"),
    (("in.csv", "out.csv", *DEGREES, *BOX, "--coordinates", "m"), "--coordinates must not be given with --degrees"),
    (("in.csv", "out.csv", *DEGREES, "--box", "0,0,1,91"), "between -90 and 90"),
    (
        ("in.csv", "out.csv", *DEGREES, "--box", "2.20001,48.8,2.20002,48.9", "--origin", "2.3,48.85"),
        "contain a point of the lattice",
    ),
    (("in.csv", "out.csv", *RESPONSE, "--others", "x"), "--others must be one of --values"),
    (("in.csv", "out.csv", *RESPONSE, "--values", "0"), "--values must be from 2"),
    (("in.csv", "out.csv", *RESPONSE, "--values", "0,,1"), "--values must be names with commas"),
    (("in.csv", "out.csv", *RESPONSE, "--values", '"0'), "--values must be names with commas"),
    (("in.csv", "out.csv", *RESPONSE, "--column", "nobody"), 'must have the column "nobody"'),
    (("in.csv", "out.csv", *RESPONSE, "--keep", "vote"), "which is obfuscated"),
    (("in.csv", "in.csv", *PLANAR), "another file than IN"),
    (("in.csv", "out.txt", *PLANAR), "OUT must be a file that ends in"),
    (("in.txt", "out.csv", *PLANAR), "IN must be a file that ends in"),
    (("absent.csv", "out.csv", *PLANAR), "IN must be a csv file that can be read"),
    (("in.csv", "nowhere/out.csv", *PLANAR), "folder that can be written to"),
    (("secret.csv", "out.csv", *PLANAR), "finite numbers in every row"),
    (("secret.csv", "out.csv", *RESPONSE), "one of --values in every row"),
]


@pytest.mark.parametrize(("arguments", "expected"), BAD, ids=lambda value: " ".join(map(str, value))[:70])
def test_bad_input_is_one_line_and_leaves_no_file(utmost, people, arguments, expected):
    before = sorted(p.name for p in people.iterdir())
    result = utmost("obfuscate", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("utmost: ")
    assert result.err.count("\n") == 1
    assert expected in result.err
    assert "secret," not in result.err
    assert "got secret" not in result.err
    assert sorted(p.name for p in people.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("absent.csv",), "must lie beside the table, got no such file or directory: utmost obfuscate writes it"),
        (("in.csv",), "must lie beside the table"),
        (("votes.csv", "--loss", "squared"), "--loss must not be given for frequencies"),
        (("votes.csv", "--confidence", "2"), "confidence must be between 0 and 1"),
        (("places.csv", "--confidence", "0.9"), "--confidence must not be given for places"),
        (("places.csv", "--loss", "hinge"), "loss must be one of"),
        (("places.csv", "--cells", "0"), "--cells must be from 1 to 100"),
        (("places.csv", "--cells", "1/2"), "--cells must be a whole number"),
        (("places.csv", "--prior", "in.csv"), '--prior must have the column "x"'),
        (("places.csv", "--prior", "map.csv", "--cells", "3"), "--cells must not be given with --prior"),
        (("places.csv", "--output", "x.txt"), "--output must be a file that ends in"),
        (("places.csv", "--output", "nowhere/x.csv"), "--output must be a file in a folder that exists"),
        (("places.csv", "--output", "places.csv"), "--output must be another file than OUT"),
    ],
)
def test_bad_input_to_recover_is_one_line(utmost, people, arguments, expected):
    assert utmost("obfuscate", "in.csv", "votes.csv", *RESPONSE).code == 0
    assert utmost("obfuscate", "in.csv", "places.csv", *PLANAR).code == 0
    before = {p.name: p.read_bytes() for p in people.iterdir()}
    result = utmost("recover", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert expected in result.err
    assert {p.name: p.read_bytes() for p in people.iterdir()} == before


FILE_PIECES = [
    b"east,north,vote\n",
    b"1,2,0\n",
    b"1.5,",
    b"\n",
    b'"',
    b"\xff",
    b"\0",
    b"nan,inf,x\n",
    b"1e999,2,1\n",
    b",,,\n",
]
OPTIONS = [
    PLANAR,
    RESPONSE,
    (*PLANAR, "--missing", "drop"),
    (*PLANAR, "--keep", "vote", "--in-order"),
    (*RESPONSE, "--others", "1"),
    (*DEGREES, *BOX),
]


@given(
    st.lists(st.sampled_from(FILE_PIECES), max_size=8).map(b"".join),
    st.sampled_from(OPTIONS),
    st.sampled_from(["csv", "parquet"]),
)
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_makes_a_traceback_or_a_partial_file(capsys, tmp_path, content, options, kind):
    """Whatever IN holds: code 0 with two files whose rows agree, or code 2 with one line and no file."""
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    for old_file in folder.iterdir():
        old_file.unlink()
    (folder / f"in.{kind}").write_bytes(content)
    code = run(["obfuscate", str(folder / f"in.{kind}"), str(folder / "out.csv"), *options])
    captured = capsys.readouterr()
    file_names = sorted(p.name for p in folder.iterdir())
    if code == 0:
        assert file_names == [f"in.{kind}", "out.csv", "out.csv.json"]
    else:
        assert (code, captured.out, captured.err.count("\n")) == (2, "", 1)
        assert "internal error" not in captured.err
        assert file_names == [f"in.{kind}"]


def test_names_with_commas_stand_in_quotes():
    assert module.split_names('"a,b", c', "--keep") == ["a,b", "c"]
    assert module.split_names(None, "--keep") == []
    with pytest.raises(InputError, match="--keep"):
        module.split_names(",", "--keep")


def test_a_bar_is_shown_on_a_terminal_alone(monkeypatch):
    with module.progress_bar() as progress:
        assert progress is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with module.progress_bar() as progress:
        progress("reading", 0.5)
        progress("reading", 1.0)


@pytest.mark.parametrize("command", ["obfuscate", "recover"])
def test_the_commands_explain_themselves(utmost, command):
    result = utmost(command, "--help")
    assert result.code == 0
    assert "--json" in result.out
    assert f"utmost {command}" in result.out.split("Examples:")[1]
    assert max(map(len, result.out.splitlines())) <= 80
