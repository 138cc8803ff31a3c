"""Logged runner: evaluates in this process, and keeps a line of JSON about every block."""

import json
import time

from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter
from burnish.optimization.experiments.local_adapter import LocalBlocks


def make_runner(database, folder):
    """What makes the adapter of each run; `database` and `folder` are those of the project."""
    log = folder / ".burnish" / "blocks.jsonl"

    def make_adapter(inputs, experiments, materializer, gate, lease):
        blocks = LoggedBlocks(LocalBlocks(experiments, lease), log)
        return BlockExperimentAdapter(inputs, experiments, materializer, gate, lease, blocks)

    return make_adapter


class LoggedBlocks:
    """A block runner: evaluates blocks, here by handing them on to the one of this process."""

    def __init__(self, blocks, log) -> None:
        self._blocks = blocks
        self._log = log

    async def run(self, block):
        """When it returns, every run of the block has a result in the repository."""
        started = time.monotonic()
        ended = "stopped"
        try:
            await self._blocks.run(block)
            ended = "completed"
        finally:
            self._write(block, ended, time.monotonic() - started)

    async def close(self):
        """Free what is held."""
        await self._blocks.close()

    def _write(self, block, ended, seconds):
        line = {
            "experiment": block.experiment.id,
            "tag": block.mask_id,
            "items": [item.id for item in block.items],
            "ended": ended,
            "seconds": round(seconds, 3),
        }
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
