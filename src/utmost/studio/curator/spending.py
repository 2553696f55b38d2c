"""Spending, once: a plan is offered at a cost under a key, and whoever accepts the offer accepts that cost.

A key is charged at most once, however often and from wherever it is sent, also when the studio was stopped in between:
what was begun and has no outcome is looked up in the ledger and not run again.
"""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from utmost import ledger
from utmost.errors import UtmostError
from utmost.publish import execute, plan_writer, preview, release_file
from utmost.publish.execute import Preview
from utmost.publish.plans import Plan
from utmost.publish.release_model import Release
from utmost.studio.curator import plan_builder
from utmost.studio.curator.offers import AcceptedOffer, Offer, Offers, Outcome, StartedRun
from utmost.studio.data_folder import RELEASE_SUFFIX
from utmost.studio.form_errors import Refusal
from utmost.studio.metrics import Metrics
from utmost.studio.sessions import random_token
from utmost.studio.settings import Settings, private_folder

SLUG = re.compile(r"[^a-z0-9]+")
AT_ONCE = 4  # releases that are made at a time
RELEASE_SECONDS = 20.0  # seconds that a request waits for its release
RECENT = 60.0  # seconds in which another studio may still be at work
LOST = (
    "The budget was charged (entry {}) and the answers were not kept, because the studio failed or was stopped at that "
    "moment. Nothing was told. Confirm the plan again to have answers: that is charged again, unless the ledger "
    "remembers the release."
)
NOTHING = "The studio was stopped before anything was charged. Nothing was spent: confirm the plan again."
ELSEWHERE = "It was begun by a studio that is not this one: reload the page in a minute to see what became of it."


class SpendingService:
    """The offers of a studio, and the threads that carry them out."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings, self._metrics = settings, metrics
        self._offers = Offers(private_folder(settings.state / "offers"))
        self._plans = private_folder(settings.state / "plans")
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="spend")
        self._going: dict[str, Future[Outcome]] = {}
        self._words: dict[str, str] = {}

    def offer(self, owner: str, plan: Plan) -> Offer:
        """Offer a plan at what it costs now. All that the plan can be refused for is refused here."""
        with execute.prepare_release(replace(plan, ledger=self._settings.ledger)) as ready:
            seen = ready.preview
        made = Offer(
            key=random_token(),
            plan=plan_writer.write_plan(plan),
            **_amounts(seen),
            budget=plan.budget,
            left=str(seen.left),
            after=str(seen.after),
            free=seen.free,
            preview=preview.preview_content(seen),
            remarks=list(preview.error_remarks(seen.intended, seen.setting, {})),
        )
        self._offers.add(owner, made)
        self._offers.tidy(self._going)
        return made

    def find(self, owner: str, key: str) -> Offer:
        """An offer that was made to this owner."""
        return self._offers.find(owner, key)

    def outcome(self, owner: str, key: str) -> Outcome:
        """What became of an offer of this owner's."""
        return self._known(self.find(owner, key)) or Outcome(state="open", key=key)

    def accept(self, owner: str, sent: AcceptedOffer) -> Outcome:
        """Spend what an offer costs and make its release; again, give the same release and charge nothing."""
        try:
            shown = self.find(owner, sent.key)
            if (sent.plan.replace("\r\n", "\n"), sent.cost, sent.takes) != (shown.plan, shown.cost, shown.takes):
                raise Refusal(409, "what is confirmed must be what was shown, and is not: look at the plan again")
            return self._accepted(shown)
        except UtmostError:
            self._metrics.charged("refused")
            raise

    def plan_of(self, file: str) -> str | None:
        """The plan of a release that was made here."""
        stem = file.removesuffix(RELEASE_SUFFIX)
        place = self._plans / f"{stem}.toml"
        return place.read_text(encoding="utf-8") if "/" not in stem and place.is_file() else None

    def _accepted(self, shown: Offer) -> Outcome:
        """The outcome of the one run that there is."""
        with self._lock:
            going = self._going.get(shown.key)
            before = self._known(shown) if going is None else None
            if going is not None or before is not None:
                self._metrics.charged("repeated")
            if before is not None:
                return before.model_copy(update={"repeated": True})
            if going is None:
                going = self._going[shown.key] = self._threads.submit(self._spent, shown)
        try:
            return going.result(RELEASE_SECONDS)
        except TimeoutError:
            return self._in_progress(shown.key)

    def _in_progress(self, key: str) -> Outcome:
        return Outcome(state="going", key=key, words=self._words.get(key, ""))

    def _spent(self, shown: Offer) -> Outcome:
        """Charge and release, in a thread of its own."""
        try:
            made = self._made(shown)
            if made.state == "done":
                self._metrics.charged("charged")
            return made
        finally:
            with self._lock:
                self._going.pop(shown.key, None)
                self._words.pop(shown.key, None)

    def _made(self, shown: Offer) -> Outcome:
        plan = plan_builder.accept_plan(shown.plan, self._settings)
        stem = self._reserved(plan, shown.plan)
        try:
            own = replace(plan, ledger=self._settings.ledger, output=self._release(stem))
            with execute.prepare_release(own) as ready:
                _agreed(shown, ready.preview)
                charges = ready.books.state(shown.budget).charges
                self._offers.begin(
                    shown.key, StartedRun(at=time.time(), charges=charges, digest=ready.ask.plan, stem=stem)
                )
                made = ready.spend(lambda words, done, total: self._tell(shown.key, words))
        except Exception:
            lost = self._lost(shown, stem)
            if lost is None:
                raise
            return lost
        return self._done(shown, made, stem)

    def _done(self, shown: Offer, made: Release, stem: str) -> Outcome:
        entry = made.entry
        file = self._release(stem).name
        done = Outcome(state="done", key=shown.key, file=file, budget=entry.budget, entry=entry.number)
        return self._offers.end(done.model_copy(update={"left": str(entry.left)}))

    def _lost(self, shown: Offer, stem: str) -> Outcome | None:
        """After a failure: None if nothing was charged, and then the offer stands as before; else what is lost."""
        begun = self._offers.begun(shown.key)
        if begun is not None and begun.stem == stem:
            entry = self._charge(shown, begun)
            if entry is not None:
                return self._gone(shown, entry)
            self._offers.undo(shown.key)
        (self._plans / f"{stem}.toml").unlink(missing_ok=True)
        return None

    def _gone(self, shown: Offer, entry: int | None) -> Outcome:
        words = NOTHING if entry is None else LOST.format(entry)
        return self._offers.end(Outcome(state="lost", key=shown.key, budget=shown.budget, entry=entry, words=words))

    def _charge(self, shown: Offer, begun: StartedRun) -> int | None:
        """The number of the charge that was made after an offer was begun, for the same plan."""
        with ledger.open_ledger(self._settings.ledger, self._settings.folder) as books:
            since = books.history(shown.budget)[begun.charges :]
        return next((one.number for one in since if one.plan == begun.digest), None)

    def _known(self, shown: Offer) -> Outcome | None:
        """What became of an offer, as far as anybody knows; None if it was never begun."""
        ended = self._offers.ended(shown.key)
        if ended is not None:
            return ended
        if shown.key in self._going:
            return self._in_progress(shown.key)
        begun = self._offers.begun(shown.key)
        return None if begun is None else self._interrupted(shown, begun)

    def _interrupted(self, shown: Offer, begun: StartedRun) -> Outcome:
        """What was begun, and not ended by this process: its release, or its charge, or neither."""
        output = self._release(begun.stem)
        if output.is_file():
            return self._done(shown, release_file.read_release(output), begun.stem)
        if time.time() < begun.at + RECENT:
            return Outcome(state="going", key=shown.key, words=ELSEWHERE)
        return self._gone(shown, self._charge(shown, begun))

    def _tell(self, key: str, words: str) -> None:
        with self._lock:
            self._words[key] = words

    def _release(self, stem: str) -> Path:
        return self._settings.releases / f"{stem}{RELEASE_SUFFIX}"

    def _reserved(self, plan: Plan, text: str) -> str:
        """A name for a release that no other has; its plan is kept under it."""
        self._settings.releases.mkdir(exist_ok=True)
        slug = SLUG.sub("-", (plan.title or plan.budget).lower()).strip("-")[:40].strip("-") or "release"
        number = 1 + sum(1 for _ in self._plans.glob(f"{slug}-*.toml"))
        while True:
            stem = f"{slug}-{number}"
            with suppress(FileExistsError):
                if not self._release(stem).exists():
                    with (self._plans / f"{stem}.toml").open("x", encoding="utf-8", newline="\n") as stream:
                        stream.write(text)
                    return stem
            number += 1


def _amounts(seen: Preview) -> dict[str, str]:
    assert seen.left is not None
    assert seen.after is not None
    return {"cost": str(seen.cost), "takes": str(seen.left - seen.after)}


def _agreed(shown: Offer, seen: Preview) -> None:
    """Refuse to spend anything but what was shown."""
    now = _amounts(seen)
    if now != {"cost": shown.cost, "takes": shown.takes}:
        raise Refusal(
            409,
            f"the plan takes ε {now['takes']} from the budget now, and ε {shown.takes} was shown: nothing was spent; "
            "look at the plan again",
        )
