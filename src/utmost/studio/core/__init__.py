"""Pages that belong to no role: the first one, jobs, login, health, the description of the API."""

from utmost.studio.core import api_reference, health, home, job_pages, login

routers = (
    home.pages,
    home.api,
    job_pages.pages,
    job_pages.api,
    login.pages,
    login.api,
    api_reference.pages,
    health.router,
)
