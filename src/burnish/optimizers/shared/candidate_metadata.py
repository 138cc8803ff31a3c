"""Metadata of candidates as optimizers read it, also in runs that an older version began."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from burnish.domain import Candidate, Json

_KIND = re.compile(r" \[gepa: ([a-z]+)\]\Z")
_EDITS = re.compile(r" \[edits: (\[.*\])\]\Z", re.DOTALL)
_REFLECTIONS = re.compile(r"\[reflection ([^\]]*)\]\Z")
_PURPOSES = {
    "Together, what was tried alone in vain.": "union",
    "Is it in the way of others?": "conflict",
}


def metadata_of(candidate: Candidate) -> Mapping[str, Json]:
    """What a candidate's proposal carried."""
    return candidate.metadata or legacy_metadata(candidate.rationale or "")


def legacy_metadata(rationale: str) -> dict[str, Json]:
    """The metadata that a rationale stands for: candidates stored before revision 0010 have no other.

    Versions up to then wrote the kind of a `gepa` move, the names of edits and the digests of
    reflections at its end. Nothing else reads a rationale, and nothing new depends on this.
    """
    if kind := _KIND.search(rationale):
        purpose = next((name for words, name in _PURPOSES.items() if words in rationale), None)
        return {"kind": kind[1]} if purpose is None else {"kind": kind[1], "purpose": purpose}
    if edits := _EDITS.search(rationale):
        try:
            return {"edits": json.loads(edits[1])}
        except ValueError:
            return {}
    if digests := _REFLECTIONS.search(rationale):
        return {"reflections": dict(pair.partition("=")[::2] for pair in digests[1].split())}
    return {}
