"""The papers, computed again: pages."""

from utmost.studio.papers import pages

routers = (pages.pages, pages.api)
