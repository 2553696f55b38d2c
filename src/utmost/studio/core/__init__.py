"""Pages that belong to no role: the first one, jobs, login, health, the description of the API."""

from utmost.studio.core import health, home, jobs, login, reference

routers = (home.pages, home.api, jobs.pages, jobs.api, login.pages, login.api, reference.pages, health.router)
