"""Experiments cut into shards, which workers on any machine evaluate."""

from burnish.runtime.shards.benches import ShardBench, ShardBenches
from burnish.runtime.shards.evaluator import ShardEvaluator
from burnish.runtime.shards.messages import SHARD_REQUESTS, ShardReply, ShardRequest
from burnish.runtime.shards.settings import ShardSettings
from burnish.runtime.shards.shard_suite import ShardSize

__all__ = [
    "SHARD_REQUESTS",
    "ShardBench",
    "ShardBenches",
    "ShardEvaluator",
    "ShardReply",
    "ShardRequest",
    "ShardSettings",
    "ShardSize",
]
