"""Hook of mkdocs: pages of the repository that lie outside docs are part of the site as well.

In the repository a link leads to the file itself. On the site those of `_PAGES` are pages below
`repository/`; what else lies outside is named and not linked.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[1]
_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/RESULTS.md")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s:]+)(?P<anchor>#[^)]*)?\)")
# What our tests read of a block's first line, and no highlighter knows.
_NEEDS = re.compile(r"^(```\w+) needs=\w+$", re.MULTILINE)
_PICTURE = re.compile(r"(?<=\]\()docs/(?=[^)]*\.(?:png|svg)\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside."""
    for name in _PAGES:
        path = _ROOT / name
        if path.exists():
            text = path.read_text(encoding="utf-8")
            files.append(File.generated(config, f"repository/{name}", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Have links lead to where a file is on the site."""
    markdown = _NEEDS.sub(r"\1", markdown)
    here = page.file.src_uri
    # Where the page lies in the repository.
    own = here.removeprefix("repository/") if here.startswith("repository/") else f"docs/{here}"
    up = posixpath.relpath(".", posixpath.dirname(here) or ".")

    def moved(found: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(own), found["target"]))
        if place in _PAGES:
            place = f"repository/{place}"
        elif place.startswith("docs/") and files.get_file_from_path(place[len("docs/") :]):
            place = place[len("docs/") :]
        elif (_ROOT / place).exists():
            return f"{found['text']} (`{place}`)"
        else:
            return found[0]
        target = posixpath.relpath(place, posixpath.dirname(here) or ".")
        return f"[{found['text']}]({target}{found['anchor'] or ''})"

    return _PICTURE.sub(f"{up}/", _LINK.sub(moved, markdown))


def on_post_build(config: Any) -> None:
    """Put the pages' sources beside them: `llms.txt` leads there."""
    docs = Path(config["docs_dir"])
    for path in docs.rglob("*.md"):
        target = Path(config["site_dir"]) / path.relative_to(docs)
        target.write_bytes(path.read_bytes())
