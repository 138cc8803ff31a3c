"""Compress a weakincentives prompt with its own EvalLoop and overrides store. Needs Python 3.13."""

from dataclasses import dataclass
from pathlib import Path

from weakincentives.adapters import PromptResponse, ProviderAdapter
from weakincentives.evals import Dataset, EvalLoop, Sample, exact_match
from weakincentives.prompt import (
    LocalPromptOverridesStore,
    MarkdownSection,
    Prompt,
    PromptTemplate,
)
from weakincentives.runtime import AgentLoop, InMemoryMailbox, Session

import burnish


@dataclass(frozen=True)
class Ticket:
    text: str


@dataclass(frozen=True)
class Route:
    team: str


TEMPLATE = PromptTemplate[Route](
    ns="support",
    key="router",
    sections=[
        MarkdownSection(
            title="Rules",
            key="rules",
            template="""
                Please note that you are a very helpful assistant. Thank you for your help.
                Tickets about a refund, or about more than $$5, go to billing.
                In order to do well, please read everything very carefully.
                Tickets about a crash go to engineering.
                It is important to remember that all customers are equally valuable to us.
            """,
        ),
        MarkdownSection(
            title="Legal", key="legal", template="Never promise a refund.", accepts_overrides=False
        ),
        MarkdownSection[Ticket](title="Ticket", key="ticket", template="${text}"),
    ],
)


class ScriptedAdapter(ProviderAdapter):
    """Stands for a provider: it knows what the rendered rules tell it."""

    def evaluate(self, prompt, *, session, **_):
        with prompt.resources:
            asked = prompt.render(session=session).text
        rules, ticket = asked.split("Legal", 1)
        team = "anybody"
        if "crash" in ticket:
            team = "engineering" if "crash" in rules else team
        elif "refund" in rules:
            team = "billing"
        return PromptResponse(prompt_name=prompt.key, text=team, output=Route(team=team))


class RouterLoop(AgentLoop[Ticket, Route]):
    """As in production: the experiment's tag decides which overrides the prompt is rendered with."""

    def __init__(self, store, **settings):
        super().__init__(**settings)
        self._store = store

    def prepare(self, request, *, experiment=None):
        tag = "latest" if experiment is None else experiment.overrides_tag
        return Prompt(TEMPLATE, self._store, tag).bind(request), Session()


store = LocalPromptOverridesStore(root_path=Path("overrides"))
requests = InMemoryMailbox(name="eval-requests")
loop = RouterLoop(store, adapter=ScriptedAdapter(), requests=InMemoryMailbox(name="requests"))
samples = Dataset(
    samples=tuple(
        Sample(
            id=f"s{n}",
            input=Ticket(text=("my money is gone", "it will crash")[n % 2] + f", case {n}"),
            expected=Route(team=("billing", "engineering")[n % 2]),
        )
        for n in range(20)
    )
)

prompt = burnish.WeakincentivesPrompt(
    TEMPLATE,
    store=store,
    samples=samples,
    runs=burnish.MailboxRuns(
        requests,
        eval_loop=EvalLoop(loop=loop, evaluator=exact_match, requests=requests),
    ),
    version="1",
)
with prompt:
    done = burnish.compress(
        agent=prompt.agent,
        suite=prompt.suite(split={"validation": 0.5, "test": 0.5}),
        space=prompt.space,
    )
    kept = prompt.keep(done, tag="short")

report = done.report
print(f"{report.tokens_before} → {report.tokens_after} tokens, kept: {kept}")
with (shown := Prompt(TEMPLATE, store, "short").bind(Ticket(text="Hello"))).resources:
    print(shown.render().text)
assert kept
assert not report.regressions
assert report.tokens_after < report.tokens_before
assert [path.name for path in Path("overrides").rglob("*.json")] == ["short.json"]
