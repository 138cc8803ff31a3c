"""Whether a configuration answers everything alike: small models do, and scores hide it."""

from __future__ import annotations

from collections import Counter

from burnish.app.wiring import Workspace
from burnish.domain import Experiment, OptimizationRecord

# An answer this common, over items whose right answers vary, is a model that stopped reading.
_COLLAPSED = 0.95
_FEWEST = 10
# The held-out experiments are the last that a run makes.
_NEWEST = 8


async def collapse_warnings(workspace: Workspace, record: OptimizationRecord) -> tuple[str, ...]:
    """A sentence for each side of the held-out comparison that has collapsed to one label."""
    labels = ((record.spec.get("settings") or {}).get("agent") or {}).get("labels") or ()
    result = record.result or {}
    sides = {
        (result.get(side) or {}).get("candidate_id"): name
        for side, name in (("best", "the best candidate"), ("baseline", "the baseline"))
    }
    if len(labels) < 2 or not any(sides):
        return ()
    found = []
    for experiment in await workspace.experiments.list_experiments(
        limit=_NEWEST, optimization_id=record.id
    ):
        name = sides.get(experiment.metadata.get("candidate_id"))
        if name is not None and experiment.metadata.get("role") == "confirmation":
            found.append(await _warning(workspace, experiment, name))
    return tuple(sorted(one for one in found if one))


async def _warning(workspace: Workspace, experiment: Experiment, name: str) -> str | None:
    answers: Counter[str] = Counter()
    async for result in workspace.experiments.stream_results(experiment.id):
        if result.output is not None:
            answers[result.output.text] += 1
    total = answers.total()
    if total < _FEWEST:
        return None
    answer, number = answers.most_common(1)[0]
    summary = await workspace.experiments.summarise(experiment.id)
    if number / total < _COLLAPSED or (summary.pass_rate or 0.0) >= _COLLAPSED:
        return None
    return (
        f"{name} answers {answer!r} to {number} of {total} held-out items: it has collapsed to one "
        "label, so its score says little about the wording"
    )
