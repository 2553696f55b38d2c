"""Precision: pages."""

from utmost.studio.precision import pages

routers = (pages.pages, pages.api)
