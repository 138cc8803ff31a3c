"""Plugin of pytest: the fixture `burnish_case`, by which each row of a suite is a test.

Nothing of Burnish is loaded before a test asks for the fixture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burnish.app.evaluate.project_tests import ProjectUnderTest
    from burnish.app.evaluate.records import Record

    Results = dict[ProjectUnderTest, dict[str, list[Record]]]

_FIXTURE = "burnish_case"
_OPTIONS = ("config", "dataset", "split", "limit", "db")
_RESULTS = pytest.StashKey["Results"]()


@dataclass(frozen=True, slots=True)
class BurnishCase:
    """One row of a suite with what the agent answered and the scorers say; `runs` are its repeats."""

    id: str
    runs: Sequence[Record]

    @property
    def input(self) -> Mapping[str, Any]:
        """The row's fields."""
        return self.runs[0].fields

    @property
    def output(self) -> str | None:
        """The answer, of the first run that did not pass where there is one; None after an error."""
        output = self._shown.result.output
        return None if output is None else output.text

    @property
    def score(self) -> float:
        """The mean over the runs."""
        return sum(one.result.score for one in self.runs) / len(self.runs)

    @property
    def passed(self) -> bool:
        """Whether every run passed."""
        return all(one.result.passed for one in self.runs)

    @property
    def reason(self) -> str:
        """Why it did not pass: an error, or what a scorer says; empty where it passed."""
        from burnish.app.evaluate.records import complaint  # noqa: PLC0415 - see above

        if self.passed:
            return ""
        failed = self._shown.result
        said = complaint(failed) or f"the score is {failed.score:g}"
        if len(self.runs) == 1:
            return said
        failures = sum(not one.result.passed for one in self.runs)
        return f"{failures} of {len(self.runs)} runs did not pass: {said}"

    @property
    def _shown(self) -> Record:
        return next((one for one in self.runs if not one.result.passed), self.runs[0])

    def assert_passed(self) -> None:
        """Fail with the reason, the input and the output."""
        __tracebackhide__ = True
        if not self.passed:
            shown = f"{self.reason}\n  input: {dict(self.input)}\n  output: {self.output}"
            raise AssertionError(shown)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "burnish(config, dataset, split, limit, db): which rows the fixture burnish_case has: of a "
        "burnish.toml or its folder, of another dataset, of a split, at most so many.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each row, where one asks for the fixture."""
    if _FIXTURE not in metafunc.fixturenames:
        return
    from burnish.domain import BurnishError  # noqa: PLC0415 - see above

    try:
        project = _project(metafunc.definition.get_closest_marker("burnish"), metafunc.config)
        ids = project.item_ids()
    except BurnishError as error:
        pytest.fail(str(error), pytrace=False)
    metafunc.parametrize(_FIXTURE, [(project, one) for one in ids], indirect=True, ids=ids)


def _project(marker: pytest.Mark | None, config: pytest.Config) -> ProjectUnderTest:
    from burnish.app.evaluate.project_tests import ProjectUnderTest  # noqa: PLC0415 - see above

    given = {} if marker is None else dict(marker.kwargs)
    unknown = [*(marker.args if marker else ()), *(one for one in given if one not in _OPTIONS)]
    if unknown:
        known = ", ".join(_OPTIONS)
        pytest.fail(f"pytest.mark.burnish takes {known} by name, and not {unknown}", pytrace=False)
    return ProjectUnderTest(**{**given, "config": config.rootpath / given.get("config", "")})


@pytest.fixture
def burnish_case(request: pytest.FixtureRequest) -> BurnishCase:
    """One row of the suite, evaluated: `burnish_case.assert_passed()` fails with the reason.

    All chosen rows are evaluated together, as one experiment, when the first of them is asked for; in
    a worker of pytest-xdist, which does not know its share, each by itself. Answers that the project's
    database has already are not asked for again.
    """
    project, item_id = request.param
    results = request.config.stash.setdefault(_RESULTS, {}).setdefault(project, {})
    if item_id not in results:
        alone = hasattr(request.config, "workerinput")
        wanted = {item_id} if alone else _chosen(request.session, project)
        results.update(project.run(wanted - results.keys()))
    return BurnishCase(item_id, results[item_id])


def _chosen(session: pytest.Session, project: ProjectUnderTest) -> set[str]:
    """The rows of a project that this session has tests of, after all that was deselected."""
    given = [
        item.callspec.params.get(_FIXTURE) for item in session.items if hasattr(item, "callspec")
    ]
    return {one[1] for one in given if one is not None and one[0] == project}
