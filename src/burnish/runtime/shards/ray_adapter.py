"""Experiments of a run, evaluated on a Ray cluster."""

from __future__ import annotations

from burnish.runtime.shards.adapter import MailboxExperimentAdapter


class RayExperimentAdapter(MailboxExperimentAdapter):
    """The same shards under the same rules; only the carrier is Ray's."""
