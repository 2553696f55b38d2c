"""Pages that belong to no role: the first one, jobs, login, health, the description of the API."""

from utmost.studio.core import api_reference, health, home, jobs, login

routers = (home.pages, home.api, jobs.pages, jobs.api, login.pages, login.api, api_reference.pages, health.router)
