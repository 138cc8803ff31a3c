"""Fake batch endpoints of vendors, which expire, lose, repeat, refuse and cut on order."""

from burnish.testing.vendors.batches.anthropic import AnthropicBatchServer
from burnish.testing.vendors.batches.gemini import GeminiBatchServer
from burnish.testing.vendors.batches.openai import OpenAIBatchServer
from burnish.testing.vendors.batches.server import BatchFaults

__all__ = ["AnthropicBatchServer", "BatchFaults", "GeminiBatchServer", "OpenAIBatchServer"]
