"""What speaks for a promotion, and what of it has to be done by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from rich.console import Console
from rich.text import Text

from burnish.app.agents.promotion import Promotion
from burnish.app.report.differences import Difference
from burnish.cli.display.differences import print_difference
from burnish.cli.display.rows import print_rows
from burnish.cli.display.search_results import improvement_rows
from burnish.cli.wording import harmless, short_id

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def print_case(console: Console, promotion: Promotion) -> None:
    """The change, the scores, the held-out evidence and every doubt."""
    candidate = promotion.candidate
    name = f"candidate {candidate.number}" if candidate.number else "the baseline"
    optimization = short_id(promotion.record.id)
    console.print(Text.assemble((name, "bold"), (f" of optimization {optimization}", "dim")))
    console.print()
    print_difference(console, promotion.difference)
    console.print()
    rows = [("validation", Text(f"{_score(promotion.baseline_score)} → {_score(promotion.score)}"))]
    if promotion.evidence is not None:
        rows += improvement_rows(promotion.evidence, None)
    print_rows(console, rows)
    for doubt in promotion.doubts:
        console.print(Text.assemble(("! ", "bold yellow"), (doubt, "yellow")))
    console.print()


def print_unwritten(console: Console, change: Difference, written: Collection[str]) -> None:
    """What no file holds has to be put into burnish.toml by hand."""
    sections = [one for one in change.sections if one.path not in written and one.after is not None]
    lines = ["[agent.sections]"] if sections else []
    lines += [f"{_key(one.path)} = {toml(one.after)}" for one in sections]
    if change.parameters:
        lines.append("[agent.parameters]")
        lines += [
            f"{_key(one.name)} = {toml(one.after[0])}" for one in change.parameters if one.after
        ]
    if change.examples_changed:
        examples = [dict(one) for one in change.examples_after]
        lines += ["[agent]", f"examples = {toml(examples)}"]
    if lines:
        console.print("these stand in burnish.toml itself; put them there:", soft_wrap=True)
        for line in lines:
            console.print(Text(f"  {harmless(line)}"), soft_wrap=True)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def toml(value: Any) -> str:
    """TOML of a JSON value. Text of both is written alike, but for the escaped slash and DEL."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {toml(one)}" for key, one in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(toml(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _score(value: float | None) -> str:
    return "not scored" if value is None else f"{value:.3f}"
