"""Tools of a DSPy program: where modules hold them, and where their texts stand in instructions.

`dspy.ReAct` writes its tools into the instructions of a predictor; other modules hand them over
with each call. Tools that a module uses in neither way have no sections.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import UsageError
from burnish.integrations.frameworks.framework_agent import described_tool, sections_of_tool


@dataclass(frozen=True, eq=False)
class ToolPlace:
    """One tool: the attribute of a module that holds it, and the key where that is a list or dict."""

    attribute: str
    key: Any
    tool: Any


@dataclass(frozen=True, eq=False)
class Toolset:
    """The tools of one module, by the prefix of their sections."""

    module: str
    prefix: str
    places: tuple[ToolPlace, ...]

    def sections(self) -> dict[str, str]:
        """The descriptions of the tools and of their parameters by path."""
        found: dict[str, str] = {}
        for place in self.places:
            one = place.tool
            found |= sections_of_tool(self.prefix, one.name, one.desc or "", _schema(one))
        return found

    def described(self, sections: Mapping[str, str]) -> list[Any]:
        """The tools with the texts of sections; the very same where none of them is another."""
        return [_described(place.tool, self.prefix, sections) for place in self.places]

    def put_in(self, module: Any, sections: Mapping[str, str]) -> None:
        """Let a copy of the module have the tools with the texts; what they call stays the same."""
        held = dict(vars(module))
        for place, tool in zip(self.places, self.described(sections), strict=True):
            if place.key is None:
                held[place.attribute] = tool
                continue
            holder = held[place.attribute]
            held[place.attribute] = (
                {**holder, place.key: tool}
                if isinstance(holder, Mapping)
                else type(holder)([*holder[: place.key], tool, *holder[place.key + 1 :]])
            )
        for attribute in {one.attribute for one in self.places}:
            setattr(module, attribute, held[attribute])


@dataclass(frozen=True)
class ToolLines:
    """Where instructions list tools: the text before them is the section, the rest is kept."""

    before: str
    lines: str
    after: str

    @classmethod
    def of(cls, instructions: str, tools: Sequence[Any]) -> ToolLines | None:
        """None where the instructions do not hold every one of the tools, in order."""
        place = start = end = 0
        for number, tool in enumerate(tools):
            found = instructions.find(str(tool), place)
            if found < 0:
                return None
            if number == 0:
                start = instructions.rfind("\n", 0, found) + 1
            place = found + len(str(tool))
            end = place
        before = instructions[:start].rstrip()
        return cls(before, instructions[len(before) : end], instructions[end:])

    def with_texts(self, text: str, before: Sequence[Any], after: Sequence[Any]) -> str:
        """Instructions of a text and of tools with other texts.

        A text that lists the tools itself, as those of earlier versions did, is left as it is.
        """
        if any(str(tool) in text for tool in before):
            return text
        lines, place = "", 0
        for old, new in zip(before, after, strict=True):
            found = self.lines.index(str(old), place)
            lines += self.lines[place:found] + str(new)
            place = found + len(str(old))
        return f"{text}{lines}{self.lines[place:]}{self.after}"


def tools_of(module: Any) -> Iterator[ToolPlace]:
    """The tools that a module holds in its own attributes."""
    for attribute, value in vars(module).items():
        if _is_tool(value):
            yield ToolPlace(attribute, None, value)
        elif isinstance(value, Mapping):
            for key, one in value.items():
                if _is_tool(one):
                    yield ToolPlace(attribute, key, one)
        elif isinstance(value, (list, tuple)):
            for number, one in enumerate(value):
                if _is_tool(one):
                    yield ToolPlace(attribute, number, one)


def takes_tools(predictor: Any) -> bool:
    """Whether a predictor is handed tools with each call."""
    fields = predictor.signature.input_fields.values()
    return any(_mentions_tool(getattr(one, "annotation", None)) for one in fields)


def refuse_equal_names(toolset: Toolset) -> None:
    """Two tools of one module whose sections would be the same."""
    if sum(len(_own_sections(toolset, one)) for one in toolset.places) > len(toolset.sections()):
        names = ", ".join(str(one.tool.name) for one in toolset.places)
        raise UsageError(
            what="the tools of the DSPy program cannot be told apart",
            why=f"two of them have the same name: {names}",
            fix="give each dspy.Tool a name of its own",
            code="invalid_agent",
        )


def _own_sections(toolset: Toolset, place: ToolPlace) -> dict[str, str]:
    return Toolset(toolset.module, toolset.prefix, (place,)).sections()


def _schema(tool: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict(tool.args or {})}


def _described(tool: Any, prefix: str, sections: Mapping[str, str]) -> Any:
    before, schema = tool.desc or "", _schema(tool)
    text, described = described_tool(prefix, tool.name, before, schema, sections)
    if text == before and described is schema:
        return tool
    return tool.model_copy(update={"desc": text, "args": described["properties"]})


def _is_tool(value: Any) -> bool:
    return any(_is_tool_class(one) for one in type(value).__mro__)


def _is_tool_class(kind: Any) -> bool:
    name = getattr(kind, "__name__", "")
    return name == "Tool" and str(getattr(kind, "__module__", "")).partition(".")[0] == "dspy"


def _mentions_tool(annotation: Any) -> bool:
    if isinstance(annotation, type) and any(_is_tool_class(one) for one in annotation.__mro__):
        return True
    return any(map(_mentions_tool, typing.get_args(annotation)))
