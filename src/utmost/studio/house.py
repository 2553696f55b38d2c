"""What the pages of one studio share, and how a page gets at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from utmost.studio.bundle import Bundle
from utmost.studio.jobs import Jobs
from utmost.studio.metrics import Metrics
from utmost.studio.rates import Rates
from utmost.studio.sessions import Sessions, Visitor
from utmost.studio.settings import Settings, private
from utmost.studio.tokens import Register


@dataclass(frozen=True, slots=True)
class House:
    """Settings, sessions, tokens, rates, jobs, metrics and the Vega bundle of a studio."""

    settings: Settings
    sessions: Sessions
    register: Register | None
    rates: Rates
    jobs: Jobs
    metrics: Metrics
    bundle: Bundle


def built(settings: Settings) -> House:
    """The house for these settings; its state folder is made where it is missing."""
    return House(
        settings=settings,
        sessions=Sessions(settings.state),
        register=None if settings.tokens is None else Register(settings.tokens),
        rates=Rates(settings.limits),
        jobs=Jobs(private(settings.state / "jobs"), settings.limits),
        metrics=Metrics(),
        bundle=Bundle(),
    )


async def _house(request: Request) -> House:
    found: House = request.state.house
    return found


async def _settings(request: Request) -> Settings:
    found: House = request.state.house
    return found.settings


async def _visitor(request: Request) -> Visitor:
    found: Visitor = request.state.visitor
    return found


# coroutines, so that no thread is asked for what is at hand
Here = Annotated[House, Depends(_house)]
With = Annotated[Settings, Depends(_settings)]
Who = Annotated[Visitor, Depends(_visitor)]
