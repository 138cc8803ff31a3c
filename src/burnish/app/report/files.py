"""An optimization's report, written to a file."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

from burnish.app.report.html import read_material, render_page
from burnish.app.wiring import Workspace
from burnish.domain import Clock, SystemClock, UsageError


async def write_report(
    workspace: Workspace, optimization_id: str, path: Path, *, clock: Clock | None = None
) -> Path:
    """Write one self-contained HTML file, for an optimization in any state; its absolute path."""
    target = await asyncio.to_thread(_writable, path)
    material = await read_material(workspace, optimization_id)
    made_at = (clock or SystemClock()).now()
    page = await asyncio.to_thread(render_page, material, made_at)
    await asyncio.to_thread(_write, target, page)
    return target


def _writable(path: Path) -> Path:
    """Told before anything is read: a large report takes a while."""
    target = path.expanduser().absolute()
    if target.is_dir():
        raise _unwritable(target, "it is a folder", "name a file, such as report.html")
    if not target.parent.is_dir():
        raise _unwritable(
            target, f"there is no folder {target.parent}", "name a file in a folder that exists"
        )
    return target


def _write(target: Path, page: str) -> None:
    """The file takes its name only once everything is in it."""
    # A device or a pipe cannot be replaced; it is written to as it is.
    special = target.exists() and not target.is_file()
    part = target if special else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(page, encoding="utf-8", newline="")
        if not special:
            part.replace(target)
    except OSError as error:
        why = error.strerror or str(error)
        raise _unwritable(target, why, "name a file in a folder that can be written") from error
    finally:
        if not special:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _unwritable(target: Path, why: str, fix: str) -> UsageError:
    return UsageError(what=f"{target} cannot be written", why=why, fix=fix, code="unwritable")
