"""The consumer's pages: the releases, one answer read, and a mechanism made for one reader."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, UploadFile
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.requests import Request
from starlette.responses import Response

from utmost.errors import InputError
from utmost.publish.release_model import Answer
from utmost.studio import data_folder
from utmost.studio.consumer import api, editors, release_store
from utmost.studio.consumer.api import Name, ReadingQuery
from utmost.studio.consumer.forms import ReadingForm
from utmost.studio.consumer.release_store import ReleaseOwner
from utmost.studio.consumer.response_models import ReadingResult
from utmost.studio.form_errors import Problem, problem_from_error
from utmost.studio.rendering import render_page
from utmost.studio.sessions import Visitor
from utmost.studio.settings import Settings
from utmost.studio.state import SettingsDep, VisitorDep

PRIORS = [
    ("uniform", "nothing: every value alike (uniform)"),
    ("binomial", "each person counts with probability p (binomial)"),
    ("poisson", "rare events, about so many (Poisson)"),
    ("zipf", "small values are likelier (Zipf)"),
    ("steps", "a histogram that I drag"),
    ("weights", "weights that I type"),
    ("file", "weights from a file"),
]
LOSSES = [
    ("absolute", "absolute: how far off"),
    ("squared", "squared: far off is far worse"),
    ("binary", "binary: right or wrong"),
    ("power", "power: |error|^p"),
    ("asymmetric", "asymmetric: one side hurts more"),
    ("drawn", "one that I draw"),
]
VIEWS = [("near", "around the answer"), ("whole", "the whole range")]
FORM_CHOICES = {"priors": PRIORS, "losses": LOSSES, "views": VIEWS}

pages = APIRouter(include_in_schema=False, prefix="/consumer")


@pages.get("")
def overview_page(request: Request, settings: SettingsDep, visitor: VisitorDep) -> HTMLResponse:
    """The releases."""
    return _overview_page(request, settings, visitor)


def _overview_page(
    request: Request, settings: Settings, visitor: Visitor, problem: Problem | None = None
) -> HTMLResponse:
    overview = api.overview(settings, visitor)
    max_mebibytes = release_store.MAX_RELEASE_BYTES >> 20
    return render_page(
        request,
        "consumer/overview.html",
        json_address="/api/consumer",
        problem=problem,
        overview=overview,
        max_mebibytes=max_mebibytes,
    )


@pages.post("/uploads")
def post_upload(request: Request, settings: SettingsDep, visitor: VisitorDep, file: UploadFile) -> Response:
    """Keep a release that was brought, and open it."""
    try:
        name = release_store.keep_release(settings, visitor, file.file.read(release_store.MAX_RELEASE_BYTES + 1))
    except InputError as error:
        return _overview_page(request, settings, visitor, problem_from_error(error, ["file"]))
    return RedirectResponse(f"/consumer/uploads/{name}", status_code=303)


@pages.get("/{shelf_name}/{name}")
def reading_page(
    request: Request,
    settings: SettingsDep,
    visitor: VisitorDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: ReadingQuery,
) -> HTMLResponse:
    """One answer, read."""
    return _reading_page(request, settings, visitor, shelf_name, name, form)


def _reading_page(
    request: Request,
    settings: Settings,
    visitor: Visitor,
    owner: ReleaseOwner,
    name: str,
    form: ReadingForm,
    problem: Problem | None = None,
) -> HTMLResponse:
    release = release_store.open_release(settings, visitor, owner, name)
    answer = next((candidate for candidate in release if candidate.name == form.query), release.answers[0])
    result: ReadingResult | None = None
    try:
        result = api.reading(settings, visitor, owner, name, form)
    except InputError as error:
        problem = problem or problem_from_error(error, list(ReadingForm.model_fields))
    view, answer_index = api.release_view(release), list(release).index(answer)
    data: dict[str, Any] = {
        "release": view,
        "answer": view.answers[answer_index],
        "answer_index": answer_index,
        "result": result,
    }
    data |= {"owner": owner, "name": name, **FORM_CHOICES}
    query, root = form.address(), f"{owner}/{name}"
    return render_page(
        request,
        "consumer/reading.html",
        json_address=f"/api/consumer/{root}/reading?{query}",
        problem=problem,
        **data,
        form=_fill_form(form, answer, result),
        api_root=f"/api/consumer/{root}",
        root=f"/consumer/{root}",
        query=query,
        suggested_bound=_suggested_bound(answer),
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


@pages.post("/{shelf_name}/{name}/weights")
def post_weights(
    request: Request,
    settings: SettingsDep,
    visitor: VisitorDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: ReadingQuery,
    weights_file: UploadFile,
) -> Response:
    """Keep the weights of a prior, and read with them."""
    try:
        weights_id = release_store.keep_weights(
            settings, visitor, weights_file.file.read(release_store.MAX_WEIGHTS_BYTES + 1)
        )
    except InputError as error:
        changed_form = form.model_copy(update={"prior": "uniform"})
        return _reading_page(
            request, settings, visitor, shelf_name, name, changed_form, problem_from_error(error, ["prior"])
        )
    changed_form = form.model_copy(update={"prior": "file", "kept": weights_id})
    return RedirectResponse(f"/consumer/{shelf_name}/{name}?{changed_form.address()}", status_code=303)


@pages.get("/{shelf_name}/{name}/tailored")
def tailored_page(
    request: Request,
    settings: SettingsDep,
    visitor: VisitorDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: ReadingQuery,
) -> HTMLResponse:
    """A mechanism made for this reader alone, beside the one that was released."""
    query, root = form.address(), f"{shelf_name}/{name}"
    return render_page(
        request,
        "consumer/tailored.html",
        json_address=f"/api/consumer/{root}/tailored?{query}",
        comparison=api.made_for_her(settings, visitor, shelf_name, name, form),
        reading_address=f"/consumer/{root}?{query}",
    )


@pages.get("/releases/{name}/file")
def download(settings: SettingsDep, name: Name) -> FileResponse:
    """The release as it is."""
    path = data_folder.release_path(settings, name)
    return FileResponse(path, media_type="application/json", filename=path.name)
