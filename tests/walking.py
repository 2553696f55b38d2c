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

from browser import until

WIDTHS = (360, 1440)
HEIGHTS = {360: 800, 1440: 900}
SHIFT = 0.1  # what the web calls a good page at most
PAINT = 1000.0 * float(os.environ.get("UTMOST_SLOW", "5"))  # a second, on a machine that does something else too
FOLLOWS = 100.0 * float(os.environ.get("UTMOST_SLOW", "5")) * 2  # a tenth of one
MISTAKE = re.compile(
    r"Failed to load resource: the server responded with a status of 4(22|09)"
)  # it was sent on purpose

# What the browser itself says about each document, told where we listen anyway.
WATCH = """
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) console.debug(`shift ${one.value}`);
}).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => {
  for (const one of list.getEntriesByName("first-contentful-paint")) console.debug(`paint ${one.startTime}`);
}).observe({ type: "paint", buffered: true });
"""

# Moves a slider, and waits each time until the picture has been drawn once more and shown.
DRAG = """async ([slider, figure, places]) => {
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
    shots: Path
    troubles: list[str] = field(default_factory=list)
    shifts: dict[str, float] = field(default_factory=dict)
    paints: list[float] = field(default_factory=list)
    latencies: dict[str, float] = field(default_factory=dict)

    def go(self, path: str) -> None:
        """Open a page of the studio, and wait until its pictures are there."""
        self.page.goto(f"{self.address}{path}")
        self.settle()

    def settle(self) -> None:
        """Wait until all pictures of the page are drawn."""
        self.page.wait_for_load_state("load")
        wanted = self.page.locator('figure[data-chart]:not([data-chart=""])')
        until(lambda: self.page.locator('figure[data-chart]:not([data-chart=""]) svg').count() >= wanted.count(), 60)

    def shot(self, name: str) -> None:
        """A picture of the whole page as it is."""
        scheme = "dark" if self.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
        place = self.shots / f"{name}-{self.page.viewport_size['width']}-{scheme}.png"
        self.page.screenshot(path=place, full_page=True, animations="disabled")

    def drag(self, slider: str, figure: str, places: list[int]) -> float:
        """The median of the milliseconds from a slider's move to its picture."""
        found = median(self.page.evaluate(DRAG, [slider, figure, places]))
        self.latencies[figure] = found
        return found

    def text(self, place: str) -> str:
        """What stands at a place."""
        return str(self.page.locator(place).first.text_content()).strip()

    def tab_to(self, place: str, most: int = 200) -> None:
        """Go there with the Tab key alone."""
        wanted = self.page.locator(place).first
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if wanted.evaluate("(one) => one === document.activeElement"):
                return
        raise AssertionError(f"{place} is not reached with the Tab key")

    def listen(self, message: Any) -> None:
        """Note a line of the console."""
        kind, _, value = message.text.partition(" ")
        if kind == "shift" and message.type == "debug":
            self.shifts[self.page.url] = self.shifts.get(self.page.url, 0) + float(value)
        elif kind == "paint" and message.type == "debug":
            self.paints.append(float(value))
        elif message.type in ("error", "warning") and MISTAKE.match(message.text) is None:
            self.troubles.append(f"{message.type}: {message.text}")

    def well(self, story: str) -> None:
        """The page complained of nothing, nothing jumped, it was painted and moved in time; the figures are printed."""
        assert not self.troubles, self.troubles
        jumped = {url: value for url, value in self.shifts.items() if value >= SHIFT}
        assert not jumped, jumped
        assert self.paints
        wide = self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert wide, "the page is wider than its window"
        follow = ", ".join(f"{figure} follows in {time:.0f} ms" for figure, time in self.latencies.items())
        jump = max(self.shifts.values(), default=0.0)
        print(
            f"\n{story}, {self.width} px: first paint {median(self.paints):.0f} ms (median of {len(self.paints)}), ",
            end="",
        )
        print(f"largest layout shift {jump:.3f}{', ' + follow if follow else ''}")
        assert median(self.paints) < PAINT
        assert all(time < FOLLOWS for time in self.latencies.values())


@contextmanager
def walking(browser: Any, address: str, width: int, shots: Path, scheme: str = "light") -> Iterator[Walk]:
    """A walk in a browser of its own: no cookies, no history."""
    size = {"width": width, "height": HEIGHTS[width]}
    context = browser.new_context(viewport=size, color_scheme=scheme, accept_downloads=True, reduced_motion="reduce")
    context.add_init_script(WATCH)
    page = context.new_page()
    page.set_default_timeout(30_000)
    walk = Walk(page, address, width, shots)
    page.on("console", walk.listen)
    page.on("pageerror", lambda error: walk.troubles.append(f"script: {error}"))
    try:
        yield walk
    finally:
        context.close()
