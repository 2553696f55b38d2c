"""Pages that belong to no role: the first one, jobs, login, health, the description of the API."""

from utmost.studio.core import api_reference, health, home, job_pages, login

routers = (
    home.pages,
    home.api,
    job_pages.job_pages,
    job_pages.job_api,
    login.login_pages,
    login.login_api,
    api_reference.reference_pages,
    health.router,
)
