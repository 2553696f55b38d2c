"""What the curator's pages share: the offers of one studio; and the form that was posted."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Annotated, TypeAlias

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request

from utmost.studio.curator.spending import SpendingService
from utmost.studio.form_errors import Refusal
from utmost.studio.sessions import Visitor
from utmost.studio.settings import Settings

MOST_FIELDS = 2000
WARM = 0.3  # seconds after the first page, which comes first
FormPairs: TypeAlias = list[tuple[str, str]]
_MAKING = threading.Lock()


def _spends(request: Request) -> SpendingService:
    """The one desk of this application, made when it is first needed."""
    state, house = request.app.state, request.state.house
    with _MAKING:
        if not hasattr(state, "spends"):
            state.spends = SpendingService(house.settings, house.metrics)
            threading.Timer(WARM, _warmed, (house.settings,)).start()
    found: SpendingService = state.spends
    return found


def _warmed(settings: Settings) -> None:
    """Load the engine and the charts before somebody waits for them."""
    from utmost.studio.curator import draft_preview, tables
    from utmost.studio.curator.reopening import blank_draft

    with suppress(Exception):
        draft_preview.preview_draft(blank_draft(tables.source_view(settings, "bundled:anes96")), settings)


async def _pairs(request: Request) -> FormPairs:
    try:
        async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
            return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    except HTTPException:
        raise Refusal(400, "a form must be one that this page sends, got another: reload the page") from None


def offer_owner(who: Visitor) -> str:
    """Whose offers these are: a session's, or a token's where no browser is at work."""
    return who.session or f"token of {who.name}"


SpendingDep = Annotated[SpendingService, Depends(_spends)]
PostedForm = Annotated[FormPairs, Depends(_pairs)]
