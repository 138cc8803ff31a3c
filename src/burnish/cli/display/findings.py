"""What `burnish doctor` found, a line each."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from burnish.cli.wording import harmless


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. `ok` is None for what is missing and not needed."""

    name: str
    ok: bool | None
    detail: str
    fix: str = ""
    exit_code: int = 0


def print_finding(console: Console, finding: Finding) -> None:
    """A mark, what was looked at, what was found, and how to mend it."""
    mark, style = {True: ("✓", "green"), None: ("·", "dim"), False: ("✗", "bold red")}[finding.ok]
    text = Text.assemble(
        (f"{mark} ", style),
        (f"{finding.name:<26} ", "bold" if finding.ok is False else ""),
        (harmless(finding.detail), "" if finding.ok else style),
        (f"  {harmless(finding.fix)}" if finding.fix else "", "green"),
    )
    console.print(text, soft_wrap=True)
