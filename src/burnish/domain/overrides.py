"""Overlays of a configuration, kept under a tag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.domain.configuration import Configuration
from burnish.domain.jobs import Lease
from burnish.domain.json_values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """What a tag changes of a base configuration; None leaves a part as it is."""

    sections: Mapping[str, str]
    parameters: Mapping[str, Json] | None = None
    examples: tuple[Mapping[str, Json], ...] | None = None

    @classmethod
    def between(cls, base: Configuration, changed: Configuration) -> Overlay:
        """The overlay that turns `base` into `changed`; sections are never removed by one."""
        return cls(
            sections={
                path: text
                for path, text in changed.sections.items()
                if base.sections.get(path) != text
            },
            parameters=None if changed.parameters == base.parameters else changed.parameters,
            examples=None if changed.examples == base.examples else changed.examples,
        )

    def apply(self, base: Configuration) -> Configuration:
        """The base configuration under this overlay."""
        return Configuration.of(
            {
                "sections": {**base.sections, **self.sections},
                "parameters": base.parameters if self.parameters is None else self.parameters,
                "examples": base.examples if self.examples is None else self.examples,
            }
        )

    def to_json(self) -> dict[str, Any]:
        """The stored form."""
        return {
            "sections": dict(self.sections),
            "parameters": None if self.parameters is None else dict(self.parameters),
            "examples": None if self.examples is None else [dict(one) for one in self.examples],
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Overlay:
        """From its stored form."""
        examples = value.get("examples")
        return cls(
            sections=value.get("sections") or {},
            parameters=value.get("parameters"),
            examples=None if examples is None else tuple(examples),
        )


class OverlayStore(Protocol):
    """Keeps overlays by (namespace, key, tag). Writing a tag again replaces it whole.

    A write with a lease is refused with ConflictError when the lease has moved to another owner.
    """

    async def put(
        self, namespace: str, key: str, tag: str, overlay: Overlay, *, lease: Lease | None = None
    ) -> None: ...

    async def get(self, namespace: str, key: str, tag: str) -> Overlay | None: ...

    async def delete(
        self, namespace: str, key: str, tag: str, *, lease: Lease | None = None
    ) -> None: ...

    async def list_tags(self, namespace: str, key: str, *, prefix: str = "") -> list[str]: ...
