"""Each measurement in a process of its own, so that none warms another up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def measure(module: str, *arguments: object, timeout: float = 600.0) -> dict[str, Any]:
    """The JSON that `python -m MODULE ARGUMENTS` prints last, run in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="burnish-bench-") as folder:
        finished = subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    if finished.returncode != 0:
        raise SystemExit(f"{module} failed:\n{finished.stderr}")
    return json.loads(finished.stdout.strip().splitlines()[-1])  # type: ignore[no-any-return]
