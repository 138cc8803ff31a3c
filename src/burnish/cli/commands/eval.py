"""`burnish eval`: run the agent over the suite."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from burnish.cli.eval_request import EvalRequest, RefineOptions
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place
from burnish.cli.references import LATEST

_OPTIONAL_VALUE = ("--filter-failing", "--resume", "--retry-errors", "--baseline")
_ITEMS, _AGENT, _COMPARE = "Which items", "Which configuration", "Comparison and gates"
_REFINE = "Refinement of outputs that a judge finds wanting"


class EvalCommand(TyperCommand):
    """Takes options such as --baseline without a value too, which then is `latest`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, with the values filled in."""
        filled: list[str] = []
        for place, word in enumerate(args):
            filled.append(word)
            following = args[place + 1 : place + 2]
            if word in _OPTIONAL_VALUE and (not following or following[0].startswith("-")):
                filled.append(LATEST)
        return super().parse_args(ctx, filled)


def evaluate(
    context: typer.Context,
    *,
    split: Annotated[
        str | None,
        typer.Option(help="Only this split: train, validation or test.", rich_help_panel=_ITEMS),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many items.", rich_help_panel=_ITEMS)
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Runs of each item.", rich_help_panel=_ITEMS)
    ] = None,
    filter_failing: Annotated[
        str | None,
        typer.Option(
            metavar="[EXPERIMENT]",
            help="Only items that failed there; without a value, in the latest.",
            rich_help_panel=_ITEMS,
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="[EXPERIMENT]",
            help="Go on with one that was stopped: run only what it lacks.",
            rich_help_panel=_ITEMS,
        ),
    ] = None,
    retry_errors: Annotated[
        str | None,
        typer.Option(
            metavar="[EXPERIMENT]",
            help="Run again, in place, what ended in an error there.",
            rich_help_panel=_ITEMS,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Another model, such as openai/gpt-4o-mini.", rich_help_panel=_AGENT),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override the config, such as agent.parameters.temperature=0.2. Repeatable.",
            rich_help_panel=_AGENT,
        ),
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=TEXT",
            help="Another text for a section; PATH=@FILE reads it from a file. Repeatable.",
            rich_help_panel=_AGENT,
        ),
    ] = None,
    refine_model: Annotated[
        str | None,
        typer.Option(help="The optimizer: the model that writes anew.", rich_help_panel=_REFINE),
    ] = None,
    refine_limit: Annotated[
        int | None,
        typer.Option(
            min=0, help="At most so often for each output; 0 is off.", rich_help_panel=_REFINE
        ),
    ] = None,
    refine_threshold: Annotated[
        float | None,
        typer.Option(
            help="Stop from this score on; otherwise at a perfect one.", rich_help_panel=_REFINE
        ),
    ] = None,
    refine_answer: Annotated[
        str | None,
        typer.Option(metavar="latest|best", help="Which round counts.", rich_help_panel=_REFINE),
    ] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Items at once.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for one item.")] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Run and pay for everything again.")
    ] = False,
    name: Annotated[str | None, typer.Option(help="A name for the experiment.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="[EXPERIMENT]",
            help="Compare, item by item; without a value, with the latest.",
            rich_help_panel=_COMPARE,
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(help="Exit with 1 when the score is below.", rich_help_panel=_COMPARE),
    ] = None,
    fail_on_regression: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression",
            help="Exit with 1 when worse than the baseline with p < 0.05.",
            rich_help_panel=_COMPARE,
        ),
    ] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Run the agent over the suite, and keep and score every answer.

    Results are saved as they come. What was already answered is not paid for again.
    """
    request = EvalRequest(
        split=split,
        limit=limit,
        repeats=repeats,
        filter_failing=filter_failing,
        resume=resume,
        retry_errors=retry_errors,
        model=model,
        settings=tuple(set_ or ()),
        sections=tuple(section or ()),
        refine=RefineOptions(
            model=refine_model,
            limit=refine_limit,
            threshold=refine_threshold,
            answer=refine_answer,
        ),
        concurrency=concurrency,
        timeout=timeout,
        use_cache=not no_cache,
        name=name,
        baseline=baseline,
        min_score=min_score,
        fail_on_regression=fail_on_regression,
    )
    from burnish.cli.evaluating import evaluate_request  # noqa: PLC0415

    code = evaluate_request(context.obj, Place.of(context, config, db), request)
    raise typer.Exit(code)
