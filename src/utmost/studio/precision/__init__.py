"""The precision's pages."""

from utmost.studio.precision import pages

routers = (pages.pages, pages.api)
