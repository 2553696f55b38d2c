"""The whole API, asked by schemathesis for whatever its own description allows, and for what it does not.

No answer is a server error, and every answer is what the description says. UTMOST_FUZZ=1000 asks for that many examples
of each operation instead of the few that a gate has time for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed: make browser")

from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.core.failures import FailureGroup  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from curator_helpers import SURVEY, open_budget, write_visits  # noqa: E402

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = int(os.environ.get("UTMOST_FUZZ", "12"))


@pytest.fixture(scope="module")
def api_schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The API of a studio with a table, plans, a release, a budget and a curator whose token every request shows."""
    from starlette.testclient import TestClient

    from utmost.studio import visitors
    from utmost.studio.server import make_app
    from utmost.studio.settings import Limits, Settings

    folder: Path = tmp_path_factory.mktemp("fuzz")
    (folder / "folder").mkdir()
    limits = Limits(rate=(10**6, 10**6), loopback_rate=(10**6, 10**6), jobs=1, waiting_jobs=2, job_seconds=5)
    studio_settings = Settings(
        folder=folder / "folder",
        state_folder=folder / "state",
        tokens=folder / "tokens",
        limits=limits,
        hosts=("testserver",),
    )
    token = visitors.add_token(folder / "tokens", "ann", "curator")
    write_visits(studio_settings)
    open_budget(studio_settings, epsilon="100")
    (studio_settings.folder / "survey.toml").write_text(SURVEY)
    app = make_app(studio_settings)
    headers = {"Authorization": f"Bearer {token}"}
    with TestClient(app, headers=headers) as client:
        make_release(client)
        yield schemathesis.openapi.from_asgi("/openapi.json", app, headers=headers), headers


def make_release(client: Any) -> None:
    """A release to read, and a ledger with an entry."""
    offer = client.post("/api/curator/offers", json={"plan": SURVEY}).json()
    content = {name: offer[name] for name in ("key", "plan", "cost", "takes")}
    assert client.post("/api/curator/releases", json=content).json()["state"] == "done"


def find_failures(operation: Any, mode: Any, headers: dict[str, str]) -> list[str]:
    """What is wrong with the answers of one operation."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        derandomize=EXAMPLES < 100,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    def send_case(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    try:
        send_case()
    except Unsatisfiable:  # nothing that it takes can be wrong
        pass
    except (Exception, FailureGroup) as problem:
        return [f"{operation.label}, {mode.value}: {problem}"]
    return []


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
def test_every_answer_is_as_described_and_none_is_a_server_error(api_schema, mode):
    schema, headers = api_schema
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 30
    failures = [problem for operation in operations for problem in find_failures(operation, mode, headers)]
    assert not failures, "\n\n".join(failures)
