"""The designer: pages, their JSON twins and pictures."""

from utmost.studio.designer import charts, pages

routers = (pages.pages, pages.api, charts.api)
