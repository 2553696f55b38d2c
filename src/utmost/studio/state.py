"""What the pages of one studio share, and how a page gets at it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from utmost.studio.compute import ComputePool
from utmost.studio.jobs import Jobs
from utmost.studio.metrics import Metrics
from utmost.studio.rate_limit import RateLimiter
from utmost.studio.sessions import Sessions, Visitor
from utmost.studio.settings import Settings, private_folder
from utmost.studio.tokens import TokenRegister
from utmost.studio.vega_bundle import VegaBundle


@dataclass(frozen=True, slots=True)
class AppState:
    """Settings, sessions, tokens, rates, jobs, metrics and the Vega bundle of a studio.

    `cleanup` holds how to end what was begun for this studio; it is closed after the last request, the latest first.
    """

    settings: Settings
    sessions: Sessions
    register: TokenRegister | None
    rates: RateLimiter
    jobs: Jobs
    consumer_pool: ComputePool
    curator_pool: ComputePool
    metrics: Metrics
    bundle: VegaBundle
    cleanup: ExitStack = field(default_factory=ExitStack)


def build_state(settings: Settings) -> AppState:
    """The state for these settings; its folder is made where it is missing."""
    return AppState(
        settings=settings,
        sessions=Sessions(settings.state_folder),
        register=None if settings.tokens is None else TokenRegister(settings.tokens),
        rates=RateLimiter(settings.limits),
        jobs=Jobs(private_folder(settings.state_folder / "jobs"), settings.limits),
        consumer_pool=ComputePool(settings),
        curator_pool=ComputePool(settings),
        metrics=Metrics(),
        bundle=VegaBundle(),
    )


async def _app_state(request: Request) -> AppState:
    state: AppState = request.state.app_state
    return state


async def _settings(request: Request) -> Settings:
    state: AppState = request.state.app_state
    return state.settings


async def _visitor(request: Request) -> Visitor:
    visitor: Visitor = request.state.visitor
    return visitor


# coroutines, so that no thread is asked for what is at hand
StateDep = Annotated[AppState, Depends(_app_state)]
SettingsDep = Annotated[Settings, Depends(_settings)]
VisitorDep = Annotated[Visitor, Depends(_visitor)]
