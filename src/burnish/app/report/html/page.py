"""The whole page, in one file that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from importlib import resources
from typing import Any

from burnish.app.report.html import ledgers
from burnish.app.report.html.item_changes import item_changes
from burnish.app.report.html.lineage_graph import lineage_graph
from burnish.app.report.html.markup import safe, script_json, section
from burnish.app.report.html.material import Material
from burnish.app.report.html.overview import cards, header
from burnish.app.report.html.pareto_chart import pareto_chart
from burnish.app.report.html.prompt_changes import prompt_changes
from burnish.app.report.html.refinement import refinement
from burnish.app.report.html.score_chart import score_chart
from burnish.app.report.html.trial_table import trial_table
from burnish.app.report.html.wording import moment


def render_page(material: Material, made_at: datetime) -> str:
    """The report as HTML. Equal material gives equal text but for the line that says when."""
    scores, pareto = score_chart(material), pareto_chart(material)
    parts = {
        "scores": ("Score by trial", scores.html),
        "prompt": ("Prompt changes", prompt_changes(material)),
        "items": ("Item changes", item_changes(material)),
        "refinement": ("Refinement", refinement(material) if material.refined else ""),
        "lineage": ("Lineage", lineage_graph(material)),
        "pareto": (_front_title(material), pareto.html),
        "trials": ("Trials", trial_table(material)),
        "rejections": ("Refused proposals", ledgers.rejections(material)),
        "usage": ("Usage", ledgers.usage(material)),
        "events": ("Events", ledgers.events(material)),
    }
    if not material.refined:
        del parts["refinement"]
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
    style, script = _asset("report.css"), _asset("report.js")
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
        f"<script>{_asset('report.js')}</script>\n</body></html>\n"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (resources.files("burnish.app.report.html") / "assets" / name).read_text("utf-8")
