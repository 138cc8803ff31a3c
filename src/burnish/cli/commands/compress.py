"""`burnish compress`: the same prompt with fewer tokens."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.compress_request import CompressRequest
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place
from burnish.cli.runner_options import Mailbox, RayAddress, Runner, RunnerOptions


def compress(
    context: typer.Context,
    *,
    tag: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="Keep the result under this tag in .burnish/overrides."),
    ] = None,
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
    request = CompressRequest(
        tag=tag,
        eval_runs=eval_runs,
        min_section_tokens=min_section_tokens,
        sections=tuple(sections or ()),
        rewriter=rewriter,
        calls_per_month=calls_per_month,
        max_evaluations=max_evaluations,
        apply=apply,
        yes=yes,
        seed=seed,
        resume=resume,
        runner=RunnerOptions(runner=runner, mailbox=mailbox, ray_address=ray_address),
    )
    from burnish.cli.compressing import compress_request  # noqa: PLC0415

    code = compress_request(context.obj, Place.of(context, config, db), request)
    raise typer.Exit(code)
