"""Fake batch endpoints on loopback, which can be slow, expire, lose, repeat, refuse and cut."""

from burnish.testing.batches.faults import BatchFaults
from burnish.testing.batches.openai import OpenAIBatchServer
from burnish.testing.batches.server import BatchServer

__all__ = ["BatchFaults", "BatchServer", "OpenAIBatchServer"]
