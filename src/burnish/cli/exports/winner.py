"""A candidate as something to take along: a document, a page of text, a module."""

from __future__ import annotations

import json
import pprint
import re
from collections.abc import Iterator, Mapping
from typing import Any

from burnish.app.agents.promotion import Promotion
from burnish.domain import Configuration

_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
_WIDTH = 100


def winner_document(found: Promotion) -> dict[str, Any]:
    """What it is, where it comes from and what speaks for it."""
    return {
        "agent": found.record.agent_name,
        "optimization_id": found.record.id,
        "candidate_id": found.candidate.id,
        "number": found.candidate.number,
        "rationale": found.candidate.rationale,
        "score": found.score,
        "baseline_score": found.baseline_score,
        "evidence": None if found.evidence is None else dict(found.evidence),
        "doubts": list(found.doubts),
        "configuration": found.candidate.configuration.to_json(),
        "configuration_hash": found.candidate.configuration.hash,
    }


def winner_json(found: Promotion) -> str:
    """The document, readable."""
    return json.dumps(winner_document(found), indent=2, ensure_ascii=False) + "\n"


def winner_markdown(found: Promotion) -> str:
    """A page for a wiki or a pull request; every text stands in a fence that it cannot close."""
    lines = [f"# {_one_line(found.record.agent_name)}", "", *_facts(found)]
    configuration = found.candidate.configuration
    for path, text in configuration.sections.items():
        lines += ["", f"## {_one_line(path)}", "", *_fenced(text, "text")]
    if configuration.parameters:
        lines += ["", "## Parameters", "", *_fenced(_json(configuration.parameters), "json")]
    if configuration.examples:
        lines += ["", "## Examples", ""]
        lines += _fenced(_json([dict(one) for one in configuration.examples]), "json")
    return "\n".join(lines) + "\n"


def winner_python(found: Promotion) -> str:
    """A module of plain literals, which `burnish.Agent(configuration=CONFIGURATION)` takes."""
    facts = "\n".join(_harmless(line) for line in _facts(found))
    return "\n".join(
        [
            f'"""{_harmless(_one_line(found.record.agent_name))}, written by Burnish.',
            "",
            facts,
            '"""',
            "",
            "CONFIGURATION = {",
            '    "sections": {',
            *(
                _section(path, text)
                for path, text in found.candidate.configuration.sections.items()
            ),
            "    },",
            *_literals(found.candidate.configuration),
            "}",
            "",
        ]
    )


def _facts(found: Promotion) -> Iterator[str]:
    yield f"- Candidate {found.candidate.number} of optimization {found.record.id}"
    if found.score is not None:
        before = "" if found.baseline_score is None else f", baseline {found.baseline_score:.3f}"
        yield f"- Score in the search: {found.score:.3f}{before}"
    evidence = found.evidence or {}
    if "best_score" in evidence and "baseline_score" in evidence:
        held = f"{evidence['best_score']:.3f}, baseline {evidence['baseline_score']:.3f}"
        yield f"- Score on held-out items: {held}"
    for doubt in found.doubts:
        yield f"- Beware: {_one_line(doubt)}"


def _section(path: str, text: str) -> str:
    """Line by line, so that a change of the prompt is a change of its lines here too."""
    lines = text.splitlines(keepends=True) or [""]
    parts = "".join(f"            {line!r}\n" for line in lines)
    return f"        {path!r}: (\n{parts}        ),"


def _literals(configuration: Configuration) -> Iterator[str]:
    settings: Mapping[str, Any] = {
        "parameters": dict(configuration.parameters),
        "examples": [dict(one) for one in configuration.examples],
    }
    for name, value in settings.items():
        if value:
            told = pprint.pformat(value, width=_WIDTH - 4, sort_dicts=False)
            yield f"    {name!r}: " + told.replace("\n", "\n    ") + ","


def _fenced(text: str, kind: str) -> list[str]:
    longest = max((len(fence) for fence in _FENCE.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{kind}", text.rstrip("\n"), fence]


def _json(value: Any) -> str:
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, indent=2, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _harmless(text: str) -> str:
    """Nothing in it ends the docstring or means anything there."""
    return text.replace("\\", "\\\\").replace('"', "'")
