"""A studio on a folder with the bundled table, really served, for somebody in a real browser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from browser import chromium, served
from walking import Walk, walking


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The studio, not served yet; the charts' script is made."""
    from utmost.studio import vega_bundle
    from utmost.studio.app import make_app
    from utmost.studio.settings import Limits, Settings

    place = tmp_path_factory.mktemp("story")
    (place / "folder").mkdir()
    settings = Settings(folder=place / "folder", state=place / "state", limits=Limits(rate=(10**6, 10**6)))
    app = make_app(settings)
    path = app.state.house.bundle.path
    if not path.exists():
        vega_bundle.make(path)
    return app


@pytest.fixture(scope="module")
def address(house: Any) -> Iterator[str]:
    with served(house) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: $UTMOST_SHOTS, or a folder of pytest's."""
    given = os.environ.get("UTMOST_SHOTS")
    place = Path(given) if given else tmp_path_factory.mktemp("shots")
    place.mkdir(parents=True, exist_ok=True)
    return place


@pytest.fixture
def walk(browser: Any, address: str, shots: Path) -> Callable[[int], AbstractContextManager[Walk]]:
    """Somebody with a browser of a certain width."""
    return lambda width: walking(browser, address, width, shots)
