"""A compression as people read it."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from burnish.app.compress.compressions import CompressionResult
from burnish.app.compress.report import CompressionReport
from burnish.cli.display.rows import print_rows, print_steps
from burnish.cli.project_location import Place
from burnish.cli.wording import count, harmless, money

_MOST_REJECTED = 5


def print_compression(console: Console, done: CompressionResult, place: Place) -> None:
    """Tokens by section, what was refused and why, what it saves, and what to do next."""
    report = done.report
    before, after = report.tokens_before, report.tokens_after
    share = (before - after) / before if before else 0.0
    console.print(Text(f"{harmless(report.agent)}: {before:,} → {after:,} tokens (−{share:.0%})"))
    if not report.has_modifications:
        console.print(Text(report.stop_message or "nothing could be shortened", style="yellow"))
    console.print()
    rows = [
        (one.path, Text(f"{one.before:,} → {one.after:,}"))
        for one in report.sections
        if one.before != one.after
    ]
    print_rows(console, [*rows, *((label, Text(words)) for label, words in _facts(report))])
    for one in report.rejected[:_MOST_REJECTED]:
        reason = f"{one.edit}: {one.reason}"
        if one.regression_count:
            reason += f" ({count(one.regression_count, 'item')})"
        console.print(Text(f"kept  {harmless(reason)}", style="dim"), soft_wrap=True)
    if len(report.rejected) > _MOST_REJECTED:
        more = len(report.rejected) - _MOST_REJECTED
        console.print(Text(f"      and {more} more, see --json", style="dim"))
    console.print()
    if done.tag:
        console.print(Text(f"kept under the tag {done.tag}"))
    if done.version:
        console.print(Text(f"version {done.version} is active now"))
    console.print(Text.assemble(("optimization ", "dim"), report.optimization_id))
    if report.has_modifications:
        identity = report.optimization_id[-8:]
        print_steps(console, [(place.command("diff", identity), "what changed")])


def _facts(report: CompressionReport) -> list[tuple[str, str]]:
    saved = report.savings
    each = "price unknown" if saved.usd_per_call is None else money(saved.usd_per_call)
    rows = [
        ("regressions", f"{len(report.regressions)} of {count(report.gate_items, 'gate item')}"),
        ("held out", _held_out(report)),
        ("evaluations", f"{report.evaluations:,}"),
        ("saved a call", f"{saved.tokens_per_call:,} tokens, {each}"),
    ]
    if saved.calls_per_month is not None:
        month = "price unknown" if saved.usd_per_month is None else money(saved.usd_per_month)
        rows.append(("saved a month", f"{saved.tokens_per_month or 0:,} tokens, {month}"))
    return rows


def _held_out(report: CompressionReport) -> str:
    held_out = report.held_out
    if held_out is None:
        return report.confirmation
    return (
        f"{held_out['baseline_score']:.3f} → {held_out['best_score']:.3f} "
        f"on {held_out['items']} unseen items"
    )
