"""Jobs: the list, one job with its progress and bounds, and cancelling it."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel
from starlette.requests import Request

from utmost.studio.jobs import Job
from utmost.studio.rendering import render_page
from utmost.studio.state import StateDep, VisitorDep

pages = APIRouter(include_in_schema=False, prefix="/jobs")
api = APIRouter(prefix="/api/jobs", tags=["jobs"])


class JobList(BaseModel):
    """Your jobs, the latest first, without their results."""

    jobs: list[Job]


@pages.get("")
def jobs_page(request: Request, house: StateDep, who: VisitorDep) -> HTMLResponse:
    """The list of jobs."""
    return render_page(request, "core/jobs.html", twin="/api/jobs", jobs=house.jobs.all(who.name))


@pages.get("/{job}")
def job_page(request: Request, job: str, house: StateDep, who: VisitorDep) -> HTMLResponse:
    """One job."""
    return render_page(request, "core/job.html", twin=f"/api/jobs/{job}", job=house.jobs.find(who.name, job))


@pages.post("/{job}/cancel")
def cancel_page(job: str, house: StateDep, who: VisitorDep) -> RedirectResponse:
    """Cancel a job, and show what became of it."""
    house.jobs.cancel(who.name, job)
    return RedirectResponse(f"/jobs/{job}", status_code=303)


@api.get("")
def jobs_list(house: StateDep, who: VisitorDep) -> JobList:
    """Your jobs, the latest first, without their results."""
    return JobList(jobs=house.jobs.all(who.name))


@api.get("/{job}")
def one_job(job: str, house: StateDep, who: VisitorDep) -> Job:
    """One of your jobs: its progress and bounds, and its result once it is done."""
    return house.jobs.find(who.name, job)


@api.post("/{job}/cancel")
def cancelled(job: str, house: StateDep, who: VisitorDep) -> Job:
    """Cancel one of your jobs."""
    return house.jobs.cancel(who.name, job)
