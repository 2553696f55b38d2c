"""A studio on a folder with the bundled table, really served, for somebody in a real browser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from browser import chromium, serve
from page_walks import Walk, open_walk


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The studio, not served yet; the charts' script is made."""
    from utmost.studio import vega_bundle
    from utmost.studio.server import make_app
    from utmost.studio.settings import Limits, Settings

    root = tmp_path_factory.mktemp("story")
    (root / "folder").mkdir()
    settings = Settings(folder=root / "folder", state_folder=root / "state", limits=Limits(rate=(10**6, 10**6)))
    app = make_app(settings)
    path = app.state.app_state.bundle.path
    if not path.exists():
        vega_bundle.build_bundle(path)
    return app


@pytest.fixture(scope="module")
def address(app: Any) -> Iterator[str]:
    with serve(app) as served_address:
        yield served_address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as chromium_browser:
        yield chromium_browser


@pytest.fixture(scope="session")
def screenshot_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: $UTMOST_SHOTS, or a folder of pytest's."""
    folder = os.environ.get("UTMOST_SHOTS")
    path = Path(folder) if folder else tmp_path_factory.mktemp("screenshot_folder")
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture
def walk(browser: Any, address: str, screenshot_folder: Path) -> Callable[[int], AbstractContextManager[Walk]]:
    """Somebody with a browser of a certain width."""
    return lambda width: open_walk(browser, address, width, screenshot_folder)
