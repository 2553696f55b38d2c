"""The curator's pages."""

from utmost.studio.curator import api, pages

routers = (pages.pages, api.api)
