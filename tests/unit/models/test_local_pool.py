"""The pool on a scripted worker process in place of llama.cpp."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import ModelRequest, UnavailableError, UsageError
from burnish.models.local.model import LocalModel
from burnish.models.local.pool import MAX_JUMPS, Pool, choose_request, choose_worker, common_prefix
from burnish.support.deadlines import deadline

# Nothing takes this long unless it hangs, on any machine.
PATIENCE = 120.0

# Does what a request says: echo, die, hang, die the first time, wait a while.
_WORKER = """
import json, os, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
with (folder / "starts").open("a") as log:
    log.write(f"{os.getpid()}\\n")
print(json.dumps({"failed": "load", "message": "broken file"} if (folder / "bad").exists()
                 else {"ready": True}), flush=True)
served = 0
for line in sys.stdin:
    request = json.loads(line)
    served += 1
    do = request.get("do")
    if do == "die" or do == "die once" and not (folder / "died").exists():
        (folder / "died").touch()
        os._exit(9)
    (folder / f"began-{do}").touch()
    if do == "hang":
        time.sleep(600)
    if do == "wait":
        while not (folder / "go").exists():
            time.sleep(0.005)
    print(json.dumps({"echo": request.get("text"), "pid": os.getpid(), "served": served}),
          flush=True)
"""


@pytest.fixture
def command(tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(_WORKER)
    return [sys.executable, "-S", str(script), str(tmp_path)]


@pytest.fixture
def make_pool(command):
    pools = []

    def make(size: int = 1, **options) -> Pool:
        pools.append(Pool(command, size=size, **options))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def ask(pool: Pool, do: str = "echo", *, text: str = "", lead: str = "", timeout: float = PATIENCE):
    return pool.submit({"do": do, "text": text}, lead=lead, timeout=timeout)


def starts(folder) -> int:
    return len((folder / "starts").read_text().splitlines())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(condition, seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


class TestRouting:
    @given(st.text("ab", max_size=12), st.text("ab", max_size=12))
    def test_the_common_prefix_is_what_a_plain_loop_finds(self, one, other):
        pairs = list(zip(one, other, strict=False))

        assert common_prefix(one, other) == next(
            (i for i, (left, right) in enumerate(pairs) if left != right), len(pairs)
        )

    def test_a_worker_stays_with_the_prompt_it_read_last(self):
        leads = ["a" * 100 + "1", "b" * 100 + "1", "b" * 100 + "2"]

        assert choose_request(leads, "b" * 100 + "0", jumps=0) == 1

    def test_first_come_is_first_served_when_little_would_be_saved(self):
        assert choose_request(["The film", "This film", "Then"], "This", jumps=0) == 0

    def test_the_oldest_has_its_turn_after_enough_jumps(self):
        leads = ["a" * 100, "b" * 100]

        assert choose_request(leads, "b" * 100, jumps=MAX_JUMPS - 1) == 1
        assert choose_request(leads, "b" * 100, jumps=MAX_JUMPS) == 0

    def test_a_worker_leaves_a_prompt_to_the_one_that_has_read_it(self):
        leads = ["a" * 100 + "1", "a" * 100 + "2", "b" * 100 + "1"]

        assert choose_request(leads, "c" * 100, jumps=0, others=["a" * 100 + "0"]) == 2
        assert choose_request(leads, "a" * 90, jumps=0, others=["a" * 100 + "0"]) == 0

    def test_a_worker_helps_with_a_prompt_when_no_other_waits(self):
        assert choose_request(["a" * 100], "c" * 100, jumps=0, others=["a" * 100]) == 0

    def test_a_request_goes_where_its_text_was_read(self):
        assert choose_worker("bbb", [("aaa", True), ("bbc", True)]) == 1

    def test_no_process_is_started_while_one_is_free(self):
        assert choose_worker("new", [("", False), ("other", True)]) == 1


def test_every_request_gets_its_own_answer(make_pool, tmp_path):
    pool = make_pool(2)
    gates = [ask(pool, "wait") for _ in range(2)]

    jobs = [ask(pool, text=str(number)) for number in range(50)]
    (tmp_path / "go").touch()

    assert len({gate.answer.result(PATIENCE)["pid"] for gate in gates}) == 2
    assert [job.answer.result(PATIENCE)["echo"] for job in jobs] == [str(n) for n in range(50)]


def test_one_request_at_a_time_needs_one_process(make_pool, tmp_path):
    pool = make_pool(2)

    pids = {ask(pool, text=str(number)).answer.result(PATIENCE)["pid"] for number in range(20)}

    assert len(pids) == starts(tmp_path) == 1


def test_a_large_request_passes_the_pipe(make_pool):
    text = "é" * 1_000_000

    assert ask(make_pool(), text=text).answer.result(PATIENCE)["echo"] == text


def test_a_worker_that_dies_is_replaced_and_its_request_tried_again(make_pool, tmp_path):
    pool = make_pool()

    assert ask(pool, "die once", text="kept").answer.result(PATIENCE)["echo"] == "kept"
    assert starts(tmp_path) == 2


def test_a_worker_killed_while_idle_is_replaced(make_pool):
    pool = make_pool()
    first = ask(pool).answer.result(PATIENCE)["pid"]

    os.kill(first, 9)

    assert ask(pool).answer.result(PATIENCE)["pid"] != first


def test_a_request_that_kills_twice_is_given_up_and_the_next_is_answered(make_pool, tmp_path):
    pool = make_pool()
    deadly, harmless = ask(pool, "die"), ask(pool, text="fine")

    with pytest.raises(UnavailableError) as caught:
        deadly.answer.result(PATIENCE)

    assert caught.value.code == "worker_died"
    assert harmless.answer.result(PATIENCE)["echo"] == "fine"
    assert starts(tmp_path) == 3


def test_a_request_over_its_deadline_is_given_up_and_the_next_is_answered(make_pool):
    pool = make_pool()
    late, next_one = ask(pool, "hang", timeout=0.05), ask(pool, text="fine")

    with pytest.raises(UnavailableError, match=r"within 0\.05 seconds") as caught:
        late.answer.result(PATIENCE)

    assert caught.value.code == "timeout"
    assert next_one.answer.result(PATIENCE)["echo"] == "fine"


def test_a_file_that_does_not_load_is_not_loaded_again_and_again(make_pool, tmp_path):
    (tmp_path / "bad").touch()
    pool = make_pool()

    for _ in range(5):
        with pytest.raises(UsageError, match="broken file") as caught:
            ask(pool).answer.result(PATIENCE)
        assert caught.value.code == "model_unreadable"

    assert starts(tmp_path) == 1


def test_prompts_side_by_side_are_grouped_and_none_starves(make_pool, tmp_path):
    pool = make_pool()
    gate = ask(pool, "wait", lead="a" * 200)
    jobs = {"b": ask(pool, text="b", lead="b" * 200)}
    for number in range(40):
        jobs[f"a{number}"] = ask(pool, text=f"a{number}", lead=f"{'a' * 200}{number}")
    jobs["c"] = ask(pool, text="c", lead="c" * 200)

    (tmp_path / "go").touch()
    gate.answer.result(PATIENCE)
    served = {name: job.answer.result(PATIENCE)["served"] for name, job in jobs.items()}

    order = sorted(served, key=lambda name: served[name])
    assert order.index("b") == MAX_JUMPS
    assert order[:MAX_JUMPS] == [f"a{number}" for number in range(MAX_JUMPS)]
    assert len(order) == 42


def test_an_abandoned_request_in_the_queue_is_never_run(make_pool, tmp_path):
    pool = make_pool()
    gate, dropped, kept = ask(pool, "wait"), ask(pool, "die"), ask(pool)

    pool.abandon(dropped)
    (tmp_path / "go").touch()

    assert gate.answer.result(PATIENCE)["served"] == 1
    assert kept.answer.result(PATIENCE)["served"] == 2


def test_an_abandoned_request_may_end_by_itself_and_the_process_stays(make_pool, tmp_path):
    pool = make_pool(grace_seconds=PATIENCE)
    running = ask(pool, "wait")
    assert eventually((tmp_path / "began-wait").exists)

    pool.abandon(running)
    (tmp_path / "go").touch()

    assert ask(pool).answer.result(PATIENCE)["served"] == 2
    assert starts(tmp_path) == 1


def test_an_abandoned_request_that_goes_on_is_killed(make_pool, tmp_path):
    pool = make_pool(grace_seconds=0.01)
    running = ask(pool, "hang")
    assert eventually((tmp_path / "began-hang").exists)

    pool.abandon(running)

    assert ask(pool, text="fine").answer.result(PATIENCE)["echo"] == "fine"
    with pytest.raises(UnavailableError):
        running.answer.result(PATIENCE)


def test_close_ends_the_processes_and_fails_what_waits(make_pool):
    pool = make_pool()
    pid = ask(pool).answer.result(PATIENCE)["pid"]
    running, waiting = ask(pool, "hang"), ask(pool)

    pool.close()

    assert not is_alive(pid)
    assert pool.pids() == []
    for job in (running, waiting):
        with pytest.raises(UnavailableError, match="closed"):
            job.answer.result(PATIENCE)
    with pytest.raises(UnavailableError, match="closed"):
        ask(pool)


_CHAT_WORKER = """
import json, sys, time
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    text = request["messages"][-1]["content"]
    if text == "hang":
        time.sleep(600)
    print(json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                      "usage": {"prompt_tokens": 1, "completion_tokens": 1}}), flush=True)
"""

_UNCLOSED = """
import asyncio, sys
from pathlib import Path
from burnish.domain import ModelRequest
from burnish.models.local.model import LocalModel

model = LocalModel(name="m", path=Path("m"), fingerprint="f", workers=2, timeout_seconds=120)
model._command = (sys.executable, "-S", sys.argv[1])

async def main():
    # In development mode a slow machine is reported; what is asked here is whether anything else is.
    asyncio.get_running_loop().slow_callback_duration = 3600
    answers = await asyncio.gather(*(model.complete(ModelRequest.text(str(n))) for n in range(4)))
    print(" ".join(answer.text for answer in answers), *model.worker_pids(), flush=True)
    if len(sys.argv) > 2:
        await asyncio.sleep(600)

asyncio.run(main())
"""


class TestLocalModel:
    @pytest.fixture
    def script(self, tmp_path):
        path = tmp_path / "chat_worker.py"
        path.write_text(_CHAT_WORKER)
        return path

    @pytest.fixture
    def model(self, script):
        model = LocalModel(
            name="local/x", path=script, fingerprint="f", workers=1, timeout_seconds=PATIENCE
        )
        model._command = (sys.executable, "-S", str(script))
        return model

    @staticmethod
    async def say(model, text: str) -> str:
        return (await model.complete(ModelRequest.text(text))).text

    async def test_a_cancelled_call_leaves_the_model_usable(self, model):
        assert await self.say(model, "first") == "first"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await self.say(model, "hang")
        model._pool._workers[0].child.kill()  # as the grace period would, only sooner

        assert await self.say(model, "next") == "next"
        await model.close()

    async def test_time_in_the_queue_counts_for_no_deadline(self, model):
        running = asyncio.create_task(self.say(model, "hang"))
        while not model._pool or not model._pool._workers[0].job:
            await asyncio.sleep(0)

        async with deadline(PATIENCE) as timeout:
            queued = asyncio.create_task(self.say(model, "hang"))
            while timeout.when() is not None:
                await asyncio.sleep(0.001)
            assert len(model._pool._waiting) == 1
            running.cancel()
            while timeout.when() is None:  # its turn comes once the first is killed
                await asyncio.sleep(0.001)
            assert not model._pool._waiting
            assert not queued.done()
        queued.cancel()
        await asyncio.gather(running, queued, return_exceptions=True)
        await model.close()

    async def test_waiting_for_a_turn_has_a_bound_of_its_own(self, model):
        running = asyncio.create_task(self.say(model, "hang"))
        while not model._pool or not model._pool._workers[0].job:
            await asyncio.sleep(0)
        model._queue_seconds = 0.01

        with pytest.raises(UnavailableError, match="waited 0.01 seconds") as caught:
            await self.say(model, "second")

        assert caught.value.code == "queue_timeout"
        assert model._pool._waiting == []
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await model.close()

    async def test_a_closed_model_starts_anew(self, model):
        assert await self.say(model, "one") == "one"
        await model.close()
        assert model.worker_pids() == []

        assert await self.say(model, "two") == "two"
        await model.close()

    def test_two_event_loops_in_a_row_share_the_processes(self, model):
        async def talk(text: str) -> tuple[str, list[int]]:
            return await self.say(model, text), model.worker_pids()

        first, second = asyncio.run(talk("one")), asyncio.run(talk("two"))
        asyncio.run(model.close())

        assert (first[0], second[0]) == ("one", "two")
        assert first[1] == second[1]

    async def test_a_model_that_is_dropped_takes_its_processes_along(self, script):
        model = LocalModel(
            name="local/x", path=script, fingerprint="f", workers=1, timeout_seconds=PATIENCE
        )
        model._command = (sys.executable, "-S", str(script))
        await self.say(model, "one")
        [pid] = model.worker_pids()

        del model
        gc.collect()

        assert eventually(lambda: not is_alive(pid))

    def test_a_model_that_nobody_closed_ends_quietly_with_the_program(self, script):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-X", "dev", "-c", _UNCLOSED, str(script)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )

        *answers, _, pid = done.stdout.split()
        assert answers[:4] == ["0", "1", "2", "3"]
        assert done.stderr == ""
        assert not is_alive(int(pid))

    def test_the_processes_end_when_the_program_is_killed(self, script):
        with subprocess.Popen(
            [sys.executable, "-c", _UNCLOSED, str(script), "stay"],
            stdout=subprocess.PIPE,
            text=True,
        ) as program:
            assert program.stdout
            pids = [int(pid) for pid in program.stdout.readline().split()[4:]]
            assert pids
            assert all(is_alive(pid) for pid in pids)
            program.kill()

        assert eventually(lambda: not any(is_running(pid) for pid in pids))


def is_running(pid: int) -> bool:
    """False for a zombie too: in a container nobody may collect orphans."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
