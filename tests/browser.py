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
DISABLED_FEATURES = ("background-networking", "component-update", "sync", "gpu", "dev-shm-usage")
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in DISABLED_FEATURES)]


@contextmanager
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make browser")
    if not os.path.exists(CHROMIUM):
        pytest.skip("Chromium is not installed: apt install chromium")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def serve(app: Any) -> Iterator[str]:
    """The address of an application that uvicorn serves in a thread."""
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def wait_until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait for a condition; the policy of our pages lets no test evaluate text in them to do it."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
