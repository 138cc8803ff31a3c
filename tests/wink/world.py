"""A support router as a weakincentives prompt, with a scripted provider."""

from dataclasses import dataclass

from weakincentives.adapters import PromptResponse, ProviderAdapter
from weakincentives.evals import Sample
from weakincentives.prompt import MarkdownSection, Prompt, PromptTemplate
from weakincentives.runtime import AgentLoop, Session


@dataclass(frozen=True)
class Ticket:
    text: str


@dataclass(frozen=True)
class Route:
    team: str


RULES = """
    Please note that you are a very helpful assistant. Thank you for your help.
    Tickets about a refund, or about more than $$5, go to billing.
    In order to do well, please read everything very carefully.
    Tickets about a crash go to engineering.
"""
LEGAL = "Never promise {{anything}}."


def template(rules=RULES):
    return PromptTemplate[Route](
        ns="support",
        key="router",
        sections=[
            MarkdownSection(
                title="Rules",
                key="rules",
                template=rules,
                children=[MarkdownSection(title="Tone", key="tone.v1", template="Stay calm.")],
            ),
            MarkdownSection(title="Legal", key="legal", template=LEGAL),
            MarkdownSection(
                title="House", key="house", template="Be fair.", accepts_overrides=False
            ),
            MarkdownSection[Ticket](title="Ticket", key="ticket", template="Ticket: $text"),
        ],
    )


def samples(count=12):
    return [
        Sample(
            id=f"s{n}",
            input=Ticket(text=("my money is gone", "it will crash")[n % 2] + f", case {n}"),
            expected=Route(team=("billing", "engineering")[n % 2]),
        )
        for n in range(count)
    ]


def answer(prompt):
    """What the scripted provider says: it knows what the rules tell it."""
    with prompt.resources:
        rules, ticket = prompt.render().text.split("Legal", 1)
    if "crash" in ticket:
        return Route(team="engineering" if "crash" in rules else "anybody")
    return Route(team="billing" if "refund" in rules else "anybody")


def run(prompt, sample):
    return answer(prompt.bind(sample.input))


class ScriptedAdapter(ProviderAdapter):
    def evaluate(self, prompt, *, session, **_):
        route = answer(prompt)
        return PromptResponse(prompt_name=prompt.key, text=route.team, output=route)


class RouterLoop(AgentLoop[Ticket, Route]):
    def __init__(self, template, store, *, heeds_tag=True, **settings):
        super().__init__(**settings)
        self._template, self._store, self._heeds_tag = template, store, heeds_tag

    def prepare(self, request, *, experiment=None):
        tag = experiment.overrides_tag if experiment and self._heeds_tag else "latest"
        return Prompt(self._template, self._store, tag).bind(request), Session()
