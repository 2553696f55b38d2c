"""What the stories share: a page that is watched while somebody walks through it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from browser import wait_until

WIDTHS = (360, 1440)
HEIGHTS = {360: 800, 1440: 900}
MAX_LAYOUT_SHIFT = 0.1  # what the web calls a good page at most
MAX_PAINT_MS = 1000.0 * float(os.environ.get("UTMOST_SLOW", "5"))  # a second, on a machine that does something else too
MAX_LATENCY_MS = 100.0 * float(os.environ.get("UTMOST_SLOW", "5")) * 2  # a tenth of one
EXPECTED_ERROR_PATTERN = re.compile(
    r"Failed to load resource: the server responded with a status of 4(22|09)"
)  # it was sent on purpose

# What the browser itself says about each document, told where we listen anyway.
WATCH_SCRIPT = """
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) console.debug(`shift ${one.value}`);
}).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => {
  for (const one of list.getEntriesByName("first-contentful-paint")) console.debug(`paint ${one.startTime}`);
}).observe({ type: "paint", buffered: true });
"""

# Moves a slider, and waits each time until the picture has been drawn once more and shown.
DRAG_SCRIPT = """async ([slider, figure, places]) => {
  const range = document.querySelector(slider), picture = document.querySelector(figure), times = [];
  for (const place of places) {
    const drawn = new Promise((done) => {
      const watch = new MutationObserver(() => { watch.disconnect(); requestAnimationFrame(() => done()); });
      watch.observe(picture, { attributes: true, attributeFilter: ["data-drawn"] });
    });
    const start = performance.now();
    range.value = place;
    range.dispatchEvent(new Event("input", { bubbles: true }));
    await drawn;
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 30));
  }
  return times;
}"""


@dataclass
class Walk:
    """A page of a certain width, and all that the browser had to say about it."""

    page: Any
    address: str
    width: int
    screenshot_folder: Path
    problems: list[str] = field(default_factory=list)
    shifts: dict[str, float] = field(default_factory=dict)
    paints: list[float] = field(default_factory=list)
    latencies: dict[str, float] = field(default_factory=dict)

    def go(self, path: str) -> None:
        """Open a page of the studio, and wait until its pictures are there."""
        self.page.goto(f"{self.address}{path}")
        self.wait_for_charts()

    def wait_for_charts(self) -> None:
        """Wait until all pictures of the page are drawn."""
        self.page.wait_for_load_state("load")
        figures = self.page.locator('figure[data-chart]:not([data-chart=""])')
        wait_until(
            lambda: self.page.locator('figure[data-chart]:not([data-chart=""]) svg').count() >= figures.count(), 60
        )

    def screenshot(self, name: str) -> None:
        """A picture of the whole page as it is."""
        scheme = "dark" if self.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
        path = self.screenshot_folder / f"{name}-{self.page.viewport_size['width']}-{scheme}.png"
        self.page.screenshot(path=path, full_page=True, animations="disabled")

    def drag(self, slider: str, figure: str, positions: list[int]) -> float:
        """The median of the milliseconds from a slider's move to its picture."""
        latency = median(self.page.evaluate(DRAG_SCRIPT, [slider, figure, positions]))
        self.latencies[figure] = latency
        return latency

    def text(self, selector: str) -> str:
        """What stands at a place."""
        return str(self.page.locator(selector).first.text_content()).strip()

    def tab_to(self, selector: str, max_presses: int = 200) -> None:
        """Go there with the Tab key alone."""
        target = self.page.locator(selector).first
        for _ in range(max_presses):
            self.page.keyboard.press("Tab")
            if target.evaluate("(one) => one === document.activeElement"):
                return
        raise AssertionError(f"{selector} is not reached with the Tab key")

    def record_message(self, message: Any) -> None:
        """Note a line of the console."""
        kind, _, value = message.text.partition(" ")
        if kind == "shift" and message.type == "debug":
            self.shifts[self.page.url] = self.shifts.get(self.page.url, 0) + float(value)
        elif kind == "paint" and message.type == "debug":
            self.paints.append(float(value))
        elif message.type in ("error", "warning") and EXPECTED_ERROR_PATTERN.match(message.text) is None:
            self.problems.append(f"{message.type}: {message.text}")

    def check(self, story: str) -> None:
        """The page complained of nothing, nothing jumped, it was painted and moved in time; the figures are printed."""
        assert not self.problems, self.problems
        large_shifts = {url: value for url, value in self.shifts.items() if value >= MAX_LAYOUT_SHIFT}
        assert not large_shifts, large_shifts
        assert self.paints
        fits = self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert fits, "the page is wider than its window"
        latencies = ", ".join(f"{figure} follows in {time:.0f} ms" for figure, time in self.latencies.items())
        max_shift = max(self.shifts.values(), default=0.0)
        print(
            f"\n{story}, {self.width} px: first paint {median(self.paints):.0f} ms (median of {len(self.paints)}), ",
            end="",
        )
        print(f"largest layout shift {max_shift:.3f}{', ' + latencies if latencies else ''}")
        assert median(self.paints) < MAX_PAINT_MS
        assert all(time < MAX_LATENCY_MS for time in self.latencies.values())


@contextmanager
def open_walk(browser: Any, address: str, width: int, screenshot_folder: Path, scheme: str = "light") -> Iterator[Walk]:
    """A walk in a browser of its own: no cookies, no history."""
    size = {"width": width, "height": HEIGHTS[width]}
    context = browser.new_context(viewport=size, color_scheme=scheme, accept_downloads=True, reduced_motion="reduce")
    context.add_init_script(WATCH_SCRIPT)
    page = context.new_page()
    page.set_default_timeout(30_000)
    walk = Walk(page, address, width, screenshot_folder)
    page.on("console", walk.record_message)
    page.on("pageerror", lambda error: walk.problems.append(f"script: {error}"))
    try:
        yield walk
    finally:
        context.close()
