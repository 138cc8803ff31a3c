"""llms.txt of the docs: what there is to read, one line a page, for programs that read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.reference.markdown import DOCS

HEAD = """# Burnish

> Burnish makes prompts and agents measurably better, cheaper and safer to change, and proves it:
> evaluations with intervals, searches that go on after a crash, winners confirmed on items that the
> search never saw. Command line, Python, HTTP and browser.

Install `burnish`, with `burnish[local]` for the embedded model that needs no key. `burnish init` makes
a project, `burnish validate` checks it and calls nothing, `burnish eval --json` and `burnish optimize
--json` print one JSON document on stdout. Exit codes: 0 done, 1 a gate failed, 2 bad input, 3 conflict,
4 something outside is away, 130 interrupted; `burnish resume ID` goes on.
"""
_NAV = re.compile(
    r"^(?P<indent> *)- (?:(?P<title>[^:\n]+): *)?(?P<page>[\w./-]+\.md)? *$", re.MULTILINE
)


def page() -> str:
    """The pages in the order of the navigation, each with its first sentence."""
    return HEAD + "\n" + "\n".join(_lines()) + "\n"


def nav() -> str:
    """The navigation as it stands in mkdocs.yml."""
    text = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    return text.partition("\nnav:\n")[2].partition("\n\n")[0] + "\n"


def pages() -> list[str]:
    """The pages of the navigation."""
    return [found["page"] for found in _NAV.finditer(nav()) if found["page"]]


def _lines() -> Iterator[str]:
    for found in _NAV.finditer(nav()):
        if found["page"] is None:
            yield f"\n## {found['title']}\n"
        elif (DOCS / found["page"]).exists():
            yield f"- [{_title(DOCS / found['page'])}]({found['page']}): {_first(DOCS / found['page'])}"


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def _first(path: Path) -> str:
    """The first sentence below the title."""
    for part in path.read_text(encoding="utf-8").split("\n\n")[1:]:
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(part.split()))
        if re.match(r"[A-Z`\[“\"]", text):
            return re.split(r"(?<=[.:])\s", text)[0].rstrip(":") if text else ""
    return ""
