"""Runs of one sample under a tag, judged by a function or by an EvalLoop over its mailbox."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, Protocol

from burnish.domain import UnavailableError, UsageError

DEFAULT_TIMEOUT_SECONDS = 120.0
_POLL_SECONDS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What weakincentives says of one sample. `output` is None where it gave none away."""

    value: float
    passed: bool
    reason: str
    output: str | None = None


class SampleFailedError(Exception):
    """A sample that could not be evaluated; in a run it is a failed item."""


class SampleRuns(Protocol):
    """Runs one sample under a tag. Blocks; safe from many threads; a failure is raised."""

    def open(self) -> None:
        """Begin."""

    def close(self) -> None:
        """End."""

    def evaluate(self, tag: str, sample: Any) -> Verdict:
        """What is said of the sample's answer."""


class FunctionRuns:
    """Calls `run(prompt, sample)` with a Prompt under the tag, and the evaluator on what it returns.

    That is an output, a PromptResponse, or what AgentLoop.execute gives: a response and a session.
    """

    def __init__(
        self,
        run: Callable[[Any, Any], Any],
        evaluator: Callable[..., Any],
        make_prompt: Callable[[str], Any],
    ) -> None:
        from weakincentives.evals import is_session_aware  # noqa: PLC0415 - an extra

        self._run = run
        self._evaluator = evaluator
        self._make_prompt = make_prompt
        self._with_session = is_session_aware(evaluator)

    def open(self) -> None:
        """Nothing to begin."""

    def close(self) -> None:
        """Nothing to end."""

    def evaluate(self, tag: str, sample: Any) -> Verdict:
        """One call and its score."""
        from weakincentives.adapters import PromptResponse  # noqa: PLC0415 - an extra

        answer = self._run(self._make_prompt(tag), sample)
        session = None
        if isinstance(answer, tuple) and answer and isinstance(answer[0], PromptResponse):
            answer, session = answer
        if isinstance(answer, PromptResponse):
            answer = answer.text if answer.output is None else answer.output
        if answer is None:
            raise SampleFailedError("the run returned no output")
        more: tuple[Any, ...] = ()
        if self._with_session:
            if session is None:
                raise UsageError(
                    what="the evaluator cannot judge",
                    why="it looks at the session, and the run returned none",
                    fix="return (response, session), as AgentLoop.execute does",
                    code="no_session",
                )
            more = (session,)
        score = self._evaluator(answer, sample.expected, *more)
        return _verdict(score, as_text(answer))


class MailboxRuns:
    """Sends samples to the mailbox of an EvalLoop, and waits for its replies.

    With `eval_loop` the loop runs here, in a thread, for as long as the prompt is open; without it
    workers elsewhere serve the mailbox. `replies` is a mailbox of the same backend as `requests`,
    and nobody else's; without it replies come in memory, which suits a loop in this process.
    """

    def __init__(
        self,
        requests: Any,
        *,
        eval_loop: Any = None,
        replies: Any = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    ) -> None:
        self._requests = requests
        self._loop = eval_loop
        self._given_replies = replies
        self._timeout = timeout_seconds
        self._waiting: dict[str, concurrent.futures.Future[Any]] = {}
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._replies: Any = None

    def open(self) -> None:
        """Start listening, and the loop where one was given."""
        from weakincentives.runtime import InMemoryMailbox  # noqa: PLC0415 - an extra

        self._stopped.clear()
        self._replies = self._given_replies
        if self._replies is None:
            self._replies = InMemoryMailbox(name=f"burnish-replies-{uuid.uuid4().hex[:12]}")
        targets: list[Callable[[], None]] = [self._listen]
        if self._loop is not None and not self._loop.running:
            targets.append(self._serve)
        self._threads = [threading.Thread(target=one, daemon=True) for one in targets]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop both."""
        self._stopped.set()
        if len(self._threads) > 1:
            self._loop.shutdown(timeout=self._timeout)
        for thread in self._threads:
            thread.join(self._timeout)
        if self._given_replies is None and self._replies is not None:
            self._replies.close()

    def evaluate(self, tag: str, sample: Any) -> Verdict:
        """One request and its reply."""
        from weakincentives.evals import EvalRequest  # noqa: PLC0415 - an extra
        from weakincentives.experiment import Experiment  # noqa: PLC0415 - an extra

        # A result names its experiment and no request: so each request has an experiment of its own.
        name = f"{tag}.{uuid.uuid4().hex}"
        answer: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self._waiting[name] = answer
        try:
            experiment = Experiment(name=name, overrides_tag=tag, owner="burnish")
            self._requests.send(
                EvalRequest(sample=sample, experiment=experiment), reply_to=self._replies
            )
            result = answer.result(self._timeout)
        except TimeoutError:
            raise UnavailableError(
                what=f"the EvalLoop did not answer for sample {sample.id}",
                why=f"nothing came within {self._timeout:g} s",
                fix="start its workers, or raise timeout_seconds",
                code="no_reply",
            ) from None
        finally:
            del self._waiting[name]
        if result.error is not None:
            raise SampleFailedError(result.error)
        return _verdict(result.score, None)

    def _listen(self) -> None:
        while not self._stopped.is_set():
            for message in self._replies.receive(wait_time_seconds=_POLL_SECONDS):
                answer = self._waiting.get(message.body.experiment_name)
                if answer is not None and not answer.done():
                    answer.set_result(message.body)
                message.acknowledge()

    def _serve(self) -> None:
        try:
            self._loop.run(wait_time_seconds=_POLL_SECONDS)
        except Exception as error:  # noqa: BLE001 - whoever waits is told
            for answer in list(self._waiting.values()):
                with contextlib.suppress(concurrent.futures.InvalidStateError):
                    answer.set_exception(SampleFailedError(f"the EvalLoop ended: {error}"))


def _verdict(score: Any, output: str | None) -> Verdict:
    return Verdict(
        value=float(score.value), passed=bool(score.passed), reason=score.reason, output=output
    )


def as_json(value: Any) -> Any:
    """A sample's input or an output as JSON; what has no JSON form is told by its repr."""
    from weakincentives.serde import dump  # noqa: PLC0415 - an extra

    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return dump(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(inner) for inner in value]
    return repr(value)


def as_text(value: Any) -> str:
    """An output as people read it."""
    return value if isinstance(value, str) else json.dumps(as_json(value), ensure_ascii=False)
