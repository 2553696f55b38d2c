"""Jobs: the list, one job with its progress and bounds, and cancelling it."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel
from starlette.requests import Request

from utmost.studio.jobs import Job
from utmost.studio.rendering import render_page
from utmost.studio.state import StateDep, VisitorDep

job_pages = APIRouter(include_in_schema=False, prefix="/jobs")
job_api = APIRouter(prefix="/api/jobs", tags=["jobs"])


class JobList(BaseModel):
    """Your jobs, the latest first, without their results."""

    jobs: list[Job]


@job_pages.get("")
def jobs_page(request: Request, state: StateDep, visitor: VisitorDep) -> HTMLResponse:
    """The list of jobs."""
    return render_page(request, "core/jobs.html", json_address="/api/jobs", jobs=state.jobs.all(visitor.name))


@job_pages.get("/{job}")
def job_page(request: Request, job: str, state: StateDep, visitor: VisitorDep) -> HTMLResponse:
    """One job."""
    return render_page(
        request, "core/job.html", json_address=f"/api/jobs/{job}", job=state.jobs.find(visitor.name, job)
    )


@job_pages.post("/{job}/cancel")
def cancel_page(job: str, state: StateDep, visitor: VisitorDep) -> RedirectResponse:
    """Cancel a job, and show what became of it."""
    state.jobs.cancel(visitor.name, job)
    return RedirectResponse(f"/jobs/{job}", status_code=303)


@job_api.get("")
def jobs_list(state: StateDep, visitor: VisitorDep) -> JobList:
    """Your jobs, the latest first, without their results."""
    return JobList(jobs=state.jobs.all(visitor.name))


@job_api.get("/{job}")
def one_job(job: str, state: StateDep, visitor: VisitorDep) -> Job:
    """One of your jobs: its progress and bounds, and its result once it is done."""
    return state.jobs.find(visitor.name, job)


@job_api.post("/{job}/cancel", name="cancelled")
def cancel_job(job: str, state: StateDep, visitor: VisitorDep) -> Job:
    """Cancel one of your jobs."""
    return state.jobs.cancel(visitor.name, job)
