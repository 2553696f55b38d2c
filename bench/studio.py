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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

CONSUMERS, CURATORS = 200, 20
SECONDS = float(os.environ.get("UTMOST_BENCH_SECONDS", "60"))
THINKS = 2.0  # seconds of a visitor between an answer and her next question
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
    """What one role was answered: times by request, and what was no answer."""

    times: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # a budget that is short is an answer too
    errors: list[str] = field(default_factory=list)

    def row(self, who: str) -> list[str]:
        """The line of a table."""
        at = sorted(self.times)
        share = [f"{at[min(len(at) - 1, int(len(at) * part))] * 1e3:.0f} ms" for part in (0.5, 0.95)]
        return [who, str(len(at)), *share, f"{at[-1] * 1e3:.0f} ms", str(len(self.refused)), str(len(self.errors))]


class Visitor:
    """A connection that is kept, a token, and a tally."""

    def __init__(self, address: tuple[str, int], token: str, tally: Tally) -> None:
        self._address, self._token, self._tally = address, token, tally
        self._pipe: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, content: Any = None) -> Any:
        """The parsed answer; None where it was refused or failed, which is counted."""
        start = time.perf_counter()
        try:
            status, body = await asyncio.wait_for(self._sent(path, content), 60)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as problem:
            self._tally.errors.append(f"{path}: {type(problem).__name__}")
            self._pipe = None
            return None
        self._tally.times.append(time.perf_counter() - start)
        if status == 409:
            self._tally.refused.append(json.loads(body)["message"])
        elif status >= 400:
            self._tally.errors.append(f"{path}: {status} {body[:200]!r}")
        return json.loads(body) if status < 400 else None

    async def _sent(self, path: str, content: Any) -> tuple[int, bytes]:
        if self._pipe is None:
            self._pipe = await asyncio.open_connection(*self._address)
        reader, writer = self._pipe
        body = b"" if content is None else json.dumps(content).encode()
        lines = [f"{'GET' if content is None else 'POST'} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._address[1]}"]
        lines += [f"Authorization: Bearer {self._token}", "Content-Type: application/json"]
        writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        assert length is not None
        answer = await reader.readexactly(int(length[1]))
        if "connection: close" in head:
            writer.close()
            self._pipe = None
        return int(head.split(" ", 2)[1]), answer


def reading(k: int) -> str:
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


async def consumer(visitor: Visitor, number: int, release: str) -> None:
    """She looks at the list and the release, then reads."""
    await asyncio.sleep(THINKS * number / CONSUMERS)
    await visitor.ask("/api/consumer")
    await visitor.ask(f"/api/consumer/releases/{release}")
    for k in range(number * 1000, (number + 1) * 1000):
        await visitor.ask(f"/api/consumer/releases/{release}/reading?{reading(k)}")
        await asyncio.sleep(THINKS)


async def curator(visitor: Visitor, number: int) -> None:
    """She looks at a plan's cost, offers it, accepts, and clicks twice."""
    await asyncio.sleep(THINKS * number / CURATORS)
    plan = PLAN.format(cost=COST)
    while True:
        await visitor.ask("/api/curator/budgets")
        await visitor.ask("/api/curator/preview", {"plan": plan})
        offer = await visitor.ask("/api/curator/offers", {"plan": plan})
        if offer is not None:
            accepted = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
            await visitor.ask("/api/curator/releases", accepted)
            await visitor.ask("/api/curator/releases", accepted)
        await asyncio.sleep(THINKS)


@contextmanager
def serving(folder: Path, ledger: str, tokens: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`utmost serve` in its own process, and its port."""
    command = [sys.executable, "-m", "utmost", "serve", "--ledger", ledger, "--tokens", str(tokens)]
    own = {"XDG_STATE_HOME": str(folder.parent / "state")}
    with subprocess.Popen(
        [*command, "--folder", str(folder), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **own},
    ) as server:
        try:
            assert server.stdout is not None
            told = ""
            while not told.rstrip().endswith("}"):
                line = server.stdout.readline()
                assert line, "utmost serve did not start"
                told += line
            yield server, int(json.loads(told)["address"].rstrip("/").rpartition(":")[2])
        finally:
            server.terminate()
            server.wait(60)


def megabytes(process: int) -> float:
    """Resident memory of a process."""
    with open(f"/proc/{process}/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Run:
    """What a minute of load gave."""

    consumers: Tally
    curators: Tally
    memory: list[float]


async def load(port: int, keys: dict[str, str], process: int, seconds: float) -> Run:
    """All visitors at once, for so long."""
    address, run = ("127.0.0.1", port), Run(Tally(), Tally(), [])
    first = Visitor(address, keys["curator0"], Tally())
    offer = await first.ask("/api/curator/offers", {"plan": PLAN.format(cost=COST)})
    made = await first.ask("/api/curator/releases", {name: offer[name] for name in ("key", "plan", "cost", "takes")})
    walks = [consumer(Visitor(address, keys[f"consumer{k}"], run.consumers), k, made["file"]) for k in range(CONSUMERS)]
    walks += [curator(Visitor(address, keys[f"curator{k}"], run.curators), k) for k in range(CURATORS)]
    tasks = [asyncio.create_task(walk) for walk in walks]
    for _ in range(12):
        await asyncio.sleep(seconds / 12)
        run.memory.append(megabytes(process))
    for task in tasks:
        task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    problems = [one for one in found if not isinstance(one, asyncio.CancelledError)]
    assert not problems, problems[:3]
    return run


def audited(ledger: str, folder: Path) -> str:
    """Nothing was overspent: every release has its charge, the charges add up to what is spent, within the budget."""
    from utmost import ledger as ledgers
    from utmost.publish import release_file

    with ledgers.open_ledger(ledger, folder) as books:
        charges, state = books.history("survey"), books.state("survey")
    entries = [release_file.read_release(path).entry.number for path in (folder / "releases").glob("*.release.json")]
    total = sum((charge.epsilon for charge in charges), Fraction(0))
    assert total == state.spent <= BUDGET, (total, state.spent)
    assert len(entries) == len(set(entries)), "two releases on one charge"
    lost = len({charge.number for charge in charges} - set(entries))  # cut off by the end of the run
    assert set(entries) <= {charge.number for charge in charges}
    assert lost <= CURATORS, lost
    found = f"{len(charges)} charges of ε {COST}, ε {total} of {BUDGET} in all"
    return f"{found}; {len(entries)} releases, each with a charge of its own"


def measured(ledger: str, name: str, place: Path) -> tuple[list[list[str]], str]:
    """One run on a ledger: the rows of the table, and what the audit says."""
    from utmost import ledger as ledgers
    from utmost.studio import tokens

    folder, file = place / "folder", place / "tokens"
    folder.mkdir()
    people = [("consumer", k) for k in range(CONSUMERS)] + [("curator", k) for k in range(CURATORS)]
    keys = {f"{role}{k}": tokens.add_token(file, f"{role}{k}", role) for role, k in people}
    with ledgers.open_ledger(ledger, folder) as books:
        books.open(ledgers.Budget("survey", BUDGET, remember=False))
    with serving(folder, ledger, file) as (server, port):
        run = asyncio.run(load(port, keys, server.pid, SECONDS))
    for tally in (run.consumers, run.curators):
        for problem, times in Counter([*tally.errors, *tally.refused]).most_common(5):
            print(f"  {times} × {problem}", file=sys.stderr)
    rows = [[name, *run.consumers.row(f"{CONSUMERS} consumers")], [name, *run.curators.row(f"{CURATORS} curators")]]
    early, middle, late = (f"{run.memory[place]:.0f}" for place in (1, 5, -1))
    memory = f"server's memory {early} MB after a sixth of the time, {middle} MB after half, {late} MB at the end"
    return rows, f"{name}: {audited(ledger, folder)}; {memory}."


@contextmanager
def ledgers_at_hand() -> Iterator[dict[str, str]]:
    """SQLite, and PostgreSQL where it is installed: the URL of each by its name."""
    with ExitStack() as stack:
        found = {"SQLite": "ledger.sqlite"}
        sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
        import postgres

        running = postgres.server()
        if isinstance(running, str):
            print(f"without PostgreSQL: {running}", file=sys.stderr)
        else:
            stack.callback(running.stop)
            found["PostgreSQL"] = stack.enter_context(postgres.database())
        yield found


def report() -> str:
    """The table, and what the ledgers say."""
    from run import table

    rows, words = [], []
    with ledgers_at_hand() as found:
        for name, ledger in found.items():
            print(f"measuring the studio with {name} …", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as place:
                more, said = measured(ledger, name, Path(place))
            rows += more
            words.append(said)
    return "\n\n".join([table(HEADER, rows), *words])


if __name__ == "__main__":
    print(report())
