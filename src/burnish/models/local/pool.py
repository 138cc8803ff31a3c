"""Pool of worker processes of a local model: replaced when they die, killed when they hang."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from copy import copy
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from burnish.domain import UnavailableError, UsageError

_LOAD_SECONDS = 120.0


class ChildDiedError(Exception):
    """The process ended before it answered."""


class ChildOverdueError(Exception):
    """No answer came in time; the process was killed, because its work cannot be interrupted."""


class Child:
    """A running worker process. `ask` belongs to one thread; `kill` may come from any."""

    def __init__(self, command: Sequence[str]) -> None:
        self._overdue = False
        try:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise ChildDiedError(f"the process did not start: {error}") from error

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Until the model is loaded; UsageError when it never will be."""
        greeting = self._with_deadline(b"", _LOAD_SECONDS)
        if greeting.get("ready"):
            return
        if greeting.get("failed") == "import":
            raise UsageError(
                what="local models cannot run",
                why=f"the engine xllamacpp does not load: {greeting.get('message')}",
                fix="pip install 'burnish[local]'",
                code="engine_missing",
            )
        raise UsageError(
            what="the model file cannot be loaded",
            why=f"the engine says: {greeting.get('message')}",
            fix="check that the file is a whole GGUF model that fits into memory",
            code="model_unreadable",
        )

    def ask(self, payload: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to one request."""
        return self._with_deadline(json.dumps(payload).encode() + b"\n", timeout)

    def kill(self) -> None:
        """End the process now; whoever waits for an answer sees it die."""
        self._process.kill()

    def discard(self) -> None:
        """Kill, reap and close: nothing of the process is left."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # a request that was never read is still buffered
                pipe.close()

    def _with_deadline(self, line: bytes, timeout: float) -> dict[str, Any]:
        self._overdue = False
        timer = threading.Timer(timeout, self._expire)
        timer.daemon = True
        timer.start()
        try:
            return self._exchange(line)
        except (OSError, EOFError, ValueError) as error:
            if self._overdue:
                raise ChildOverdueError(f"no answer within {timeout:g} seconds") from error
            raise ChildDiedError(str(error)) from error
        finally:
            timer.cancel()

    def _exchange(self, line: bytes) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if line:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer.endswith(b"\n"):
            raise EOFError("the process ended")
        value: dict[str, Any] = json.loads(answer)
        return value

    def _expire(self) -> None:
        self._overdue = True
        self.kill()


LOOK_AHEAD = 64
# A jump ahead must save the reading of about a line of text, or first come is first served.
_WORTH_A_JUMP = 32
# So many requests may jump ahead of the oldest one before its turn comes.
MAX_JUMPS = 16
_MAX_WAITING = 10_000
_JOIN_SECONDS = 5.0


def common_prefix(one: str, other: str) -> int:
    """How many leading characters two texts share."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:  # halving, with comparisons at the speed of memory
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def choose_request(
    leads: Sequence[str], last: str, *, jumps: int, others: Sequence[str] = ()
) -> int:
    """Which of the waiting requests (oldest first) a worker takes that has just answered `last`.

    `jumps` counts how often the oldest has been passed over. What one of the `others` has read
    already, of which they are the last leading texts, is better left to that one.
    """
    if jumps >= MAX_JUMPS:
        return 0
    saved = [_saved(lead, last, others) for lead in leads[:LOOK_AHEAD]]
    enough = max(saved) - _WORTH_A_JUMP
    return next(i for i, length in enumerate(saved) if length > enough)


def _saved(lead: str, last: str, others: Sequence[str]) -> int:
    """Characters that need not be read, less those that would be read a second time."""
    own = common_prefix(lead, last)
    twice = max((common_prefix(lead, other) for other in others), default=0) - own
    return own - max(twice, 0)


def choose_worker(lead: str, workers: Sequence[tuple[str, bool]]) -> int:
    """Which of the free workers, given as (last leading text, running), takes a request.

    The one that read most of it, else one that runs: a process is started only when it must be.
    """
    return max(
        range(len(workers)),
        key=lambda i: (common_prefix(lead, workers[i][0]), workers[i][1], -i),
    )


@dataclass(eq=False, slots=True, kw_only=True)
class Job:
    """One request on its way. `lead` is the text that the model reads first."""

    payload: Mapping[str, Any]
    lead: str
    timeout: float
    started: Future[None] = field(default_factory=Future)
    answer: Future[dict[str, Any]] = field(default_factory=Future)
    abandoned: bool = False


class Worker:
    """A thread and the process that it keeps; the pool hands it one job at a time."""

    def __init__(self, command: Sequence[str], done: Callable[[Worker], None]) -> None:
        self.job: Job | None = None
        self.last_lead = ""
        self.child: Child | None = None
        self.broken: UsageError | None = None
        self._command = command
        self._done = done
        self._stopped = False
        self._inbox: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="burnish-local", daemon=True)
        self._thread.start()

    def take(self, job: Job) -> None:
        """Work on this next; only for a worker without a job."""
        self.job = job
        self.last_lead = job.lead
        self._inbox.put(job)

    def give_up(self, job: Job) -> None:
        """Stop working on a job that nobody waits for any more, if it is still this one."""
        if self.job is job and (child := self.child):
            child.kill()

    def stop(self) -> None:
        """End the process and, soon, the thread."""
        self._stopped = True
        self._inbox.put(None)
        if child := self.child:
            child.kill()

    def join(self) -> None:
        """Wait until process and thread have ended."""
        self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        while (job := self._inbox.get()) is not None:
            answer = job.answer
            if not answer.set_running_or_notify_cancel():
                self._done(self)
                continue
            try:
                value = self._serve(job)
            except BaseException as error:  # noqa: BLE001
                # Free before the caller hears of it, so that its next request finds us free.
                self._done(self)
                answer.set_exception(error)
            else:
                self._done(self)
                answer.set_result(value)
        self._drop_child()

    def _serve(self, job: Job) -> dict[str, Any]:
        if self.broken:
            raise copy(self.broken)
        for last_try in (False, True):
            try:
                child = self._ready_child()
                with contextlib.suppress(InvalidStateError):  # a second try, or nobody waits
                    job.started.set_result(None)
                return child.ask(job.payload, job.timeout)
            except ChildDiedError as error:
                self._drop_child()
                if self._stopped:
                    raise _closed() from error
                if last_try or job.abandoned:
                    raise no_answer(
                        "its worker process ended twice in a row on one request",
                        "check free memory; BURNISH_WORKER_LOG=FILE keeps what the engine says",
                        code="worker_died",
                    ) from error
            except ChildOverdueError as error:
                self._drop_child()
                fix = "raise timeout_seconds, lower max_tokens or shorten the prompt"
                raise no_answer(str(error), fix, code="timeout") from error
            except UsageError as error:
                self._drop_child()
                self.broken = error  # the file will not get better: don't load it again and again
                raise
        raise AssertionError

    def _ready_child(self) -> Child:
        if self.child and not self.child.alive:
            self._drop_child()
        if not self.child:
            self.child = Child(self._command)
            if self._stopped:  # stop() may have looked for the child just before it was there
                self.child.kill()
            self.child.wait_until_ready()
        return self.child

    def _drop_child(self) -> None:
        child, self.child = self.child, None
        if child:
            child.discard()


class Pool:
    """Hands requests to `size` workers. Any thread may call it."""

    def __init__(self, command: Sequence[str], *, size: int, grace_seconds: float = 2.0) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Job] = []
        self._jumps = 0
        self._closed = False
        self._grace_seconds = grace_seconds
        self._workers = [Worker(command, self._next) for _ in range(size)]

    def submit(self, payload: Mapping[str, Any], *, lead: str, timeout: float) -> Job:
        """Queue a request. Its time starts to count when a worker with a loaded model has it."""
        job = Job(payload=payload, lead=lead, timeout=timeout)
        with self._lock:
            if self._closed:
                raise _closed()
            free = [worker for worker in self._workers if worker.job is None]
            if free:
                states = [(worker.last_lead, worker.child is not None) for worker in free]
                free[choose_worker(lead, states)].take(job)
            elif len(self._waiting) >= _MAX_WAITING:
                raise UnavailableError(
                    what="the local model takes no more requests",
                    why=f"{_MAX_WAITING} are already waiting",
                    fix="lower the concurrency",
                    code="queue_full",
                )
            else:
                self._waiting.append(job)
        return job

    def abandon(self, job: Job) -> None:
        """Nobody waits for this job now. A running one gets a moment to end by itself, which is
        cheaper than a new process."""
        job.abandoned = True
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
                job.answer.cancel()
                return
            worker = next((worker for worker in self._workers if worker.job is job), None)
        if worker:
            timer = threading.Timer(self._grace_seconds, worker.give_up, args=(job,))
            timer.daemon = True
            timer.start()

    def close(self) -> None:
        """End all processes; requests still waiting fail."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, []
        for job in waiting:
            if job.answer.set_running_or_notify_cancel():
                job.answer.set_exception(_closed())
        self.stop()
        self.join()

    def stop(self) -> None:
        """End all processes, soon. Takes no lock: a garbage collector may call it."""
        self._closed = True
        for worker in self._workers:
            worker.stop()

    def join(self) -> None:
        """Wait until all processes have ended."""
        for worker in self._workers:
            worker.join()

    def pids(self) -> list[int]:
        """Of the processes that run now."""
        children = [worker.child for worker in self._workers]
        return [child.pid for child in children if child]

    def _next(self, worker: Worker) -> None:
        with self._lock:
            worker.job = None
            if self._closed or not self._waiting:
                return
            leads = [job.lead for job in self._waiting[:LOOK_AHEAD]]
            others = [other.last_lead for other in self._workers if other is not worker]
            chosen = choose_request(leads, worker.last_lead, jumps=self._jumps, others=others)
            self._jumps = self._jumps + 1 if chosen else 0
            worker.take(self._waiting.pop(chosen))


def no_answer(why: str, fix: str, *, code: str) -> UnavailableError:
    """The error of a request that has no answer."""
    return UnavailableError(what="the local model did not answer", why=why, fix=fix, code=code)


def _closed() -> UnavailableError:
    why = "it was closed before the request had its turn"
    return no_answer(why, "keep the model open until all answers are in", code="closed")
