"""The studio: pages for the curator, the consumer and the designer, on the same functions as the command line.

Every page has a JSON twin under /api, documented by OpenAPI. No maths is done here: pages parse, call and show.
"""
