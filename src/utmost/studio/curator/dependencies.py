"""What the curator's pages share: the offers of one studio; and the form that was posted."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Annotated, Any, TypeAlias

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request

from utmost.studio.background import end_timer, start_timer
from utmost.studio.curator import tables
from utmost.studio.curator.spending import SpendingService
from utmost.studio.form_errors import Refusal
from utmost.studio.sessions import Visitor
from utmost.studio.settings import Settings

MAX_FORM_FIELDS = 2000
WARM_UP_DELAY_SECONDS = 0.3  # seconds after the first page, which comes first
FormPairs: TypeAlias = list[tuple[str, str]]
_CREATION_LOCK = threading.Lock()


def _spending_service(request: Request) -> SpendingService:
    """The one spending service of this application, made when it is first needed."""
    storage, state = request.app.state, request.state.app_state
    with _CREATION_LOCK:
        if not hasattr(storage, "spending"):
            storage.spending = SpendingService(state.settings, state.metrics)
            state.cleanup.callback(_end_spending, storage)
            state.cleanup.callback(tables.COUNT_THREADS.wait)
            state.cleanup.callback(end_timer, start_timer(WARM_UP_DELAY_SECONDS, _warm_up, state.settings))
    spending: SpendingService = storage.spending
    return spending


def _end_spending(storage: Any) -> None:
    """Wait for what is being spent; an application that is served again makes a new service."""
    storage.spending.close()
    del storage.spending


def _warm_up(settings: Settings) -> None:
    """Load the engine and the charts before somebody waits for them."""
    from utmost.studio.curator import draft_preview
    from utmost.studio.curator.forms import blank_draft

    with suppress(Exception):
        draft_preview.preview_draft(blank_draft(tables.source_view(settings, "bundled:anes96")), settings)


async def _form_pairs(request: Request) -> FormPairs:
    try:
        async with request.form(max_files=0, max_fields=MAX_FORM_FIELDS) as form:
            return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    except HTTPException:
        raise Refusal(400, "a form must be one that this page sends, got another: reload the page") from None


def offer_owner(visitor: Visitor) -> str:
    """Whose offers these are: a session's, or a token's where no browser is at work."""
    return visitor.session or f"token of {visitor.name}"


SpendingDep = Annotated[SpendingService, Depends(_spending_service)]
PostedForm = Annotated[FormPairs, Depends(_form_pairs)]
