"""Whole files: what is written, in which order, atomically, and how much memory it takes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.exact.input_text import CONTROL_CHARACTER
from utmost.publish.local import (
    CategoryMechanism,
    DegreeCoordinates,
    LocationMechanism,
    PlaneCoordinates,
    TableMetadata,
    obfuscate,
    read_metadata,
    table_files,
)
from utmost.publish.local import metadata as table_metadata

VOTE = CategoryMechanism("vote", epsilon(1), ("0", "1", "2"), others="2")
PLACE = LocationMechanism("east", "north", epsilon("1/2"), "km", Fraction(1, 100), PlaneCoordinates("km"))


@pytest.fixture
def people(tmp_path: Path) -> pa.Table:
    count = 300
    table = pa.table(
        {
            "name": [f"Ann {k}" for k in range(count)],
            "vote": pa.array([k % 3 for k in range(count)]),
            "north": np.linspace(-5, 5, count),
            "note": [f'say "{k}", or\nnot' for k in range(count)],
            "east": np.linspace(0, 10, count),
            "group": pa.array([f"g{k % 4}" for k in range(count)]).dictionary_encode(),
        }
    )
    parquet.write_table(table.replace_schema_metadata({"pandas": "the index is Ann"}), tmp_path / "in.parquet")
    csv.write_csv(table.set_column(5, "group", table["group"].cast(pa.string())), tmp_path / "in.csv")
    return table


def read_table(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return parquet.read_table(path)
    return csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True))


EACH_SOURCE = pytest.mark.parametrize("source", ["in.csv", "in.parquet"])
EACH_TARGET = pytest.mark.parametrize("target", ["out.csv", "out.parquet"])


@EACH_SOURCE
@EACH_TARGET
@pytest.mark.parametrize("mechanism", [VOTE, PLACE], ids=["response", "planar"])
def test_only_the_obfuscated_columns_are_written_in_the_order_of_the_file(
    mechanism, source, target, people, tmp_path
) -> None:
    metadata = obfuscate(mechanism, tmp_path / source, tmp_path / target)
    table = read_table(tmp_path / target)
    assert table.column_names == (["vote"] if mechanism is VOTE else ["north", "east"])
    assert table.num_rows == metadata.rows == 300
    assert not any(column.null_count for column in table.columns)
    assert read_metadata(tmp_path / target) == metadata
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["in.csv", "in.parquet", target, f"{target}.json"])


@EACH_SOURCE
@EACH_TARGET
def test_kept_columns_are_copied_as_they_are_and_rows_stay_together(source, target, people, tmp_path) -> None:
    mechanism = CategoryMechanism("vote", epsilon(40), ("0", "1", "2"))  # practically the truth
    metadata = obfuscate(mechanism, tmp_path / source, tmp_path / target, keep=["group", "note", "name"])
    table = read_table(tmp_path / target)
    assert table.column_names == ["name", "vote", "note", "group"]
    assert metadata.kept == ("name", "note", "group")
    written_rows = sorted(
        zip(*(map(str, table[c].to_pylist()) for c in ("name", "vote", "note", "group")), strict=True)
    )
    expected_rows = sorted(
        zip(*(map(str, people[c].to_pylist()) for c in ("name", "vote", "note", "group")), strict=True)
    )
    assert written_rows == expected_rows
    assert table["name"].to_pylist() != people["name"].to_pylist()  # in another order


@EACH_TARGET
def test_in_order_keeps_the_order_and_the_note_says_so(target, people, tmp_path) -> None:
    metadata = obfuscate(PLACE, tmp_path / "in.parquet", tmp_path / target, keep=["name"], in_order=True)
    assert read_table(tmp_path / target)["name"].to_pylist() == people["name"].to_pylist()
    assert metadata.order == "kept"
    guarantee = json.loads((tmp_path / f"{target}.json").read_text())["guarantee"]["words"]
    assert "old order" in guarantee
    assert "no protection: name" in guarantee


def test_the_types_of_a_parquet_column_are_kept_and_its_remarks_are_not(people, tmp_path) -> None:
    obfuscate(VOTE, tmp_path / "in.parquet", tmp_path / "out.parquet", keep=["group"])
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.schema.field("vote").type == pa.int64()
    assert table.schema.field("group").type == pa.string()
    assert table.schema.metadata is None
    assert b"Ann" not in (tmp_path / "out.parquet").read_bytes()


def test_a_csv_file_has_no_quotes_it_does_not_need(people, tmp_path) -> None:
    obfuscate(VOTE, tmp_path / "in.csv", tmp_path / "out.csv")
    assert b'"' not in (tmp_path / "out.csv").read_bytes()
    csv.write_csv(pa.table({"a,b": ["x,y", 'z"']}), tmp_path / "odd.csv")
    obfuscate(
        CategoryMechanism("a,b", epsilon(40), ("x,y", 'z"')), tmp_path / "odd.csv", tmp_path / "out.csv", in_order=True
    )
    assert (tmp_path / "out.csv").read_text() == '"a,b"\n"x,y"\n"z"""\n'


def test_dropped_rows_are_gone_from_every_column(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("name,east,north\na,1,2\nb,,2\nc,3,x\nd,4,5\n")
    mechanism = LocationMechanism(
        "east", "north", epsilon("1/2"), "km", Fraction(1, 100), PlaneCoordinates("km"), missing="drop"
    )
    metadata = obfuscate(mechanism, tmp_path / "in.csv", tmp_path / "out.csv", keep=["name"], in_order=True)
    assert read_table(tmp_path / "out.csv")["name"].to_pylist() == ["a", "d"]
    assert metadata.rows == 2


def test_a_table_without_rows_is_a_table_without_rows(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("east,north\n")
    for target in ("out.csv", "out.parquet"):
        assert obfuscate(PLACE, tmp_path / "in.csv", tmp_path / target).rows == 0
        assert read_table(tmp_path / target).num_rows == 0


BAD = [
    ("ragged.csv", b"east,north\n1,2\n3\n", "from its first row to its last"),
    ("late.csv", b"east,north\n" + b"1,2\n" * 10**6 + b"secret\n", "from its first row to its last"),
    ("word.csv", b"east,north\n1,2\nsecret,4\n", "finite numbers in every row"),
    ("late_word.csv", b"east,north\n" + b"1,2\n" * 10**6 + b"secret,1\n", "finite numbers in every row"),
    ("empty.csv", b"", "can be read"),
    ("bytes.csv", bytes(range(256)) * 40, "IN must"),
    ("utf.csv", b"east,north\n\xff\xfe,2\n", "can be read"),
    ("absent.csv", None, "can be read"),
    ("other.csv", b"x,y\n1,2\n", 'must have the column "east"'),
    ("twice.csv", b"east,north,east\n1,2,3\n", "more than once"),
    ("no.parquet", b"PAR1 secret PAR1", "can be read"),
    ("table.xlsx", b"", "ends in .csv or .parquet"),
]


def write_earlier_table(path: Path) -> None:
    """An obfuscated table with its note, which a later one may replace."""
    path.write_text("east,north\n7,7\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    metadata = TableMetadata(PLACE, 1, table_metadata.SHUFFLED_ORDER, (), "utmost 0.1.0", digest)
    table_metadata.metadata_path(path).write_text(table_metadata.metadata_json(metadata))


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[name for name, _, _ in BAD])
@pytest.mark.parametrize("earlier", [True, False])
def test_a_failure_leaves_what_was_there_and_nothing_else(name, content, message, earlier, tmp_path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    if earlier:
        write_earlier_table(tmp_path / "out.csv")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(InputError, match=message) as problem:
        obfuscate(PLACE, tmp_path / name, tmp_path / "out.csv")
    assert "secret" not in str(problem.value)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("step", ["write_table", "shuffle_rows", "_write_metadata", "move_into_place"])
@pytest.mark.parametrize("problem", [KeyboardInterrupt(), MemoryError(), OSError("disk")])
def test_an_interrupt_at_any_step_leaves_what_was_there(step, problem, people, tmp_path, monkeypatch) -> None:
    from utmost.publish.local import execute

    write_earlier_table(tmp_path / "out.csv")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def fails(*_, **__):
        raise problem

    monkeypatch.setattr(execute, step, fails)
    with pytest.raises(type(problem)):
        obfuscate(PLACE, tmp_path / "in.csv", tmp_path / "out.csv")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_full_disk_is_one_sentence_and_no_file(people, tmp_path, monkeypatch) -> None:
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_files.os, "fsync", full)
    before = sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(InputError, match="OUT must be a file that can be written"):
        obfuscate(PLACE, tmp_path / "in.csv", tmp_path / "out.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_the_note_is_never_beside_another_table(people, tmp_path, monkeypatch) -> None:
    """The old note goes before the new table comes: stopped in between, there is a table and no note."""
    obfuscate(PLACE, tmp_path / "in.csv", tmp_path / "out.csv")
    real, replacements = Path.replace, []

    def record_replace(self: Path, target: Path) -> Path:
        replacements.append((Path(target).name, (tmp_path / "out.csv.json").exists()))
        return real(self, target)

    monkeypatch.setattr(Path, "replace", record_replace)
    obfuscate(VOTE, tmp_path / "in.csv", tmp_path / "out.csv")
    assert replacements == [("old", True), ("out.csv", False), ("out.csv.json", False)]


def test_a_table_that_cannot_be_replaced_keeps_its_note(people, tmp_path, monkeypatch) -> None:
    obfuscate(PLACE, tmp_path / "in.csv", tmp_path / "out.csv")
    before, real = {p.name: p.read_bytes() for p in tmp_path.iterdir()}, Path.replace

    def refuse_table(self: Path, target: Path) -> Path:
        if Path(target).name == "out.csv":
            raise PermissionError("in use")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", refuse_table)
    with pytest.raises(InputError, match="can be replaced"):
        obfuscate(VOTE, tmp_path / "in.csv", tmp_path / "out.csv")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_progress_goes_from_the_first_piece_to_all_of_them(people, tmp_path) -> None:
    for name in ("in.csv", "in.parquet"):
        reports: list[tuple[str, float]] = []
        obfuscate(
            PLACE,
            tmp_path / name,
            tmp_path / "out.csv",
            progress=lambda task, share, to=reports: to.append((task, share)),
        )
        assert reports
        assert reports[-1] == ("reading", 1.0)


def test_files_that_would_be_lost_and_columns_named_twice_are_refused(people, tmp_path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "good.csv.json").mkdir()
    for target, keep, message in (
        ("in.csv", [], "another file than IN"),
        ("link.csv", [], "another file than IN"),
        ("folder.csv", [], "got a folder"),
        ("good.csv", [], "got a folder"),
        ("nowhere/out.csv", [], "folder that can be written"),
        ("out.txt", [], "ends in .csv or .parquet"),
        ("out.csv", ["east"], "which is obfuscated"),
        ("out.csv", ["name", "name"], "each column once"),
        ("out.csv", ["salary"], 'must have the column "salary"'),
    ):
        with pytest.raises(InputError, match=message):
            obfuscate(PLACE, tmp_path / "in.csv", tmp_path / target, keep)


def test_a_kept_column_that_csv_cannot_hold_is_refused(tmp_path) -> None:
    parquet.write_table(pa.table({"vote": ["0", "1"], "list": [[1], [2]]}), tmp_path / "in.parquet")
    with pytest.raises(InputError, match="columns of these types"):
        obfuscate(VOTE, tmp_path / "in.parquet", tmp_path / "out.csv", keep=["list"])
    assert obfuscate(VOTE, tmp_path / "in.parquet", tmp_path / "out.parquet", keep=["list"]).rows == 2


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_the_new_file_has_ordinary_permissions(people, tmp_path) -> None:
    obfuscate(VOTE, tmp_path / "in.csv", tmp_path / "out.csv")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o666 & ~mask


MEMORY = """
import sys
import utmost as ut
from utmost.publish.local import CategoryMechanism, obfuscate
for name in sys.argv[1:]:
    obfuscate(CategoryMechanism("vote", ut.epsilon(1), ("0", "1")), name, "out.csv", keep=["text"])
    print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read where Linux tells it")
def test_memory_does_not_grow_with_the_rows(tmp_path) -> None:
    """900 000 rows of 200 bytes more: 180 MB held once would be seen."""
    for name, rows in (("small.csv", 300_000), ("large.csv", 1_200_000)):
        line = b"0," + b"x" * 200 + b"\n"
        with (tmp_path / name).open("wb") as stream:
            stream.write(b"vote,text\n")
            for _ in range(rows // 10_000):
                stream.write(line * 10_000)
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, "small.csv", "large.csv"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": ":".join(filter(None, sys.path))},
        check=True,
    )
    small, large = map(int, run.stdout.split())
    assert large - small < 120


MECHANISMS = st.one_of(
    st.builds(
        CategoryMechanism,
        st.sampled_from(["vote", "a,b", "ü"]),
        st.sampled_from([epsilon(1), alpha("1/3"), epsilon("0.1")]),
        st.lists(st.text("abc,\"'é1", min_size=1, max_size=4), min_size=2, max_size=5, unique=True).map(tuple),
        st.none(),
        st.booleans(),
    ),
    st.builds(
        LocationMechanism,
        st.just("x"),
        st.just("y"),
        st.sampled_from([epsilon(1), alpha("1/3")]),
        st.sampled_from(["m", "km", "mi"]),
        st.sampled_from([Fraction(1, 10), Fraction(1, 3)]),
        st.sampled_from(
            [PlaneCoordinates("m"), PlaneCoordinates("ft"), DegreeCoordinates((Fraction("2.35"), Fraction("48.85")))]
        ),
        st.just(tuple(map(Fraction, ("-90", "-80", "70", "89")))),
        st.sampled_from(["refuse", "drop", (Fraction(1, 3), Fraction(2))]),
    ),
)


def test_a_column_that_no_note_may_name_is_refused_before_anything_is_drawn(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("a\x1bb,vote\n1,0\n")
    with pytest.raises(InputError, match="names must have texts without control characters"):
        obfuscate(
            CategoryMechanism("vote", epsilon(1), ("0", "1")), tmp_path / "in.csv", tmp_path / "o.csv", ["a\x1bb"]
        )
    assert not (tmp_path / "o.csv").exists()


PLAIN_TEXTS = st.text(max_size=4).filter(lambda text: not CONTROL_CHARACTER.search(text))  # what a note may hold


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_a_note_reads_back_equal(data) -> None:
    mechanism = data.draw(MECHANISMS)
    kept_columns, order = (
        tuple(data.draw(st.lists(PLAIN_TEXTS, max_size=2))),
        st.sampled_from(["kept", "shuffled"]),
    )
    metadata = TableMetadata(mechanism, data.draw(st.integers(0, 10**12)), data.draw(order), kept_columns, "utmost 1")
    text = table_metadata.metadata_json(metadata)
    assert table_metadata.parse_metadata(text) == metadata
    assert json.loads(text)["schema"] == "utmost-local/1"


GOOD_LOCATIONS = table_metadata.metadata_content(TableMetadata(PLACE, 3, "kept", (), "utmost 0"))
GOOD_CATEGORIES = table_metadata.metadata_content(TableMetadata(VOTE, 3, "kept", (), "utmost 0"))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.pop("rows"),
        lambda content: content.update(rows=-1),
        lambda content: content.update(rows="3"),
        lambda content: content.update(order="sorted"),
        lambda content: content.update(kept=[1]),
        lambda content: content.update(schema="utmost-local/2"),
        lambda content: content.update(surplus=1),
        lambda content: content["mechanism"].update(name="gauss"),
        lambda content: content["mechanism"].update(epsilon="-1"),
        lambda content: content["mechanism"].update(epsilon=[1]),
        lambda content: content["mechanism"].update(columns=["x"], values=["a"]),
        lambda content: content["mechanism"].update(box=[1, 2], truth="1/2"),
        lambda content: content["mechanism"].update(box="1", others=3),
        lambda content: content.update(mechanism=[]),
    ],
)
@pytest.mark.parametrize("good", [GOOD_LOCATIONS, GOOD_CATEGORIES], ids=["planar", "response"])
def test_a_note_that_was_changed_is_refused_in_one_line(change, good) -> None:
    content = json.loads(json.dumps(good))
    change(content)
    with pytest.raises(InputError) as problem:
        table_metadata.parse_metadata(json.dumps(content))
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "[" * 10**5, '{"schema": "utmost-release/1"}'])
def test_what_is_no_note_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="note must be"):
        table_metadata.parse_metadata(text)


def test_a_note_of_degrees_must_be_of_the_projection_that_is_known() -> None:
    coordinates, box = DegreeCoordinates((Fraction(0), Fraction(0))), tuple(map(Fraction, (0, 0, 1, 1)))
    mechanism = LocationMechanism("x", "y", epsilon(1), "km", Fraction(1), coordinates, box)
    content = table_metadata.metadata_content(TableMetadata(mechanism, 0, "kept", (), "utmost 0"))
    assert table_metadata.parse_metadata(json.dumps(content)).mechanism == mechanism
    content["mechanism"]["coordinates"]["metres_per_degree"][0] = "1"
    with pytest.raises(InputError, match="metres_per_degree"):
        table_metadata.parse_metadata(json.dumps(content))
    content["mechanism"]["coordinates"]["kind"] = "sphere"
    with pytest.raises(InputError, match="plane or degrees"):
        table_metadata.parse_metadata(json.dumps(content))
