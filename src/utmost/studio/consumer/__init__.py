"""The consumer's pages."""

from utmost.studio.consumer import pages

routers = (pages.pages, pages.api)
