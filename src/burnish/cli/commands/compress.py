"""`burnish compress`: the same prompt with fewer tokens."""

from __future__ import annotations

import contextlib
import getpass
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from burnish.app.agents.registry import with_configuration
from burnish.app.compress.compressions import (
    CompressionResult,
    CompressionTags,
    apply_result,
)
from burnish.app.compress.report import CompressionReport, read_report
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.run_spec import stored_settings
from burnish.app.wiring import Workspace, overrides_location
from burnish.cli.console import Streams
from burnish.cli.display.optimizations.progress import showing_search
from burnish.cli.display.rows import print_rows, print_steps
from burnish.cli.options import Config, Db, Json, Mailbox, Overrides, RayAddress, Runner, given
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.search import SearchWatch, chosen_runner, resume_search, start
from burnish.cli.wording import harmless, money
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.domain import Configuration, OptimizationStatus, UsageError, optimizer_name
from burnish.domain.wording import counted
from burnish.optimizers.compress.coverage import Protection
from burnish.optimizers.compress.examples import require_parts
from burnish.optimizers.compress.optimizer import Compress
from burnish.optimizers.compress.report import RejectedModification

_GATE_FAILED, _STOPPED_BY_SOMEBODY = 1, 130
_MOST_SHOWN = 5


def compress(
    context: typer.Context,
    *,
    tag: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="Keep the result under this tag."),
    ] = None,
    baseline_tag: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="Shorten the prompt as it is under this tag."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let go what --tag holds, if it is there already.")
    ] = False,
    overrides: Overrides = None,
    eval_runs: Annotated[
        int | None,
        typer.Option(min=1, help="How often the baseline and the result run each item."),
    ] = None,
    min_section_tokens: Annotated[
        int | None, typer.Option(min=1, help="Leave shorter sections alone.")
    ] = None,
    sections: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PATH", help="Compress this section only. Repeatable."),
    ] = None,
    drop_untested: Annotated[
        bool, typer.Option("--drop-untested", help="Also leave out lines that no item tests.")
    ] = False,
    protected: Annotated[
        list[str] | None,
        typer.Option("--protect", metavar="WORDS", help="Keep the line with these. Repeatable."),
    ] = None,
    rewriter: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="A model that rewrites sections; else mechanical."),
    ] = None,
    calls_per_month: Annotated[
        int | None, typer.Option(min=1, help="For what it saves in a month.")
    ] = None,
    max_evaluations: Annotated[int | None, typer.Option(min=0, help="Item runs.")] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Make the result the agent's active version.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --apply.")] = False,
    seed: Annotated[int | None, typer.Option(help="Equal seeds search alike.")] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with a compression, or show it again.")
    ] = None,
    runner: Runner = None,
    mailbox: Mailbox = None,
    ray_address: RayAddress = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Make the prompt shorter, as long as nothing that passed before fails.

    A failure counts once it is repeated. Exit code 1 says that held-out items speak against the
    result, which is then neither tagged nor applied.
    """
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    if apply and not yes and not _can_ask(streams):
        raise UsageError(
            what="the compression was not started",
            why="--apply asks first, and there is no terminal to ask on",
            fix="add --yes, or leave --apply out and look at the report first",
            code="needs_yes",
        )
    agent = location.settings().agent_spec()
    tags = CompressionTags(
        agent_name=agent.name,
        own=Configuration.of(agent.configuration),
        store=overrides_location(location.folder, overrides),
        tag=tag,
        baseline_tag=baseline_tag,
        replace=replace,
    )
    baseline = run(tags.baseline())
    watch = SearchWatch(shortens=True)
    choice = chosen_runner(streams, location, runner, mailbox, ray_address)
    with showing_search(streams.messages, watch):
        if resume is not None:
            work = resume_search(location, resume, watch, choice)
        else:
            direct = {"suite.repeats": eval_runs, "budget.max_evaluations": max_evaluations}
            asked: dict[str, Any] = {
                "min_section_tokens": min_section_tokens,
                "sections": sections or None,
                "drop_untested": drop_untested or None,
                "protected": protected or None,
                "model": rewriter,
                "seed": seed,
            }
            settings = _settings(location.settings(given(direct)), given(asked), baseline)
            watch.budget = settings.budget_spec()
            work = start(location.database, settings, watch, choice)
        result = run(work, note=lambda: watch.kept(location)).result
    done = run(_finish(location, result, calls_per_month))
    cancelled = result.status is OptimizationStatus.CANCELLED
    if done.report.worth_keeping and not cancelled:
        done = _keep(location, done, tags, apply=apply, yes=yes)
    if streams.json_output:
        streams.print_document(done.to_json())
    else:
        _print(streams.console, done, location)
    if cancelled:
        raise typer.Exit(_STOPPED_BY_SOMEBODY)
    failed = done.report.refuted or done.report.regressions
    raise typer.Exit(_GATE_FAILED if failed else 0)


def _settings(settings: Settings, asked: Mapping[str, Any], baseline: Configuration) -> Settings:
    """The settings with the `[optimizer]` table for this run: of another's only what fits any."""
    table = settings.optimizer
    own = table.get("name") == "compress"
    kept: dict[str, Any] = {
        key: value for key, value in table.items() if own or key in ("seed", "space")
    }
    chosen = {**kept, **asked, "name": "compress"}
    # Now, and not once the baseline is paid for.
    require_parts(baseline, chosen.get("sections") or ())
    Protection(baseline, chosen.get("protected") or ())
    own = Configuration.of(settings.agent_spec().configuration)
    agent = settings.agent if baseline == own else with_configuration(settings.agent, baseline)
    return settings.model_copy(update={"optimizer": chosen, "agent": agent})


async def _finish(
    location: ProjectLocation, result: OptimizationResult, calls_per_month: int | None
) -> CompressionResult:
    settings = stored_settings(result.record, location.folder)
    optimizer = build_optimizer_of(SearchSpec.of(settings.optimizer))
    if not isinstance(optimizer, Compress):
        raise UsageError(
            what=f"optimization {result.optimization_id} is no compression",
            why=f"its optimizer is {optimizer_name(optimizer)!r}",
            fix=f"look at it with `burnish show {result.optimization_id}`",
            code="not_a_compression",
        )
    async with Workspace.open(location.database, models=settings.models) as workspace:
        report = await read_report(
            workspace,
            result,
            optimizer,
            model=settings.agent.model,
            calls_per_month=calls_per_month,
        )
    return CompressionResult(report=report, result=result)


def _keep(
    location: ProjectLocation,
    done: CompressionResult,
    tags: CompressionTags,
    *,
    apply: bool,
    yes: bool,
) -> CompressionResult:
    """Tag and apply it, as far as that was asked for and agreed on."""
    run(tags.keep(done.report.modifications))
    version = None
    if apply and (yes or _agreed(done)):
        version = run(_apply(location, done.result))
    return CompressionResult(report=done.report, result=done.result, tag=tags.tag, version=version)


async def _apply(location: ProjectLocation, result: OptimizationResult) -> int | None:
    author = ""
    with contextlib.suppress(Exception):  # A container's user may have no name at all.
        author = getpass.getuser()
    async with location.read() as workspace:
        version = await apply_result(workspace, result, author=author)
    return None if version is None else version.version


def _can_ask(streams: Streams) -> bool:
    return not streams.json_output and sys.stdin.isatty() and sys.stdout.isatty()


def _agreed(done: CompressionResult) -> bool:
    saved = done.report.total_token_reduction
    return typer.confirm(
        f"Make the prompt that is {counted(saved, 'token')} shorter the active version?"
    )


def _print(console: Console, done: CompressionResult, location: ProjectLocation) -> None:
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
    _print_some(console, "not done:", [_refusal(one) for one in report.rejected])
    kept = [f"{one.section_path}: {one.text}" for one in report.untested if one.kept]
    gone = [f"{one.section_path}: {one.text}" for one in report.untested if not one.kept]
    _print_some(console, "kept, no item tests it:", kept)
    _print_some(console, "left out, no item tests it:", gone, style="yellow")
    console.print()
    if done.tag:
        console.print(Text(f"kept under the tag {done.tag}"))
    if done.version:
        console.print(Text(f"version {done.version} is active now"))
    console.print(Text.assemble(("optimization ", "dim"), report.optimization_id))
    if report.has_modifications:
        identity = report.optimization_id[-8:]
        print_steps(console, [(location.command("diff", identity), "what changed")])


def _refusal(one: RejectedModification) -> str:
    broken = f" (at least {counted(one.regression_count, 'item')})" if one.regression_count else ""
    return f"{one.edit}: {one.reason}{broken}"


def _print_some(console: Console, label: str, lines: list[str], style: str = "dim") -> None:
    for one in lines[:_MOST_SHOWN]:
        console.print(Text(f"{label} {harmless(one)}", style=style), soft_wrap=True)
    if len(lines) > _MOST_SHOWN:
        more = len(lines) - _MOST_SHOWN
        console.print(Text(f"{label} {more} more, see --json", style=style))


def _facts(report: CompressionReport) -> list[tuple[str, str]]:
    saved = report.savings
    each = "price unknown" if saved.usd_per_call is None else money(saved.usd_per_call)
    rows = [
        ("regressions", f"{len(report.regressions)} of {counted(report.gate_items, 'gate item')}"),
        ("held out", _held_out(report)),
        ("evaluations", f"{report.evaluations:,}"),
        ("saved a call", f"{saved.tokens_per_call:,} tokens, {each}{_cached(report)}"),
    ]
    if saved.calls_per_month is not None:
        month = "price unknown" if saved.usd_per_month is None else money(saved.usd_per_month)
        rows.append(("saved a month", f"{saved.tokens_per_month or 0:,} tokens, {month}"))
    return rows


def _cached(report: CompressionReport) -> str:
    """Why a saved token may be worth less than its price."""
    share = report.savings.cached_share
    return f" ({share:.0%} of what the agent read was cached)" if share else ""


def _held_out(report: CompressionReport) -> str:
    held_out = report.held_out
    if held_out is None:
        return report.confirmation
    return (
        f"{held_out['baseline_score']:.3f} → {held_out['best_score']:.3f} "
        f"on {held_out['items']} unseen items"
    )
