"""The consumer's pages: a release, what she believes and fears, and the best reading of each answer."""

from utmost.studio.consumer import api, pages

routers = (pages.pages, api.api)
