"""A repository of your own: what is known of runs is kept in memory; a real one would have a database.

It passes `burnish.testing.optimization_contract.OwnRepositoryContract`. Every method decides and writes
without awaiting anything in between, which makes each write all or nothing here; elsewhere it takes a
transaction.
"""

import json
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import burnish


@dataclass
class Kept:
    """All of one optimization."""

    record: burnish.OptimizationRecord
    lease: burnish.Lease | None = None
    lease_ends: float = 0.0
    tokens: int = 0
    candidates: dict = field(default_factory=dict)
    trials: dict = field(default_factory=dict)
    rejections: list = field(default_factory=list)
    events: dict = field(default_factory=dict)


class MemoryRepository:
    """The methods of `burnish.OptimizationRepository`."""

    def __init__(self):
        self.kept = {}
        self._last = ""

    async def create_optimization(self, record):
        if record.id in self.kept:
            raise burnish.ConflictError(what=f"{record.id} is there", why="taken", fix="another id")
        _require_json(record.spec, record.checkpoint, record.result)
        made = utc(record.created_at) or self._now()
        changed = utc(record.updated_at) or made
        self.kept[record.id] = Kept(replace(record, created_at=made, updated_at=changed))

    async def get_optimization(self, optimization_id):
        one = self._find(optimization_id)
        owner = None if one.lease is None else one.lease.owner
        trials = sum(number > 0 and not batch for number, batch, _ in one.trials)
        return replace(one.record, lease_owner=owner, trials=trials)

    async def list_optimizations(self, *, limit=50, before=None):
        order = [*self.kept][::-1]
        if before is not None:
            order = order[order.index(self._find(before).record.id) + 1 :]
        found = [await self.get_optimization(one) for one in order[:limit]]
        return [replace(one, spec={}, checkpoint=None, result=None) for one in found]

    async def acquire_lease(self, optimization_id, *, owner, seconds, replacing=None):
        one, now = self._find(optimization_id), time.monotonic()
        holder = one.lease.owner if one.lease is not None and now < one.lease_ends else None
        if holder not in (None, owner, replacing):
            why = f"{holder} has it for another {one.lease_ends - now:.1f} seconds"
            raise burnish.ConflictError(
                what=f"{optimization_id} has an owner", why=why, fix="wait", code="owned"
            )
        one.tokens += 1
        one.lease = burnish.Lease(job_id=optimization_id, owner=owner, token=one.tokens)
        one.lease_ends = now + seconds
        return replace(one.lease, updated_at=one.record.updated_at)

    async def renew_lease(self, lease, *, seconds):
        one = self._held(lease)
        if one.lease is None:
            raise self._lost(lease, "its owner has given up the lease")
        one.lease_ends = time.monotonic() + seconds

    async def release_lease(self, lease):
        one = self.kept.get(lease.job_id)
        if one is not None and one.lease == lease:
            one.lease = None

    async def request_cancel(self, optimization_id):
        one = self._find(optimization_id)
        one.record = replace(one.record, cancel_requested=True)

    async def cancel_requested(self, optimization_id):
        return self._find(optimization_id).record.cancel_requested

    async def save_status(
        self, lease, status, *, stop_reason=None, framework_error=None, result=None, events=()
    ):
        one = self._held(lease)
        _require_json(result, framework_error, *(event.payload for event in events))
        explained = {"stop_reason": stop_reason, "framework_error": framework_error}
        self._change(one, events, status=status, result=result, **explained)

    async def save_step(self, lease, *, candidates, rejections, checkpoint, events=()):
        one = self._held(lease)
        _require_json(checkpoint, *(event.payload for event in events))
        added = {step.candidate.id: step.candidate for step in candidates}
        after = added | one.candidates
        if len({candidate.number for candidate in after.values()}) < len(after):
            raise _wrong("two candidates have one number")
        if not all(isinstance(rejection.message, str) for rejection in rejections):
            raise _wrong("a rejection has no message")
        one.candidates = after
        for rejection in rejections:
            made = utc(rejection.created_at) or self._now()
            one.rejections.append(replace(rejection, created_at=made))
        self._change(one, events, checkpoint=checkpoint)

    async def save_trial(self, lease, trial, *, events=()):
        one = self._held(lease)
        if trial.candidate_id not in one.candidates:
            raise _wrong(f"there is no candidate {trial.candidate_id}")
        _require_json(*(event.payload for event in events))
        batch = trial.type == "mini-batch"
        key = (one.candidates[trial.candidate_id].number, batch, batch and trial.experiment_id)
        one.trials[key] = trial
        self._change(one, events)

    async def save_checkpoint(self, lease, checkpoint, *, events=(), **best):
        one = self._held(lease)
        _require_json(checkpoint, *(event.payload for event in events))
        known = {name: value for name, value in best.items() if value is not None}
        self._change(one, events, checkpoint=checkpoint, **known)

    async def append_events(self, lease, events):
        one = self._held(lease)
        _require_json(*(event.payload for event in events))
        self._tell(one, events)

    async def list_candidates(self, optimization_id):
        one = self.kept.get(optimization_id)
        return [] if one is None else sorted(one.candidates.values(), key=lambda c: c.number)

    async def list_trials(self, optimization_id, *, mini_batches=False):
        one = self.kept.get(optimization_id)
        kept = {} if one is None else one.trials
        return [kept[key] for key in sorted(kept) if mini_batches or not key[1]]

    async def list_rejections(self, optimization_id):
        one = self.kept.get(optimization_id)
        return [] if one is None else list(one.rejections)

    async def list_events(self, optimization_id, *, after=0, limit=1000):
        one = self.kept.get(optimization_id)
        return [] if one is None else list(one.events.values())[after : after + limit]

    def _find(self, optimization_id):
        if optimization_id not in self.kept:
            raise burnish.UsageError(
                what=f"there is no {optimization_id}", why="-", fix="-", code="not_found"
            )
        return self.kept[optimization_id]

    def _held(self, lease):
        """Refuse whoever has lost the lease; one that was given up serves until the next."""
        one = self._find(lease.job_id)
        if lease.token != one.tokens or (one.lease is not None and one.lease != lease):
            owner = "nobody" if one.lease is None else one.lease.owner
            raise self._lost(lease, f"its owner is {owner}")
        return one

    def _lost(self, lease, why):
        return burnish.ConflictError(
            what=f"{lease.job_id} cannot be written to", why=why, fix="stop", code="lease_lost"
        )

    def _change(self, one, events, **changes):
        one.record = replace(one.record, **changes, updated_at=self._now())
        self._tell(one, events)

    def _tell(self, one, events):
        for event in events:
            if event.key not in one.events:
                made = utc(event.created_at) or self._now()
                number = len(one.events) + 1
                one.events[event.key] = replace(event, sequence=number, created_at=made)

    def _now(self):
        """Later at each call."""
        self._last = max(utc(datetime.now(UTC).isoformat()), _next(self._last))
        return self._last


def utc(text):
    """A time as it is kept; empty text stays empty."""
    moment = text and datetime.fromisoformat(text).astimezone(UTC)
    return moment and f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


def _next(text):
    return text and f"{text[:-7]}{int(text[-7:-1]) + 1:06}Z" if text[-7:-1] != "999999" else ""


def _require_json(*values):
    try:
        json.dumps(values, allow_nan=False, default=None)
    except (TypeError, ValueError) as error:
        raise burnish.UsageError(
            what="it cannot be kept", why=str(error), fix="use JSON", code="not_json"
        ) from error


def _wrong(why):
    return burnish.InvariantError(what="it cannot be kept", why=why, fix="report it")


def main():
    repository = MemoryRepository()
    suite = burnish.Suite(
        dataset=[{"text": f"t{n}", "difficulty": n / 60, "expected": "right"} for n in range(60)],
        scorers=["exact_match"],
        split={"train": 0.25, "validation": 0.5, "test": 0.25},
    )
    agent = burnish.Agent(
        name="reader",
        configuration={"sections": {"system": "Read {{text}}\nAnswer politely.\nThink twice."}},
        run=lambda configuration, item: "right" if item["difficulty"] < 0.6 else "wrong",
    )
    budget = burnish.Budget(max_trials=4)
    result = burnish.optimize(agent, suite, "edits", budget, seed=1, repository=repository)

    (kept,) = repository.kept.values()
    print(f"{len(kept.candidates)} candidates, {len(kept.events)} events, {kept.record.status}")
    assert kept.record.result["best"]["score"] == result.best.score
    assert len(kept.trials) == len(result.trials) == 5


if __name__ == "__main__":
    main()
