"""Batches of requests: gathered, recorded, sent once, found again, and sent again where they expire."""

import asyncio

import pytest
from batch_world import FakeEndpoint, MemoryCache, MemoryRecords

from burnish.domain import ModelRequest, Payer, UnavailableError, UsageError, paying_for
from burnish.models.batches.model import BatchedModel
from burnish.models.batches.queue import QUIET_SECONDS
from burnish.models.failures import TransientError
from burnish.models.scripted import ScriptedModel
from burnish.models.traffic import Traffic, counting
from burnish.support.deadlines import deadline
from burnish.testing.clocks import FakeClock

EXPIRED = TransientError("the batch expired before it was answered")


class World:
    """What outlives a process: the vendor, the records and the cache."""

    def __init__(self, **vendor):
        self.endpoint = FakeEndpoint(**vendor)
        self.records, self.cache = MemoryRecords(), MemoryCache()
        self.clock = FakeClock()

    def process(self, max_attempts=3):
        return BatchedModel(
            ScriptedModel(["never asked"], name="scripted/x"),
            self.cache,
            self.endpoint,
            self.records,
            max_attempts=max_attempts,
            clock=self.clock,
        )


async def ask(model, *texts):
    async def one(text):
        with paying_for(Payer(f"run/{text}/0")):
            return await model.complete(ModelRequest.text(text))

    return await asyncio.gather(*(one(text) for text in texts))


def texts_of(responses):
    return [one.text for one in responses]


async def test_requests_that_come_together_are_one_batch():
    world = World()

    responses = await ask(world.process(), "a", "b", "c")

    assert texts_of(responses) == ["A", "B", "C"]
    assert len(world.endpoint.sent) == 1
    assert world.records.held == {}
    assert [one.usage.cost_usd for one in responses] == [0.25] * 3


async def test_a_full_batch_is_sent_without_waiting_for_more():
    world = World()
    world.endpoint.most_requests = 2

    await ask(world.process(), "a", "b", "c", "d", "e")

    assert sorted(len(answers) for _, answers in world.endpoint.sent.values()) == [1, 2, 2]


async def test_a_batch_is_bounded_by_its_bytes():
    world = World()
    world.endpoint.most_bytes = 50

    responses = await ask(world.process(), *(letter * 20 for letter in "abcd"))

    assert texts_of(responses) == [letter * 20 for letter in "ABCD"]
    assert len(world.endpoint.sent) == 4


async def test_what_was_answered_once_is_in_the_cache_for_single_calls_too():
    world = World()
    await ask(world.process(), "a")

    again = await ask(world.process(), "a")

    assert again[0].cached
    assert len(world.endpoint.sent) == 1


async def test_an_expired_request_goes_into_a_next_batch_and_the_others_are_used():
    late = iter([EXPIRED, EXPIRED])
    world = World(outcome=lambda text: next(late, "answer") if text == "b" else "answer")
    traffic = Traffic()

    with counting(traffic):
        responses = await ask(world.process(), "a", "b", "c")

    assert texts_of(responses) == ["A", "B", "C"]
    assert sorted(world.endpoint.paid) == ["a", "b", "c"]
    assert [len(answers) for _, answers in world.endpoint.sent.values()] == [3, 1, 1]
    assert traffic.retries.total() == 2


async def test_a_request_that_expires_each_time_is_given_up():
    world = World(outcome=lambda text: EXPIRED)

    with pytest.raises(UnavailableError, match="gave up after 3 batches"):
        await ask(world.process(), "a")

    assert len(world.endpoint.sent) == 3
    assert world.records.held == {}


async def test_a_refused_request_is_its_own_error_and_no_other_s():
    refused = UsageError(what="no", why="too long", fix="cut it")
    world = World(outcome=lambda text: refused if text == "b" else "answer")
    model = world.process()

    found = await asyncio.gather(ask(model, "a"), ask(model, "b"), return_exceptions=True)

    assert texts_of(found[0]) == ["A"]
    assert found[1] is refused
    assert len(world.endpoint.sent) == 1


async def test_a_request_without_any_answer_is_sent_again():
    lost = iter(["nothing"])
    world = World(outcome=lambda text: next(lost, "answer"))

    assert texts_of(await ask(world.process(), "a")) == ["A"]
    assert len(world.endpoint.sent) == 2


async def test_the_first_of_two_answers_of_one_name_counts():
    world = World(outcome=lambda text: "twice")

    assert texts_of(await ask(world.process(), "a", "b")) == ["A", "B"]


async def test_an_answer_that_cannot_be_used_is_paid_and_asked_for_again():
    world = World()

    (response,) = await ask(world.process(), "garbled")

    assert response.usage.cost_usd == 0.75
    assert response.usage.calls == 2


async def test_a_batch_that_was_sent_but_not_recorded_as_such_is_found_again():
    world = World()

    def cut():
        raise TransientError("the connection was cut")

    world.endpoint.after_submit = cut

    assert texts_of(await ask(world.process(), "a", "b")) == ["A", "B"]
    assert world.endpoint.paid == ["a", "b"]
    assert world.endpoint.finds == 1


async def test_a_batch_that_never_arrived_is_sent_again_once_it_cannot_arrive_any_more():
    world = World()
    cuts = iter([TransientError("no connection")])

    def cut():
        for error in cuts:
            raise error

    world.endpoint.at_submit = cut
    before = world.clock.monotonic()

    assert texts_of(await ask(world.process(), "a")) == ["A"]
    assert world.endpoint.paid == ["a"]
    assert world.clock.monotonic() - before >= world.endpoint.submit_seconds + 30
    assert len(world.records.batches) == 1


async def test_a_refused_batch_fails_all_that_is_in_it_and_is_forgotten():
    world = World()

    def refuse():
        raise UsageError(what="no", why="there are no batches here", fix="leave batch out")

    world.endpoint.at_submit = refuse

    with pytest.raises(UsageError, match="no batches here"):
        await ask(world.process(), "a", "b")
    assert world.records.batches == {}
    assert world.records.held == {}


@pytest.mark.parametrize("place", ["note_sending", "note_sent", "note_ended", "release"])
async def test_a_process_that_dies_is_followed_by_one_that_pays_for_nothing_again(place):
    world = World()
    await die_at(world, place, "a", "b")

    responses = await ask(world.process(), "a", "b", "c")

    assert texts_of(responses) == ["A", "B", "C"]
    assert sorted(world.endpoint.paid) == ["a", "b", "c"]
    # What the dead one paid for was counted by nobody: it is the same work.
    assert [one.usage.cost_usd for one in responses] == [0.25] * 3


async def die_at(world, place, *texts):
    """Ask in a process that dies before it writes to a place."""
    reached, method = asyncio.Event(), getattr(world.records, place)

    async def die(*_):
        reached.set()
        await asyncio.Event().wait()

    setattr(world.records, place, die)
    model = world.process()
    asking = asyncio.ensure_future(ask(model, *texts))
    await reached.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await model.close()
    setattr(world.records, place, method)


async def test_a_second_process_waits_for_the_batch_of_the_first_and_does_not_pay():
    world = World()
    await die_at(world, "note_ended", "a")

    async def other():
        with paying_for(Payer("other/a/0")):
            return await world.process().complete(ModelRequest.text("a"))

    response = await other()

    assert response.text == "A"
    assert response.usage.calls == 0
    assert response.reused.cost_usd == 0.25
    assert world.endpoint.paid == ["a"]


async def test_what_nobody_asked_for_yet_is_answered_later_without_another_batch():
    world = World()
    await die_at(world, "note_ended", "a", "b")
    model = world.process()

    first = await ask(model, "a")
    looked = world.endpoint.looked
    second = await ask(model, "b")

    assert texts_of(first + second) == ["A", "B"]
    assert world.endpoint.looked == looked
    assert world.endpoint.paid == ["a", "b"]


async def test_a_batch_that_the_vendor_does_not_know_is_not_sent_again_while_it_may_be_elsewhere():
    world = World()
    await die_at(world, "note_ended", "a")
    kept, world.endpoint.sent = world.endpoint.sent, {}

    with pytest.raises(UnavailableError, match="cannot be found") as raised:
        await ask(world.process(), "a")
    assert raised.value.code == "batch_lost"

    world.clock.advance(world.endpoint.window_seconds)
    world.endpoint.sent = {"v9": kept["v0"]}
    assert texts_of(await ask(world.process(), "a")) == ["A"]


async def test_a_batch_that_somebody_took_for_lost_is_cancelled():
    world = World()

    def forget():
        for batch in list(world.records.batches):
            del world.records.batches[batch]
        world.records.held.clear()
        world.endpoint.after_submit = None

    world.endpoint.after_submit = forget

    assert texts_of(await ask(world.process(), "a")) == ["A"]
    assert world.endpoint.cancelled == ["v0"]


async def test_no_deadline_counts_the_time_that_a_batch_takes():
    world = World(looks=20)

    async with deadline(0.05):
        (response,) = await ask(world.process(), "a")

    assert response.text == "A"
    assert world.clock.monotonic() > 300


async def test_a_display_is_told_what_is_waited_for():
    world, traffic = World(), Traffic(run_id="r1")
    words = []
    look = world.endpoint.look

    async def looked(vendor_id):
        words.extend(traffic.waiting(world.clock.monotonic()))
        return await look(vendor_id)

    world.endpoint.look = looked
    with counting(traffic):
        await ask(world.process(), "a", "b")

    assert words[0] == "waiting for a batch of 2 requests of scripted/x since 0 s, 0 answered"
    assert traffic.waiting(world.clock.monotonic()) == []
    assert [one.run_id for one in world.records.batches.values()] == ["r1"]


async def test_somebody_who_goes_away_before_it_is_sent_is_not_paid_for():
    world = World()
    model = world.process()
    asking = asyncio.ensure_future(ask(model, "a"))
    await world.clock.sleep(QUIET_SECONDS / 2)

    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await ask(model, "b")

    assert world.endpoint.paid == ["b"]
