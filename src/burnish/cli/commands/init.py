"""`burnish init`: a runnable example to start from."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from burnish.app.wiring import build_suite
from burnish.cli.console import Streams
from burnish.cli.options import Json
from burnish.config.settings import load_settings
from burnish.domain import ConflictError, UsageError
from burnish.evaluation.power import compared_items, detectable_gain, detectable_words
from burnish.models import as_model

_IGNORED = "# Burnish's results\n.burnish/\n"


class Template(StrEnum):
    """The examples that come with Burnish."""

    REVIEWS = "reviews"
    PYTHON = "python"
    VERBOSE = "verbose"


def init(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(help="Where to put it; made if missing.", show_default="here")
    ] = Path(),
    template: Annotated[
        Template,
        typer.Option(
            "--template",
            "-t",
            help="`reviews`: a prompt on the embedded model. `python`: a function. "
            "`verbose`: an over-long prompt to compress.",
        ),
    ] = Template.REVIEWS,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json_output: Json = False,
) -> None:
    """Make a runnable example that needs no key."""
    streams: Streams = context.obj
    files = template_files(template)
    require_free(folder, files, force=force, other="another folder")
    write_files(folder, files)
    compared = _compared(folder)
    if json_output:
        document = {"folder": str(folder.absolute()), "files": list(files)}
        streams.print_document({**document, "detectable": detectable_gain(compared[0])})
        return
    power = f"{detectable_words(*compared)}; more rows show smaller gains"
    streams.say(f"made {', '.join(files)}", power, "", "next:", *_next_steps(folder, template))


def _compared(folder: Path) -> tuple[int, str]:
    """How many items of the suite decide a comparison."""
    settings = load_settings(folder / "burnish.toml")
    suite = build_suite(settings.suite_spec(), as_model, settings.agent_spec())
    splits = suite.splits()
    return compared_items(Counter(splits.get(one, "none") for one in suite.dataset.index().ids))


def template_files(template: Template) -> dict[str, bytes]:
    """The contents of an example's files by relative path."""
    root = resources.files("burnish.cli") / "templates"
    files = dict(_walk(root / template.value, ""))
    return {**files, ".gitignore": _IGNORED.encode()}


def require_free(folder: Path, names: Iterable[str], *, force: bool, other: str) -> None:
    """Refuse to overwrite files, unless that is what is wanted."""
    existing = [name for name in names if (folder / name).exists()]
    if existing and not force:
        raise ConflictError(
            what=f"{folder.absolute()} is not empty enough",
            why=f"these exist: {', '.join(existing)}",
            fix=f"name {other}, or overwrite them with --force",
            code="files_exist",
        )


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write all files below the folder."""
    try:
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise UsageError(
            what=f"the example cannot be written to {folder}",
            why=f"{error.filename or folder}: {error.strerror or error}",
            fix="name a folder that can be written",
            code="unwritable",
        ) from error


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            found.extend(_walk(entry, f"{prefix}{entry.name}/"))
        else:
            found.append((f"{prefix}{entry.name}", entry.read_bytes()))
    return found


def _next_steps(folder: Path, template: Template) -> list[str]:
    steps = [] if folder == Path() else [f"cd {shlex.quote(str(folder))}"]
    if template is Template.REVIEWS:
        steps += [
            "burnish models pull smollm2-135m",
            "burnish eval --split validation",
            "burnish optimize",
        ]
    elif template is Template.VERBOSE:
        steps += ["burnish models pull smollm2-135m", "burnish compress --tag short"]
    else:
        steps += ["burnish validate", "burnish eval"]
    return [f"  {step}" for step in steps]
