"""Scorers that come with a request: built-in kinds without code, files or endless patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import UsageError
from burnish.evaluation.scorers.assert_checks import WHY_SLOW, may_take_for_ever

_CODE_KINDS = ("python", "function")


def require_harmless(scorers: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what would run code, read files of the server, or may never end."""
    for scorer in scorers:
        kind = scorer.get("kind")
        if kind in _CODE_KINDS or not isinstance(kind, str) or ":" in kind:
            raise _refused(f"a scorer of the kind {str(kind)[:80]!r} is code", "code_not_allowed")
        if kind == "weighted":
            parts = scorer.get("scorers")
            if not isinstance(parts, list) or not all(isinstance(one, dict) for one in parts):
                raise _refused("the parts of a weighted scorer are a list of objects")
            require_harmless(parts)
        if kind == "json_schema" and not isinstance(scorer.get("schema"), Mapping):
            raise _refused("the schema of a json_schema scorer is an object here, and no file")
        if not isinstance(scorer.get("criteria", ""), str):
            raise _refused("the criteria of a judge are text here, and no file")
        if kind == "regex":
            _require_quick(scorer)


def _require_quick(scorer: Mapping[str, Any]) -> None:
    pattern = scorer.get("pattern")
    if not isinstance(pattern, str):
        raise _refused("a regex scorer has its pattern here, and not in the rows")
    if may_take_for_ever(pattern):
        raise _refused(WHY_SLOW)


def _refused(why: str, code: str = "scorer_not_allowed") -> UsageError:
    return UsageError(
        what="the suite's scorers cannot be used",
        why=why,
        fix="use built-in kinds; scorers with code or files stand in the server's burnish.toml",
        code=code,
    )
