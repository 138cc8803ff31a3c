"""`burnish labels`: sets of outputs that people label, who agrees with whom, and CSV in and out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.text import Text

from burnish.app.datasets.stored import row_of
from burnish.app.labels.label_sets import LabelSource, make_set
from burnish.app.labels.versions import (
    find_version,
    labels_csv,
    make_version,
    read_agreement,
    read_labels,
    version_rows,
)
from burnish.app.wiring import Workspace
from burnish.cli.commands.init import require_free, write_files
from burnish.cli.console import Streams
from burnish.cli.display.evaluation import Row
from burnish.cli.display.rows import print_rows
from burnish.cli.options import Config, Db, Json
from burnish.cli.parser import Commands
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import age, harmless, one_line, percent
from burnish.domain.labels import LabelKind, LabelRules, LabelSet, LabelState, LabelVersion
from burnish.domain.wording import counted
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.judging.agreement import Estimate

T = TypeVar("T")
_LISTED, _SHOWN = 100, 5
labels = typer.Typer(help="Labels of people: sets, agreement, versions, CSV.", cls=Commands)
Name = Annotated[str, typer.Argument(help="The label set, by its name or id.")]


@labels.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Without a command, help is shown."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@labels.command()
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The name of the new set.")],
    *,
    experiment: Annotated[
        str | None,
        typer.Option(
            "--experiment", "-e", help="Label what this run answered.", show_default=False
        ),
    ] = None,
    other_experiment: Annotated[
        str | None,
        typer.Option(
            "--against", help="Prefer that run's answers or this one's.", show_default=False
        ),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option("--dataset", "-d", help="Label the rows of a file.", show_default=False),
    ] = None,
    kind: Annotated[
        LabelKind | None,
        typer.Option(help="What a label is.", show_default="pass; preference with --against"),
    ] = None,
    scale: Annotated[str, typer.Option(help="The ends of a score.")] = "1-5",
    classes: Annotated[
        list[str] | None, typer.Option("--class", help="A class. Repeatable.", show_default=False)
    ] = None,
    instructions: Annotated[str, typer.Option(help="What people are to go by.")] = "",
    output: Annotated[str, typer.Option(help="A dataset's column of outputs.")] = "output",
    other: Annotated[str, typer.Option(help="A dataset's column of other outputs.")] = "other",
    field: Annotated[
        list[str] | None,
        typer.Option(help="A column that people see. Repeatable.", show_default="all but labels"),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many items.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides orders and sides.")] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Make a set of outputs to be labelled in the browser (`burnish serve`) or by CSV."""
    streams: Streams = context.obj
    wanted = kind or (LabelKind.PREFERENCE if other_experiment else LabelKind.PASS)
    low, _, high = scale.partition("-")
    if not (low.strip().isdecimal() and high.strip().isdecimal()):
        raise typer.BadParameter(f"{scale!r} is no scale such as 1-5")
    rules = LabelRules(
        kind=wanted,
        classes=tuple(classes or ()),
        low=int(low),
        high=int(high),
        instructions=instructions,
    )
    source = LabelSource(
        experiment=experiment,
        other_experiment=other_experiment,
        dataset=None if dataset is None else Dataset.of(dataset),
        output=output,
        other=other,
        fields=tuple(field) if field else None,
        limit=limit,
    )
    location = ProjectLocation.of(context, config, db)

    async def made(workspace: Workspace) -> Any:
        return await make_set(workspace, name, rules, source, seed=seed)

    found = _in(location, made)
    if streams.json_output:
        streams.print_document(_set_json(found.made) | {"left_out": dict(found.left_out)})
        return
    streams.say(f"{harmless(name)}: {counted(found.made.items, 'item')} to label")
    streams.say(*(f"- left out: {number:,} {why}" for why, number in found.left_out.items()))
    streams.say("label them in the browser: `burnish serve`, then Labels")


@labels.command("list")
def list_sets(
    context: typer.Context, json_output: Json = False, config: Config = None, db: Db = None
) -> None:
    """List label sets, newest first."""
    streams: Streams = context.obj

    async def read(workspace: Workspace) -> list[LabelSet]:
        return list((await workspace.labels.page(limit=_LISTED)).items)

    found = _in(ProjectLocation.of(context, config, db), read)
    if streams.json_output:
        streams.print_document({"label_sets": [_set_json(one) for one in found]})
        return
    for one in found:
        words = f"{one.rules.kind.value} · {counted(one.items, 'item')} · {age(one.created_at)}"
        streams.console.print(Text(harmless(f"{one.name}  {words}")), soft_wrap=True)
    if not found:
        streams.say("no label sets yet; `burnish labels create` makes one")


@labels.command()
def show(
    context: typer.Context,
    name: Name,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Show who labelled how much, how people agree, and on what they differ."""
    streams: Streams = context.obj

    async def read(workspace: Workspace) -> tuple[Any, ...]:
        found = await workspace.labels.get(name)
        progress = await workspace.labels.progress(found.id)
        versions = await workspace.labels.versions(found.id)
        return found, progress, versions, *(await read_agreement(workspace, found))

    label_set, progress, versions, agreement, differing = _in(
        ProjectLocation.of(context, config, db), read
    )
    if streams.json_output:
        apart = [
            {"item_id": row.item.id, "labels": {one.person: one.value for one in row.labels}}
            for row in differing
        ]
        people = {
            person: {state.value: states[state] for state in LabelState}
            for person, states in progress.items()
        }
        kept = [_version_json(one) for one in versions]
        document = _set_json(label_set) | {"people": people, "versions": kept}
        streams.print_document(document | agreement.to_json() | {"differing": apart})
        return
    console = streams.console
    console.print(Text(harmless(f"{label_set.name}: {counted(label_set.items, 'item')}"), "bold"))
    rows: list[Row] = [
        (person, Text(f"{states[LabelState.LABELLED]:,} labelled"))
        for person, states in progress.items()
    ]
    if agreement.unanimous is not None:
        rows.append(("all agree", _estimate(agreement.unanimous, share=True)))
    for one in agreement.pairs:
        words = _estimate(one.agreement, share=True)
        kappa = Text("none") if one.kappa is None else _estimate(one.kappa)
        rows.append((" and ".join(one.people), Text.assemble(words, "  kappa ", kappa)))
    rows += [(f"version {one.version}", Text(_version_words(one))) for one in versions]
    print_rows(console, rows)
    for row in differing[:_SHOWN]:
        said = ", ".join(f"{one.person} {one.value}" for one in row.labels)
        line = f"{row.item.id}  {said}  {one_line(row.item.output or '', 80)}"
        console.print(Text(harmless(line)), soft_wrap=True)


@labels.command("import")
def import_labels(
    context: typer.Context,
    name: Name,
    file: Annotated[
        Path, typer.Argument(help="CSV or JSON Lines: item_id, person, label, comment.")
    ],
    person: Annotated[
        str | None, typer.Option(help="Whose they are.", show_default="the column person")
    ] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Take labels from a file, all or none; each bad row is named."""
    streams: Streams = context.obj

    async def taken(workspace: Workspace) -> tuple[int, int]:
        return await read_labels(workspace, await workspace.labels.get(name), file, person=person)

    every, new = _in(ProjectLocation.of(context, config, db), taken)
    if streams.json_output:
        streams.print_document({"labels": every, "new": new})
    else:
        streams.say(f"{counted(every, 'label')}, {new:,} of them new")


@labels.command()
def export(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The label set, or NAME@VERSION with --rows.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="FILE.csv, with --rows or .jsonl.")
    ],
    rows: Annotated[
        bool, typer.Option("--rows", help="A version's rows, each with what people say together.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Also what was said before, skipped and taken back.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Write labels as CSV, as `import` takes them, or a version's rows as a dataset."""
    streams: Streams = context.obj
    require_free(output.parent, [output.name], force=force, other="another file with --output")

    async def written(workspace: Workspace) -> tuple[int, str]:
        if rows:
            items = list((await version_rows(workspace, name))[1].items())
            return len(items), _rows_text([row_of(one) for one in items], output.suffix)
        found = (await find_version(workspace, name))[0]
        given = await workspace.labels.labels(found.id, history=history)
        text = labels_csv(given, history=history)
        return len(list(csv.reader(io.StringIO(text)))) - 1, text

    number, text = _in(ProjectLocation.of(context, config, db), written)
    write_files(output.parent, {output.name: text.encode("utf-8", "replace")})
    if streams.json_output:
        streams.print_document({"file": str(output.absolute()), "rows": number})
    else:
        streams.say(f"{counted(number, 'row')} in {harmless(str(output))}")


@labels.command()
def version(
    context: typer.Context,
    name: Name,
    note: Annotated[str, typer.Option(help="What is to be known about it.")] = "",
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Keep what people say now as a version, with a digest and a dataset of its own."""
    streams: Streams = context.obj

    async def made(workspace: Workspace) -> LabelVersion:
        return await make_version(workspace, await workspace.labels.get(name), note=note)

    found = _in(ProjectLocation.of(context, config, db), made)
    if streams.json_output:
        streams.print_document(_version_json(found))
    else:
        streams.say(f"version {found.version}: {_version_words(found)}")


def _in(location: ProjectLocation, work: Callable[[Workspace], Awaitable[T]]) -> T:
    async def opened() -> T:
        async with Workspace.open(location.database) as workspace:
            return await work(workspace)

    return run(opened())


def _rows_text(rows: list[dict[str, Any]], kind: str) -> str:
    if kind.lower() != ".csv":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = io.StringIO()
    columns = list(dict.fromkeys(["id", *(name for row in rows for name in row)]))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        plain = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in row.items()
        }
        writer.writerow(plain)
    return text.getvalue()


def _set_json(one: LabelSet) -> dict[str, Any]:
    names = ("id", "name", "items", "seed", "author", "created_at", "last_version")
    told = {name: getattr(one, name) for name in names}
    return told | {"rules": one.rules.to_json(), "source": dict(one.source)}


def _version_json(one: LabelVersion) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def _version_words(one: LabelVersion) -> str:
    people = counted(len(one.people), "person").replace("persons", "people")
    split = f", {one.undecided:,} undecided left out" if one.undecided else ""
    return f"{counted(one.rows, 'row')} by {people}{split}, digest {one.digest[:12]}"


def _estimate(one: Estimate, *, share: bool = False) -> Text:
    words = [
        percent(number) if share else f"{number:+.3f}"
        for number in (one.value, one.interval.low, one.interval.high)
    ]
    return Text.assemble((words[0], "bold cyan"), (f"  95% {words[1]} to {words[2]}", "dim"))
