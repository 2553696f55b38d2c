"""The script that draws charts: Vega, Vega-Lite and Vega-Embed as vl-convert carries them; no network.

Putting it together takes seconds, so it is done once, in a process of its own, and kept in the user's cache folder
under its version. Until then pages are shown without their charts, and charts.js asks again.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from importlib.metadata import version
from pathlib import Path

from utmost.studio.settings import cache_folder


class VegaBundle:
    """The file of the bundle, and the process that makes it."""

    def __init__(self, folder: Path | None = None) -> None:
        self.version = hashlib.sha256(f"vl-convert {version('vl-convert-python')}".encode()).hexdigest()[:12]
        self.path = (folder or cache_folder()) / f"vega-{self.version}.js"
        self._lock = threading.Lock()
        self._builder: subprocess.Popen[bytes] | None = None

    def is_ready(self) -> bool:
        """Can it be sent."""
        return self.path.is_file()

    def prepare(self) -> None:
        """Begin to make it, unless it is there or in the making."""
        with self._lock:
            if self.is_ready() or (self._builder is not None and self._builder.poll() is None):
                return
            self._builder = start_build(self.path)

    def stop(self) -> None:
        """End the making, if it goes on."""
        with self._lock:
            if self._builder is not None:
                self._builder.terminate()
                self._builder.wait()
                self._builder = None


def start_build(path: Path) -> subprocess.Popen[bytes]:
    """The process that makes the bundle."""
    command = [sys.executable, "-P", "-m", "utmost.studio.vega_bundle", str(path)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def build_bundle(path: Path) -> None:
    """Put the bundle together and write it, whole or not at all."""
    import vl_convert

    text = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub forgets the default
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(temporary, path)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)  # pages come first
    build_bundle(Path(sys.argv[1]))
