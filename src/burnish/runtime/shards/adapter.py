"""Experiments of a run, evaluated by workers anywhere."""

from __future__ import annotations

from burnish.domain import ExperimentRepository, Lease
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter, Workbench
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.runtime.shards.settings import ShardSettings
from burnish.runtime.shards.sharded_blocks import ShardedBlocks
from burnish.runtime.shards.transport import ShardCarrier


class MailboxExperimentAdapter(BlockExperimentAdapter):
    """The adapter of a run whose evaluations go to workers over mailboxes.

    Racing, budget and idempotency are those of every run; only the blocks are evaluated elsewhere.
    """

    def __init__(
        self,
        workbench: Workbench,
        experiments: ExperimentRepository,
        materializer: CandidateMaterializer,
        gate: BudgetGate,
        lease: Lease,
        *,
        carrier: ShardCarrier,
        settings: ShardSettings | None = None,
    ) -> None:
        blocks = ShardedBlocks(carrier, experiments, gate, lease, settings or ShardSettings())
        super().__init__(workbench, experiments, materializer, gate, lease, blocks)
