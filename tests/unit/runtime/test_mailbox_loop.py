"""The loop under all loops, on a mailbox in memory and a clock that nobody waits for."""

import asyncio

import pytest

from burnish.domain import ConflictError, UnavailableError, UsageError
from burnish.runtime import EvalRequest, InMemoryMailbox, MainLoopRequest
from burnish.runtime.loops import GivenBack, LoopState, MailboxLoop, RetryRules
from burnish.runtime.loops.health import Watchdog
from burnish.testing.clocks import FakeClock
from burnish.testing.samples.mailboxes import Note, known_types


class Served(MailboxLoop):
    """Hands requests to a function, and remembers what it was called with."""

    def __init__(self, requests, work, **settings):
        super().__init__(name="served", requests=requests, **settings)
        self.work = work
        self.calls = []

    async def handle(self, request, delivery):
        self.calls.append((request.number, delivery.count))
        return await self.work(request, delivery)

    def failed(self, request, error):
        return Note(0, f"{request.number}: {error}")


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def box(clock):
    return InMemoryMailbox("work", clock=clock, types=known_types())


async def answer(request, delivery):
    return Note(0, f"{request.number}!")


async def served(loop, until, **settings):
    """Run the loop until something holds, then shut it down; what shutdown says."""
    running = asyncio.create_task(loop.run(**{"wait_time_seconds": 5, **settings}))
    async with asyncio.timeout(600):
        while not until():
            await loop._clock.sleep(0.1)
            assert not running.done(), running.exception()
        finished = await loop.shutdown(timeout=10)
        await running
    return finished


async def replies(box):
    return [one.body.text for one in await box.receive(max_messages=100)]


async def test_requests_are_answered_and_done(box, clock):
    back = box.sibling("back")
    for number in range(5):
        await box.send(Note(number), reply_to=back)
    loop = Served(box, answer, concurrency=2, clock=clock)

    assert await served(loop, lambda: loop.status()["done"] == 5)
    assert await replies(back) == [f"{number}!" for number in range(5)]
    assert await box.approximate_count() == 0
    assert loop.status()["state"] == LoopState.STOPPED
    assert not loop.running


async def test_iterations_are_receptions_and_their_work_is_finished(box, clock):
    for number in range(3):
        await box.send(Note(number))
    loop = Served(box, answer, clock=clock)

    await loop.run(max_iterations=2, wait_time_seconds=1)

    assert [number for number, _ in loop.calls] == [0, 1]
    assert await box.approximate_count() == 1


async def test_no_more_than_the_given_number_run_at_once(box, clock):
    active, most = 0, 0

    async def work(request, delivery):
        nonlocal active, most
        active += 1
        most = max(most, active)
        await clock.sleep(1)
        active -= 1

    for number in range(9):
        await box.send(Note(number))
    loop = Served(box, work, concurrency=3, clock=clock)
    await served(loop, lambda: loop.status()["done"] == 9)

    assert most == 3


async def test_long_work_is_renewed_and_done_once(box, clock):
    async def work(request, delivery):
        await clock.sleep(100)

    await box.send(Note(1))
    loops = [Served(box, work, clock=clock) for _ in range(2)]
    running = [asyncio.create_task(one.run(visibility_timeout=6)) for one in loops]
    async with asyncio.timeout(600):
        while not sum(one.status()["done"] for one in loops):
            await clock.sleep(0.1)
    for one in loops:
        await one.shutdown(timeout=1)
    await asyncio.gather(*running)

    assert loops[0].calls + loops[1].calls == [(1, 1)]


async def test_work_whose_message_was_lost_is_cancelled(box, clock):
    cancelled = asyncio.Event()

    async def work(request, delivery):
        try:
            await clock.sleep(1000)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    await box.send(Note(1))
    loop = Served(box, work, clock=clock)
    running = asyncio.create_task(loop.run(visibility_timeout=6))
    while not loop.calls:
        await clock.sleep(0.1)
    await box.purge()

    await asyncio.wait_for(cancelled.wait(), 600)
    await loop.shutdown(timeout=1)
    await running
    assert loop.status()["lost"] == 1


async def test_a_failure_comes_back_later_and_at_last_goes_to_the_dead_letters(box, clock):
    moments = []

    async def work(request, delivery):
        moments.append(clock.monotonic())
        raise RuntimeError("broken")

    back = box.sibling("back")
    await box.send(Note(7), reply_to=back)
    await box.send(Note(8))
    loop = Served(box, work, clock=clock, rules=RetryRules(step_seconds=60, longest_seconds=150))

    def buried():
        return len(box._house.find("work.dead")) == 2

    await served(loop, buried)

    assert [count for number, count in loop.calls if number == 7] == [1, 2, 3, 4, 5]
    waits = [later - sooner for sooner, later in zip(moments[::2], moments[2::2], strict=False)]
    assert waits == pytest.approx([60, 120, 150, 150], abs=2)
    assert len(await replies(back)) == 1  # The sender hears of the last failure, once.
    letters = await box.dead_letters.receive(max_messages=10)
    assert {one.body.reason for one in letters} == {"too_many_deliveries"}


async def test_what_is_refused_for_good_is_answered_and_not_tried_again(box, clock):
    async def work(request, delivery):
        raise UsageError(what="no", why="bad", fix="mend it")

    back = box.sibling("back")
    await box.send(Note(1), reply_to=back)
    loop = Served(box, work, clock=clock)
    await served(loop, lambda: loop.status()["failed"] == 1)

    assert loop.calls == [(1, 1)]
    assert await replies(back) == ["1: no: bad. mend it"]
    assert await box.approximate_count() == 0


async def test_a_refusal_that_nobody_hears_is_kept_for_people(box, clock):
    async def work(request, delivery):
        raise UsageError(what="no", why="bad", fix="mend it")

    await box.send(Note(1))
    loop = Served(box, work, clock=clock, rules=RetryRules(step_seconds=1))
    await served(loop, lambda: len(box._house.find("work.dead")) == 1)

    assert len(loop.calls) == 5


async def test_a_reply_that_cannot_be_sent_is_replaced_by_the_reason(box, clock):
    async def work(request, delivery):
        return Note(0, "x" * 2_000_000)

    back = box.sibling("back")
    await box.send(Note(1), reply_to=back)
    loop = Served(box, work, clock=clock)
    await served(loop, lambda: loop.status()["done"] == 1)

    (told,) = await replies(back)
    assert "bytes" in told


async def test_shutdown_lets_short_work_end_and_gives_long_work_back_at_once(box, clock):
    async def work(request, delivery):
        await clock.sleep(5 if request.number == 1 else 500)
        return Note(0, "done")

    for number in (1, 2):
        await box.send(Note(number))
    loop = Served(box, work, concurrency=2, clock=clock)

    finished = await served(loop, lambda: len(loop.calls) == 2, visibility_timeout=300)

    assert not finished
    assert (loop.status()["done"], loop.status()["given_back"]) == (1, 1)
    (again,) = await box.receive(max_messages=5)
    assert (again.body.number, again.delivery_count) == (2, 2)


async def test_a_handler_may_give_back_by_itself_when_the_loop_stops(box, clock):
    async def work(request, delivery):
        await delivery.stopping.wait()
        raise GivenBack(3)

    await box.send(Note(1))
    loop = Served(box, work, clock=clock)
    started = clock.monotonic()

    assert not await served(loop, lambda: loop.calls)
    assert await box.receive() == []
    assert len(await box.receive(wait_time_seconds=5)) == 1
    assert clock.monotonic() - started < 9  # Not the ten seconds of grace.


async def test_a_loop_that_is_cancelled_gives_back_what_it_holds(box, clock):
    async def work(request, delivery):
        await clock.sleep(500)

    await box.send(Note(1))
    loop = Served(box, work, clock=clock)
    running = asyncio.create_task(loop.run())
    while not loop.calls:
        await clock.sleep(0.1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert len(await box.receive()) == 1


class Away(InMemoryMailbox):
    """A mailbox whose server can be taken away."""

    away = False

    async def receive(self, **settings):
        if self.away:
            raise UnavailableError(what="mailbox", why="away", fix="wait")
        return await super().receive(**settings)


async def test_a_mailbox_that_is_away_is_waited_for_and_readiness_says_so(clock):
    box = Away("work", clock=clock, types=known_types())
    loop = Served(box, answer, clock=clock)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))
    while not loop.ready:
        await clock.sleep(0.1)

    box.away = True
    async with asyncio.timeout(600):
        while loop.ready:
            await clock.sleep(0.1)
        away_since = clock.monotonic()
        while clock.monotonic() < away_since + 300:
            await clock.sleep(0.1)
            assert clock.monotonic() - loop.heartbeat <= 1.01  # Waiting is life.
        box.away = False
        await box.send(Note(1))
        while not loop.status()["done"]:
            await clock.sleep(0.1)
        assert loop.ready
        await loop.shutdown(timeout=1)
        await running


async def test_a_result_waits_for_a_mailbox_that_came_back(box, clock):
    await box.send(Note(1), reply_to="back")
    tries = 0
    real = box.settle

    async def settle(receipt):
        nonlocal tries
        tries += 1
        if tries < 4:
            raise UnavailableError(what="mailbox", why="away", fix="wait")
        await real(receipt)

    box.settle = settle
    loop = Served(box, answer, clock=clock)
    await served(loop, lambda: loop.status()["done"] == 1)

    assert tries == 4
    assert loop.calls == [(1, 1)]


async def test_a_late_acknowledgement_fails_nothing(box, clock):
    async def settle(receipt):
        raise ConflictError(what="late", why="late", fix="late", code="receipt_expired")

    box.settle = settle
    await box.send(Note(1))
    loop = Served(box, answer, clock=clock)
    await served(loop, lambda: loop.status()["done"] == 1)


async def test_work_that_never_ends_is_given_up(box, clock):
    async def work(request, delivery):
        await clock.sleep(10**6)

    await box.send(Note(1))
    rules = RetryRules(work_seconds=30, step_seconds=1000, longest_seconds=1000)
    loop = Served(box, work, clock=clock, rules=rules)
    await served(loop, lambda: loop.status()["failed"] == 1, visibility_timeout=10)

    assert loop.calls == [(1, 1)]


async def test_a_request_of_another_kind_ends_in_the_dead_letters(box, clock):
    async def work(request, delivery):
        return request.nothing_of_the_kind

    await box.send(Note(1), reply_to="back")
    loop = Served(box, work, clock=clock, rules=RetryRules(step_seconds=1))
    loop.failed = lambda request, error: request.nothing_of_the_kind
    await served(loop, lambda: len(box._house.find("work.dead")) == 1)

    assert len(loop.calls) == 5
    assert loop.status()["failed"] == 5


async def test_a_message_of_the_wrong_type_is_refused_at_once_and_its_sender_told(clock):
    box = InMemoryMailbox("work", clock=clock)
    back = box.sibling("back")
    loop = Served(box, answer, clock=clock)
    loop.request_type = EvalRequest
    request = MainLoopRequest(request={"q": "x"})
    await box.send(request, reply_to=back)
    await box.send(request)

    await served(loop, lambda: loop.status()["failed"] == 1 + 5)

    (told,) = await back.receive()
    assert told.body.request_id == request.request_id
    assert "it is a MainLoopRequest, and the mailbox takes EvalRequest" in told.body.error
    assert loop.calls == []
    assert clock.monotonic() < 60


async def lost_with_its_worker(box, clock, times):
    for _ in range(times):
        await box.receive(max_messages=100, visibility_timeout=10)
        clock.advance(11)


async def test_requests_that_were_lost_with_their_workers_are_worked_on_alone(box, clock):
    running, most = set(), []

    async def work(request, delivery):
        running.add(request.number)
        most.append(len(running))
        await clock.sleep(0.1)
        running.discard(request.number)
        return await answer(request, delivery)

    for number in range(9):
        await box.send(Note(number))
    await lost_with_its_worker(box, clock, 2)
    loop = Served(box, work, concurrency=16, clock=clock)

    await served(loop, lambda: loop.status()["done"] == 9)

    assert most == [1] * 9
    assert {count for _, count in loop.calls} == {3}


async def test_the_sender_hears_of_a_request_that_ended_all_its_workers(clock):
    box = InMemoryMailbox("work", clock=clock, types=known_types(), max_delivery_count=6)
    back = box.sibling("back")
    await box.send(Note(4), reply_to=back)
    await lost_with_its_worker(box, clock, 5)
    loop = Served(box, answer, clock=clock)

    await served(loop, lambda: len(box._house.find("work.dead")) == 1)

    assert loop.calls == []
    assert "5 workers failed or ended in the middle of it" in (await replies(back))[0]


async def test_a_closed_mailbox_ends_the_loop(box, clock):
    loop = Served(box, answer, clock=clock)
    running = asyncio.create_task(loop.run(wait_time_seconds=5))
    while not loop.running:
        await clock.sleep(0.1)
    await box.close()

    await asyncio.wait_for(running, 600)


async def test_misuse_is_explained(box, clock):
    with pytest.raises(UsageError, match="no mailbox"):
        await Served(None, answer).run()
    with pytest.raises(UsageError, match="concurrency"):
        Served(box, answer, concurrency=0)
    assert await Served(box, answer).shutdown()


class Thread:
    """Stands for the watchdog's thread: it wakes after given times, and then the watch is over."""

    def __init__(self, clock, pauses):
        self._clock = clock
        self._pauses = iter(pauses)

    def wait(self, seconds):
        pause = next(self._pauses, None)
        if pause is None:
            return True
        self._clock.advance(pause)
        return False


@pytest.mark.parametrize(("pauses", "stalls"), [([15] * 5, 1), ([100], 0), ([100, 15], 1)])
def test_a_watchdog_tells_of_silence_but_not_at_once_after_a_stop_of_the_process(
    clock, pauses, stalls
):
    heard = []
    watchdog = Watchdog(
        lambda: {"main": 0.0},
        stall_seconds=60,
        on_stall=lambda name, silence: heard.append(name),
        clock=clock,
    )
    watchdog._ended = Thread(clock, pauses)

    watchdog._watch()

    assert heard == ["main"] * stalls


async def test_a_mailbox_that_never_answers_is_asked_again(clock):
    class Hung(InMemoryMailbox):
        hung = True

        async def receive(self, **settings):
            if self.hung:
                self.hung = False
                await asyncio.Event().wait()
            return await super().receive(**settings)

    box = Hung("work", clock=clock, types=known_types())
    await box.send(Note(1))
    loop = Served(box, answer, clock=clock)

    await served(loop, lambda: loop.status()["done"] == 1)

    assert clock.monotonic() > 60
