"""A release on a real Spark cluster: a master and two workers, processes of their own on the loopback interface."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

START_SECONDS, RELEASE_SECONDS = 60, 300
PERSONS, ROWS, GROUPS = 20_000, 60_000, 4
# At this ε the noise is 0 but for a probability below 10^-15: released values are the exact answers.
PLAN = """
neighbours = "add-remove"
budget = "b"
[source]
location = "rows.parquet"
engine = "ENGINE"
[unit]
column = "person"
rows = 3
[[query]]
name = "groups"
kind = "histogram"
keys = { group = [0, 1, 2, 3] }
epsilon = 120
[[query]]
name = "few"
kind = "count"
where = "amount < 50"
epsilon = 120
[[query]]
name = "total"
kind = "sum"
column = "amount"
low = 0
high = 100
step = 50
nulls = "drop"
epsilon = 240
[[query]]
name = "groups of few"
kind = "histogram"
where = "amount < 50"
keys = { group = [0, 1, 2, 3] }
epsilon = 120
"""
RELEASE = """
import sys
from utmost.publish.execute import release
release(sys.argv[1], lambda task, done, total: print(task, flush=True))
"""


@dataclass(frozen=True)
class Cluster:
    """A running cluster: its address, and its workers, each the leader of a process group with its executors."""

    address: str
    workers: list[subprocess.Popen[bytes]]


def start_daemon(class_name: str, *arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    scala = next(jars.glob("spark-core_*.jar")).name.split("_")[1].split("-")[0]
    settings = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(jars.parent), "SPARK_SCALA_VERSION": scala}
    with (folder / f"{class_name}.log").open("ab") as log:
        return subprocess.Popen(
            ["java", "-Xmx512m", "-cp", f"{jars}/*", f"org.apache.spark.deploy.{class_name}", *arguments],
            stdout=log, stderr=log, env=os.environ | settings, cwd=folder, start_new_session=True,
        )  # fmt: skip


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that a test started, and those that it started itself."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)


def wait_for_line(path: Path, text: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while text not in path.read_text(errors="replace"):
        assert time.monotonic() < deadline, f"{text!r} did not come"
        time.sleep(0.2)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'utmost[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed, and Spark needs it: install a Java runtime, 17 or later")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    address = f"spark://127.0.0.1:{port}"
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    processes = [start_daemon("master.Master", *local, "--port", port, folder=tmp_path)]
    try:
        wait_for_line(tmp_path / "master.Master.log", "New state: ALIVE")
        for _ in range(2):
            resources = ("--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / "work"))
            processes.append(start_daemon("worker.Worker", *local, *resources, address, folder=tmp_path))
        deadline = time.monotonic() + START_SECONDS
        log = tmp_path / "master.Master.log"
        while log.read_text(errors="replace").count("Registering worker") < 2:
            assert time.monotonic() < deadline, "two workers did not register"
            time.sleep(0.2)
        yield Cluster(address, processes[1:])
    finally:
        for process in reversed(processes):
            end_group(process)


def write_rows(folder: Path) -> None:
    """Six Parquet files, so that a query has several tasks; nobody has more than three rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "rows.parquet").mkdir()
    for number in range(6):
        rows = range(number, ROWS, 6)
        columns = {
            "person": [k % PERSONS for k in rows],
            "group": [k * k % 7 % GROUPS for k in rows],
            "amount": [k * 37 % 101 for k in rows],
        }
        pq.write_table(pa.table(columns), folder / "rows.parquet" / f"{number}.parquet")


def prepare(folder: Path, engine: str) -> None:
    from utmost.ledger import Budget, open_ledger

    (folder / f"{engine}.toml").write_text(PLAN.replace("ENGINE", engine).replace('"b"', f'"{engine}"'))
    with open_ledger("ledger.sqlite", folder) as ledger:
        ledger.open(Budget(engine, Fraction(1000), unit="person", neighbours="add-remove"))


def start_release(folder: Path, address: str) -> subprocess.Popen[str]:
    (folder / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 4\n")
    settings = {"SPARK_MASTER": address, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RELEASE, str(folder / "spark.toml")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | settings, cwd=folder,
    )  # fmt: skip


def released_values(folder: Path, engine: str) -> dict[str, Any]:
    document = json.loads((folder / f"{engine}.release.json").read_text())
    return {query["name"]: query["value"] for query in document["queries"]}


@pytest.mark.parametrize("is_worker_killed", [False, True], ids=["whole", "a worker killed"])
def test_a_cluster_gives_the_answers_of_a_local_engine_for_one_charge(
    cluster: Cluster, tmp_path: Path, is_worker_killed: bool
) -> None:
    """The second worker takes over what the first, killed while a query runs, had done or was doing."""
    from utmost.ledger import open_ledger
    from utmost.publish.execute import release

    write_rows(tmp_path)
    for engine in ("duckdb", "spark"):
        prepare(tmp_path, engine)
    release(tmp_path / "duckdb.toml")
    process = start_release(tmp_path, cluster.address)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if is_worker_killed and line.startswith("counting few"):
                time.sleep(0.1)  # into the query
                end_group(cluster.workers[0])
        assert process.wait(timeout=RELEASE_SECONDS) == 0, process.communicate()[1]
    finally:
        process.kill()
        process.communicate()
    assert released_values(tmp_path, "spark") == released_values(tmp_path, "duckdb")
    with open_ledger("ledger.sqlite", tmp_path) as ledger:
        assert len(ledger.history("spark")) == 1
    assert len(list((tmp_path / "work").glob("app-*/*"))) >= 2  # an executor on each worker
    assert (cluster.workers[0].poll() is not None) == is_worker_killed
