"""Model choice of a prompt agent: its own model, or the one that the parameter `model` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from burnish.domain import Agent, Configuration, Model, UsageError
from burnish.domain.configuration import MODEL


class ModelChoice:
    """The models of one agent. `open_named` opens another by its name, or refuses it.

    `own_name` is what configurations call the agent's own model; without it, the model's name.
    """

    def __init__(
        self,
        own: Model,
        open_named: Callable[[str], Model] | None = None,
        *,
        own_name: str | None = None,
    ) -> None:
        self.own = own
        self.own_name = own_name or own.name
        self._open_named = open_named

    def of(self, configuration: Configuration) -> Model:
        """The model that answers under a configuration."""
        if MODEL not in configuration.parameters:
            return self.own
        return self.named(configuration.parameters[MODEL])

    def named(self, name: object) -> Model:
        """The model of a name; UsageError for one that is none or was not declared."""
        if not isinstance(name, str) or not name:
            raise UsageError(
                what="the parameter model cannot be used",
                why=f"it is {name!r:.80}, not the name of a model",
                fix='write it like model = "openai/gpt-4o-mini"',
                code="parameter_out_of_range",
            )
        if name == self.own_name:
            return self.own
        if self._open_named is None:
            raise undeclared_model(name, [self.own_name])
        return self._open_named(name)


def open_choice(
    own: Any, declared: Sequence[str] | Mapping[str, Any] | None, open_model: Callable[[Any], Model]
) -> ModelChoice:
    """An agent's own model, and those that are declared for it; None declares all."""
    given = declared if isinstance(declared, Mapping) else dict.fromkeys(declared or ())

    def open_named(name: str) -> Model:
        # Embedded models cost nothing, so naming one is declaring it.
        if declared is not None and name not in given and not name.startswith("local/"):
            raise undeclared_model(name, [*given, *([own] if isinstance(own, str) else ())])
        return open_model(given.get(name) or name)

    if not isinstance(own, str):
        return ModelChoice(open_model(own), open_named)
    return ModelChoice(open_model(given.get(own) or own), open_named, own_name=own)


@runtime_checkable
class ChoosesModel(Protocol):
    """An agent whose configuration says which model answers."""

    def fingerprint_under(self, configuration: Configuration) -> str | None:
        """The agent's fingerprint with the model that a configuration names."""
        ...


def fingerprint_under(agent: Agent, configuration: Configuration) -> str | None:
    """What results of an agent under a configuration are told apart by; None is unknown."""
    if isinstance(agent, ChoosesModel):
        return agent.fingerprint_under(configuration)
    return agent.fingerprint


def undeclared_model(name: str, declared: list[str]) -> UsageError:
    """A configuration or a search space names a model that the project does not."""
    return UsageError(
        what=f"the model {name!r:.80} cannot be chosen",
        why=f"it was not declared; declared are {', '.join(sorted(set(declared))) or 'none'}",
        fix=f'use one of these, or declare it: [models."{name:.80}"] in burnish.toml, or '
        "models=[…] of burnish.Agent",
        code="undeclared_model",
    )
