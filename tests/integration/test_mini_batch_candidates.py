"""Candidates that only ran on mini-batches: what they are compared on, and how they are told."""

from optimization_world import Climber, World, run

import burnish
from burnish.app.report.comparisons import On, compare, read_side
from burnish.app.wiring import Workspace


class Looker(Climber):
    """Runs the baseline and one other on the same training items, and then has had enough."""

    def initialize(self, context):
        first = super().initialize(context)
        data = {**first.algorithm_data, "items": list(context.splits["train"][:4])}
        return burnish.OptimizerState(algorithm_data=data)

    def propose(self, state, history, max_candidates):
        data = state.algorithm_data
        if state.generation:
            return []
        texts = ["Base {{n}}", "Base {{n}} alpha gamma eta"]
        return [
            burnish.CandidateProposal(
                configuration={"sections": {"system": text}},
                parent_candidate_ids=[data["root"]],
                item_ids=items,
            )
            for text, items in zip(texts, (data["items"], data["items"][:3]), strict=True)
        ]


async def test_they_are_compared_on_the_items_that_both_ran(tmp_path):
    world = World(tmp_path)

    result = await run(world, optimizer=Looker())

    baseline, other = sorted(result.candidates.values(), key=lambda one: one.number)
    async with Workspace.open(world.db) as workspace:
        found = await compare(workspace, result.optimization_id, baseline.id, other.id, On.SEARCH)
        alone = await read_side(workspace, result.record, baseline.id, On.SEARCH)
    assert len(found.changes) == found.tested.items == 3
    assert found.mean(found.before) < found.mean(found.after)
    assert len(alone.scores) == 20, "by itself a candidate is judged by its trial"


async def test_they_are_counted_where_none_went_on(tmp_path):
    result = await run(World(tmp_path), optimizer=Looker())

    assert result.why_not_improved == "1 candidate was tried on mini-batches, none went on"
