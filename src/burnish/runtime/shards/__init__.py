"""Experiments cut into shards, which workers on any machine evaluate."""

from burnish.runtime.shards.blocks import ShardSettings
from burnish.runtime.shards.evaluator import ShardBench, ShardBenches, ShardEvaluator
from burnish.runtime.shards.messages import SHARD_REQUESTS, ShardReply, ShardRequest
from burnish.runtime.shards.suite import ShardSize

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
