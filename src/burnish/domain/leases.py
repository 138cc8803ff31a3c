"""Leases: who may run and write to a job."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class JobKind(StrEnum):
    """What kinds of work wait in a queue and are run under a lease."""

    OPTIMIZATION = "optimization"
    EVALUATION = "evaluation"
    IMAGE_RUN = "image_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write to one job. Each new holder gets a higher token."""

    job_id: str
    owner: str
    token: int
    kind: JobKind = JobKind.OPTIMIZATION
