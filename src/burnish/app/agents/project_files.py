"""Project files that take a configuration: burnish.toml and the files of its sections, or none."""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from burnish.app.report.differences import Difference, difference
from burnish.config.settings import load_settings
from burnish.domain import Configuration, ConflictError, UsageError, canonical_json
from burnish.domain.configuration import MODEL
from burnish.evaluation.agents.tools.texts import is_tool_text

_MISSING = object()


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A file and its new text."""

    path: Path
    text: str


def plan_writes(
    before: Configuration, after: Configuration, config: Path, agent_name: str
) -> list[FileWrite]:
    """What to write so that a project that holds `before` holds `after`, comments and all.

    ConflictError when a file holds something else by now; UsageError where not all can be written.
    """
    change = difference(before, after)
    if change.empty:
        return []
    config = config.resolve()  # A link stays one: what it points to is written.
    project = _Project(config, agent_name)
    for section in change.sections:
        project.set_section(section.path, section.before, section.after)
    for one in change.parameters:
        project.set_parameter(one.name, one.before, one.after)
    if change.examples_changed:
        project.set_examples(change)
    return project.writes(change)


class _Project:
    """burnish.toml as it stands, with what is to be changed in it and in the files beside it."""

    def __init__(self, config: Path, agent_name: str) -> None:
        self._config = config
        self._old = _read(config)
        self._document: Any = tomlkit.parse(self._old)
        self._agent: Any = self._document.get("agent", {})
        self._files: dict[Path, str] = {}
        name = self._agent.get("name", "agent")
        if name != agent_name:
            raise _refused(
                config, f"it is of the agent {str(name)!r}, and the run is of {agent_name!r}"
            )

    def set_section(self, path: str, before: str | None, after: str | None) -> None:
        table, key = _place(self._agent.get("sections", {}), path)
        now = table.get(key, _MISSING)
        if isinstance(now, Mapping):
            self._set_file(path, self._config.parent / str(now["file"]), before, after)
            if after is None:
                del table[key]
            return
        own = self._declared(path) if now is _MISSING else normalised(now)
        self._require(f"the section {path!r}", own, before)
        if after is None:
            del table[key]
            return
        if now is _MISSING:
            table, key = self._agent.setdefault("sections", tomlkit.table()), path
        lines = "\n" in after and not after.startswith("\n")
        _replace(table, key, tomlkit.string(after, multiline=lines))

    def _declared(self, path: str) -> str | None:
        """A text of a tool or sub-agent that stands where it is declared; a section overrides it."""
        if not (self._agent.get("tools") is not None or self._agent.get("agents")):
            return None
        sections = Configuration.of(load_settings(self._config).agent_spec().configuration).sections
        return sections.get(path) if is_tool_text(path) else None

    def _set_file(self, section: str, path: Path, before: str | None, after: str | None) -> None:
        path = path.resolve()
        text = _read(path)
        if normalised(text) != before:
            raise _changed(path, f"the section {section!r}")
        if after is None:
            return
        if self._files.setdefault(path, new := _in_style_of(text, after)) != new:
            raise _refused(path, "two sections that now differ are read from it")

    def set_parameter(self, name: str, before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        table = self._agent.get("parameters", {})
        if name == MODEL and name not in table and MODEL in self._agent:
            self._set_model(before, after)
            return
        now = (table[name],) if name in table else ()
        self._require(f"the parameter {name!r}", _plain(now), _plain(before))
        if not after:
            del table[name]
            return
        table = self._agent.setdefault("parameters", tomlkit.table())
        _replace(table, name, self._item(after[0]))

    def _set_model(self, before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        """The model of a prompt agent stands beside its parameters; a run that chose it names it."""
        now = (self._agent[MODEL],)
        self._require("the model", _plain(now), _plain(before or now))
        if after:
            _replace(self._agent, MODEL, self._item(after[0]))

    def set_examples(self, change: Difference) -> None:
        now = self._agent.get("examples", [])
        self._require("the examples", _plain(now), _plain(change.examples_before))
        array = tomlkit.array()
        array.multiline(multiline=True)
        for example in change.examples_after:
            array.append(self._item(dict(example)))
        if isinstance(now, tomlkit.items.AoT):
            del self._agent["examples"]
        _replace(self._agent, "examples", array)

    def writes(self, change: Difference) -> list[FileWrite]:
        """All of them, once burnish.toml reads as it should."""
        text = tomlkit.dumps(self._document)
        if text != self._old:
            self._verify(text, change)
            self._files[self._config] = text
        return [FileWrite(path, text) for path, text in self._files.items()]

    def _verify(self, text: str, change: Difference) -> None:
        try:
            agent = tomllib.loads(text)["agent"]
        except (tomllib.TOMLDecodeError, KeyError):
            agent = {}
        parameters, sections = agent.get("parameters", {}), agent.get("sections", {})
        for section in change.sections:
            table, key = _place(sections, section.path)
            now = table.get(key)
            if not isinstance(now, Mapping) and section.after != (now and normalised(now)):
                raise _refused(self._config, f"the section {section.path!r} would not be read back")
        for one in change.parameters:
            is_model = one.name == MODEL and MODEL not in parameters and MODEL in agent
            table = agent if is_model else parameters
            now = (table[one.name],) if one.name in table and (one.after or not is_model) else ()
            if _plain(now) != _plain(one.after):
                raise _refused(self._config, f"the parameter {one.name!r} would not be read back")
        if change.examples_changed and _plain(agent.get("examples", [])) != _plain(
            change.examples_after
        ):
            raise _refused(self._config, "the examples would not be read back")

    def _require(self, what: str, now: Any, before: Any) -> None:
        if now != before:
            raise _changed(self._config, what)

    def _item(self, value: Any) -> Any:
        try:
            return _inline(value)
        except (TOMLKitError, TypeError, ValueError):
            why = "it takes a value that TOML cannot hold, such as null"
            raise _refused(self._config, why) from None


def _place(sections: Any, path: str) -> tuple[Any, str]:
    """The table and the key that hold a section: a dot parts tables, or stands in a quoted key."""
    if path in sections:
        return sections, path
    parts = path.split(".")
    for length in range(1, len(parts)):
        key = ".".join(parts[:length])
        inner = sections.get(key)
        if isinstance(inner, MutableMapping) and set(inner) != {"file"}:
            return _place(inner, ".".join(parts[length:]))
    return sections, path


def _replace(table: Any, key: str, item: Any) -> None:
    """A new value; the comment behind the old one stays."""
    old = table.get(key)
    comment = getattr(getattr(old, "trivia", None), "comment", "")
    table[key] = item
    if comment and not getattr(table[key].trivia, "comment", ""):
        table[key].comment(comment.lstrip("# "))


def _inline(value: Any) -> Any:
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table[key] = _inline(inner)
        return table
    if isinstance(value, (list, tuple)):
        array = tomlkit.array()
        array.extend(_inline(one) for one in value)
        return array
    return tomlkit.item(value)


def _plain(value: Any) -> bytes:
    """By what the configuration's hash goes by, so that 1 is 1.0."""
    unwrapped = [one.unwrap() if hasattr(one, "unwrap") else one for one in value]
    return canonical_json(unwrapped)


@contextlib.contextmanager
def staged(writes: list[FileWrite]) -> Iterator[None]:
    """Lay the new texts beside their files; they take their places when the block ends well."""
    parts = [one.path.with_name(f".{one.path.name}.{os.getpid()}.part") for one in writes]
    current = Path()
    try:
        for one, part in zip(writes, parts, strict=True):
            current = one.path
            # Bytes: a file keeps the line ends that it has.
            part.write_bytes(one.text.encode())
            part.chmod(one.path.stat().st_mode)
        yield
        for one, part in zip(writes, parts, strict=True):
            current = one.path
            part.replace(one.path)
    except OSError as error:
        raise UsageError(
            what=f"{current} cannot be written",
            why=error.strerror or str(error),
            fix="make the file and its folder writable",
            code="unwritable",
        ) from error
    finally:
        for part in parts:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            what=f"{path} cannot be written",
            why=getattr(error, "strerror", None) or str(error),
            fix="put the file back where it was when the run started",
            code="missing_file",
        ) from error


def normalised(text: str) -> str:
    """A section's text as a configuration holds it."""
    return Configuration.of({"sections": {"system": str(text)}}).sections["system"]


def _in_style_of(old: str, new: str) -> str:
    ended = new + "\n" if old.endswith("\n") or not old else new
    return ended.replace("\n", "\r\n") if "\r\n" in old else ended


def _changed(path: Path, what: str) -> ConflictError:
    return ConflictError(
        what=f"{path} was not written",
        why=f"it has changed since the run started from it, or the run started with something else: "
        f"it holds {what} in another wording",
        fix="put the new wording in by hand (`burnish diff` shows it), or undo the change",
        code="file_changed",
    )


def _refused(path: Path, why: str) -> UsageError:
    return UsageError(
        what=f"the configuration cannot be written into {path}",
        why=why,
        fix="nothing was written; put it in by hand (`burnish export -f json` has all of it)",
        code="not_writable",
    )
