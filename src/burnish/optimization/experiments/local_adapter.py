"""Runs experiments in this process, all of them on one bounded pool."""

from __future__ import annotations

from burnish.domain import ExperimentRepository, Lease, experiment_scope
from burnish.evaluation.runner import ExperimentRunner
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.experiments.adapter import Block
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter, ExperimentInputs
from burnish.optimization.experiments.masks import CandidateMaterializer


class LocalBlocks:
    """Blocks as tasks of this event loop; their results go straight to the repository."""

    def __init__(self, experiments: ExperimentRepository, lease: Lease) -> None:
        self._runner = ExperimentRunner(experiments, lease)

    async def run(self, block: Block) -> None:
        """Evaluate a block."""
        with experiment_scope(block.context()):
            await self._runner.evaluate(
                block.experiment,
                block.agent,
                block.suite,
                block.items,
                options=block.options,
                progress=block.progress,
                skip=block.skip,
            )

    async def close(self) -> None:
        """Nothing is held."""


class LocalExperimentAdapter(BlockExperimentAdapter):
    """The adapter of a run that needs nobody else."""

    def __init__(
        self,
        inputs: ExperimentInputs,
        experiments: ExperimentRepository,
        materializer: CandidateMaterializer,
        gate: BudgetGate,
        lease: Lease,
    ) -> None:
        super().__init__(
            inputs, experiments, materializer, gate, lease, LocalBlocks(experiments, lease)
        )
