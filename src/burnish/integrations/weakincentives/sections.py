"""Sections of a template as a configuration and back, `${name}` as `{{name}}`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import Template
from typing import Any

from burnish.domain import Configuration, SearchSpace, UsageError
from burnish.domain.configuration import placeholders

Path = tuple[str, ...]
_FIRST_CHARACTER = re.compile(r"[a-z_]")
_OURS = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSection:
    """One section: where it is, what it says in our words, and why it may not change, if so."""

    path: Path
    name: str
    text: str
    locked: str | None = None


@dataclass(frozen=True, kw_only=True)
class TemplateSections:
    """All sections of a template that have a text, as one overrides tag shows them."""

    sections: tuple[TemplateSection, ...]

    @classmethod
    def of(cls, template: Any, overrides: Mapping[Path, Any]) -> TemplateSections:
        """From a PromptTemplate, with the bodies that a tag puts in place of its own."""
        free = {one.path for one in template.descriptor.sections}
        taken: set[str] = set()
        found: list[TemplateSection] = []
        for node in template.sections:
            body = node.section.original_body_template()
            if body is None:
                continue
            own = from_template(_shown(node.section, body))
            ours = own
            if node.path in overrides:
                body = overrides[node.path].body
                ours = from_template(_shown(node.section, body))
            fields = template.placeholders.get(node.path, frozenset())
            found.append(
                TemplateSection(
                    path=node.path,
                    name=_name_of(node.path, taken),
                    text=body if ours is None else ours,
                    locked=_why_locked(node, own, ours, fields, node.path in free),
                )
            )
        return cls(sections=tuple(found))

    @cached_property
    def configuration(self) -> Configuration:
        """The prompt as it is now."""
        return Configuration.of({"sections": {one.name: one.text for one in self.sections}})

    @property
    def space(self) -> SearchSpace:
        """What may change: sections that take overrides, each with its own placeholders."""
        return SearchSpace(
            locked=tuple(one.name for one in self.sections if one.locked is not None),
            max_examples=0,
            own_placeholders=True,
        )

    def bodies(self, configuration: Configuration) -> dict[Path, str]:
        """What differs from the prompt as it is, as template texts by path; checked."""
        before = self.configuration
        known = set(before.sections)
        if (
            configuration.examples
            or configuration.parameters
            or set(configuration.sections) - known
        ):
            raise _refused("it holds more than sections of the template", "unknown_field")
        changed: dict[Path, str] = {}
        for one in self.sections:
            old, new = before.sections[one.name], configuration.sections.get(one.name)
            if new is None or (old and not new.strip()):
                raise _refused(f"the section {one.name!r} is empty or gone", "empty_section")
            if new == old:
                continue
            if one.locked is not None:
                raise _refused(
                    f"the section {one.name!r} is locked: {one.locked}", "section_locked"
                )
            _check_names(one.name, names_in(old), names_in(new))
            changed[one.path] = to_template(new)
        return changed


def _check_names(section: str, old: frozenset[str], new: frozenset[str]) -> None:
    for names, word, code in (
        (old - new, "lost", "placeholder_dropped"),
        (new - old, "names the unknown", "placeholder_unknown"),
    ):
        if names:
            raise _refused(f"the section {section!r} {word} {{{{{min(names)}}}}}", code)


def _shown(section: Any, body: str) -> str:
    """The text as a Markdown section renders it; others take theirs as it stands."""
    from weakincentives.prompt import MarkdownSection  # noqa: PLC0415 - an extra

    return textwrap.dedent(body).strip() if isinstance(section, MarkdownSection) else body


def _why_locked(
    node: Any, own: str | None, ours: str | None, fields: frozenset[str], free: bool
) -> str | None:
    from weakincentives.prompt import Section  # noqa: PLC0415 - an extra

    if not free:
        return "it accepts no overrides"
    render: Callable[..., Any] = type(node.section).render_override
    if render is Section.render_override:
        return "its class cannot render an override"
    if own is None or ours is None:
        return "its text has no exact form with {{placeholders}}"
    # A class may have a syntax of its own, and a tag may ask for what the section is not given.
    if names_in(own) != fields or not names_in(ours) <= fields:
        return "its placeholders are not those of its template"
    return None


def _name_of(path: Path, taken: set[str]) -> str:
    """A dotted path for a tuple of keys, which may hold dots themselves; each path has its own."""
    name = ".".join(key.replace(".", "-") for key in path)
    if not _FIRST_CHARACTER.match(name):
        name = f"_{name}"
    own, number = name, 2
    while own in taken:
        own, number = f"{name}-{number}", number + 1
    taken.add(own)
    return own


def _refused(why: str, code: str) -> UsageError:
    return UsageError(
        what="the configuration is not one of this prompt",
        why=why,
        fix="change only unlocked sections and keep each one's placeholders",
        code=code,
    )


def from_template(text: str) -> str | None:
    """Our text for a template's; None where it has no exact one.

    That is a template with a `$` that means nothing, which cannot be rendered, and one with literal
    text that would read as a placeholder of ours.
    """
    parts: list[str] = []
    names: list[str] = []
    end = 0
    for found in Template.pattern.finditer(text):
        name = found.group("named") or found.group("braced")
        if name is None and found.group("escaped") is None:
            return None
        if name is not None:
            names.append(name)
        parts += [text[end : found.start()], "$" if name is None else f"{{{{{name}}}}}"]
        end = found.end()
    ours = "".join([*parts, text[end:]])
    # Literal braces around a placeholder may pair up with its own, and literal {{x}} would be one.
    return ours if _pieces(to_template(ours)) == _pieces(text) else None


def to_template(text: str) -> str:
    """The template's text for ours: placeholders in braces, every other `$` doubled."""
    parts: list[str] = []
    end = 0
    for found in _OURS.finditer(text):
        parts += [text[end : found.start()].replace("$", "$$"), f"${{{found.group(1)}}}"]
        end = found.end()
    return "".join([*parts, text[end:].replace("$", "$$")])


def names_in(text: str) -> frozenset[str]:
    """The placeholders of our text."""
    return frozenset(placeholders(text))


def _pieces(template: str) -> list[tuple[bool, str]]:
    """What a template says: literal text and names, whichever way they are written."""
    pieces: list[tuple[bool, str]] = []
    literal, end = "", 0
    for found in Template.pattern.finditer(template):
        literal += template[end : found.start()]
        end = found.end()
        name = found.group("named") or found.group("braced")
        if name is None:
            literal += "$"
            continue
        pieces += [(False, literal), (True, name)]
        literal = ""
    return [*pieces, (False, literal + template[end:])]
