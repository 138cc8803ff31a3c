"""User policy: who talks with the agent, as `[suite.user]` says it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from burnish.domain import Item, Json, Model, UsageError
from burnish.support.number_checks import is_whole

DEFAULT_TURNS = "turns"
DEFAULT_GOAL = "goal"
# How often a simulated user may speak, where nobody says.
DEFAULT_MOST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPolicy:
    """Who talks with the agent: messages of a column, a model with a goal, or both in this order.

    `turns` is the column with the user's messages; without a `model` they are all that is said, and
    the column is "turns" unless it is named. `model` plays the user: a name, a Model or a function.
    `goal` is the column that says what that user wants, `persona` the one that says who it is; it
    sees nothing else of an item. `max_turns` is how often the user speaks at most: 10 for a model.
    `parameters` go to the model; without any it is asked with temperature 0.
    """

    model: str | Model | Callable[[str], str] | None = None
    turns: str | None = None
    goal: str | None = None
    persona: str | None = None
    max_turns: int | None = None
    parameters: Mapping[str, Json] | None = None

    def __post_init__(self) -> None:
        for name in ("turns", "goal", "persona"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise _bad(name, f"{value!r} is not the name of a column")
        if self.max_turns is not None and not is_whole(self.max_turns, least=1):
            raise _bad("max_turns", f"{self.max_turns!r} is not a whole number from 1 up")
        if self.model is None and (self.goal or self.persona or self.parameters):
            given = next(one for one in ("goal", "persona", "parameters") if getattr(self, one))
            raise _bad(given, "only a model has one, and no model is named")
        if self.model is None and self.turns is None:
            object.__setattr__(self, "turns", DEFAULT_TURNS)
        if self.model is not None and self.goal is None:
            object.__setattr__(self, "goal", DEFAULT_GOAL)

    @classmethod
    def of(cls, value: UserPolicy | Mapping[str, Any] | None) -> UserPolicy | None:
        """From a table; None stays None."""
        if value is None or isinstance(value, UserPolicy):
            return value
        known = [one.name for one in fields(cls)]
        for name in value:
            if name not in known:
                raise _bad(str(name), f"there is no such setting; there are {', '.join(known)}")
        return cls(**value)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return tuple(one for one in (self.turns, self.goal, self.persona) if one is not None)

    def most_turns(self, scripted: int) -> int:
        """How often the user may speak in a conversation that begins with so many turns."""
        if self.max_turns is not None:
            return self.max_turns
        return scripted if self.model is None else max(scripted, DEFAULT_MOST)

    def script(self, item: Item) -> tuple[str, ...]:
        """The messages that the item has the user say."""
        if self.turns is None:
            return ()
        value = item.data.get(self.turns)
        if isinstance(value, str) and value.lstrip()[:1] == "[":  # A cell of a CSV file.
            with contextlib.suppress(ValueError):
                value = json.loads(value)
        listed = [] if value in (None, "") else value if isinstance(value, list) else [value]
        wrong = next((one for one in listed if not isinstance(one, str) or not one.strip()), None)
        if wrong is not None or (not listed and self.model is None):
            raise UsageError(
                what="the conversation cannot begin",
                why=f"the item's {self.turns!r} holds "
                + ("no message" if wrong is None else f"{wrong!r:.60}, which is no message"),
                fix=f"put a list of texts into {self.turns!r}: what the user says, turn by turn",
                code="invalid_turns",
            )
        return tuple(listed)


def _bad(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the user's {name} cannot be used",
        why=why,
        fix=f"correct {name} in [suite.user]",
        code="invalid_user",
    )
