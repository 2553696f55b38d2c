"""The consumer's pages: a release, a prior and a loss, and the best reading of each answer."""

from utmost.studio.consumer import api, pages, tables

routers = (pages.pages, api.api, tables.pages, tables.api)
