"""Markup of a report: HTML made of text that nobody vouches for, and numbers as people read them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib import resources
from typing import Any

from burnish.domain import Json
from burnish.domain.wording import p_relation


def score(value: float | None) -> str:
    """A score, or a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:,.0f}"


def signed(value: float) -> str:
    """A difference with its sign; a true minus lines up with the plus."""
    text = f"{value:+.3f}" if abs(value) < 1000 else f"{value:+,.0f}"
    return text.replace("-", "−")


def probability(value: float) -> str:
    """A p-value with its relation."""
    return escape(p_relation(value))


def money(cost_usd: float | None) -> str:
    """Dollars; an unknown price is not a price of 0."""
    if cost_usd is None:
        return "unknown"
    return f"${cost_usd:,.2f}" if cost_usd >= 1 or cost_usd == 0 else f"${cost_usd:.4f}"


def measure(name: str, value: float | None) -> str:
    """What an evaluation takes; dollars are those of a thousand."""
    if value is None:
        return "unknown"
    if name == "cost":
        return money(value * 1000)
    return f"{value:,.0f} ms" if name == "latency" else f"{value:,.0f}"


def moment(stamp: str) -> str:
    """An ISO moment to the second, in UTC; anything else as it is."""
    try:
        when = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plain(code: str) -> str:
    """A machine name as words."""
    return code.replace("_", " ")


# Control characters but newline and tab, what turns the direction of text round, and half characters.
_UNSHOWABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
# Inside a script element these could end it, or end a line of it.
_IN_SCRIPT = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


def safe(text: str) -> str:
    """Foreign text as HTML that shows it and does nothing else."""
    return escape(_UNSHOWABLE.sub("�", text.replace("\r\n", "\n")), quote=True)


def one_line(text: str, limit: int) -> str:
    """Foreign text on one line, cut where it gets long; still to be made safe."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def excerpt(text: str, limit: int) -> str:
    """Safe text; of a long one its beginning, and how much more there is."""
    if len(text) <= limit:
        return safe(text)
    more = f"… {len(text) - limit:,} characters more"
    return f'{safe(text[:limit])}<span class="soft">{more}</span>'


def as_text(value: Json) -> str:
    """A value for people: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def script_json(value: Any) -> str:
    """JSON that cannot leave the script element it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.translate(_IN_SCRIPT)


def section(identity: str, title: str, body: str) -> str:
    """A part of the page that the list of contents leads to."""
    head = f'<h2 id="{identity}-title">{title}</h2>'
    return f'<section id="{identity}" aria-labelledby="{identity}-title">{head}\n{body}</section>\n'


def table(
    caption: str, columns: Sequence[str], rows: Iterable[str], *, name: str = "", tall: bool = False
) -> str:
    """A table of ready rows, in a box that scrolls by itself. A named one can be sorted."""
    heads = "".join(f'<th scope="col">{column}</th>' for column in columns)
    identity = f' id="{name}"' if name else ""
    return (
        f'<div class="table{" tall" if tall else ""}" tabindex="0" role="region" '
        f'aria-label="{caption}"><table{identity}><caption>{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>\n{''.join(rows)}</tbody></table></div>\n"
    )


def row(cells: Sequence[str], *, classes: str = "", identity: str = "") -> str:
    """A row of ready cells, the first of which names it."""
    marks = (f' id="{identity}"' if identity else "") + (f' class="{classes}"' if classes else "")
    rest = "".join(f"<td>{cell}</td>" for cell in cells[1:])
    return f'<tr{marks}><th scope="row">{cells[0]}</th>{rest}</tr>\n'


def definitions(values: Mapping[str, str]) -> str:
    """Names with ready values."""
    pairs = (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in values.items())
    return f"<dl>{''.join(pairs)}</dl>"


def details(summary: str, body: str, *, opened: bool = False) -> str:
    """Something that is folded away at first."""
    return f"<details{' open' if opened else ''}><summary>{summary}</summary>\n{body}</details>\n"


def filters(name: str, states: Mapping[str, str], what: str) -> str:
    """Buttons and a search box over the rows of the table with this name; they need the script."""
    buttons = "".join(
        f'<button type="button" data-show="{state}" aria-pressed="{"false" if state else "true"}">'
        f"{label}</button>"
        for state, label in states.items()
    )
    search = f'<input type="search" placeholder="Search" aria-label="Search {what}">'
    return (
        f'<div class="filters" role="group" aria-label="Filter {what}" data-for="{name}">{buttons}'
        f'{search}<span class="soft" role="status"></span></div>\n'
    )


def asset(name: str) -> str:
    """The text of a file that goes into the page as it is: its style, its script."""
    return (resources.files("burnish.app.report.html") / "assets" / name).read_text("utf-8")
