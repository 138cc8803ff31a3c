"""promptfoo's scenarios: each of their data sets with each of their tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from burnish.integrations.imports.files import Beside, CannotTakeError, shown_reference
from burnish.integrations.imports.project import Findings
from burnish.integrations.imports.promptfoo_tests import MOST_ROWS, Test, TestReader

_KNOWN = ("config", "tests", "description")
_OBJECTS = ("vars", "metadata", "options")


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
            for key in scenario:
                if key not in _KNOWN:
                    what = f"the key {str(key)[:80]}"
                    self._findings.leave(place, what, "nothing here stands for it")
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
