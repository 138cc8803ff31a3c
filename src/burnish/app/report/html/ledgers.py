"""What was refused, what was spent and what happened, each in a table."""

from __future__ import annotations

from collections import Counter

from burnish.app.report.html.markup import details, one_line, row, safe, table
from burnish.app.report.html.material import Material
from burnish.app.report.html.wording import count, moment, money, plain
from burnish.domain import Rejection, Usage

MAX_REJECTIONS = 500
_MESSAGE = 300


def rejections(material: Material) -> str:
    """Proposals that were not run, with their reasons; first how many of each."""
    refused = material.rejections
    if not refused:
        return "<p>No proposal was refused.</p>\n"
    by_reason = Counter(one.reason_code for one in refused)
    told = ", ".join(f"{number:,} {safe(plain(code))}" for code, number in by_reason.most_common())
    cut = f" The first {MAX_REJECTIONS:,} are listed." if len(refused) > MAX_REJECTIONS else ""
    columns = ["Step", "Proposal", "Reason", "What was wrong", "Configuration"]
    rows = (_refused(one) for one in refused[:MAX_REJECTIONS])
    listed = table("Refused proposals", columns, rows, tall=True)
    return f"<p>{count(len(refused), 'proposal')} refused: {told}.{cut}</p>\n{listed}"


def _refused(one: Rejection) -> str:
    digest = (one.configuration_hash or "–")[:12]
    return row(
        [
            str(one.step_index),
            str(one.proposed_index),
            safe(plain(one.reason_code)),
            safe(one_line(one.message, _MESSAGE)),
            f"<code>{safe(digest)}</code>",
        ]
    )


def usage(material: Material) -> str:
    """Calls, tokens and dollars by purpose."""
    spending = material.spending
    if not spending.by_purpose:
        return "<p>No model call was counted.</p>\n"
    rows = [_spent(safe(purpose), one) for purpose, one in sorted(spending.by_purpose.items())]
    rows.append(_spent("<b>all</b>", spending.total))
    columns = ["Purpose", "Calls", "Tokens in", "of them cached", "Tokens out", "Cost"]
    return table("What was spent", columns, rows)


def _spent(name: str, one: Usage) -> str:
    numbers = (one.calls, one.input_tokens, one.cached_tokens, one.output_tokens)
    return row([name, *(f"{number:,}" for number in numbers), money(one.cost_usd)])


def events(material: Material) -> str:
    """How many events of each type, and when the run changed its status."""
    tally = material.events
    if not tally.counts:
        return "<p>Nothing has happened yet.</p>\n"
    rows = [
        row(
            [
                safe(plain(kind)),
                f"{number:,}",
                safe(moment(tally.first[kind])),
                safe(moment(tally.last[kind])),
            ]
        )
        for kind, number in tally.counts.items()
    ]
    listed = table("Events by type", ["Event", "Number", "First", "Last"], rows)
    changes = [row([safe(moment(at)), safe(status)]) for at, status in tally.statuses]
    statuses = table("Changes of status", ["When", "Status"], changes)
    return listed + details("Changes of status", statuses)
