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

from utmost.errors import UtmostError
from utmost.ledger import open_ledger
from utmost.publish import execute, plan_writer, release_file
from utmost.publish.execute import Preview
from utmost.publish.plan_check import PlannedAnswer
from utmost.publish.plan_model import Plan
from utmost.publish.release_model import Release
from utmost.reports.numbers import Rounding, amount
from utmost.reports.preview import describe, lookup_remarks, part_remarks, plan_remarks, shown_error
from utmost.studio.curator import plan_builder
from utmost.studio.curator.release_offers import AcceptedOffer, Offer, OfferedQuery, Offers, Outcome, StartedRun
from utmost.studio.data_folder import RELEASE_SUFFIX
from utmost.studio.forms import Refusal
from utmost.studio.rendering import FormattedNumber
from utmost.studio.settings import Settings, private_folder
from utmost.studio.state import Metrics
from utmost.studio.visitors import random_token

SLUG_SEPARATOR = re.compile(r"[^a-z0-9]+")
MAX_CONCURRENT_RELEASES = 4  # releases that are made at a time
RELEASE_SECONDS = 20.0  # seconds that a request waits for its release
RECENT_RUN_SECONDS = 60.0  # seconds in which another studio may still be at work
CHARGED_AND_LOST_MESSAGE = (
    "The budget was charged (entry {}) and the answers were not kept, because the studio failed or was stopped at that "
    "moment. Nothing was told. Confirm the plan again to have answers: that is charged again, unless the ledger "
    "remembers the release."
)
NOTHING_CHARGED_MESSAGE = (
    "The studio was stopped before anything was charged. Nothing was spent: confirm the plan again."
)
STARTED_ELSEWHERE_MESSAGE = (
    "It was begun by a studio that is not this one: reload the page in a minute to see what became of it."
)


class SpendingService:
    """The offers of a studio, and the threads that carry them out."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings, self._metrics = settings, metrics
        self._offers = Offers(private_folder(settings.state_folder / "offers"))
        self._plans = private_folder(settings.state_folder / "plans")
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_RELEASES, thread_name_prefix="spend")
        self._running: dict[str, Future[Outcome]] = {}
        self._progress: dict[str, str] = {}

    def close(self) -> None:
        """Wait for the releases that are being made: what was charged is written down."""
        self._threads.shutdown(wait=True)

    def offer(self, owner: str, plan: Plan) -> Offer:
        """Offer a plan at what it costs now. All that the plan can be refused for is refused here."""
        with execute.prepare_release(replace(plan, ledger=self._settings.ledger)) as prepared_release:
            preview_result = prepared_release.preview
        new_offer = Offer(
            key=random_token(),
            plan=plan_writer.write_plan(plan),
            **_amounts(preview_result),
            budget=plan.budget,
            left=str(preview_result.left),
            after=str(preview_result.after),
            delta_left=str(preview_result.delta_left),
            delta_after=str(preview_result.delta_after),
            free=preview_result.free,
            preview=describe(preview_result).json,
            queries=[_offered_query(planned_answer) for planned_answer in preview_result.planned_answers],
            remarks=[
                *plan_remarks(
                    preview_result.planned_answers, preview_result.setting, {}, total=preview_result.plan.price.epsilon
                ),
                *lookup_remarks(preview_result.plan.source),
                *part_remarks(preview_result.part_adds_up),
            ],
        )
        self._offers.add(owner, new_offer)
        self._offers.remove_old(self._running)
        return new_offer

    def find(self, owner: str, key: str) -> Offer:
        """An offer that was made to this owner."""
        return self._offers.find(owner, key)

    def outcome(self, owner: str, key: str) -> Outcome:
        """The outcome of one of this owner's offers."""
        return self._find_outcome(self.find(owner, key)) or Outcome(state="open", key=key)

    def accept(self, owner: str, confirmation: AcceptedOffer, charged_by: str | None = None) -> Outcome:
        """Spend what an offer costs and make its release; again, give the same release and charge nothing.

        `charged_by` is who the ledger says has charged; by default the system's user.
        """
        try:
            offer = self.find(owner, confirmation.key)
            if (confirmation.plan.replace("\r\n", "\n"), confirmation.cost, confirmation.takes) != (
                offer.plan,
                offer.cost,
                offer.takes,
            ):
                raise Refusal(409, "what is confirmed must be what was shown, and is not: look at the plan again")
            return self._run_once(offer, charged_by)
        except UtmostError:
            self._metrics.count_charge("refused")
            raise

    def plan_text(self, file: str) -> str | None:
        """The plan of a release that was made here."""
        stem = file.removesuffix(RELEASE_SUFFIX)
        path = self._plans / f"{stem}.toml"
        return path.read_text(encoding="utf-8") if "/" not in stem and path.is_file() else None

    def _run_once(self, offer: Offer, charged_by: str | None) -> Outcome:
        """The outcome of the one run that there is."""
        with self._lock:
            future = self._running.get(offer.key)
            outcome = self._find_outcome(offer) if future is None else None
            if future is not None or outcome is not None:
                self._metrics.count_charge("repeated")
            if outcome is not None:
                return outcome.model_copy(update={"repeated": True})
            if future is None:
                future = self._running[offer.key] = self._threads.submit(self._run, offer, charged_by)
        try:
            return future.result(RELEASE_SECONDS)
        except TimeoutError:
            return self._in_progress(offer.key)

    def _in_progress(self, key: str) -> Outcome:
        return Outcome(state="going", key=key, words=self._progress.get(key, ""))

    def _run(self, offer: Offer, charged_by: str | None) -> Outcome:
        """Charge and release, in a thread of its own."""
        try:
            outcome = self._charge_and_release(offer, charged_by)
            if outcome.state == "done":
                self._metrics.count_charge("charged")
            return outcome
        finally:
            with self._lock:
                self._running.pop(offer.key, None)
                self._progress.pop(offer.key, None)

    def _charge_and_release(self, offer: Offer, charged_by: str | None) -> Outcome:
        plan = plan_builder.accept_plan(offer.plan, self._settings)
        stem = self._reserve_stem(plan, offer.plan)
        try:
            studio_plan = replace(plan, ledger=self._settings.ledger, output=self._release_path(stem))
            with execute.prepare_release(studio_plan, charged_by=charged_by) as prepared_release:
                _check_amounts(offer, prepared_release.preview)
                charges = prepared_release.budget_ledger.state(offer.budget).charges
                self._offers.start_run(
                    offer.key,
                    StartedRun(at=time.time(), charges=charges, digest=prepared_release.release_cost.plan, stem=stem),
                )
                release = prepared_release.spend(lambda stage, done, total: self._set_progress(offer.key, stage))
        except Exception:
            outcome = self._outcome_after_failure(offer, stem)
            if outcome is None:
                raise
            return outcome
        return self._save_done(offer, release, stem)

    def _save_done(self, offer: Offer, release: Release, stem: str) -> Outcome:
        entry = release.entry
        file = self._release_path(stem).name
        outcome = Outcome(state="done", key=offer.key, file=file, budget=entry.budget, entry=entry.number)
        return self._offers.save_outcome(outcome.model_copy(update={"left": str(entry.left)}))

    def _outcome_after_failure(self, offer: Offer, stem: str) -> Outcome | None:
        """After a failure: None if nothing was charged, and then the offer stands as before; else what is lost."""
        run = self._offers.find_run(offer.key)
        if run is not None and run.stem == stem:
            entry = self._find_charge(offer, run)
            if entry is not None:
                return self._save_lost(offer, entry)
            self._offers.cancel_run(offer.key)
        (self._plans / f"{stem}.toml").unlink(missing_ok=True)
        return None

    def _save_lost(self, offer: Offer, entry: int | None) -> Outcome:
        message = NOTHING_CHARGED_MESSAGE if entry is None else CHARGED_AND_LOST_MESSAGE.format(entry)
        return self._offers.save_outcome(
            Outcome(state="lost", key=offer.key, budget=offer.budget, entry=entry, words=message)
        )

    def _find_charge(self, offer: Offer, run: StartedRun) -> int | None:
        """The number of the charge that was made after an offer was begun, for the same plan."""
        with open_ledger(self._settings.ledger, self._settings.folder) as ledger:
            charges = ledger.history(offer.budget)[run.charges :]
        return next((charge.number for charge in charges if charge.plan == run.digest), None)

    def _find_outcome(self, offer: Offer) -> Outcome | None:
        """The outcome of an offer as far as it is known; None if its run was never started."""
        outcome = self._offers.find_outcome(offer.key)
        if outcome is not None:
            return outcome
        if offer.key in self._running:
            return self._in_progress(offer.key)
        run = self._offers.find_run(offer.key)
        return None if run is None else self._outcome_after_stop(offer, run)

    def _outcome_after_stop(self, offer: Offer, run: StartedRun) -> Outcome:
        """What was begun, and not ended by this process: its release, or its charge, or neither."""
        output = self._release_path(run.stem)
        if output.is_file():
            return self._save_done(offer, release_file.read_release(output), run.stem)
        if time.time() < run.at + RECENT_RUN_SECONDS:
            return Outcome(state="going", key=offer.key, words=STARTED_ELSEWHERE_MESSAGE)
        return self._save_lost(offer, self._find_charge(offer, run))

    def _set_progress(self, key: str, message: str) -> None:
        with self._lock:
            self._progress[key] = message

    def _release_path(self, stem: str) -> Path:
        return self._settings.releases / f"{stem}{RELEASE_SUFFIX}"

    def _reserve_stem(self, plan: Plan, text: str) -> str:
        """A name for a release that no other has; its plan is kept under it."""
        self._settings.releases.mkdir(exist_ok=True)
        slug = SLUG_SEPARATOR.sub("-", (plan.title or plan.budget).lower()).strip("-")[:40].strip("-") or "release"
        number = 1 + sum(1 for _ in self._plans.glob(f"{slug}-*.toml"))
        while True:
            stem = f"{slug}-{number}"
            with suppress(FileExistsError):
                if not self._release_path(stem).exists():
                    with (self._plans / f"{stem}.toml").open("x", encoding="utf-8", newline="\n") as stream:
                        stream.write(text)
                    return stem
            number += 1


def _offered_query(planned_answer: PlannedAnswer) -> OfferedQuery:
    spec, error = planned_answer.spec, shown_error(planned_answer.error)
    return OfferedQuery(
        name=spec.name,
        kind=spec.query.kind,
        epsilon=FormattedNumber.of(amount(spec.epsilon, Rounding.UP)),
        delta=FormattedNumber.of(amount(spec.delta, Rounding.UP)) if spec.delta else None,
        expected=FormattedNumber.of(error.expected),
        half_width=FormattedNumber.of(error.half_width),
        optimal=planned_answer.law.optimal,
    )


def _amounts(preview: Preview) -> dict[str, str]:
    """What a plan costs and takes from its budget, of ε and of δ, by their names in an offer."""
    assert preview.left is not None
    assert preview.after is not None
    assert preview.delta_left is not None
    assert preview.delta_after is not None
    return {
        "cost": str(preview.cost),
        "takes": str(preview.left - preview.after),
        "delta": str(preview.plan.delta),
        "takes_delta": str(preview.delta_left - preview.delta_after),
    }


def _check_amounts(offer: Offer, preview: Preview) -> None:
    """Refuse to spend anything but what was shown."""
    amounts = _amounts(preview)
    if any(getattr(offer, name) != value for name, value in amounts.items()):
        now = _taken_words(amounts["takes"], amounts["takes_delta"])
        shown = _taken_words(offer.takes, offer.takes_delta)
        raise Refusal(
            409,
            f"the plan takes {now} from the budget now, and {shown} was shown: "
            "nothing was spent; look at the plan again",
        )


def _taken_words(epsilon: str, delta: str) -> str:
    return f"ε {epsilon}" if delta == "0" else f"ε {epsilon} and δ {delta}"
