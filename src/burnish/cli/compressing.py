"""One `burnish compress`, from its request to its exit code."""

from __future__ import annotations

import contextlib
import getpass
import sys

import typer

from burnish.app.compress.compressions import (
    CompressionResult,
    apply_result,
    check_tag,
    local_overrides,
    store_tag,
)
from burnish.app.compress.report import read_report
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.run_spec import stored_settings
from burnish.app.wiring import Workspace
from burnish.cli.compress_request import CompressRequest
from burnish.cli.console import Session
from burnish.cli.display.compression import print_compression
from burnish.cli.display.search_progress import showing_search
from burnish.cli.optimizing import chosen_runner, resume_search, start
from burnish.cli.project_location import Place
from burnish.cli.running import run
from burnish.cli.search_watch import SearchWatch
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.domain import Configuration, OptimizationStatus, UsageError
from burnish.optimizers.compress.examples import require_parts
from burnish.optimizers.compress.optimizer import Compress

_REFUTED, _STOPPED_BY_SOMEBODY = 1, 130


def compress_request(session: Session, place: Place, request: CompressRequest) -> int:
    """Run it, print the report and return the exit code."""
    if request.tag is not None:
        check_tag(request.tag)
    if request.apply and not request.yes and not _can_ask(session):
        raise UsageError(
            what="the compression was not started",
            why="--apply asks first, and there is no terminal to ask on",
            fix="add --yes, or leave --apply out and look at the report first",
            code="needs_yes",
        )
    watch = SearchWatch()
    result = _search(session, place, request, watch)
    done = run(_finish(place, request, result))
    if done.result.status is OptimizationStatus.CANCELLED:
        _present(session, place, done)
        return _STOPPED_BY_SOMEBODY
    if done.report.worth_keeping:
        done = _keep(session, place, request, done)
    _present(session, place, done)
    return _REFUTED if done.report.refuted else 0


def _search(
    session: Session, place: Place, request: CompressRequest, watch: SearchWatch
) -> OptimizationResult:
    choice = chosen_runner(session, place, request.runner)
    with showing_search(session.messages, watch):
        if request.resume is not None:
            work = resume_search(place, request.resume, watch, choice)
        else:
            settings = _settings(place, request)
            watch.budget = settings.budget_spec()
            work = start(place.database, settings, watch, choice)
        return run(work, note=lambda: watch.kept(place)).result


def _settings(place: Place, request: CompressRequest) -> Settings:
    settings = place.settings(request.overrides())
    table = request.optimizer(settings.optimizer)
    # Now, and not once the baseline is paid for.
    require_parts(
        Configuration.of(settings.agent_spec().configuration), table.get("sections") or ()
    )
    return settings.model_copy(update={"optimizer": table}).placed_in(settings.folder)


async def _finish(
    place: Place, request: CompressRequest, result: OptimizationResult
) -> CompressionResult:
    settings = stored_settings(result.record, place.config.absolute().parent)
    optimizer = build_optimizer_of(SearchSpec.of(settings.optimizer))
    if not isinstance(optimizer, Compress):
        raise UsageError(
            what=f"optimization {result.optimization_id} is no compression",
            why=f"its optimizer is {optimizer.name!r}",
            fix=f"look at it with `burnish show {result.optimization_id}`",
            code="not_a_compression",
        )
    async with Workspace.open(place.database, models=settings.models) as workspace:
        report = await read_report(
            workspace,
            result,
            optimizer,
            model=settings.agent.model,
            calls_per_month=request.calls_per_month,
        )
    return CompressionResult(report=report, result=result)


def _keep(
    session: Session, place: Place, request: CompressRequest, done: CompressionResult
) -> CompressionResult:
    """Tag and apply it, as far as that was asked for and agreed on."""
    report = done.report
    if request.tag is not None:
        folder = place.config.absolute().parent
        store, baseline = local_overrides(folder), done.result.baseline.configuration
        run(store_tag(store, report.agent, baseline, report.modifications, request.tag))
    version = None
    if request.apply and (request.yes or _agreed(session, done)):
        version = run(_apply(place, done.result))
    return CompressionResult(report=report, result=done.result, tag=request.tag, version=version)


async def _apply(place: Place, result: OptimizationResult) -> int | None:
    author = ""
    with contextlib.suppress(Exception):  # A container's user may have no name at all.
        author = getpass.getuser()
    async with place.read() as workspace:
        version = await apply_result(workspace, result, author=author)
    return None if version is None else version.version


def _present(session: Session, place: Place, done: CompressionResult) -> None:
    if session.json_output:
        session.print_document(done.to_json())
    else:
        print_compression(session.console, done, place)


def _can_ask(session: Session) -> bool:
    return not session.json_output and sys.stdin.isatty() and sys.stdout.isatty()


def _agreed(session: Session, done: CompressionResult) -> bool:
    saved = done.report.total_token_reduction
    return typer.confirm(f"Make the prompt that is {saved:,} tokens shorter the active version?")
