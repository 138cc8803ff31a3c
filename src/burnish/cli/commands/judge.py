"""`burnish judge`: a judge against people's labels, and experiments ranked by a judge of two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from burnish.app.evaluate.baselines import Baseline, read_side
from burnish.app.evaluate.judge_checks import JudgeSpec, Rows, check_judges, open_judge, rank
from burnish.app.wiring import Workspace
from burnish.cli.console import Streams
from burnish.cli.display.evaluation import Row
from burnish.cli.display.rows import print_rows
from burnish.cli.options import Config, Db, Json
from burnish.cli.parser import Commands
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless, money, one_line, percent, short_id
from burnish.config.schema import Settings
from burnish.domain import Configuration, Spending, UsageError
from burnish.domain.wording import counted
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.judging.agreement import Effect, Estimate
from burnish.evaluation.judging.check import JudgeReport, PanelReport
from burnish.evaluation.pairwise import Strength
from burnish.evaluation.scorers.pairwise import PairwiseJudge

_SHOWN = 5
_OF_JUDGES = ("fields", "threshold", "score_only")
_MEANS = {
    "leniency": ("passes more than people do", "passes less than people do"),
    "order": ("scores another order higher", "scores another order lower"),
    "position": ("scores higher where the output comes first", "lower where it comes first"),
    "length": ("prefers longer outputs", "prefers shorter outputs"),
    "wording": ("scores higher under other words", "scores lower under other words"),
}
_FIRST = ("prefers the first of two", "prefers the second of two")

judge = typer.Typer(
    help="Judges: checked against people's labels, and ranking experiments.", cls=Commands
)
Names = Annotated[
    list[str] | None,
    typer.Option("--judge", "-j", help="A judge of burnish.toml by name; several are a panel."),
]
ModelName = Annotated[str | None, typer.Option(help="The model of a judge that is given here.")]
Criteria = Annotated[
    str | None, typer.Option(help="Its criteria; @FILE reads them from a file.", show_default=False)
]


@judge.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Without a command, help is shown."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@judge.command()
def check(
    context: typer.Context,
    *,
    dataset: Annotated[
        Path | None,
        typer.Argument(
            help="Rows with outputs and labels, or labels:NAME[@VERSION]; else the suite's.",
            show_default=False,
        ),
    ] = None,
    judges: Names = None,
    model: ModelName = None,
    criteria: Criteria = None,
    output: Annotated[str, typer.Option(help="The column of outputs.")] = "output",
    label: Annotated[
        str, typer.Option(help="The column of labels: pass or fail, 0 to 1, output, other or tie.")
    ] = "label",
    other: Annotated[
        str | None,
        typer.Option(help="The column to compare with; it makes the judge one of two outputs."),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Askings of each row as it is.")] = 2,
    probe: Annotated[
        list[str] | None,
        typer.Option(help="Only these: order, position, length, wording. Repeatable."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many rows.")] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Compare a judge with people's labels: agreement, kappa, what sways it, how steady it is, cost."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    settings = location.settings() if location.config.is_file() or not dataset else None
    specs = _specs(settings, judges, model, criteria, pairwise=other is not None)

    async def checked() -> JudgeReport | PanelReport:
        models = {} if settings is None else settings.models
        rows: Rows | None = dataset
        if rows is None and settings is not None:
            rows = settings.suite_spec().dataset
        assert rows is not None
        async with Workspace.open(location.database, models=models) as workspace:
            return await check_judges(
                workspace,
                specs,
                rows,
                output=output,
                label=label,
                other=other or "other",
                repeats=repeats,
                probes=probe,
                limit=limit,
                folder=location.folder,
            )

    report = run(checked())
    if streams.json_output:
        streams.print_document(report.to_json())
    elif isinstance(report, PanelReport):
        _print_panel(streams.console, report)
    else:
        _print(streams.console, report)


@judge.command("rank")
def rank_command(
    context: typer.Context,
    experiments: Annotated[
        list[str], typer.Argument(help="Experiments or optimizations, two or more.")
    ],
    judges: Names = None,
    model: ModelName = None,
    criteria: Criteria = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Rank experiments by a judge of two outputs: each against each, strengths with intervals."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    settings = location.settings()
    spec = _specs(settings, judges, model, criteria, pairwise=True)[0]

    async def ranked() -> tuple[list[Strength], Spending, list[Baseline]]:
        async with Workspace.open(location.database, models=settings.models) as workspace:
            sides = [await read_side(workspace, one) for one in experiments]
            made = open_judge(workspace, spec, location.folder)
            assert isinstance(made, PairwiseJudge)
            items = Dataset.of(settings.suite_spec().dataset).items()
            return *(await rank(made, sides, items)), sides

    strengths, spent, sides = run(ranked())
    names = {one.id: one.name or one.id for one in sides}
    if streams.json_output:
        found = [{**one.to_json(), "title": names[one.name]} for one in strengths]
        streams.print_document({"ranking": found, "usage": spent.to_json()})
        return
    console = streams.console
    console.print(Text("chance to beat one of average strength", style="dim"))
    print_rows(
        console,
        [(harmless(f"{short_id(one.name)} {names[one.name]}"), _between(one)) for one in strengths],
    )


def _specs(
    settings: Settings | None,
    names: list[str] | None,
    model: str | None,
    criteria: str | None,
    *,
    pairwise: bool,
) -> list[JudgeSpec]:
    """Judges of these options, else those of burnish.toml."""
    kind = "pairwise" if pairwise else "judge"
    if model is not None or criteria is not None:
        if model is None or criteria is None:
            raise _no_judge("a judge has a model and criteria", "give both --model and --criteria")
        text: Any = criteria
        if criteria.startswith("@"):
            text = {"file": str(Path(criteria[1:]).absolute())}
        return [{"kind": kind, "model": model, "criteria": text}]
    known = {} if settings is None else _judges_of(settings.suite.scorers, kind)
    if settings is not None and settings.agent.judge is not None and not pairwise:
        known = {settings.agent.name: _own_judge(settings)} | known
        names = names or [settings.agent.name]
    if names:
        for name in names:
            if name not in known:
                raise _no_judge(f"burnish.toml has no {kind} {name!r}", f"it has {_listed(known)}")
        return [known[name] for name in names]
    if not known:
        raise _no_judge(f"burnish.toml has no {kind}", "give --model and --criteria")
    return list(known.values())


def _own_judge(settings: Settings) -> Mapping[str, Any]:
    """The agent of burnish.toml where it is a judge itself."""
    agent = settings.agent_spec()
    table = {key: value for key, value in (agent.judge or {}).items() if key in _OF_JUDGES}
    configuration = Configuration.of(agent.configuration)
    return {
        "kind": "judge",
        "name": agent.name,
        "model": agent.model,
        "criteria": "\n\n".join(configuration.sections.values()),
        **({"parameters": configuration.parameters} if configuration.parameters else {}),
        **table,
    }


def _judges_of(scorers: Any, kind: str) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for one in scorers:
        if isinstance(one, Mapping):
            if one.get("kind") in (kind, f"llm_{kind}"):
                table = {key: value for key, value in one.items() if key != "weight"}
                found[str(one.get("name", kind))] = table
            found |= _judges_of(one.get("scorers") or (), kind)
    return found


def _listed(known: Mapping[str, Any]) -> str:
    return ", ".join(known) or "none"


def _no_judge(why: str, fix: str) -> UsageError:
    return UsageError(what="there is no judge to ask", why=why, fix=fix, code="no_judge")


def _print(console: Console, report: JudgeReport) -> None:
    console.print(Text(harmless(f"{report.name}: {counted(report.rows, 'row')}"), style="bold"))
    rows: list[Row] = [("agreement", _share(report.agreement))]
    kappa = report.kappa
    rows.append(
        (
            "Cohen's kappa",
            Text("none: labels or verdicts are all the same", style="yellow")
            if kappa is None
            else _number(kappa),
        )
    )
    rows += [(f"people: {label}", Text(_counts(row))) for label, row in report.confusion.items()]
    rows += [(one.name, _effect(one, report.pairwise)) for one in report.effects]
    rows += [
        (name, Text(f"not tried: {why}", style="dim")) for name, why in report.unprobed.items()
    ]
    if report.noise is not None:
        noise = _share(report.noise)
        noise.append("  of verdicts change when asked again", style="dim")
        rows.append(("noise", noise))
    if report.errors:
        rows.append(
            ("errors", Text(f"{counted(report.errors, 'row')} without a verdict", "yellow"))
        )
    usage = report.spending.total
    rows.append(("cost", Text(f"{counted(usage.calls, 'call')}, {money(usage.cost_usd)}")))
    print_rows(console, rows)
    _print_disagreements(console, report)


def _print_disagreements(console: Console, report: JudgeReport) -> None:
    if not report.disagreements:
        return
    console.print()
    console.print(Text("where it errs", style="bold"))
    for one in report.disagreements[:_SHOWN]:
        head = f"{one.id}  people {one.label:g}, judge {one.verdict:g}"
        words = f"{one_line(one.output, 80)} · {one_line(one.reason, 120)}"
        console.print(
            Text.assemble((harmless(head), "yellow"), f"  {harmless(words)}"), soft_wrap=True
        )
    left = len(report.disagreements) - _SHOWN
    if left > 0:
        console.print(Text(f"and {left} more; --json has them all", style="dim"))


def _print_panel(console: Console, report: PanelReport) -> None:
    for one in report.judges:
        _print(console, one)
        console.print()
    rows: list[Row] = [("agreement", _share(report.panel.agreement))]
    if report.panel.kappa is not None:
        rows.append(("Cohen's kappa", _number(report.panel.kappa)))
    for pair, kappa in report.between.items():
        words = Text("none") if kappa is None else _number(kappa)
        rows.append((f"kappa {pair[0]}, {pair[1]}", words))
    console.print(Text("the panel, by the mean of its judges", style="bold"))
    print_rows(console, rows)


def _share(one: Estimate) -> Text:
    bounds = f"  95% {percent(one.interval.low)} to {percent(one.interval.high)}"
    return Text.assemble((percent(one.value), "bold cyan"), (bounds, "dim"))


def _between(one: Strength) -> Text:
    bounds = f"  95% {percent(one.interval.low)} to {percent(one.interval.high)}"
    return Text.assemble((percent(one.win_rate), "bold cyan"), (bounds, "dim"))


def _number(one: Estimate) -> Text:
    bounds = f"  95% {one.interval.low:+.3f} to {one.interval.high:+.3f}"
    return Text.assemble((f"{one.value:+.3f}", "bold cyan"), (bounds, "dim"))


def _effect(one: Effect, pairwise: bool) -> Text:
    words = _number(one)
    if one.found:
        means = _FIRST if pairwise and one.name == "order" else _MEANS[one.name]
        words.append(f"  {means[one.value < 0]}", style="yellow")
    if one.flips:
        words.append(f"  {counted(one.flips, 'verdict')} changed", style="dim")
    return words


def _counts(row: Mapping[str, int]) -> str:
    return " · ".join(f"{number} judged {verdict}" for verdict, number in row.items())
