"""The consumer's pages as JSON. A release and a query is all they see: no table, no plan, no ledger."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from utmost.consumer.priors import Prior
from utmost.publish.release_model import Answer, Release
from utmost.studio import data_folder
from utmost.studio.background import ComputeDep
from utmost.studio.consumer import forms, release_store, results
from utmost.studio.consumer.forms import ReadingForm, errors_for_form
from utmost.studio.consumer.release_store import ReleaseOwner
from utmost.studio.consumer.results import OverallLosses, ReadingResult, TailoredMechanism, tailor_mechanism
from utmost.studio.data_folder import ReleaseFile
from utmost.studio.forms import errors_for_field
from utmost.studio.settings import Settings
from utmost.studio.state import SettingsDep, VisitorDep
from utmost.studio.visitors import Visitor

MAX_LISTED_CELLS = 500  # cells whose names are listed

api = APIRouter(prefix="/api/consumer", tags=["consumer"])
ReadingQuery = Annotated[ReadingForm, Query()]
Name = Annotated[
    str, Path(max_length=300, description="A release's file, or the id of an upload", examples=["survey.release.json"])
]


class UploadView(BaseModel):
    """A release that this visitor uploaded; nobody else sees it, and it is deleted after a day."""

    id: str
    title: str
    answers: int
    epsilon: str


class Overview(BaseModel):
    """The releases that can be read."""

    releases: list[ReleaseFile]
    uploads: list[UploadView]


class AnswerView(BaseModel):
    """An answer of a release. `cells` are the names of a histogram's, up to 500 of them."""

    name: str
    kind: str
    where: str | None
    epsilon: str
    delta: str
    optimal: str
    behind: str = Field(description="How far off it may be")
    cells: list[str]
    cell_count: int
    noun: str = Field(description="What its values are: cells, or values at several probabilities")
    value: str | None = Field(description="What was released, exactly; None for an answer in cells")
    bounded: bool = Field(description="Both ends are public, so a reader need not say them")
    has_posterior: bool = Field(description="A prior has a posterior; else the value is read at face value")


class ReleaseView(BaseModel):
    """A release: what it guarantees, and its answers."""

    title: str
    epsilon: str
    delta: str
    guarantee: str
    neighbours: str
    unit: str
    units: int | None
    answers: list[AnswerView]
    tables: list[str] = Field(description="Its tables, whose counts can be read together")


class Document(BaseModel):
    """A release file, or weights, as text."""

    text: str = Field(max_length=release_store.MAX_RELEASE_BYTES)


class StoredUpload(BaseModel):
    """Where what was brought is found again, in this session."""

    id: str
    size: int = Field(description="Answers of a release, or weights of a prior")


@api.get("")
def overview(settings: SettingsDep, visitor: VisitorDep, compute: ComputeDep) -> Overview:
    """The releases of the studio, and those that you brought."""
    names = release_store.list_uploads(settings, visitor)
    uploads = compute(_upload_views, settings, visitor, names) if names else []
    return Overview(releases=data_folder.list_releases(settings), uploads=uploads)


def _upload_views(settings: Settings, visitor: Visitor, names: list[str]) -> list[UploadView]:
    return [_upload_view(name, release_store.open_release(settings, visitor, "uploads", name)) for name in names]


def _upload_view(name: str, release: Release) -> UploadView:
    return UploadView(id=name, title=_release_title(release), answers=len(release), epsilon=str(release.epsilon))


def _release_title(release: Release) -> str:
    return release.title or release.source.name


@api.post("/uploads", status_code=201)
def bring_release(settings: SettingsDep, visitor: VisitorDep, compute: ComputeDep, document: Document) -> StoredUpload:
    """Bring a release of your own: the text of its file. It is kept for your session alone."""
    return compute(_store_release, settings, visitor, document.text.encode(errors="replace"))


def _store_release(settings: Settings, visitor: Visitor, content: bytes) -> StoredUpload:
    name = release_store.keep_release(settings, visitor, content)
    return StoredUpload(id=name, size=len(release_store.open_release(settings, visitor, "uploads", name)))


@api.post("/weights", status_code=201)
def bring_weights(settings: SettingsDep, visitor: VisitorDep, compute: ComputeDep, document: Document) -> StoredUpload:
    """Bring the weights of a prior: one a line, between commas, or a JSON list. Then read with prior=file&kept=ID."""
    return compute(_store_weights, settings, visitor, document.text.encode(errors="replace"))


def _store_weights(settings: Settings, visitor: Visitor, content: bytes) -> StoredUpload:
    name = release_store.keep_weights(settings, visitor, content)
    return StoredUpload(id=name, size=release_store.uploaded_prior(settings, visitor, name).size)


@api.get("/{shelf_name}/{name}")
def release(
    settings: SettingsDep, visitor: VisitorDep, compute: ComputeDep, shelf_name: ReleaseOwner, name: Name
) -> ReleaseView:
    """A release: what it guarantees, and its answers."""
    return compute(_open_release_view, settings, visitor, shelf_name, name)


def _open_release_view(settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str) -> ReleaseView:
    return release_view(release_store.open_release(settings, visitor, owner, name))


@api.get("/{shelf_name}/{name}/reading")
def reading(
    settings: SettingsDep,
    visitor: VisitorDep,
    compute: ComputeDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: ReadingQuery,
) -> ReadingResult:
    """The best reading of an answer for a prior and a loss, its interval, and what face value would cost."""
    return compute(read_answer, settings, visitor, shelf_name, name, form)


def read_answer(
    settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str, form: ReadingForm
) -> ReadingResult:
    """The reading that a form asks for."""
    answer, form, prior = prepare_reading(settings, visitor, owner, name, form)
    with errors_for_form():
        return results.read_answer(answer, file_name(owner, name), form, prior)


@api.get("/{shelf_name}/{name}/over")
def over(
    settings: SettingsDep,
    visitor: VisitorDep,
    compute: ComputeDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: ReadingQuery,
) -> OverallLosses:
    """The same before the answer was known: losses over all answers, and how each of them would be read."""
    return compute(_overall_losses, settings, visitor, shelf_name, name, form)


def _overall_losses(
    settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str, form: ReadingForm
) -> OverallLosses:
    answer, form, prior = prepare_reading(settings, visitor, owner, name, form)
    with errors_for_form():
        return results.overall_losses(answer, form, prior)


@api.get("/{shelf_name}/{name}/tailored")
def made_for_her(
    settings: SettingsDep,
    visitor: VisitorDep,
    compute: ComputeDep,
    shelf_name: ReleaseOwner,
    name: Name,
    form: ReadingQuery,
) -> TailoredMechanism:
    """A mechanism made for this reader alone, certified, beside the released one: the same, by GRS12 Thm 3.2."""
    return compute(_tailored_mechanism, settings, visitor, shelf_name, name, form)


def _tailored_mechanism(
    settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str, form: ReadingForm
) -> TailoredMechanism:
    answer, form, prior = prepare_reading(settings, visitor, owner, name, form)
    with errors_for_form():
        return tailor_mechanism(answer, form, prior)


def release_view(release: Release) -> ReleaseView:
    """A release and its answers; the cells of a histogram come with their readings."""
    return ReleaseView(
        title=_release_title(release),
        epsilon=str(release.epsilon),
        delta=str(release.delta),
        guarantee=release.guarantee,
        neighbours=str(release.neighbours),
        unit=str(release.unit),
        units=release.units,
        answers=[_answer_view(answer) for answer in release],
        tables=[table.name for table in release.tables],
    )


def _answer_view(answer: Answer) -> AnswerView:
    names, mechanism = [name for name, _ in answer.named_values], answer.mechanism
    return AnswerView(
        name=answer.name,
        kind=answer.kind,
        where=answer.where,
        epsilon=str(answer.epsilon),
        delta=str(answer.delta),
        optimal=answer.optimal,
        behind=answer.released_error.words,
        cells=names[:MAX_LISTED_CELLS],
        cell_count=len(names),
        noun=answer.query.values_noun,
        value=None if isinstance(answer.value, tuple) else str(answer.value),
        bounded=mechanism.has_public_ends,
        has_posterior=mechanism.has_posterior,
    )


def prepare_reading(
    settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str, form: ReadingForm
) -> tuple[Answer, ReadingForm, Prior | None]:
    """The answer that is read, the form with its gaps filled, and the prior given by weights, if there is one."""
    release = release_store.open_release(settings, visitor, owner, name)
    with errors_for_field("query"):
        answer = release[form.query] if form.query else release.answers[0]
    form = forms.complete_form(form, answer)
    if form.prior == "file":
        return answer, form, release_store.uploaded_prior(settings, visitor, form.value("kept"))
    return answer, form, release_store.parse_weights(form.value("weights")) if form.prior == "weights" else None


def file_name(owner: ReleaseOwner, name: str) -> str:
    """How the command line calls the release."""
    return name if owner == "releases" else "uploaded.release.json"
