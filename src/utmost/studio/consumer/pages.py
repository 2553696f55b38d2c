"""The consumer's pages: the releases, one answer read, and a mechanism made for one reader."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, UploadFile
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.requests import Request
from starlette.responses import Response

from utmost.consumer.losses import LOSSES
from utmost.consumer.priors import PRIORS
from utmost.errors import InputError
from utmost.publish.release_model import Answer
from utmost.studio import data_folder
from utmost.studio.background import ComputeDep, VisitorCompute
from utmost.studio.consumer import api, forms, release_store
from utmost.studio.consumer.api import Name, ReadingQuery
from utmost.studio.consumer.forms import ReadingForm, choices, offered_families
from utmost.studio.consumer.release_store import ReleaseOwner
from utmost.studio.consumer.results import ReadingResult
from utmost.studio.forms import Problem, problem_from_error
from utmost.studio.rendering import render_page
from utmost.studio.settings import Settings
from utmost.studio.state import SettingsDep
from utmost.studio.visitors import Visitor


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
    return forms.complete_form(form.model_copy(update=changes), answer)


def _suggested_bound(answer: Answer) -> str:
    """A bound to begin with: the next power of ten above what was released."""
    numbers = [number for _, number in answer.named_values]
    value = max(numbers, default=0) if isinstance(answer.value, tuple) else answer.value  # none where no cell is told
    return str(10 ** len(str(abs(int(value)))))


VIEWS = [("near", "around the answer"), ("whole", "the whole range")]

pages = APIRouter(include_in_schema=False, prefix="/consumer")


@pages.get("")
def overview_page(request: Request, settings: SettingsDep, compute: ComputeDep) -> HTMLResponse:
    """The releases."""
    return _overview_page(request, settings, compute)


def _overview_page(
    request: Request, settings: Settings, compute: VisitorCompute, problem: Problem | None = None
) -> HTMLResponse:
    overview = api.overview(settings, compute.visitor, compute)
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
def post_upload(request: Request, settings: SettingsDep, compute: ComputeDep, file: UploadFile) -> Response:
    """Keep a release that was brought, and open it."""
    try:
        content = file.file.read(release_store.MAX_RELEASE_BYTES + 1)
        name = compute(release_store.keep_release, settings, compute.visitor, content)
    except InputError as error:
        return _overview_page(request, settings, compute, problem_from_error(error, ["file"]))
    return RedirectResponse(f"/consumer/uploads/{name}", status_code=303)


@pages.get("/{shelf_name}/{name}")
def reading_page(
    request: Request,
    settings: SettingsDep,
    compute: ComputeDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: ReadingQuery,
) -> HTMLResponse:
    """One answer, read."""
    return _reading_page(request, compute, settings, shelf_name, name, form)


def _reading_page(
    request: Request,
    compute: VisitorCompute,
    settings: Settings,
    owner: ReleaseOwner,
    name: str,
    form: ReadingForm,
    problem: Problem | None = None,
) -> HTMLResponse:
    content = compute(page_content, settings, compute.visitor, owner, name, form)
    query, root = form.address(), f"{owner}/{name}"
    return render_page(
        request,
        "consumer/reading.html",
        json_address=f"/api/consumer/{root}/reading?{query}",
        problem=problem or content.problem,
        release=content.release,
        answer=content.release.answers[content.answer_index],
        answer_index=content.answer_index,
        result=content.result,
        owner=owner,
        name=name,
        prior_families=offered_families(PRIORS),
        loss_families=offered_families(LOSSES),
        choices=choices,
        views=VIEWS,
        form=content.form,
        api_root=f"/api/consumer/{root}",
        root=f"/consumer/{root}",
        query=query,
        suggested_bound=content.suggested_bound,
    )


@pages.post("/{shelf_name}/{name}/weights")
def post_weights(
    request: Request,
    settings: SettingsDep,
    compute: ComputeDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: ReadingQuery,
    weights_file: UploadFile,
) -> Response:
    """Keep the weights of a prior, and read with them."""
    try:
        content = weights_file.file.read(release_store.MAX_WEIGHTS_BYTES + 1)
        weights_id = compute(release_store.keep_weights, settings, compute.visitor, content)
    except InputError as error:
        changed_form = form.model_copy(update={"prior": "uniform"})
        problem = problem_from_error(error, ["prior"])
        return _reading_page(request, compute, settings, shelf_name, name, changed_form, problem)
    changed_form = form.model_copy(update={"prior": "file", "kept": weights_id})
    return RedirectResponse(f"/consumer/{shelf_name}/{name}?{changed_form.address()}", status_code=303)


@pages.get("/{shelf_name}/{name}/tailored")
def tailored_page(
    request: Request,
    settings: SettingsDep,
    compute: ComputeDep,
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
        comparison=api.made_for_her(settings, compute.visitor, compute, shelf_name, name, form),
        reading_address=f"/consumer/{root}?{query}",
    )


@pages.get("/releases/{name}/file")
def download(settings: SettingsDep, name: Name) -> FileResponse:
    """The release as it is."""
    path = data_folder.release_path(settings, name)
    return FileResponse(path, media_type="application/json", filename=path.name)
