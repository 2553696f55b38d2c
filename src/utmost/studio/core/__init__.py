"""Pages that belong to no role: the first one, jobs, login, health, the description of the API."""

from utmost.studio.core import health, pages

routers = (
    pages.pages,
    pages.api,
    pages.job_pages,
    pages.job_api,
    pages.login_pages,
    pages.login_api,
    pages.reference_pages,
    health.router,
)
