"""The designer: pages, their JSON twins and pictures."""

from utmost.studio.designer import chart_api, pages

routers = (pages.pages, pages.api, chart_api.api)
