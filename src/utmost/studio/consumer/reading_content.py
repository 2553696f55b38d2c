"""What the page of one answer shows: the release, the reading, and the form as it is filled in."""

from __future__ import annotations

from dataclasses import dataclass

from utmost.errors import InputError
from utmost.publish.release_model import Answer
from utmost.studio.consumer import api, editors, release_store
from utmost.studio.consumer.forms import ReadingForm
from utmost.studio.consumer.release_store import ReleaseOwner
from utmost.studio.consumer.response_models import ReadingResult
from utmost.studio.form_errors import Problem, problem_from_error
from utmost.studio.sessions import Visitor
from utmost.studio.settings import Settings


@dataclass(frozen=True, slots=True)
class PageContent:
    """A release, one of its answers, how it is read or why it cannot be, and the form."""

    release: api.ReleaseView
    answer_index: int
    result: ReadingResult | None
    problem: Problem | None
    form: ReadingForm
    suggested_bound: str


def page_content(
    settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str, form: ReadingForm
) -> PageContent:
    """The content of the page that a form asks for."""
    release = release_store.open_release(settings, visitor, owner, name)
    answer = next((candidate for candidate in release if candidate.name == form.query), release.answers[0])
    result, problem = None, None
    try:
        result = api.read_answer(settings, visitor, owner, name, form)
    except InputError as error:
        problem = problem_from_error(error, list(ReadingForm.model_fields))
    return PageContent(
        api.release_view(release),
        list(release).index(answer),
        result,
        problem,
        _fill_form(form, answer, result),
        _suggested_bound(answer),
    )


def _fill_form(form: ReadingForm, answer: Answer, result: ReadingResult | None) -> ReadingForm:
    """What was typed, with a first suggestion where nothing was: what can be dragged is as it looks now."""
    changes = {"query": answer.name}
    if form.prior != "steps" and result is not None and result.bars is not None:
        changes["bars"] = result.bars.text
    if form.loss != "drawn" and result is not None and result.drawing is not None:
        changes["drawn"] = result.drawing.text
    return editors.complete_form(form.model_copy(update=changes), answer)


def _suggested_bound(answer: Answer) -> str:
    """A bound to begin with: the next power of ten above what was released."""
    value = max(answer.value) if isinstance(answer.value, tuple) else answer.value
    return str(10 ** len(str(abs(int(value)))))
