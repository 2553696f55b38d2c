"""The curator's pages."""

from utmost.studio.curator import pages

routers = (pages.pages, pages.api)
