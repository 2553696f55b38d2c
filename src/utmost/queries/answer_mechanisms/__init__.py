"""The mechanisms that answer queries, as a release has them: one module each, with its law, draw, error and JSON."""
