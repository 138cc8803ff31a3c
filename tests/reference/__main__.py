"""Reference pages written anew: `python -m tests.reference`."""

from tests.reference.markdown import DOCS
from tests.reference.pages import PAGES, page

for name in PAGES:
    (DOCS / name).write_text(page(name), encoding="utf-8")
