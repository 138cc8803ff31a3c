"""Rules in place of a model: the first pattern that the question has decides the answer.

What a table of patterns can do is what a language model has to beat; and it answers offline, at once
and always alike, which suits tests.
"""

import re
import tomllib
from pathlib import Path

from burnish.domain import ModelResponse, Usage, UsageError, text_hash
from burnish.models import count_tokens


def open_rules(name, settings):
    """The model `rules/FILE`; `settings` are those of `[models."rules/FILE"]`, which it needs not."""
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
        rules = [(re.compile(one["pattern"]), one["answer"]) for one in tomllib.loads(text)["rule"]]
    except (OSError, ValueError, re.error, KeyError, TypeError) as error:
        raise UsageError(
            what=f"the rules {path} cannot be used",
            why=f"{type(error).__name__}: {error}",
            fix="write [[rule]] tables, each with a pattern and an answer",
            code="unknown_model",
        ) from error
    return Rules(f"rules/{name}", rules, fingerprint=f"rules@{text_hash(text)}")


class Rules:
    """Keeps nothing between calls, so any number of tasks may ask at once."""

    def __init__(self, name, rules, *, fingerprint) -> None:
        self.name = name
        # Another table is another model: it is what calls are cached by.
        self.fingerprint = fingerprint
        self._rules = rules

    async def complete(self, request):
        """The answer of the first rule whose pattern is found in the last message; else nothing."""
        question = request.messages[-1].content
        answer = next((text for pattern, text in self._rules if pattern.search(question)), "")
        read = sum(count_tokens(message.content) for message in request.messages)
        usage = Usage(calls=1, input_tokens=read, output_tokens=count_tokens(answer), cost_usd=0.0)
        return ModelResponse(text=answer, usage=usage)

    async def close(self) -> None:
        """Nothing is held."""
