"""Batches without a vendor or a database: an endpoint, records and a cache in memory."""

import asyncio
from dataclasses import replace

from burnish.domain import ModelResponse, Usage
from burnish.models.batches.endpoint import BatchAnswer, BatchLook, UnknownBatchError
from burnish.models.failures import TransientError


class MemoryRecords:
    """Records that a later process finds again."""

    def __init__(self):
        self.batches = {}
        self.held = {}

    async def record(self, batch, claims):
        if any(one.key in self.held for one in claims):
            return False
        self.batches[batch.id] = batch
        self.held |= {one.key: one for one in claims}
        return True

    async def claims(self, keys):
        return {key: self.held[key] for key in keys if key in self.held}

    async def batch(self, batch_id):
        return self.batches.get(batch_id)

    async def note_sending(self, batch_id, now):
        return self._change(batch_id, sending_at=now)

    async def note_sent(self, batch_id, vendor_id):
        return self._change(batch_id, vendor_id=vendor_id)

    async def note_ended(self, batch_id, now):
        self._change(batch_id, ended_at=now)

    async def note_look(self, batch_id, answered, now):
        self._change(batch_id, answered=answered, looked_at=now)

    async def forget(self, batch):
        now = self.batches.get(batch.id)
        if now is None or now.vendor_id or now.sending_at != batch.sending_at:
            return False
        del self.batches[batch.id]
        self.held = {key: one for key, one in self.held.items() if one.batch_id != batch.id}
        return True

    async def release(self, batch_id, keys):
        for key in keys:
            del self.held[key]

    async def open_batches(self, run_id):
        return [one for one in self.batches.values() if one.run_id == run_id and not one.ended_at]

    def _change(self, batch_id, **changes):
        if batch_id not in self.batches:
            return False
        self.batches[batch_id] = replace(self.batches[batch_id], **changes)
        return True


class MemoryCache:
    """A call cache."""

    def __init__(self):
        self.entries = {}

    async def get(self, key):
        return self.entries.get(key)

    async def put(self, key, value):
        self.entries[key] = value


class FakeEndpoint:
    """A vendor that answers each request with its text; `paid` counts answers by it.

    `looks` is how often a batch is looked at until it ends; `outcome` says what comes of a request.
    """

    most_requests = 1000
    most_bytes = 10_000_000
    submit_seconds = 60.0
    window_seconds = 86400.0

    def __init__(self, *, looks=3, outcome=None):
        self.sent = {}
        self.paid = []
        self.looks = looks
        self.outcome = outcome or (lambda text: "answer")
        self.at_submit = None
        self.after_submit = None
        self.looked = 0
        self.cancelled = []
        self.finds = 0

    def body(self, request):
        return {"text": request.messages[-1].content}

    async def prepare(self, batch, bodies):
        return bodies

    async def submit(self, batch, prepared):
        await asyncio.sleep(0)
        if self.at_submit:
            self.at_submit()
        vendor_id = f"v{len(self.sent)}"
        self.sent[vendor_id] = (batch.id, [*self._work(prepared)])
        if self.after_submit:
            self.after_submit()
        return vendor_id

    def _work(self, bodies):
        for name, body in bodies.items():
            outcome = self.outcome(body["text"])
            if outcome == "answer":
                self.paid.append(body["text"])
                yield BatchAnswer(name, {"text": body["text"]})
            elif isinstance(outcome, Exception):
                yield BatchAnswer(name, error=outcome)
            elif outcome == "twice":
                self.paid.append(body["text"])
                yield BatchAnswer(name, {"text": body["text"]})
                yield BatchAnswer(name, {"text": "another"})

    async def find(self, batch):
        self.finds += 1
        return next((one for one, (ours, _) in self.sent.items() if ours == batch.id), None)

    async def look(self, vendor_id):
        if vendor_id not in self.sent:
            raise UnknownBatchError
        self.looked += 1
        return BatchLook(self.looked % self.looks == 0, 0, {"id": vendor_id})

    async def answers(self, look):
        for answer in self.sent[look.document["id"]][1]:
            yield answer
        yield BatchAnswer("of-somebody-else-0", {"text": "not asked for"})

    async def cancel(self, vendor_id):
        self.cancelled.append(vendor_id)

    async def close(self):
        pass

    def read(self, answer, request, wasted):
        if answer.error is not None:
            raise answer.error
        body = answer.body
        if body["text"] == "garbled" and len(wasted) < 1:
            wasted.append(Usage(calls=1, input_tokens=7, cost_usd=0.5))
            raise TransientError("it is not JSON")
        return ModelResponse(
            text=body["text"].upper(), usage=Usage(calls=1, input_tokens=5, cost_usd=0.25)
        )
