"""One optimization as one HTML file: what it read, and the parts of the page."""

from burnish.bootstrap.report.page import render_page
from burnish.bootstrap.report.reading import read_material

__all__ = ["read_material", "render_page"]
