"""A plan that a table was found to answer: how each of its queries will be answered, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

from utmost import ledger
from utmost.data.engines import SourceIdentity
from utmost.ledger import ReleaseCost
from utmost.publish import noise_choice
from utmost.publish.noise_choice import OtherNoise
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_model import Plan, QuerySpec
from utmost.queries.answer_mechanisms.mechanism import ErrorLaw
from utmost.queries.keys import key_to_text
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import SelectedMechanism

MAX_SOURCE_CHARS = 200  # of the name of a source or a table in the ledger


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """A query with the law it will be answered by and how far off the answer will be.

    `other` is what the noise that was not chosen would do, where there was a choice.
    """

    spec: QuerySpec
    law: SelectedMechanism
    error: ErrorLaw
    other: OtherNoise | None = None
    keeps_mechanism: str | None = None  # the noise that the plan asks for, where there is none here


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """A plan that a table can answer: what its sensitivities rest on, and how each query will be answered.

    Whatever a plan may leave to be found is found: each query is what `Query.resolve` makes of it.
    """

    plan: Plan
    setting: PrivacySetting
    planned_answers: tuple[PlannedAnswer, ...]
    identity: SourceIdentity
    part_kind: str | None = None
    unit_kind: str | None = None
    charged_by: str | None = None

    @property
    def part_adds_up(self) -> str | None:
        """Why the plan's part adds up with every other charge; None where there is none, or parts compose."""
        if self.plan.part is None:
            return None
        persons = "a person may have rows in every part" if self.plan.unit.column is not None else ""
        return persons or self.identity.problem or None

    @property
    def release_cost(self) -> ReleaseCost:
        """The cost to charge to the ledger."""
        costs = tuple(
            noise_choice.spec_cost(planned_answer.spec, planned_answer.law) for planned_answer in self.planned_answers
        )
        plan, unit, digest = self.plan, self.plan.unit.ledger_word, plan_digest(self.plan)
        asked = (costs, self._ledger_part(), digest, plan.fingerprint, self.unit_kind)
        table = plan.source.table
        origin = (self.charged_by, _shown_name(plan.source.name), None if table is None else _shown_name(table))
        return ledger.ReleaseCost(plan.budget, unit, str(plan.neighbours), *asked, *origin)

    def _ledger_part(self) -> ledger.Part | None:
        part, table = self.plan.part, self.plan.source.table
        if part is None:
            return None
        return ledger.Part(part.column, key_to_text(part.equals), self.part_kind, table, self.identity.digest)


def _shown_name(text: str) -> str:
    """The name of a source or of its table, as an entry of a ledger has it: short, of characters that can be shown."""
    name = "".join(character if character.isprintable() else "?" for character in text)
    return name[:MAX_SOURCE_CHARS] or "?"
