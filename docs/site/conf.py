"""Settings of the documentation site. `build.py` in this folder puts its pages together and calls Sphinx."""

from utmost import __version__

project = "utmost"
copyright = "the utmost developers; Apache-2.0"
release = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 4  # links such as plan.md#sources
html_theme = "furo"
html_title = f"utmost {__version__}"
html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}  # no link to edit a page: some are put together
suppress_warnings = ["misc.highlighting_failure"]  # CSV has no lexer, and … is no Python: shown without colours
