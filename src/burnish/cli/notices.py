"""Short labelled lines on stderr: errors, warnings, what is kept."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from burnish.cli.console import Session
from burnish.cli.display.rows import print_indented
from burnish.cli.wording import harmless
from burnish.support.secrets import without_secrets

_STYLES = {
    "error": "bold red",
    "gate failed": "bold red",
    "interrupted": "bold yellow",
    "fix": "green",
    "kept": "cyan",
}


def print_notice(session: Session, lines: Sequence[tuple[str, str]]) -> None:
    """The first line as a heading, the others below it. Plain text where there is no terminal."""
    console = session.messages
    for number, (label, words) in enumerate(lines):
        text = Text.assemble(
            (f"{label}: " if words else label, _STYLES.get(label, "dim")),
            (harmless(without_secrets(words)), "" if number else "bold"),
        )
        print_indented(console, text, 2 if number else 0)
