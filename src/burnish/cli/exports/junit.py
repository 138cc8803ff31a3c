"""JUnit XML, which every CI system shows: a run is a test case."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from xml.sax.saxutils import escape, quoteattr

from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.display.failing_items import complaint
from burnish.cli.exports.records import Record

# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


async def junit_lines(
    result: EvaluationResult, records: AsyncIterator[Record]
) -> AsyncIterator[str]:
    """The report. What failed is a failure, what ended in an error an error."""
    experiment = result.experiment
    failures = max(result.failed - result.errors, 0)
    seconds = (result.summary.avg_latency_ms or 0.0) * result.items / 1000
    counts = (
        f'tests="{result.items}" failures="{failures}" '
        f'errors="{result.errors}" time="{seconds:.3f}"'
    )
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={_attribute(experiment.name)} {counts}>\n"
    yield (
        f"<testsuite name={_attribute(experiment.suite_name)} {counts} "
        f"timestamp={_attribute(experiment.created_at)}>\n<properties>\n"
    )
    for name, value in (
        ("experiment_id", experiment.id),
        ("score", f"{result.score:.6g}"),
        ("pass_rate", f"{result.pass_rate:.6g}"),
        ("configuration_hash", experiment.configuration.hash),
    ):
        yield f"<property name={_attribute(name)} value={_attribute(value)}/>\n"
    yield "</properties>\n"
    classname = f"{experiment.suite_name}.{experiment.agent_name}"
    async for record in records:
        yield _case(record, classname)
    yield "</testsuite>\n</testsuites>\n"


def _case(record: Record, classname: str) -> str:
    run = record.result
    name = run.item_id if run.repeat == 0 else f"{run.item_id} (repeat {run.repeat})"
    lines = [
        f"<testcase classname={_attribute(classname)} name={_attribute(name)} "
        f'time="{run.latency_ms / 1000:.3f}">\n'
    ]
    if run.error is not None:
        lines.append(_problem("error", run.error.kind.value, run.error.message))
    elif not run.passed:
        reason = complaint(run) or f"the score is {run.score:g}"
        lines.append(_problem("failure", "score", reason))
    if run.output is not None:
        lines.append(f"<system-out>{_text(run.output.text)}</system-out>\n")
    return "".join([*lines, "</testcase>\n"])


def _problem(tag: str, kind: str, message: str) -> str:
    first = message.splitlines()[0] if message else ""
    head = f"{tag} type={_attribute(kind)} message={_attribute(first[:300])}"
    return f"<{head}>{_text(message)}</{tag}>\n"


def _text(value: str) -> str:
    return escape(_ILLEGAL.sub("�", value))


def _attribute(value: str) -> str:
    return quoteattr(_ILLEGAL.sub("�", value))
