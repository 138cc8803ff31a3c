"""Declared parameters set to other values, and examples of the baseline reordered or left out."""

from __future__ import annotations

from burnish.domain import Configuration, Json
from burnish.optimizers.edits.operators.edit import Edit, Stage, with_parameter
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.parameters.values import values_of

_STEPS = 4


def edits(subject: Subject) -> list[Edit]:
    """One edit for each other value of each declared parameter; two for examples."""
    found: list[Edit] = []
    for name in sorted(subject.space.parameters):
        values = values_of(subject.space.parameters[name], steps=_STEPS)
        own = subject.baseline.parameters.get(name)
        found += [_parameter(name, value) for value in values if value != own]
    if subject.baseline.examples:
        found.append(_examples("none", "show no examples", ()))
    if len(subject.baseline.examples) > 1:
        turned = tuple(reversed(subject.baseline.examples))
        found.append(_examples("reversed", "show the examples the other way round", turned))
    return found


def _parameter(name: str, value: Json) -> Edit:
    shown = str(value).replace(",", ";").replace("]", ")").replace("[", "(")
    return Edit(
        name=f"parameter:{name}:{shown}",
        group=f"parameter:{name}",
        stage=Stage.SETTINGS,
        says=f"set {name} to {value!r}",
        apply=lambda configuration: with_parameter(configuration, name, value),
    )


def _examples(kind: str, says: str, examples: tuple[object, ...]) -> Edit:
    def apply(configuration: Configuration) -> Configuration | None:
        return Configuration.of({**configuration.to_json(), "examples": list(examples)})

    return Edit(
        name=f"examples:{kind}", group="examples", stage=Stage.SETTINGS, says=says, apply=apply
    )
