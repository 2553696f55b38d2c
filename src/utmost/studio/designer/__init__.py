"""The designer's pages."""

from utmost.studio.designer import pages

routers = (pages.pages, pages.api)
