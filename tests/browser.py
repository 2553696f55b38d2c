"""What tests in a real Chromium share: the browser, and a studio that is really served."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = os.environ.get("UTMOST_CHROMIUM", "/usr/bin/chromium")
QUIET = ("background-networking", "component-update", "sync", "gpu", "dev-shm-usage")
ARGUMENTS = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in QUIET)]


@contextmanager
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make browser")
    if not os.path.exists(CHROMIUM):
        pytest.skip("Chromium is not installed: apt install chromium")
    with driver.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of an application that uvicorn serves in a thread."""
    import uvicorn

    place = socket.socket()
    place.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{place.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        place.close()


def until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait for a condition; the policy of our pages lets no test evaluate text in them to do it."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
