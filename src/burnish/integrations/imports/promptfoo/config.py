"""Config of promptfoo, with its scenarios, or a file of its test cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from burnish.domain import placeholders
from burnish.domain.wording import counted
from burnish.integrations.imports.files import (
    YAML,
    Beside,
    CannotTakeError,
    read_document,
    shown_reference,
)
from burnish.integrations.imports.project import Findings, ForeignProject, no_tests
from burnish.integrations.imports.promptfoo.cases import MOST_ROWS, Test, TestReader
from burnish.integrations.imports.promptfoo.prompts import ForeignPrompt, read_prompts

KIND = "promptfoo"
CONFIG_KEYS = ("prompts", "providers", "targets", "tests", "defaultTest", "scenarios")
_TAKEN = (*CONFIG_KEYS, "assertionTemplates")
_QUIET = ("$schema", "description")
_CHAT_KINDS = ("chat", "responses", "completion")
_PARAMETERS = (
    "temperature",
    "max_tokens",
    "top_p",
    "seed",
    "frequency_penalty",
    "presence_penalty",
)
# Fields that say of a row what it is; they are not what a model should read.
_ABOUT = ("assert", "description", "metadata")
_KNOWN = ("config", "tests", "description")
_OBJECTS = ("vars", "metadata", "options")


def read_promptfoo(path: Path) -> ForeignProject:
    """The rows, prompt and model of a config; of a file of test cases just the rows."""
    findings = Findings()
    beside = Beside(path.parent)
    document: Any = {}
    if path.suffix.lower() in (".json", *YAML):
        document = read_document(path)
    is_config = isinstance(document, Mapping) and any(key in document for key in CONFIG_KEYS)
    config: Mapping[str, Any] = document if is_config else {}
    findings.leave_keys(path.name, config, (*_TAKEN, *_QUIET))
    reader = TestReader(
        beside, findings, config.get("defaultTest"), config.get("assertionTemplates")
    )
    if is_config:
        tests = _tests(config, reader, ScenarioReader(reader, beside, findings))
    else:
        tests = _file_tests(path, reader, findings)
    prompts = read_prompts(config.get("prompts"), beside, findings)
    project = ForeignProject(kind=KIND, name=path.stem, findings=findings)
    _add_rows(project, reader, tests)
    if not project.rows:
        raise no_tests(path, findings)
    _add_prompts(project, prompts)
    _add_model(project, config)
    scorer: dict[str, Any] = {"kind": "asserts"}
    if reader.asserts.asks_a_model:
        named = reader.asserts.judge
        judge = (named and openai_name(named)) or _judge(config) or project.model
        if named and openai_name(named) is None:
            findings.note(f"{named} cannot judge here: {judge or 'no model'} does in its place")
        scorer |= {"model": judge} if judge else {}
        if judge is None:
            findings.note(
                "llm-rubric asserts need a judge: add model to the scorer in burnish.toml"
            )
    project.scorers = [scorer]
    project.pass_threshold = 0.0 if reader.has_threshold else None
    return project


def _tests(config: Mapping[str, Any], reader: TestReader, scenarios: ScenarioReader) -> list[Test]:
    tests = reader.tests(config.get("tests")) if config.get("tests") is not None else []
    tests += scenarios.tests(config.get("scenarios"))
    given = config.get("tests") is not None or config.get("scenarios") is not None
    if not given and config.get("defaultTest"):
        return [("defaultTest", {})]
    return tests


def _file_tests(path: Path, reader: TestReader, findings: Findings) -> list[Test]:
    try:
        return reader.file_tests(path)
    except CannotTakeError as error:
        raise no_tests(path, findings) from error


def _add_rows(project: ForeignProject, reader: TestReader, tests: list[Test]) -> None:
    for row in reader.rows(tests):
        (project.rows if row["assert"] else project.unchecked).append(row)
    if project.rows or not project.unchecked:
        return
    project.rows, project.unchecked = project.unchecked, []
    project.findings.note(
        "no test has an assert that can be taken: change the scorers in burnish.toml before you "
        "evaluate"
    )


def _add_prompts(project: ForeignProject, prompts: list[ForeignPrompt]) -> None:
    findings = project.findings
    chosen = next((one for one in prompts if one.logic is None), prompts[0] if prompts else None)
    if chosen is None:
        project.sections = _made_up(project.rows)
        findings.note("the file holds no prompt: the section user just shows the fields")
    else:
        project.sections = dict(chosen.sections)
        if chosen.logic is not None:
            findings.note(
                f"{chosen.place} is the agent, and its {chosen.logic} goes to the model as it "
                "stands: rewrite it before you evaluate"
            )
    for number, one in enumerate((one for one in prompts if one is not chosen), start=2):
        project.others[f"other-{number}.txt"] = one.text
    if project.others:
        assert chosen is not None
        findings.note(
            f"{chosen.place} is the agent; {len(project.others)} more are in prompts/other-*.txt"
        )
    names = list(dict.fromkeys(_names(project.sections)))
    if not names:
        names = ["input"]
        project.sections["user.input"] = "{{input}}"
        findings.note("the prompt shows no variable: the section user.input makes room for one")
    _fill_missing(project, names)


def _names(sections: Mapping[str, str]) -> Iterator[str]:
    for text in sections.values():
        yield from placeholders(text)


def _fill_missing(project: ForeignProject, names: list[str]) -> None:
    """A variable that a test does not give is empty, as it is in promptfoo."""
    for name in names:
        missing = [row for row in project.rows if not _has(row, name)]
        for row in missing:
            row[name] = ""
        if missing and name != "input":
            project.findings.note(
                f"{{{{{name}}}}} is empty in {counted(len(missing), 'row')}: nothing gives it"
            )


def _has(row: Mapping[str, Any], name: str) -> bool:
    if name in row:
        return True
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True


def _made_up(rows: list[dict[str, Any]]) -> dict[str, str]:
    names = dict.fromkeys(name for row in rows for name in row if name not in _ABOUT)
    usable = [name for name in names if placeholders(f"{{{{{name}}}}}") == (name,)]
    if len(usable) == 1:
        return {"user": f"{{{{{usable[0]}}}}}"}
    return {"user": "\n".join(f"{name}: {{{{{name}}}}}" for name in usable)} if usable else {}


def _add_model(project: ForeignProject, config: Mapping[str, Any]) -> None:
    findings = project.findings
    for place, name, settings in _providers(config, findings):
        model = openai_name(name)
        if model is None:
            findings.leave(place, shown_reference(name), "only openai:… can be called from here")
        elif project.model is None:
            project.model = model
            project.parameters = {
                key: settings[key] for key in _PARAMETERS if _is_number(settings.get(key))
            }
            for key in settings:
                if key not in project.parameters:
                    why = "set it in [agent.parameters] or [models] if you need it"
                    findings.leave(place, f"config {str(key)[:80]}", why)
        else:
            findings.leave(place, shown_reference(name), f"{project.model} is the agent's model")


def _providers(
    config: Mapping[str, Any], findings: Findings
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    given = config.get("providers", config.get("targets"))
    for number, one in enumerate(given if isinstance(given, list) else [given], start=1):
        place, settings = f"provider {number}", None
        name = one
        if isinstance(one, Mapping):
            name, described = one.get("id"), one
            if name is None and len(one) == 1:
                ((name, inner),) = one.items()
                described = inner if isinstance(inner, Mapping) else {}
            settings = described.get("config")
            findings.leave_keys(place, described, ("id", "config", "label"))
        if name is not None and not isinstance(name, str):
            findings.leave(place, type(name).__name__, "it is not the name of a provider")
        elif name is None and one is not None:
            findings.leave(place, type(one).__name__, "it names no provider: it has no `id`")
        elif isinstance(name, str):
            yield place, name, settings if isinstance(settings, Mapping) else {}


def openai_name(name: str) -> str | None:
    """`openai:gpt-4o` and `openai:chat:gpt-4o` as our `openai/gpt-4o`; None for other providers."""
    provider, *rest = name.split(":")
    if provider != "openai" or not rest:
        return None
    if rest[0] in _CHAT_KINDS:
        rest = rest[1:]
    elif rest[0] in ("embedding", "embeddings", "image", "assistant", "realtime", "moderation"):
        return None
    model = ":".join(rest)
    return f"openai/{model}" if model and model.isprintable() else None


def _judge(config: Mapping[str, Any]) -> str | None:
    default = config.get("defaultTest")
    options = default.get("options") if isinstance(default, Mapping) else None
    provider = options.get("provider") if isinstance(options, Mapping) else None
    if isinstance(provider, Mapping):
        provider = provider.get("text", provider.get("id"))
    if isinstance(provider, Mapping):
        provider = provider.get("id")
    return openai_name(provider) if isinstance(provider, str) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class ScenarioReader:
    """Turns `scenarios` into test cases; what a test says stands over what its data says."""

    def __init__(self, reader: TestReader, beside: Beside, findings: Findings) -> None:
        self._reader = reader
        self._beside = beside
        self._findings = findings

    def tests(self, given: Any) -> list[Test]:
        """The test cases of all scenarios, with their places."""
        found: list[Test] = []
        for place, scenario in self._each(given, "scenario "):
            self._findings.leave_keys(place, scenario, _KNOWN)
            for made in self._combined(place, scenario):
                if len(found) >= MOST_ROWS:
                    why = f"more than {MOST_ROWS} tests"
                    self._findings.leave(place, "this and later tests", why)
                    return found
                found.append(made)
        return found

    def _combined(self, place: str, scenario: Mapping[str, Any]) -> Iterator[Test]:
        given = scenario.get("tests")
        # Without tests of its own, a scenario runs each data set once.
        tests = [(place, {})] if given is None else self._reader.tests(given, f"{place}, ")
        data = list(self._each(scenario.get("config"), f"{place}, config "))
        if scenario.get("config") is None:
            data = [(place, {})]
        for data_place, one in data:
            for test_place, test in tests:
                both = test_place
                if data_place != place:
                    number = data_place.rpartition(" ")[2]
                    both = f"{test_place} with config {number}"
                yield both, self._merged(data_place, test_place, one, test)

    def _merged(
        self, data_place: str, test_place: str, data: Mapping[str, Any], test: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        merged = {**data, **test}
        for key in _OBJECTS:
            parts = [
                self._object(data.get(key), data_place),
                self._object(test.get(key), test_place),
            ]
            if any(parts):
                merged[key] = {**parts[0], **parts[1]}
        asserts: list[Any] = []
        for place, given in ((data_place, data.get("assert")), (test_place, test.get("assert"))):
            if isinstance(given, list):
                asserts += given
            elif given is not None:
                self._findings.leave(place, "assert", "it is not a list")
        merged["assert"] = asserts
        return merged

    def _object(self, given: Any, place: str) -> Mapping[str, Any]:
        value = self._read(given, place) if isinstance(given, str) else given
        if value is not None and not isinstance(value, Mapping):
            self._findings.leave(place, type(value).__name__, "it is not an object")
        return value if isinstance(value, Mapping) else {}

    def _each(self, given: Any, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The objects of a list; files that it names are read in their place."""
        values: list[Any] = []
        for one in given if isinstance(given, list) else [given]:
            read = self._read(one, name.rstrip()) if isinstance(one, str) else one
            values += read if isinstance(read, list) else [read]
        for number, value in enumerate(values, start=1):
            if isinstance(value, Mapping):
                yield f"{name}{number}", value
            elif value is not None:
                self._findings.leave(f"{name}{number}", type(value).__name__, "it is not an object")

    def _read(self, reference: str, place: str) -> Any:
        try:
            return self._beside.value(reference)
        except CannotTakeError as error:
            self._findings.leave(place, shown_reference(reference), str(error))
            return None
