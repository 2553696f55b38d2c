"""The studio under load: a team of consumers and curators at once, on loopback, for a minute.

`utmost serve` runs in a process of its own, with tokens and a ledger. Each consumer opens the release, then reads it
again and again with another prior or another loss; each curator looks at a plan, offers it and accepts, until the
budget is spent and then some. A visitor asks, waits for the answer, thinks for a while, asks again. At the end the
ledger is added up.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from measuring import QUICK, Blocks, Figure, Measurement, Measurements, Section, markdown_table, print_section

CONSUMERS, CURATORS = (4, 2) if QUICK else (200, 20)
SECONDS = 3.0 if QUICK else 60.0
THINK_SECONDS = 2.0  # of a visitor between a response and the next request
BUDGET, COST = Fraction(1), Fraction(1, 15)
HEADER = ["ledger", "who", "requests", "p50", "p95", "longest", "refused", "errors"]
PLAN = """neighbours = "replace"
budget = "survey"
[source]
location = "bundled:anes96"
[[query]]
name = "dole"
kind = "count"
where = "vote = 1"
epsilon = "{cost}"
"""


@dataclass
class Tally:
    """The responses to one role: seconds of each request, refusals and errors."""

    times: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # a budget that is short is an answer too
    errors: list[str] = field(default_factory=list)

    def row(self, role: str) -> list[str]:
        """The line of a table."""
        times = sorted(self.times)
        last = len(times) - 1
        quantiles = [f"{times[min(last, int(len(times) * q))] * 1e3:.0f} ms" for q in (0.5, 0.95)]
        counts = [str(len(self.refused)), str(len(self.errors))]
        return [role, str(len(times)), *quantiles, f"{times[-1] * 1e3:.0f} ms", *counts]


class Visitor:
    """An open connection, a token, and a tally."""

    def __init__(self, address: tuple[str, int], token: str, tally: Tally) -> None:
        self._address, self._token, self._tally = address, token, tally
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(self, path: str, content: Any = None) -> Any:
        """The parsed answer; None where it was refused or failed, which is counted."""
        start = time.perf_counter()
        try:
            status, body = await asyncio.wait_for(self._send(path, content), 60)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as problem:
            self._tally.errors.append(f"{path}: {type(problem).__name__}")
            self._connection = None
            return None
        self._tally.times.append(time.perf_counter() - start)
        if status == 409:
            self._tally.refused.append(json.loads(body)["message"])
        elif status >= 400:
            self._tally.errors.append(f"{path}: {status} {body[:200]!r}")
        return json.loads(body) if status < 400 else None

    async def _send(self, path: str, content: Any) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = await asyncio.open_connection(*self._address)
        reader, writer = self._connection
        body = b"" if content is None else json.dumps(content).encode()
        lines = [f"{'GET' if content is None else 'POST'} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._address[1]}"]
        lines += [f"Authorization: Bearer {self._token}", "Content-Type: application/json"]
        writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        assert length is not None
        response = await reader.readexactly(int(length[1]))
        if "connection: close" in head:
            writer.close()
            self._connection = None
        return int(head.split(" ", 2)[1]), response


def reading_query(k: int) -> str:
    """The k-th way to read a count: another prior, another loss."""
    priors: list[dict[str, str]] = [
        {"prior": "binomial", "p": f"{(k * 37) % 997 / 1000 + 0.001:.3f}"},
        {"prior": "poisson", "mean": str(100 + (k * 53) % 700)},
        {"prior": "steps", "bars": ",".join(str(1 + (k * j) % 9) for j in range(1, 11))},
        {"prior": "uniform"},
    ]
    losses: list[dict[str, str]] = [
        {"loss": "absolute"},
        {"loss": "squared"},
        {"loss": "asymmetric", "under": str(1 + k % 5)},
    ]
    return urlencode({"query": "dole", **priors[k % 4], **losses[k % 3]})


async def run_consumer(visitor: Visitor, number: int, release: str) -> None:
    """Request the list and the release, then one reading after another."""
    await asyncio.sleep(THINK_SECONDS * number / CONSUMERS)
    await visitor.request("/api/consumer")
    await visitor.request(f"/api/consumer/releases/{release}")
    for k in range(number * 1000, (number + 1) * 1000):
        await visitor.request(f"/api/consumer/releases/{release}/reading?{reading_query(k)}")
        await asyncio.sleep(THINK_SECONDS)


async def run_curator(visitor: Visitor, number: int) -> None:
    """Request a plan's cost, offer it, accept, and accept again."""
    await asyncio.sleep(THINK_SECONDS * number / CURATORS)
    plan = PLAN.format(cost=COST)
    while True:
        await visitor.request("/api/curator/budgets")
        await visitor.request("/api/curator/preview", {"plan": plan})
        offer = await visitor.request("/api/curator/offers", {"plan": plan})
        if offer is not None:
            accepted = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
            await visitor.request("/api/curator/releases", accepted)
            await visitor.request("/api/curator/releases", accepted)
        await asyncio.sleep(THINK_SECONDS)


@contextmanager
def run_server(folder: Path, ledger: str, tokens: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`utmost serve` in its own process, and its port."""
    command = [sys.executable, "-m", "utmost", "serve", "--ledger", ledger, "--tokens", str(tokens)]
    environment = {"XDG_STATE_HOME": str(folder.parent / "state")}
    with subprocess.Popen(
        [*command, "--folder", str(folder), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as server:
        try:
            assert server.stdout is not None
            output = ""
            while not output.rstrip().endswith("}"):
                line = server.stdout.readline()
                assert line, "utmost serve did not start"
                output += line
            yield server, int(json.loads(output)["address"].rstrip("/").rpartition(":")[2])
        finally:
            server.terminate()
            server.wait(60)


def resident_megabytes(process: int) -> float:
    """Resident memory of a process."""
    with open(f"/proc/{process}/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Run:
    """The tallies of one run, and the server's memory during it."""

    consumers: Tally
    curators: Tally
    memory: list[float]


async def run_load(port: int, keys: dict[str, str], process: int, seconds: float) -> Run:
    """All visitors at once, for so long."""
    address, run = ("127.0.0.1", port), Run(Tally(), Tally(), [])
    first = Visitor(address, keys["curator0"], Tally())
    offer = await first.request("/api/curator/offers", {"plan": PLAN.format(cost=COST)})
    accepted = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    release = await first.request("/api/curator/releases", accepted)
    walks = [
        run_consumer(Visitor(address, keys[f"consumer{k}"], run.consumers), k, release["file"])
        for k in range(CONSUMERS)
    ]
    walks += [run_curator(Visitor(address, keys[f"curator{k}"], run.curators), k) for k in range(CURATORS)]
    tasks = [asyncio.create_task(walk) for walk in walks]
    for _ in range(12):
        await asyncio.sleep(seconds / 12)
        run.memory.append(resident_megabytes(process))
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    problems = [result for result in results if not isinstance(result, asyncio.CancelledError)]
    assert not problems, problems[:3]
    return run


def audit_ledger(ledger: str, folder: Path) -> str:
    """Nothing was overspent: every release has its charge, the charges add up to what is spent, within the budget."""
    from utmost import ledger as ledgers
    from utmost.publish import release_file

    with ledgers.open_ledger(ledger, folder) as store:
        charges, state = store.history("survey"), store.state("survey")
    entries = [release_file.read_release(path).entry.number for path in (folder / "releases").glob("*.release.json")]
    total = sum((charge.epsilon for charge in charges), Fraction(0))
    assert total == state.spent <= BUDGET, (total, state.spent)
    assert len(entries) == len(set(entries)), "two releases on one charge"
    unreleased = len({charge.number for charge in charges} - set(entries))  # cut off by the end of the run
    assert set(entries) <= {charge.number for charge in charges}
    assert unreleased <= CURATORS, unreleased
    summary = f"{len(charges)} charges of ε {COST}, ε {total} of {BUDGET} in all"
    return f"{summary}; {len(entries)} releases, each with a charge of its own"


def measure_load(ledger: str, parent: Path) -> Measurement:
    """One run on a ledger: the rows of the table, the number of errors, the audit, and the server's memory."""
    from utmost import ledger as ledgers
    from utmost.studio import visitors as tokens

    folder, file = parent / "folder", parent / "tokens"
    folder.mkdir()
    visitors = [("consumer", k) for k in range(CONSUMERS)] + [("curator", k) for k in range(CURATORS)]
    keys = {f"{role}{k}": tokens.add_token(file, f"{role}{k}", role) for role, k in visitors}
    with ledgers.open_ledger(ledger, folder) as store:
        store.open(ledgers.Budget("survey", BUDGET, remember=False))
    with run_server(folder, ledger, file) as (server, port):
        run = asyncio.run(run_load(port, keys, server.pid, SECONDS))
    for tally in (run.consumers, run.curators):
        for problem, times in Counter([*tally.errors, *tally.refused]).most_common(5):
            print(f"  {times} × {problem}", file=sys.stderr)
    return {
        "rows": [run.consumers.row(f"{CONSUMERS} consumers"), run.curators.row(f"{CURATORS} curators")],
        "errors": len(run.consumers.errors) + len(run.curators.errors),
        "answers": len(run.consumers.times),
        "memory": [run.memory[sample] for sample in (1, 5, -1)],
        "audit": audit_ledger(ledger, folder),
    }


def measure_postgres() -> Measurement:
    """The same on PostgreSQL, where it is installed."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    import postgres

    server = postgres.server()
    if isinstance(server, str):
        return {"missing": server}
    try:
        with postgres.database() as url, tempfile.TemporaryDirectory() as folder:
            return measure_load(url, Path(folder))
    finally:
        server.stop()


def measure_sqlite() -> Measurement:
    """A run on SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        return measure_load("ledger.sqlite", Path(folder))


def audit_line(name: str, measurement: Measurement) -> str:
    """What a ledger holds after its run, and the server's memory."""
    early, middle, late = (f"{megabytes:.0f} MB" for megabytes in measurement["memory"])
    memory = f"server's memory {early} after a sixth of the time, {middle} after half, {late} at the end"
    rate = f"{measurement['answers'] / SECONDS:.0f} answers a second to consumers"
    return f"- {name}: {measurement['audit']}; {rate}; {memory}."


def report(measurements: Measurements) -> Blocks:
    """The table, and the audit of each ledger."""
    rows, lines = [], []
    for name, measurement in measurements.items():
        if "missing" in measurement:
            rows.append([name, measurement["missing"], *[""] * (len(HEADER) - 2)])
            continue
        rows += [[name, *row] for row in measurement["rows"]]
        lines.append(audit_line(name, measurement))
    return {"studio": [*markdown_table(HEADER, rows), "", *lines]}


def ledger_figures(name: str) -> list[Figure]:
    """No error, and no memory that grows."""

    def growth(measurements: Measurements) -> float:
        early, _, late = measurements[name]["memory"]
        return late / early

    errors = Figure(f"studio on {name}, errors", (name,), lambda m: float(m[name]["errors"]), 0, False, "errors")
    return [errors, Figure(f"studio on {name}, memory at the end ÷ after a sixth", (name,), growth, 1.4, False)]


SECTION = Section(
    "studio",
    {"SQLite": lambda _: measure_sqlite(), "PostgreSQL": lambda _: measure_postgres()},
    [*ledger_figures("SQLite"), *ledger_figures("PostgreSQL")],
    report,
)

if __name__ == "__main__":
    print_section(SECTION)
