"""Sphinx builds these documents: ``sphinx-build -W -b html docs build/docs``. It needs no network."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "s2s"
author = project_copyright = "the s2s authors"
extensions = [
    "check_links",
    "error_pages",
    "formulas",
    "myst_parser",
    "notebook_pages",
    "public_names",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # types of signatures: many are of Python, or type variables
autosummary_generate = False
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_dark_style = "monokai"
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "s2s"
html_static_path = ["_static"]
html_css_files = ["s2s.css"]
html_theme_options = {
    "source_repository": "https://github.com/s2s-grad/s2s/",
    "source_branch": "main",
    "source_directory": "docs/",
}
exclude_patterns = ["gallery/*.ipynb"]  # notebooks of the gallery's pages, to be downloaded
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # all of them run
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),
    "image_srcset": ["2x"],
}
