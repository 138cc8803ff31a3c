"""setuptools, which builds the web UI first where there is Node and no UI yet.

A wheel without it is a whole wheel: the command line and the API work, and the server's front page
says how to get the UI. `BURNISH_NO_UI=1` leaves it out on purpose.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_UI = Path("ui")
_BUILT = Path("src/burnish/server/ui_dist")


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """The wheel, with the UI."""
    ensure_ui()
    name: str = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """The sources, with the UI as it is built, so that nobody needs Node to make a wheel of them."""
    ensure_ui()
    name: str = build_meta.build_sdist(sdist_directory, config_settings)
    return name


def ensure_ui() -> None:
    """Build the UI unless it is there, is not wanted, or cannot be built."""
    if (_BUILT / "index.html").exists() or os.environ.get("BURNISH_NO_UI"):
        return
    npm = shutil.which("npm")
    if npm is None or not (_UI / "package.json").exists():
        _say("the wheel has no web UI: it is not built, and there is no Node to build it")
        return
    try:
        # A lock file of another platform may lack what this one needs.
        _ = _ran(npm, "ci") or _ran(npm, "install", "--no-save")
        if not _ran(npm, "run", "build"):
            raise RuntimeError("its build failed")
    except (OSError, RuntimeError) as error:
        _say(f"the wheel has no web UI: {error}")
        return
    shutil.copytree(_UI / "dist", _BUILT, dirs_exist_ok=True)


def _ran(npm: str, *arguments: str) -> bool:
    # What npm says goes to stderr: stdout is the build's own.
    ended = subprocess.run([npm, *arguments], cwd=_UI, check=False, stdout=sys.stderr)  # noqa: S603
    return ended.returncode == 0


def _say(line: str) -> None:
    print(f"burnish: {line}", file=sys.stderr)  # noqa: T201 - what builds is a command
