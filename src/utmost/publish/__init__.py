"""Releases: a plan is charged, answered with noise and written down; a consumer reads it."""
