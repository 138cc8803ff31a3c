"""What was measured, kept as JSON a bench, and the page that is made of it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"
PAGE = Path(__file__).parent / "RESULTS.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One bench: a table, and sentences that say what it means."""

    name: str
    title: str
    command: str
    columns: list[str]
    rows: list[list[Any]]
    notes: list[str] = field(default_factory=list)
    measured: str = ""
    machine: str = ""
    commit: str = ""


def save(section: Section) -> None:
    """Keep a section and write the page again."""
    FOLDER.mkdir(exist_ok=True)
    stamped = asdict(section) | {
        "measured": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "commit": commit(),
    }
    path = FOLDER / f"{section.name}.json"
    path.write_text(json.dumps(stamped, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """`RESULTS.md` from all kept sections."""
    parts = [
        "# Results",
        "",
        "Made by `python -m bench`; do not edit. Ratios are between programs measured in the same run,",
        "because the machine is shared and noisy; absolute numbers move by tens of percent.",
    ]
    for path in sorted(FOLDER.glob("*.json")):
        section = Section(**json.loads(path.read_text(encoding="utf-8")))
        parts += ["", f"## {section.title}", ""]
        facts = [f"`{section.command}`", section.measured, section.machine]
        facts += [f"commit {section.commit}"] if section.commit else []
        parts += [" · ".join(facts), ""]
        parts.append("| " + " | ".join(section.columns) + " |")
        parts.append("| " + " | ".join("---" for _ in section.columns) + " |")
        parts += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in section.rows]
        parts += [""] + [f"- {note}" for note in section.notes] if section.notes else []
    return "\n".join(parts) + "\n"


def machine() -> str:
    """The machine in one line."""
    return f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}"


def commit() -> str:
    """What was measured; `+` where the package's files differ from it."""
    head = _git("rev-parse", "--short", "HEAD")
    return head + ("+" if head and _git("status", "--porcelain", "../src") else "")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
