"""Views for user functions: plain dicts and text, with the record behind them."""

from __future__ import annotations

from typing import Any

from burnish.domain import AgentOutput, Configuration, Item, Picture, render


class ConfigurationView(dict[str, Any]):
    """A configuration as the dict a user wrote, with a way to fill its sections in."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration.to_json())
        self.hash = configuration.hash

    @property
    def sections(self) -> dict[str, str]:
        """Texts by path."""
        return self["sections"]  # type: ignore[no-any-return]

    @property
    def parameters(self) -> dict[str, Any]:
        """Model and agent settings."""
        return self["parameters"]  # type: ignore[no-any-return]

    @property
    def examples(self) -> list[dict[str, Any]]:
        """Demonstrations."""
        return self["examples"]  # type: ignore[no-any-return]

    def render(self, section: str, fields: dict[str, Any]) -> str:
        """One section with its placeholders filled from the fields."""
        return render(self.sections[section], fields)


class ItemView(dict[str, Any]):
    """An item's row as a dict; `id`, `split` and `hash` are attributes too.

    `item["id"]` is the item's id also where the row has none of its own, though no field of the row.
    """

    def __init__(self, item: Item) -> None:
        super().__init__(item.row)
        self._item = item

    def __missing__(self, name: str) -> Any:
        if name == "id":
            return self._item.id
        raise KeyError(name)

    @property
    def id(self) -> str:
        """The item's stable id."""
        return self._item.id

    @property
    def split(self) -> str | None:
        """Which split the item is in, where that is known."""
        return self._item.split

    @property
    def hash(self) -> str:
        """Hash of the item's content."""
        return self._item.hash

    @property
    def pictures(self) -> dict[str, list[Picture]]:
        """The pictures by column: each with its `media_type`, and its bytes in base64 as `data`."""
        return {column: list(many) for column, many in self._item.pictures.items()}


class OutputText(str):
    """An output's text that compares like text; `output`, `data` and `trace` are attributes."""

    output: AgentOutput

    def __new__(cls, output: AgentOutput) -> OutputText:
        """Text that remembers the output it came from."""
        text = super().__new__(cls, output.text)
        text.output = output
        return text

    @property
    def text(self) -> str:
        """The plain text."""
        return self.output.text

    @property
    def data(self) -> Any:
        """The parsed value, where the agent gave one."""
        return self.output.data

    @property
    def trace(self) -> Any:
        """How the agent got there."""
        return self.output.trace
