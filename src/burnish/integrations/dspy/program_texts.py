"""Texts of a DSPy program: instructions, descriptions of fields and of tools, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain import UsageError
from burnish.integrations.dspy.predictors import Predictors, copied, section_path
from burnish.integrations.dspy.tools import (
    ToolLines,
    Toolset,
    refuse_equal_names,
    takes_tools,
    tools_of,
)

_INSTRUCTIONS = ".instructions"
# Fields that dspy adds to a signature; without a description of the user's they are no sections.
_ON_THE_WAY = ("reasoning", "rationale", "trajectory", "history", "tools", "tool_calls")
_OF_A_STEP = ("next_thought", "next_tool_name", "next_tool_args")
_FIELDS_OF_DSPY = frozenset((*_ON_THE_WAY, *_OF_A_STEP))


@dataclass(frozen=True, eq=False)
class ProgramTexts:
    """A program's predictors and toolsets; the toolset of a predictor that lists its tools."""

    module: Any
    predictors: Predictors
    toolsets: tuple[Toolset, ...]
    lists: Mapping[str, tuple[ToolLines, Toolset]]

    @classmethod
    def of(cls, module: Any) -> ProgramTexts:
        """Those of a program; UsageError when it is none."""
        predictors = Predictors.of(module)
        toolsets: list[Toolset] = []
        lists: dict[str, tuple[ToolLines, Toolset]] = {}
        paths = {id(one): path for path, one in predictors.by_path.items()}
        for name, held in submodules(module):
            places = tuple(tools_of(held))
            own = [one for one in vars(held).values() if id(one) in paths] if places else []
            toolset = Toolset(name, _prefix(name), places)
            found = {paths[id(one)]: _lines(one, toolset) for one in own}
            told = {path: lines for path, lines in found.items() if lines is not None}
            if told or any(map(takes_tools, own)):
                refuse_equal_names(toolset)
                toolsets.append(toolset)
                lists |= {path: (lines, toolset) for path, lines in told.items()}
        return cls(module, predictors, tuple(toolsets), lists)

    def sections(self) -> dict[str, str]:
        """Every text by path."""
        found: dict[str, str] = {}
        for path, predictor in self.predictors.by_path.items():
            found[path] = self._instructions(path)
            for name, text in _described_fields(predictor.signature):
                found[_field_path(path, name)] = text
        for toolset in self.toolsets:
            found |= toolset.sections()
        return found

    def with_texts(self, sections: Mapping[str, str]) -> Any:
        """A copy of the program with the texts of sections."""
        known = self.sections()
        unknown = next((path for path in sections if path not in known), None)
        if unknown is not None:
            raise UsageError(
                what=f"the DSPy program has no section {unknown!r}",
                why=f"it has {', '.join(known)}",
                fix="give a configuration that was made from this program",
                code="unknown_section",
            )
        twin = copied(self.module)
        for path, predictor in Predictors.of(twin).by_path.items():
            predictor.signature = self._signature(path, predictor.signature, sections)
        held = dict(submodules(twin))
        for toolset in self.toolsets:
            toolset.put_in(held[toolset.module], sections)
        return twin

    def _instructions(self, path: str) -> str:
        if path in self.lists:
            return self.lists[path][0].before
        return str(self.predictors.by_path[path].signature.instructions)

    def _signature(self, path: str, signature: Any, sections: Mapping[str, str]) -> Any:
        text = sections.get(path, self._instructions(path))
        if path in self.lists:
            lines, toolset = self.lists[path]
            tools = [place.tool for place in toolset.places]
            text = lines.with_texts(text, tools, toolset.described(sections))
        if text != signature.instructions:
            signature = signature.with_instructions(text)
        for name, before in list(_described_fields(signature)):
            described = sections.get(_field_path(path, name), before)
            if described != before:
                signature = signature.with_updated_fields(name, desc=described or _unsaid(name))
        return signature


def submodules(module: Any) -> list[tuple[str, Any]]:
    """Modules within a module by name, itself among them; none of those that dspy keeps frozen."""
    read = getattr(module, "named_sub_modules", None)
    found = read(skip_compiled=True) if callable(read) else ()
    return [(name, one) for name, one in found if not getattr(one, "_compiled", False)]


def _lines(predictor: Any, toolset: Toolset) -> ToolLines | None:
    tools = [place.tool for place in toolset.places]
    return ToolLines.of(str(predictor.signature.instructions), tools)


def _prefix(name: str) -> str:
    within = name.removeprefix("self").removeprefix(".")
    return f"{section_path(within)}." if within else ""


def _field_path(path: str, name: str) -> str:
    return f"{path.removesuffix(_INSTRUCTIONS)}.fields.{name}"


def _unsaid(name: str) -> str:
    """What dspy has in place of a description, and does not show to a model."""
    return f"${{{name}}}"


def _described_fields(signature: Any) -> Iterator[tuple[str, str]]:
    """Fields with their descriptions: those that have one, and outputs of the user's without."""
    for fields, is_output in ((signature.input_fields, False), (signature.output_fields, True)):
        for name, field in fields.items():
            extra = getattr(field, "json_schema_extra", None)
            text = extra.get("desc") if isinstance(extra, Mapping) else None
            if not isinstance(text, str):
                continue
            said = "" if text == _unsaid(name) else text
            if said or (is_output and name not in _FIELDS_OF_DSPY):
                yield name, said
