"""Models by name, each opened once and closed with the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from burnish.domain import CallCache, Model, UsageError
from burnish.models import as_model


class ModelShelf:
    """Opens models with their settings from the `[models]` tables."""

    def __init__(self, tables: Mapping[str, Any], cache: CallCache | None = None) -> None:
        self.tables = tables
        self._cache = cache
        self._open: dict[int | str, Model] = {}

    def model(self, given: str | Model | Callable[[str], str]) -> Model:
        """The model of a name, or a wrapped callable; calls are remembered where that is on."""
        # Late: the schema takes a command that only reads longer than all that it reads.
        from burnish.config.settings import model_settings  # noqa: PLC0415

        key = given if isinstance(given, str) else id(given)
        if key not in self._open:
            settings = model_settings(self.tables, given) if isinstance(given, str) else None
            self._open[key] = as_model(given, settings, cache=self._cache)
        return self._open[key]

    def use(self, tables: Mapping[str, Any]) -> None:
        """Take the settings of other tables, as long as no model is open."""
        if self._open:
            raise UsageError(
                what="the models' settings cannot be changed",
                why="a model is open already",
                fix="change them before the first model is opened",
                code="models_open",
            )
        self.tables = tables

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every model."""
        for model in self._open.values():
            await model.close()
        self._open.clear()
