"""What the peers' scripts on real tasks share: the job from a file, the winner as the last line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

# The open slot of a user's template, as `bench/real/foreign.py` reads it.
SLOT = "<<message>>"
ANSWERS, REFLECTOR = "answers", "reflector"


def serve(run: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Run the job of the file that is named on the command line, and print what was found."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with redirect_stdout(sys.stderr):
        found = run(job)
    print(json.dumps(found), flush=True)


def found(
    *,
    system: str,
    user: str = SLOT,
    examples: Sequence[tuple[str, str]] = (),
    validation: Sequence[float | None],
    usable: int = 0,
    note: str = "",
) -> dict[str, Any]:
    """A winner: its system message, its template, its examples, and the scores of first and last."""
    return {
        "system": system,
        "user": user,
        "examples": [list(one) for one in examples],
        "validation": list(validation),
        "usable": usable,
        "note": note,
    }
