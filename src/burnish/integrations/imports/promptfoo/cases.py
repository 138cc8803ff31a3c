"""Test cases of promptfoo: inline, in files that the config names, or in a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from burnish.domain import placeholders
from burnish.evaluation.datasets.csv_table import read_csv
from burnish.evaluation.datasets.json_files import read_json_lines
from burnish.evaluation.datasets.problems import RowProblem
from burnish.integrations.imports.files import (
    YAML,
    Beside,
    CannotTakeError,
    is_code,
    read_document,
    refuse_rows,
    shown_reference,
)
from burnish.integrations.imports.project import Findings
from burnish.integrations.imports.promptfoo.asserts import AssertReader, expected_text
from burnish.integrations.imports.promptfoo.prompts import RENAMED, fill, logic_in

MOST_ROWS = 100_000
_KNOWN = ("vars", "assert", "description", "threshold", "metadata", "options", "$schema")
_OPTIONS_ELSEWHERE = ("provider", "disableVarExpansion")
_AS_IT_IS = "it is code, which is never run: the asserts look at the output as it is"
_CODE_OPTIONS = {
    "transform": _AS_IT_IS,
    "postprocess": _AS_IT_IS,
    "transformVars": "it is code, which is never run: the variables stay as they are",
}

Test = tuple[str, Mapping[str, Any]]
_EXPECTED = re.compile(r"__expected(\d*)\Z")
_CONFIG = re.compile(r"__config:__expected(\d*):(threshold)\Z")
_METADATA = "__metadata:"
_UNESCAPED_COMMA = re.compile(r"(?<!\\),")


class _Several(list[Any]):
    """Values of which each gives a row: a list of texts, or files that a `*` names.

    Any other list is one value, as it is in promptfoo.
    """


class TestReader:
    """Turns `tests` into rows, with what `defaultTest` adds to each."""

    __test__ = False  # It is no test class, whatever pytest makes of its name.

    def __init__(
        self, beside: Beside, findings: Findings, default: Any, templates: Any = None
    ) -> None:
        self._beside = beside
        self._findings = findings
        self.asserts = AssertReader(beside, findings, templates)
        self._default = self._default_test(default)
        self.has_threshold = False

    def tests(self, given: Any, within: str = "") -> list[Test]:
        """All test cases with their places, in order."""
        if isinstance(given, (str, Mapping)):
            given = [given]
        if not isinstance(given, list):
            what = type(given).__name__
            self._findings.leave(f"{within}tests", what, "it is not a list of test cases")
            return []
        found: list[Test] = []
        for number, one in enumerate(given, start=1):
            place = f"{within}test {number}"
            if isinstance(one, str):
                found += self._from_file(one, place)
            elif isinstance(one, Mapping) and isinstance(one.get("path"), str):
                found += self._from_file(one["path"], place)
            elif isinstance(one, Mapping):
                found.append((place, one))
            else:
                self._findings.leave(place, type(one).__name__, "it is not a test case")
        return found

    def rows(self, tests: list[Test]) -> Iterator[dict[str, Any]]:
        """The rows of all tests; a row without asserts has an empty list."""
        number = 0
        for place, test in tests:
            for fields in self._combinations(place, test):
                number += 1
                if number > MOST_ROWS:
                    self._findings.leave(
                        place, "this and later rows", f"more than {MOST_ROWS} rows"
                    )
                    return
                yield self._row(place, test, fields)

    def file_tests(self, path: Path) -> list[Test]:
        """The test cases of one file."""
        suffix = path.suffix.lower()
        if suffix == ".csv":
            return list(csv_tests(path, self._findings))
        if suffix in (".jsonl", ".ndjson"):
            return self._from_lines(path)
        if suffix in (".json", *YAML):
            document = read_document(path)
            cases = document if isinstance(document, list) else [document]
            named = [(f"{path.name}, test {n}", one) for n, one in enumerate(cases, start=1)]
            for place, one in named:
                if not isinstance(one, Mapping):
                    self._findings.leave(place, type(one).__name__, "it is not a test case")
            return [(place, one) for place, one in named if isinstance(one, Mapping)]
        raise CannotTakeError(f"{suffix or 'a file without an ending'} is not read")

    def _from_file(self, reference: str, place: str) -> list[Test]:
        found: list[Test] = []
        try:
            for path in self._beside.find(reference):
                found += self.file_tests(path)
        except CannotTakeError as error:
            self._findings.leave(place, shown_reference(reference), str(error))
        return found

    def _from_lines(self, path: Path) -> list[Test]:
        problems: list[RowProblem] = []
        found: list[Test] = []
        for row in read_json_lines(path):
            if isinstance(row, RowProblem):
                problems.append(row)
            elif isinstance(row.value, Mapping) and row.value:
                found.append((f"{path.name}, line {row.line}", row.value))
        refuse_rows(path, problems)
        return found

    def _default_test(self, default: Any) -> Mapping[str, Any]:
        if isinstance(default, str):
            try:
                default = self._beside.value(default)
            except CannotTakeError as error:
                self._findings.leave("defaultTest", shown_reference(default), str(error))
                return {}
        if default is None:
            return {}
        if not isinstance(default, Mapping):
            self._findings.leave("defaultTest", type(default).__name__, "it is not an object")
            return {}
        self._list_unknown("defaultTest", default)
        return default

    def _list_unknown(self, place: str, test: Mapping[str, Any]) -> None:
        self._findings.leave_keys(place, test, _KNOWN)
        options = test.get("options")
        for key in options if isinstance(options, Mapping) else ():
            if key not in _OPTIONS_ELSEWHERE:
                why = _CODE_OPTIONS.get(key, "nothing here stands for it")
                self._findings.leave(place, f"the option {str(key)[:80]}", why)

    def _combinations(self, place: str, test: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The variables of a test; a list of values gives a row for each, in all combinations."""
        self._list_unknown(place, test)
        try:
            fields = {
                **self._vars(self._default.get("vars"), "defaultTest"),
                **self._vars(test.get("vars"), place),
            }
        except CannotTakeError as error:
            self._findings.leave(place, "the whole test", str(error))
            return
        several = {} if self._keeps_lists(test) else _lists(fields)
        count = prod(len(values) for values in several.values())
        if count > MOST_ROWS:
            why = f"its lists come to {count:,} combinations"
            self._findings.leave(place, "the whole test", why)
            return
        for chosen in product(*several.values()):
            yield {**fields, **dict(zip(several, chosen, strict=True))}

    def _keeps_lists(self, test: Mapping[str, Any]) -> bool:
        options = [self._default.get("options"), test.get("options")]
        return any(isinstance(one, Mapping) and one.get("disableVarExpansion") for one in options)

    def _vars(self, given: Any, place: str) -> dict[str, Any]:
        if given is None:
            return {}
        if isinstance(given, str):
            given = self._beside.value(given)
        if isinstance(given, list) and all(isinstance(one, str) for one in given):
            merged: dict[str, Any] = {}
            for one in given:
                merged |= self._vars(one, place)
            return merged
        if not isinstance(given, Mapping):
            raise CannotTakeError("its vars are not an object")
        return {str(name): self._var(str(name), value) for name, value in given.items()}

    def _var(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            values = [self._var(name, one) for one in value]
            return _Several(values) if value and isinstance(value[0], str) else values
        if not isinstance(value, str) or not value.startswith("file://"):
            return value
        try:
            if is_code(value):
                raise CannotTakeError("it is code, which is never run")
            paths = self._beside.find(value)
            values = [self._beside.value(str(path)) for path in paths]
        except CannotTakeError as error:
            raise CannotTakeError(
                f"its variable {name} is {shown_reference(value)}: {error}"
            ) from error
        return values[0] if len(values) == 1 else _Several(values)

    def _row(self, place: str, test: Mapping[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
        filled = {name: self._filled(place, name, fields) for name in fields}
        row = {RENAMED.get(name, name): value for name, value in filled.items()}
        for name in RENAMED:
            if name in fields:
                self._findings.note(f"the variable {name} is called {RENAMED[name]} in the rows")
        asserts = [
            *self.asserts.read(self._default.get("assert"), "defaultTest", filled),
            *self.asserts.read(test.get("assert"), place, filled),
        ]
        threshold = self._threshold(place, test)
        row["assert"] = asserts
        if threshold is not None and asserts:
            self.has_threshold = True
            row["assert"] = {"assert": asserts, "threshold": threshold}
        metadata = _merged(self._default.get("metadata"), test.get("metadata"))
        for name, value in (("description", test.get("description")), ("metadata", metadata)):
            if value and name not in row:
                row[name] = value
        return row

    def _filled(self, place: str, name: str, fields: Mapping[str, Any]) -> Any:
        value = fields[name]
        if isinstance(value, str) and "{" in value:
            logic = logic_in(value)
            if logic is not None:
                what = f"{logic} in the variable {name}"
                self._findings.leave(place, what, "it is Nunjucks, which is not run; it stays text")
                return value
            if all(inner != name and inner in fields for inner in placeholders(value)):
                return fill(value, fields)
        return value

    def _threshold(self, place: str, test: Mapping[str, Any]) -> float | None:
        given = test.get("threshold", self._default.get("threshold"))
        if given is None:
            return None
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
            self._findings.leave(place, "threshold", f"{given!r:.80} is not a number from 0 to 1")
            return None
        return float(given)


def _lists(fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: value for name, value in fields.items() if isinstance(value, _Several)}


def _merged(*given: Any) -> dict[str, Any]:
    return {key: value for one in given if isinstance(one, Mapping) for key, value in one.items()}


def csv_tests(path: Path, findings: Findings) -> list[tuple[str, dict[str, Any]]]:
    """Each row as a test case, with the line where it stands."""
    problems: list[RowProblem] = []
    tests: list[tuple[str, dict[str, Any]]] = []
    for row in read_csv(path):
        if isinstance(row, RowProblem):
            problems.append(row)
        elif row.value:
            tests.append(
                (f"{path.name}, line {row.line}", _test(row.value, row.line, findings, path))
            )
    refuse_rows(path, problems)
    return tests


def is_special(column: str) -> bool:
    """Whether promptfoo gives the column a meaning of its own."""
    return column.startswith("__")


def _test(row: Mapping[str, str], line: int, findings: Findings, path: Path) -> dict[str, Any]:
    place = f"{path.name}, line {line}"
    test: dict[str, Any] = {"vars": {k: v for k, v in row.items() if not is_special(k)}}
    asserts: dict[str, dict[str, Any]] = {}
    for column, cell in row.items():
        expected = _EXPECTED.match(column)
        if not is_special(column) or not cell.strip():
            continue
        if expected is not None:
            asserts[expected.group(1) or "1"] = expected_text(cell)
        elif column == "__description":
            test["description"] = cell
        elif column == "__threshold":
            test["threshold"] = _number(cell, place, column, findings)
        elif column.startswith(_METADATA):
            name = column.removeprefix(_METADATA)
            parts = [part.strip().replace("\\,", ",") for part in _UNESCAPED_COMMA.split(cell)]
            metadata = test.setdefault("metadata", {})
            metadata[name.removesuffix("[]")] = parts if name.endswith("[]") else cell
        elif column != "__metric" and _CONFIG.match(column) is None:
            findings.leave(path.name, f"the column {column}", "nothing here stands for it")
    _complete(row, asserts, place, findings)
    if asserts:
        test["assert"] = list(asserts.values())
    return test


def _complete(
    row: Mapping[str, str], asserts: dict[str, dict[str, Any]], place: str, findings: Findings
) -> None:
    """What stands in columns of its own for asserts of the row."""
    metric = row.get("__metric", "").strip()
    if metric:
        for one in asserts.values():
            one["metric"] = metric
    for column, cell in row.items():
        config = _CONFIG.match(column)
        if config is not None and cell.strip() and (config.group(1) or "1") in asserts:
            number = _number(cell, place, column, findings)
            asserts[config.group(1) or "1"][config.group(2)] = number


def _number(cell: str, place: str, column: str, findings: Findings) -> float | None:
    try:
        return float(cell)
    except ValueError:
        findings.leave(place, f"{column} {cell[:40]!r}", "it is not a number")
        return None
