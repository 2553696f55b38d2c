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
CHOICES = {"priors": PRIORS, "losses": LOSSES, "views": VIEWS}

pages = APIRouter(include_in_schema=False, prefix="/consumer")


@pages.get("")
def overview_page(request: Request, settings: SettingsDep, who: VisitorDep) -> HTMLResponse:
    """The releases."""
    return _overview(request, settings, who)


def _overview(request: Request, settings: Settings, who: Visitor, problem: Problem | None = None) -> HTMLResponse:
    seen = api.overview(settings, who)
    limit = release_store.MAX_RELEASE_BYTES >> 20
    return render_page(
        request, "consumer/overview.html", twin="/api/consumer", problem=problem, overview=seen, limit=limit
    )


@pages.post("/uploads")
def upload_posted(request: Request, settings: SettingsDep, who: VisitorDep, file: UploadFile) -> Response:
    """Keep a release that was brought, and open it."""
    try:
        name = release_store.keep_release(settings, who, file.file.read(release_store.MAX_RELEASE_BYTES + 1))
    except InputError as error:
        return _overview(request, settings, who, problem_from_error(error, ["file"]))
    return RedirectResponse(f"/consumer/uploads/{name}", status_code=303)


@pages.get("/{shelf_name}/{name}")
def reading_page(
    request: Request, settings: SettingsDep, who: VisitorDep, shelf_name: ReleaseOwner, name: Name, said: ReadingQuery
) -> HTMLResponse:
    """One answer, read."""
    return _reading(request, settings, who, shelf_name, name, said)


def _reading(
    request: Request,
    settings: Settings,
    who: Visitor,
    shelf_name: ReleaseOwner,
    name: str,
    said: ReadingForm,
    problem: Problem | None = None,
) -> HTMLResponse:
    made = release_store.open_release(settings, who, shelf_name, name)
    answer = next((one for one in made if one.name == said.query), made.answers[0])
    found: ReadingResult | None = None
    try:
        found = api.reading(settings, who, shelf_name, name, said)
    except InputError as error:
        problem = problem or problem_from_error(error, list(ReadingForm.model_fields))
    release, place = api.described(made), list(made).index(answer)
    data: dict[str, Any] = {"release": release, "answer": release.answers[place], "place": place, "found": found}
    data |= {"shelf_name": shelf_name, "name": name, **CHOICES}
    query, root = said.address(), f"{shelf_name}/{name}"
    return render_page(
        request,
        "consumer/reading.html",
        twin=f"/api/consumer/{root}/reading?{query}",
        problem=problem,
        **data,
        typed=filled(said, answer, found),
        here_api=f"/api/consumer/{root}",
        root=f"/consumer/{root}",
        query=query,
        suggested=_suggested(answer),
    )


def filled(said: ReadingForm, answer: Answer, found: ReadingResult | None) -> ReadingForm:
    """What was typed, with a first suggestion where nothing was: what can be dragged is as it looks now."""
    given = {"query": answer.name}
    if said.prior != "steps" and found is not None and found.bars is not None:
        given["bars"] = found.bars.text
    if said.loss != "drawn" and found is not None and found.drawing is not None:
        given["drawn"] = found.drawing.text
    return editors.complete_form(said.model_copy(update=given), answer)


def _suggested(answer: Answer) -> str:
    """A bound to begin with: the next power of ten above what was released."""
    value = max(answer.value) if isinstance(answer.value, tuple) else answer.value
    return str(10 ** len(str(abs(int(value)))))


@pages.post("/{shelf_name}/{name}/weights")
def weights_posted(
    request: Request,
    settings: SettingsDep,
    who: VisitorDep,
    shelf_name: ReleaseOwner,
    name: Name,
    said: ReadingQuery,
    weights_file: UploadFile,
) -> Response:
    """Keep the weights of a prior, and read with them."""
    try:
        kept = release_store.keep_weights(settings, who, weights_file.file.read(release_store.MAX_WEIGHTS_BYTES + 1))
    except InputError as error:
        typed = said.model_copy(update={"prior": "uniform"})
        return _reading(request, settings, who, shelf_name, name, typed, problem_from_error(error, ["prior"]))
    typed = said.model_copy(update={"prior": "file", "kept": kept})
    return RedirectResponse(f"/consumer/{shelf_name}/{name}?{typed.address()}", status_code=303)


@pages.get("/{shelf_name}/{name}/tailored")
def tailored_page(
    request: Request, settings: SettingsDep, who: VisitorDep, shelf_name: ReleaseOwner, name: Name, said: ReadingQuery
) -> HTMLResponse:
    """A mechanism made for this reader alone, beside the one that was released."""
    query, root = said.address(), f"{shelf_name}/{name}"
    return render_page(
        request,
        "consumer/tailored.html",
        twin=f"/api/consumer/{root}/tailored?{query}",
        found=api.made_for_her(settings, who, shelf_name, name, said),
        back=f"/consumer/{root}?{query}",
    )


@pages.get("/releases/{name}/file")
def download(settings: SettingsDep, name: Name) -> FileResponse:
    """The release as it is."""
    place = data_folder.release_path(settings, name)
    return FileResponse(place, media_type="application/json", filename=place.name)
