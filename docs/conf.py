"""Sphinx builds these documents: ``sphinx-build -W -b html docs build/docs``. It needs no network."""

project = "s2s"
author = "the s2s authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_theme = "alabaster"
html_title = "s2s"
html_theme_options = {"page_width": "1100px", "sidebar_width": "180px"}
