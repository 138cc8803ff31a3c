"""What refinement did under the baseline and under what it is compared with."""

from __future__ import annotations

from burnish.app.evaluate.result import refinement_of
from burnish.app.report.html.markup import money, row, safe, score, table
from burnish.app.report.html.material import Material, RefinedTrial
from burnish.app.wiring import Workspace
from burnish.domain import Candidate, Outcome, UsageError
from burnish.domain.wording import counted
from burnish.evaluation.refine.statistics import RefinementStatistics

_COUNTED = (Outcome.FIXED, Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.WORSENED)


async def read_refinement(workspace: Workspace, material: Material) -> tuple[RefinedTrial, ...]:
    """The statistics of both trials; none where refinement was never asked for."""
    pair = [one for one in (material.baseline, material.subject) if one is not None]
    found = [(one, await _statistics(workspace, material, one)) for one in pair]
    return tuple(
        RefinedTrial(candidate=one, statistics=statistics)
        for one, statistics in found
        if statistics is not None
    )


async def _statistics(
    workspace: Workspace, material: Material, candidate: Candidate
) -> RefinementStatistics | None:
    trial = material.trials.get(candidate.id)
    if trial is None:
        return None
    try:
        experiment = await workspace.experiments.get_experiment(trial.experiment_id)
    except UsageError as error:
        if error.code == "not_found":  # An orphaned trial names an experiment that is not there.
            return None
        raise
    return await refinement_of(workspace.experiments, experiment)


def refinement(material: Material) -> str:
    """Outcomes, mean scores by round and costs, each trial in a row."""
    inactive = [one for one in material.refined if not one.statistics.active]
    if inactive:
        why = inactive[0].statistics.settings.get("why_inactive")
        return f"<p>Refinement was inactive: {safe(str(why))}.</p>\n"
    columns = ["Trial", "Refined", *(one.value.capitalize() for one in _COUNTED), "Calls", "Cost"]
    columns.append("A fixed output")
    counts = table(
        "Outputs by outcome", columns, [_outcomes(material, one) for one in material.refined]
    )
    rounds = table(
        "Mean score by round",
        ["Trial", "Round", "Score", "95% interval", "Outputs that got so far"],
        [line for one in material.refined for line in _rounds(material, one)],
    )
    return counts + rounds


def _name(material: Material, one: RefinedTrial) -> str:
    if one.candidate.number == 0:
        return "baseline"
    return f"{'best' if material.beaten else 'challenger'}, #{one.candidate.number}"


def _outcomes(material: Material, one: RefinedTrial) -> str:
    found = one.statistics
    numbers = [f"{found.count(outcome):,}" for outcome in _COUNTED]
    each = found.cost_per_fixed
    return row(
        [
            safe(_name(material, one)),
            f"{found.refined:,} of {counted(found.outputs, 'output')}",
            *numbers,
            f"{found.usage.calls:,}",
            money(found.usage.cost_usd),
            "–" if each is None else money(each),
        ]
    )


def _rounds(material: Material, one: RefinedTrial) -> list[str]:
    return [
        row(
            [
                safe(_name(material, one)),
                str(mean.number),
                score(mean.score),
                f"{mean.interval.low:.3f} to {mean.interval.high:.3f}",
                f"{mean.outputs:,}",
            ]
        )
        for mean in one.statistics.by_round
    ]
