"""Tables of a report: candidates, what the search learnt, refusals, spending and events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from burnish.app.report.html.family import ancestors
from burnish.app.report.html.lineage_graph import parents_of
from burnish.app.report.html.markup import (
    details,
    filters,
    measure,
    moment,
    money,
    one_line,
    plain,
    row,
    safe,
    score,
    signed,
    table,
)
from burnish.app.report.html.material import Material
from burnish.app.report.runs.search_report import search_of
from burnish.domain import Candidate, Rejection, TrialResult, Usage
from burnish.domain.wording import counted
from burnish.optimization.objective import Measures

MAX_ROWS = 6_000
_RATIONALE = 140
_COLUMNS = ("Trial", "Status", "Score", "Items", "Prompt tokens")
_LAST_COLUMNS = ("Step", "Parents", "Rationale")


def trial_table(material: Material) -> str:
    """The table with its filters; of very many rows the best ones."""
    if not material.candidates:
        return "<p>No candidate has been accepted yet.</p>\n"
    shown = _chosen(material)
    note = ""
    if len(shown) < len(material.candidates):
        note = (
            f'<p class="soft">Of {counted(len(material.candidates), "candidate")} these are the '
            f"way to the "
            f"best and the {MAX_ROWS:,} highest scores.</p>\n"
        )
    counts: dict[str, int] = {}
    for one in shown:
        standing = material.standing_of(one)
        counts[standing] = counts.get(standing, 0) + 1
    states = {"": f"All {len(shown):,}"} | {
        standing: f"{standing.capitalize()} {number:,}" for standing, number in counts.items()
    }
    rows = (_row(material, one) for one in shown)
    measures = [name.capitalize() for name in material.ranking.objective.measures]
    return (
        note
        + filters("trials-table", states, "trials")
        + table(
            "Trials",
            (*_COLUMNS, *measures, *_LAST_COLUMNS),
            rows,
            name="trials-table",
            tall=True,
        )
    )


def _chosen(material: Material) -> Sequence[Candidate]:
    if len(material.candidates) <= MAX_ROWS:
        return material.candidates
    path = ancestors(material.subject or material.baseline, material.by_id)

    def rank(one: Candidate) -> tuple[bool, float, int]:
        value = material.score_of(one)
        return one.id not in path, float("inf") if value is None else -value, one.number

    best = sorted(material.candidates, key=rank)[:MAX_ROWS]
    return sorted(best, key=lambda one: one.number)


def _row(material: Material, one: Candidate) -> str:
    standing = material.standing_of(one)
    trial = material.trials.get(one.id)
    tried = trial or next(iter(material.mini_batches.get(one.id, ())), None)
    best = material.best is not None and material.best.id == one.id
    words = trial.status.value if trial is not None else standing
    mark = " ★" if best else ""
    told = one_line(one.rationale or "", _RATIONALE)
    if tried is not None and tried.error:
        error = one_line(tried.error, _RATIONALE)
        told = f"{told} — {error}" if told else error
    cells = [
        f"{one.number}{mark}",
        words,
        score(None if tried is None else tried.objective_score),
        "–" if tried is None else f"{tried.summary.total_items:,}",
        f"{material.tokens.get(one.id, 0):,}",
        *_measures(material, trial),
        str(one.step_index),
        parents_of(material, one),
        safe(told),
    ]
    return row(cells, identity=f"c{one.number}", classes=f"{standing} best" if best else standing)


def _measures(material: Material, trial: TrialResult | None) -> list[str]:
    """What counts besides the score."""
    found = Measures() if trial is None else Measures.of(trial.summary)
    names = material.ranking.objective.measures
    return [measure(name, found.of_name(name)) for name in names]


MAX_REJECTIONS = 500
_MESSAGE = 300


def search_report(material: Material) -> str:
    """What the search learnt, by the optimizer's own word; empty where it tells nothing."""
    found = search_of(material.result)
    if found is None:
        return ""
    words = "".join(f"<li>{safe(one)}</li>" for one in found["words"])
    rows = [
        row(
            [
                safe(one["text"]),
                safe(one["section"]),
                "yes" if one["in_winner"] else "no",
                signed(one["worth"]),
                f"{signed(one['low'])} to {signed(one['high'])}",
                f"{one['items']:,}",
            ]
        )
        for one in found["blocks"]
    ]
    columns = ["Block", "Section", "In the winner", "Worth", "95% interval", "Items"]
    return f"<ul>{words}</ul>\n" + (table("What blocks are worth", columns, rows) if rows else "")


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
    return f"<p>{counted(len(refused), 'proposal')} refused: {told}.{cut}</p>\n{listed}"


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
    cached = "–" if one.cached_share is None else f"{one.cached_share:.0%}"
    cells = [f"{one.calls:,}", f"{one.input_tokens:,}", cached, f"{one.output_tokens:,}"]
    return row([name, *cells, money(one.cost_usd)])


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
