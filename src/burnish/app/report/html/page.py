"""HTML report of an optimization: the whole page, in one file that asks nobody for anything."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import os
from datetime import datetime
from pathlib import Path
from typing import Any

from burnish.app.report.html import trial_table as ledgers
from burnish.app.report.html.item_changes import item_changes
from burnish.app.report.html.lineage_graph import lineage_graph
from burnish.app.report.html.markup import asset, moment, safe, script_json, section
from burnish.app.report.html.material import Material
from burnish.app.report.html.overview import cards, header
from burnish.app.report.html.pareto_chart import pareto_chart
from burnish.app.report.html.prompt_changes import prompt_changes
from burnish.app.report.html.reading import read_material
from burnish.app.report.html.refinement import refinement
from burnish.app.report.html.score_chart import score_chart
from burnish.app.report.html.trial_table import trial_table
from burnish.app.wiring import Workspace
from burnish.domain import Clock, SystemClock, UsageError


def render_page(material: Material, made_at: datetime) -> str:
    """The report as HTML. Equal material gives equal text but for the line that says when."""
    scores, pareto = score_chart(material), pareto_chart(material)
    parts = {
        "scores": ("Score by trial", scores.html),
        "prompt": ("Prompt changes", prompt_changes(material)),
        "items": ("Item changes", item_changes(material)),
        "refinement": ("Refinement", refinement(material) if material.refined else ""),
        "learnt": ("What the search learnt", ledgers.search_report(material)),
        "lineage": ("Lineage", lineage_graph(material)),
        "pareto": (_front_title(material), pareto.html),
        "trials": ("Trials", trial_table(material)),
        "rejections": ("Refused proposals", ledgers.rejections(material)),
        "usage": ("Usage", ledgers.usage(material)),
        "events": ("Events", ledgers.events(material)),
    }
    for name in ("refinement", "learnt"):
        if not parts[name][1]:
            del parts[name]
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, (title, _) in parts.items())
    sections = "".join(section(name, title, body) for name, (title, body) in parts.items())
    data = {
        "optimization_id": material.record.id,
        "status": material.record.status.value,
        "result": None if material.record.result is None else dict(material.record.result),
        "points": {"score-chart": scores.points, "pareto-chart": pareto.points},
    }
    return (
        _head(material)
        + header(material)
        + cards(material)
        + f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n<main>\n{sections}</main>\n'
        + f"<footer>Made {safe(moment(made_at.isoformat()))} by Burnish.</footer>\n"
        + _scripts(data)
    )


def _front_title(material: Material) -> str:
    measures = material.ranking.objective.front_measures
    return f"Score against {' and '.join(measures)}"


def _head(material: Material) -> str:
    style, script = asset("report.css"), asset("report.js")
    # Only this very style and this very script may act, whatever a model's answer holds.
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{safe(material.record.name)} · Burnish</title>\n"
        f"<style>{style}</style></head>\n<body>\n"
    )


def _scripts(data: dict[str, Any]) -> str:
    return (
        f'<script type="application/json" id="report-data">{script_json(data)}</script>\n'
        f"<script>{asset('report.js')}</script>\n</body></html>\n"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


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
