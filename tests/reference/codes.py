"""Page of codes: exit codes, why runs and proposals end, statuses, and every error's code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.reference.markdown import NONE, table
from tests.reference.raised import Raised, every_error

from burnish import domain
from burnish.domain import BurnishError
from burnish.domain.experiments.refinement import RoundEnd
from burnish.domain.optimizations.optimizer import ReasonCode
from burnish.optimization.extensions import ExtensionFailed

WORDS: Mapping[str, Any] = tomllib.loads(
    (Path(__file__).parent / "words.toml").read_text(encoding="utf-8")
)
_LISTS: Mapping[str, type[StrEnum]] = {
    "Why a proposal was refused": ReasonCode,
    "Why an optimization ended": domain.StopReason,
    "Status of an optimization": domain.OptimizationStatus,
    "Status of an experiment": domain.ExperimentStatus,
    "Errors of single items": domain.ErrorKind,
    "Why an output is refined no further": RoundEnd,
    "Events of a run": domain.EventType,
}
_ERRORS = """## Error codes

| family | exit code | HTTP status | try again? |
| --- | --- | --- | --- |
FAMILIES
A `not_found` has the HTTP status 404. "…" stands for what the message names. One code may have
other words elsewhere; the first are shown.
"""


def made(_: str) -> str:
    """All lists of codes."""
    exits = [[f"`{code}`", words] for code, words in WORDS["exit_codes"].items()]
    parts = ["## Exit codes\n", table(["code", "what it says"], exits)]
    for title, kind in _LISTS.items():
        told = WORDS.get(kind.__name__, {})
        rows = [[f"`{one.value}`", told.get(one.value, "")] for one in kind]
        parts += [f"## {title}\n", table(["value", "what it says"], rows)]
    families = "\n".join(_family(one) for one in _families())
    parts.append(_ERRORS.replace("FAMILIES", families + "\n"))
    head = ["code", "family", "what happened", "how to fix it"]
    return "\n".join([*parts, table(head, map(_row, sorted(by_code().items())))])


def by_code() -> dict[str, list[Raised]]:
    """Every code with the places that raise it; those that only words tell of too."""
    found: dict[str, list[Raised]] = {}
    for one in every_error():
        found.setdefault(one.code, []).append(one)
    for code, words in WORDS["errors"].items():
        found.setdefault(code, [Raised(code, "", words, "")])
    return found


def undescribed() -> list[str]:
    """Codes without a word."""
    named = [
        f"{kind.__name__}.{one.value}"
        for kind in _LISTS.values()
        for one in kind
        if one.value not in WORDS.get(kind.__name__, {})
    ]
    exits = [
        f"exit code {one.exit_code}"
        for one in _families()
        if str(one.exit_code) not in WORDS["exit_codes"]
    ]
    return [*named, *exits, *(code for code, raised in by_code().items() if not _what(raised))]


def _families() -> Iterator[type[BurnishError]]:
    for name in ("UsageError", "ConflictError", "UnavailableError", "InvariantError"):
        yield getattr(domain, name)
    yield ExtensionFailed


def _family(one: type[BurnishError]) -> str:
    again = "yes" if one.retryable else "no"
    return f"| `{one.__name__}` | {one.exit_code} | {one.http_status} | {again} |"


def _row(pair: tuple[str, list[Raised]]) -> list[str]:
    code, raised = pair
    families = dict.fromkeys(one.family for one in raised if one.family)
    fix = next((one.fix for one in raised if one.fix), "")
    shown = [f"`{one}`" if one[0].isupper() else one for one in families]
    return [f"`{code}`", ", ".join(shown) or NONE, _plain(_what(raised)), _plain(fix) or NONE]


def _what(raised: list[Raised]) -> str:
    own: str = WORDS["errors"].get(raised[0].code, "")
    return own or next((one.what for one in raised if one.what), "")


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return text.replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[").replace("{{", "{ {")
