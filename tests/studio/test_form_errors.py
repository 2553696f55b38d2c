"""What goes wrong is one line beside its field, and repeats nothing that was sent."""

from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import APIRouter, Query
from starlette.testclient import TestClient

from utmost.errors import BudgetError, DataError, InputError, LedgerError
from utmost.studio.forms import errors_for_field, problem_from_error
from utmost.studio.server import make_app

ERRORS = {
    "input": (InputError("epsilon must be > 0, got 0", "epsilon"), 422),
    "budget": (BudgetError("budget 'survey' has ε 1/4 left"), 409),
    "ledger": (LedgerError("the ledger cannot be reached"), 503),
    "data": (DataError("the table cannot be read"), 500),
}


@pytest.fixture
def client(settings):
    app = make_app(settings)
    router = APIRouter()

    @router.get("/api/fails")
    @router.get("/fails")
    def fails(how: str, epsilon: str = "", small: Annotated[int, Query(le=9)] = 0) -> None:
        raise ERRORS[how][0]

    app.include_router(router)
    return TestClient(app, base_url="http://127.0.0.1")


@pytest.mark.few
@pytest.mark.parametrize("how", ERRORS)
def test_an_error_of_ours_is_answered_by_its_line_and_its_status(client, how):
    error, status = ERRORS[how]
    answer = client.get("/api/fails", params={"how": how, "epsilon": "0"})
    assert answer.status_code == status
    assert answer.json() == {"field": "epsilon" if how == "input" else None, "message": str(error)}
    page = client.get("/fails", params={"how": how})
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")


def test_what_the_types_of_a_request_refuse_is_not_repeated(client):
    answer = client.get("/api/fails", params={"how": "input", "small": "<Ann, 42>"})
    assert answer.status_code == 422
    assert answer.json()["field"] == "small"
    assert "Ann" not in answer.text


def test_a_page_escapes_whatever_it_is_given(client):
    ERRORS["script"] = (InputError("<script>alert(1)</script>"), 422)
    assert "<script>alert" not in client.get("/fails", params={"how": "script"}).text


def test_an_error_is_of_the_field_of_the_form_that_was_read():
    with pytest.raises(InputError) as caught, errors_for_field("level"):
        raise InputError("epsilon must be > 0", "epsilon", "say 1")
    assert (caught.value.field, caught.value.hint) == ("level", "say 1")
    assert problem_from_error(caught.value).field == "level"
    assert problem_from_error(caught.value, ["level", "prior"]).field == "level"
    assert problem_from_error(caught.value, ["prior"]).field is None
    assert problem_from_error(LedgerError("the ledger cannot be reached"), ["level"]).field is None


def test_a_long_message_is_cut_to_one_line():
    message = problem_from_error(InputError("x\ny" * 1000)).message
    assert len(message) <= 400
    assert message.isprintable()
