"""`burnish doctor`: what is installed and what answers. Failures are reported, not raised."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import metadata
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from burnish import __version__
from burnish.app.wiring import ModelPool, Workspace
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless
from burnish.config.schema import Settings
from burnish.config.served_project import models_in, naming_models
from burnish.domain import BurnishError, ModelRequest
from burnish.models.local.catalog import KNOWN
from burnish.models.local.pull import installed
from burnish.support.entry_points import Seam
from burnish.support.secrets import without_secrets

_PACKAGE = re.compile(r"[\w.-]+")
_EXTRA = re.compile(r"extra == [\"']([\w-]+)")
_ANSWER_SECONDS = 60.0


def doctor(
    context: typer.Context,
    offline: Annotated[
        bool, typer.Option("--offline", help="Call no model, and look for no server.")
    ] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Check what is installed, the database, and whether each model answers."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    findings = run(_all_findings(streams, location, offline=offline))
    if streams.json_output:
        checks = [asdict(finding) for finding in findings]
        good = all(finding.ok is not False for finding in findings)
        streams.print_document({"ok": good, "burnish": __version__, "checks": checks})
    raise typer.Exit(next((finding.exit_code for finding in findings if finding.ok is False), 0))


async def _all_findings(
    streams: Streams, location: ProjectLocation, *, offline: bool
) -> list[Finding]:
    findings = []
    async for finding in _findings(location, offline=offline):
        findings.append(finding)
        if not streams.json_output:
            print_finding(streams.console, finding)
    return findings


async def _findings(location: ProjectLocation, *, offline: bool) -> AsyncIterator[Finding]:
    yield Finding(name="python", ok=True, detail=platform.python_version())
    yield Finding(name="burnish", ok=True, detail=__version__)
    for extra, packages in _extras().items():
        yield _extra(extra, packages)
    here = installed()
    for name, known in KNOWN.items():
        path = here.get(name)
        yield Finding(
            name=name if known.embeds else f"local/{name}",
            ok=True if path else None,
            detail=str(path) if path else "not here",
            fix="" if path else f"burnish models pull {name}",
        )
    yield await _attempt("optimizers", _optimizers)
    for seam, point in _entry_points():
        yield await _attempt(f"{seam.noun} {point.name}", partial(_loaded, seam, point))
    yield await _attempt("database", partial(_database, location))
    for finding in () if offline else await _local_servers(location):
        yield finding
    if not location.config.exists():
        yield Finding(name="config", ok=None, detail=f"no {location.config}", fix="burnish init")
        return
    yield await _attempt("config", partial(_config, location))
    for name, use in _models_of(location).items():
        look = partial(_model, location, name, offline=offline)
        finding = await _attempt(f"model {name}", look)
        yield replace(finding, detail=f"{use}: {finding.detail}")


async def _attempt(name: str, look: Callable[[], Awaitable[str]]) -> Finding:
    """A failure is what is being looked for here, so it is reported and not raised."""
    try:
        return Finding(name=name, ok=True, detail=await look())
    except BurnishError as error:
        detail = without_secrets(f"{error.what}: {error.why}")
        return Finding(name=name, ok=False, detail=detail, fix=error.fix, exit_code=error.exit_code)


def _extras() -> dict[str, list[str]]:
    """Packages of each extra that a user may want, as the installed package itself names them."""
    found: dict[str, list[str]] = {}
    for requirement in metadata.requires("burnish") or ():
        package, extra = _PACKAGE.match(requirement), _EXTRA.search(requirement)
        if package and extra and extra[1] != "dev":
            found.setdefault(extra[1], []).append(package[0])
    return found


def _extra(extra: str, packages: list[str]) -> Finding:
    try:
        versions = [f"{package} {metadata.version(package)}" for package in packages]
    except metadata.PackageNotFoundError:
        command = f"pip install 'burnish[{extra}]'"
        return Finding(name=f"extra {extra}", ok=None, detail="not installed", fix=command)
    return Finding(name=f"extra {extra}", ok=True, detail=", ".join(versions))


async def _optimizers() -> str:
    from burnish.optimizers.catalog import list_optimizers  # noqa: PLC0415

    return ", ".join(list_optimizers())


def _entry_points() -> Iterator[tuple[Seam, metadata.EntryPoint]]:
    """What other packages add, seam by seam."""
    from burnish.app.optimize import runners  # noqa: PLC0415
    from burnish.evaluation.scorers import catalog as scorers  # noqa: PLC0415
    from burnish.models import catalog as models  # noqa: PLC0415
    from burnish.optimizers import catalog as optimizers  # noqa: PLC0415

    for seam in (optimizers.SEAM, scorers.SEAM, models.SEAM, runners.SEAM):
        for _, point in sorted(seam.installed().items()):
            yield seam, point


async def _loaded(seam: Seam, point: metadata.EntryPoint) -> str:
    seam.load_point(point)
    package = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
    return f"{point.value}{package}"


async def _database(location: ProjectLocation) -> str:
    from burnish.storage.engine.schema import HEAD  # noqa: PLC0415

    address = without_secrets(location.database)
    if not location.has_database:
        return f"{address}, made by the first evaluation"
    async with Workspace.open(location.database) as workspace:
        optimizations = await workspace.optimizations.list_optimizations(limit=1)
        experiments = await workspace.experiments.list_experiments(limit=1)
    newest = f", latest optimization {optimizations[0].id}" if optimizations else ""
    if not newest:
        newest = f", latest experiment {experiments[0].id}" if experiments else ", empty so far"
    return f"{address}, schema {HEAD}{newest}"


async def _local_servers(location: ProjectLocation) -> list[Finding]:
    """Model servers that run on this machine, each with the line that puts it to use."""
    from burnish.models.openai.local_servers import find_local_servers  # noqa: PLC0415

    try:
        tables = location.settings().models if location.config.exists() else {}
    except BurnishError:
        tables = {}  # Reported as the config's own failure.
    servers = await find_local_servers(tables)
    if not servers:
        return [
            Finding(name="local servers", ok=None, detail="no Ollama, vLLM, LM Studio, llama.cpp")
        ]
    return [
        Finding(
            name=server.provider,
            ok=None if server.wants_key or not server.models else True,
            detail=f"{server.address}: {server.words}",
            fix=server.use,
        )
        for server in servers
    ]


async def _config(location: ProjectLocation) -> str:
    settings = location.settings()
    return f"{location.config}: agent {settings.agent.name}"


def _models_of(location: ProjectLocation) -> dict[str, str]:
    """What each model is for, by its name."""
    try:
        settings = location.settings()
    except BurnishError:
        return {}  # Reported as the config's own failure.
    found: dict[str, str] = {}
    for use, name in {"agent": settings.agent.model, **_used_by(settings)}.items():
        if name:
            found.setdefault(name, use)
    return found


def _used_by(settings: Settings) -> dict[str, str]:
    """The models of judges, refinement and the optimizer, by what they are for."""
    suite, found = settings.suite, {}
    tables = {
        "judge": list(suite.scorers),
        "refine": None if suite.refine is None else {"model": suite.refine.model},
        "optimizer": naming_models(settings.agent, settings.optimizer),
    }
    for use, table in tables.items():
        for number, (_, name) in enumerate(models_in(table)):
            if isinstance(name, str):
                found[f"{use} {number + 1}" if number else use] = name
    return found


async def _model(location: ProjectLocation, name: str, *, offline: bool) -> str:
    settings: Settings = location.settings()
    models = ModelPool(settings.models)
    try:
        models.model(name)
        if offline:
            return "known; not called (--offline)"
        started = time.monotonic()
        request = ModelRequest.text("Answer with the word: ok", max_tokens=4)
        # Also of a model that is asked in batches: those take hours.
        response = await models.model(name, batches=False).complete(_hurried(request))
        return f"answered {response.text.strip()!r:.40} in {time.monotonic() - started:.1f} s"
    finally:
        await models.close()


def _hurried(request: ModelRequest) -> ModelRequest:
    return ModelRequest(
        messages=request.messages, parameters=request.parameters, timeout_seconds=_ANSWER_SECONDS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. `ok` is None for what is missing and not needed."""

    name: str
    ok: bool | None
    detail: str
    fix: str = ""
    exit_code: int = 0


def print_finding(console: Console, finding: Finding) -> None:
    """A mark, what was looked at, what was found, and how to mend it."""
    mark, style = {True: ("✓", "green"), None: ("·", "dim"), False: ("✗", "bold red")}[finding.ok]
    text = Text.assemble(
        (f"{mark} ", style),
        (f"{finding.name:<26} ", "bold" if finding.ok is False else ""),
        (harmless(finding.detail), "" if finding.ok else style),
        (f"  {harmless(finding.fix)}" if finding.fix else "", "green"),
    )
    console.print(text, soft_wrap=True)
