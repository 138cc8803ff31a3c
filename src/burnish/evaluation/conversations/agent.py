"""Conversation agent: any agent, given the user's messages one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.domain import (
    Agent,
    AgentOutput,
    Configuration,
    Item,
    Json,
    Message,
    Model,
    Payer,
    Purpose,
    Spending,
    ToolCall,
    UsageError,
    canonical_hash,
    current_payer,
    paying_for,
    placeholders,
)
from burnish.domain.experiments.items import TURN
from burnish.domain.experiments.transcripts import is_turn, name_and_arguments
from burnish.domain.models import note_spending
from burnish.evaluation.agents.model_choice import fingerprint_under
from burnish.evaluation.agents.prompt_agent import role_of
from burnish.evaluation.conversations.policy import UserPolicy
from burnish.evaluation.conversations.user import GAVE_UP, REACHED, SimulatedUser
from burnish.evaluation.scorers.transcripts import GOAL

ANSWER, MAX_TURNS = "answer", "max_turns"
# How long a simulated user's message is, before it is said.
TURN_TOKENS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPlan:
    """The user of a suite, with its model opened where it has one."""

    policy: UserPolicy
    model: Model | None = None

    def around(self, agent: Agent) -> ConversationAgent:
        """The agent in a conversation with this user."""
        user = None if self.model is None else SimulatedUser(self.model, self.policy)
        return ConversationAgent(agent, self.policy, user)

    def reckoned_turns(self, item: Item, answer: str, *, longest: bool) -> Iterator[Item]:
        """The item with the messages of each turn, before any is said, to reckon with.

        A simulated user may have what it wants at once, or speak as often as it may.
        """
        script = self.policy.script(item)
        most = self.policy.most_turns(len(script))
        said: tuple[Message, ...] = ()
        for number in range(most if longest or self.model is None else 1):
            says = script[number] if number < len(script) else "word " * (TURN_TOKENS // 2)
            said = (*said, Message("user", says))
            yield replace(item, messages=said)
            said = (*said, Message("assistant", answer))


def plan_user(policy: UserPolicy | None, open_model: Callable[[Any], Model]) -> UserPlan | None:
    """The user of a policy; None stays None."""
    if policy is None:
        return None
    return UserPlan(policy=policy, model=None if policy.model is None else open_model(policy.model))


class ConversationAgent:
    """Runs an agent once for each turn, on the item with the messages so far.

    The output is the last answer; the trace holds the transcript of all turns and why it ended:
    "goal" or "gave_up" by the simulated user's word, "max_turns", "answer" after the last scripted
    turn, or the limit of its own at which the agent stopped.
    """

    def __init__(self, agent: Agent, policy: UserPolicy, user: SimulatedUser | None) -> None:
        self.agent = agent
        self.name = agent.name
        self.configuration = agent.configuration
        self._policy = policy
        self._user = user
        self.fingerprint = self.fingerprint_under(agent.configuration)

    async def run(self, configuration: Configuration, item: Item, *, repeat: int) -> AgentOutput:
        """The whole conversation. What was paid before a failure is told with it."""
        talk = _Talk()
        try:
            await self._talk(talk, configuration, item, repeat)
        except BaseException as error:
            note_spending(error, talk.spending)
            raise
        return talk.output()

    def fingerprint_under(self, configuration: Configuration) -> str | None:
        """The agent's own under a configuration, in a conversation with this user."""
        inner, policy = fingerprint_under(self.agent, configuration), self._policy
        told = None if self._user is None else self._user.fingerprint
        if inner is None:
            return None
        return canonical_hash(["conversation/1", inner, told, policy.turns, policy.max_turns])

    async def close(self) -> None:
        """Free what the agent holds; the user's model belongs to whoever opened it."""
        await self.agent.close()

    async def _talk(
        self, talk: _Talk, configuration: Configuration, item: Item, repeat: int
    ) -> None:
        script = self._policy.script(item)
        most = self._policy.most_turns(len(script))
        while True:
            scripted = talk.turns < len(script)
            if not scripted and self._user is None:
                talk.ended = ANSWER
                return
            if scripted and talk.turns < most:
                says = script[talk.turns]
            elif self._user is None:
                talk.ended = MAX_TURNS
                return
            else:
                # After the last turn too: whether the goal is reached, nobody else can say.
                says = await self._next(self._user, talk, item, repeat)
                if not talk.ended and talk.turns >= most:
                    talk.ended = MAX_TURNS
            if talk.ended:
                return
            talk.hear(says)
            spoken = replace(item, messages=tuple(talk.messages))
            with _paying_for_turn(talk.turns):
                started = time.perf_counter()
                output = await self.agent.run(configuration, spoken, repeat=repeat)
                talk.answer(output, (time.perf_counter() - started) * 1000)
            if talk.ended:
                return

    async def _next(self, user: SimulatedUser, talk: _Talk, item: Item, repeat: int) -> str:
        reply = await user.reply(item, talk.messages, repeat)
        talk.spending += Spending.on(Purpose.USER, reply.usage)
        if reply.reused.calls:
            talk.reused += Spending.on(Purpose.USER, reply.reused)
        if reply.status in (REACHED, GAVE_UP):
            talk.ended = GOAL if reply.status == REACHED else GAVE_UP
        return reply.message


@contextmanager
def _paying_for_turn(turn: int) -> Iterator[None]:
    """Each turn is a piece of work of its own: what tools answered in one is no answer in another."""
    payer = current_payer()
    with paying_for(None if payer is None else Payer(f"{payer.name}/turn-{turn}", payer.keys)):
        yield


@dataclass(slots=True)
class _Talk:
    """A conversation under way: what was said, as the agent gets it and as the transcript shows it."""

    messages: list[Message] = field(default_factory=list)
    transcript: list[Mapping[str, Json]] = field(default_factory=list)
    spending: Spending = field(default_factory=Spending)
    reused: Spending = field(default_factory=Spending)
    milliseconds: float = 0.0
    turns: int = 0
    ended: str = ""
    last: AgentOutput | None = None
    ttft_ms: float | None = None

    def hear(self, says: str) -> None:
        self.turns += 1
        self.messages.append(Message("user", says))
        self.transcript.append({"role": "user", "content": says})

    def answer(self, output: AgentOutput, milliseconds: float) -> None:
        trace = output.trace if isinstance(output.trace, Mapping) else {}
        told = trace.get("transcript")
        steps = _since_the_user(told) if isinstance(told, list) else []
        if not any(one.get("role") == "assistant" for one in steps):
            steps.append({"role": "assistant", "content": output.text})
        self._begin(told)
        known = {call.id for one in self.messages for call in one.tool_calls}
        steps = [_renamed(one, known, self.turns) for one in steps]
        self.transcript += steps
        self.messages += [_message(one) for one in steps if not one.get("agent")]
        self.spending += output.spending
        self.reused += output.reused
        self.milliseconds += milliseconds if output.latency_ms is None else output.latency_ms
        self.ttft_ms = output.ttft_ms if self.last is None else self.ttft_ms
        self.last = output
        ended = str(trace.get("ended") or ANSWER)
        if ended != ANSWER:
            self.ended = ended

    def output(self) -> AgentOutput:
        assert self.last is not None
        return replace(
            self.last,
            trace={"transcript": self.transcript, "ended": self.ended},
            spending=self.spending,
            reused=self.reused,
            latency_ms=self.milliseconds,
            ttft_ms=self.ttft_ms,
        )

    def _begin(self, told: object) -> None:
        """The agent's instructions stand first, once, where its own transcript tells them."""
        if self.last is None and isinstance(told, list):
            first = [
                one for one in told[:2] if isinstance(one, dict) and one.get("role") == "system"
            ]
            self.transcript[:0] = first[:1]


def _since_the_user(told: Sequence[Any]) -> list[dict[str, Any]]:
    """What the agent did after the user's latest message."""
    steps = [one for one in told if isinstance(one, dict)]
    after = max((place for place, one in enumerate(steps) if is_turn(one)), default=-1)
    return steps[after + 1 :]


def _renamed(step: dict[str, Any], known: set[str], turn: int) -> dict[str, Any]:
    """The step with ids of calls that no earlier turn has: some models number them anew each time."""

    def name(call_id: Any) -> Any:
        return f"{call_id}_{turn}" if call_id in known else call_id

    changed = dict(step)
    if isinstance(step.get("tool_calls"), list):
        changed["tool_calls"] = [{**one, "id": name(one.get("id"))} for one in step["tool_calls"]]
    if step.get("tool_call_id"):
        changed["tool_call_id"] = name(step["tool_call_id"])
    return changed


def _message(step: Mapping[str, Any]) -> Message:
    calls = step.get("tool_calls") or ()
    content = step.get("content")
    return Message(
        str(step.get("role") or "assistant"),
        content if isinstance(content, str) else "",
        tool_calls=tuple(
            ToolCall(str(one.get("id") or ""), *name_and_arguments(one)) for one in calls
        ),
        tool_call_id=str(step.get("tool_call_id") or ""),
    )


def require_user(plan: UserPlan | None, columns: Set[str], prompted: Agent | None) -> None:
    """Refuse, before anything is paid, a conversation that no item could have.

    `prompted` is an agent whose prompt is here: the user's messages have to stand in it.
    """
    if plan is None:
        return
    for name in plan.policy.columns:
        if name.split(".")[0] not in columns:
            raise UsageError(
                what="the conversation cannot begin",
                why=f"the dataset has no column {name!r}; it has {', '.join(sorted(columns))}",
                fix="correct [suite.user] or add the column",
                code="unknown_field",
            )
    if prompted is None:
        return
    sections = prompted.configuration.sections.items()
    if not any(role_of(path) == "user" and TURN in placeholders(text) for path, text in sections):
        raise UsageError(
            what=f"the agent {prompted.name!r} would never see what the user says",
            why=f"no section of the user holds {{{{{TURN}}}}}",
            fix='write it into the section `user`, such as user = "{{turn}}"',
            code="no_placeholder",
        )
