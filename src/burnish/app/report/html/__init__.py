"""One optimization as one HTML file: what it read, and the parts of the page."""

from burnish.app.report.html.page import render_page
from burnish.app.report.html.reading import read_material

__all__ = ["read_material", "render_page"]
