"""Parts of the page of guarantees: tables of what was measured."""

from __future__ import annotations

import json
from pathlib import Path

from tests.reference.markdown import table

RESULTS = Path(__file__).parents[2] / "bench" / "results"


def made(name: str) -> str:
    """The table of a measurement, with its command and what it means."""
    told = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    facts = [f"`{told['command']}`", told["measured"], told["machine"], f"commit {told['commit']}"]
    rows = [[str(cell) for cell in row] for row in told["rows"]]
    notes = "\n".join(f"- {note}" for note in told["notes"])
    return f"{' · '.join(facts)}\n\n{table(told['columns'], rows)}\n{notes}\n"
