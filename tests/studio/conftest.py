"""A studio on an empty folder, without a socket. Where its packages are missing, every test here is skipped, aloud."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from utmost.studio.settings import Settings

REQUIRED_PACKAGES = ("fastapi", "uvicorn", "jinja2", "python_multipart", "httpx")
MISSING_PACKAGES = [name for name in REQUIRED_PACKAGES if find_spec(name) is None]


class SkippedModule(pytest.Module):
    """A module of tests that cannot be imported."""

    def collect(self) -> Any:
        pytest.skip(f"{', '.join(MISSING_PACKAGES)} not installed: make browser", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> Any:
    return SkippedModule.from_parent(parent, path=module_path) if MISSING_PACKAGES else None


@dataclass
class Studio:
    """A client of a studio, its settings, and the CSRF token of its session."""

    client: Any
    settings: Settings
    state: Any  # the AppState
    tokens: dict[str, str] = field(default_factory=dict)  # by name

    @property
    def csrf(self) -> str:
        return str(self.client.get("/api/session").json()["csrf"])

    def get(self, path: str, **options: Any) -> Any:
        return self.client.get(path, **options)

    def wait_for_job(self, job_id: str) -> dict[str, Any]:
        """A job once it is over."""
        for _ in range(900):
            job_data: dict[str, Any] = self.get(f"/api/jobs/{job_id}").json()
            if job_data["state"] not in ("waiting", "running"):
                return job_data
            time.sleep(0.1)
        raise AssertionError("the job did not end within 90 seconds")

    def post(self, path: str, **options: Any) -> Any:
        """A change, with the token that it needs."""
        headers = {"X-CSRF-Token": self.csrf, **options.pop("headers", {})}
        return self.client.post(path, headers=headers, **options)


def open_studio(settings: Settings) -> Iterator[Studio]:
    from starlette.testclient import TestClient

    from utmost.studio.server import make_app

    app = make_app(settings)
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        yield Studio(client, settings, app.state.app_state)


@pytest.fixture(scope="session", autouse=True)
def temporary_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """State and cache of the tests, not the user's; no bundle is made unless a test asks for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("utmost.studio.vega_bundle.start_build", lambda path: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_workers() -> Iterator[None]:
    """Worker processes that one studio after the other uses: to start one takes seconds."""
    if MISSING_PACKAGES:
        yield
        return
    from utmost.studio import background

    idle_workers: list[background.Worker] = []

    class SharedWorker(background.Worker):
        """A worker that is kept for the next studio."""

        def end(self) -> None:
            if self.process.poll() is None:
                idle_workers.append(self)
            else:
                super().end()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "start_worker", lambda: idle_workers.pop() if idle_workers else SharedWorker())
        yield
    for worker in idle_workers:
        background.Worker.end(worker)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    from utmost.studio.settings import Limits, Settings

    (tmp_path / "folder").mkdir()
    limits = Limits(rate=(10**6, 10**6))  # a test is in a hurry
    return Settings(folder=tmp_path / "folder", state_folder=tmp_path / "state", limits=limits)


@pytest.fixture
def studio(settings: Settings) -> Iterator[Studio]:
    yield from open_studio(settings)


@pytest.fixture
def tokens_file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.txt"


@pytest.fixture
def team(settings: Settings, tokens_file: Path) -> Iterator[Studio]:
    """A studio with tokens: of ann, a curator, and of bob, a consumer."""
    from utmost.studio import visitors

    tokens_by_name = {
        "ann": visitors.add_token(tokens_file, "ann", "curator"),
        "bob": visitors.add_token(tokens_file, "bob", "consumer"),
    }
    for studio in open_studio(replace(settings, tokens=tokens_file)):
        studio.tokens = tokens_by_name
        yield studio


if not MISSING_PACKAGES:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which client of HTTP starlette's stands on is its own affair
        import starlette.testclient  # noqa: F401
