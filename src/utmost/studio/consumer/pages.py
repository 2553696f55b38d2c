"""The consumer's pages: the releases, one answer read, and a mechanism made for one reader."""

from __future__ import annotations

from fastapi import APIRouter, UploadFile
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.requests import Request
from starlette.responses import Response

from utmost.consumer.losses import LOSSES
from utmost.consumer.priors import PRIORS
from utmost.errors import InputError
from utmost.studio import data_folder
from utmost.studio.compute import ComputeDep, VisitorCompute
from utmost.studio.consumer import api, reading_content, release_store
from utmost.studio.consumer.api import Name, ReadingQuery
from utmost.studio.consumer.forms import ReadingForm, choices, offered_families
from utmost.studio.consumer.release_store import ReleaseOwner
from utmost.studio.form_errors import Problem, problem_from_error
from utmost.studio.rendering import render_page
from utmost.studio.settings import Settings
from utmost.studio.state import SettingsDep

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
    content = compute(reading_content.page_content, settings, compute.visitor, owner, name, form)
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
