"""Parameters that a model refuses: left out or renamed from the first refusal on, in this process."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from burnish.domain import Json
from burnish.models.failures import ErrorAnswer
from burnish.models.traffic import current_traffic

_log = logging.getLogger(__name__)
# Without these an answer still answers what was asked. A limit of tokens is none of them.
_OPTIONAL = frozenset(
    (
        *("temperature", "top_p", "top_k", "min_p", "seed", "stop", "logit_bias"),
        *(
            "presence_penalty",
            "frequency_penalty",
            "repetition_penalty",
            "logprobs",
            "top_logprobs",
        ),
        *("reasoning_effort", "verbosity", "thinking", "parallel_tool_calls", "service_tier"),
    )
)
# What vendors call them in their own requests.
_OTHER_NAMES = {
    "reasoning_effort": (
        *("effort", "thinking_config", "thinking_level", "thinking level"),
        *("thinking_budget", "thinking budget"),
    ),
    "max_tokens": ("max_output_tokens",),
    "stop": ("stop_sequences",),
    "top_logprobs": ("logprobs",),
    "presence_penalty": ("penalty",),
    "frequency_penalty": ("penalty",),
}
_CODES = ("unsupported_parameter", "unsupported_value", "unknown_parameter")
_NOT_TAKEN = re.compile(
    r"not (?:supported?|permitted|allowed|available|accept|compatible|enabled)|unsupported|incompatible"
    r"|deprecated|n[o']t support|only (?:the default|be set)|cannot both|unrecognized|unknown"
    r"|unexpected|no longer",
    re.IGNORECASE,
)
# It takes the parameter, but not this value, which is for the user to mend.
_OTHER_VALUE = re.compile(r"supported values|must be|valid values|one of", re.IGNORECASE)
_INSTEAD = re.compile(r"use [`'\"]?(\w+)[`'\"]? instead", re.IGNORECASE)
# By address and model: the name to use instead of a parameter's, or nothing to leave it out.
_known: dict[tuple[str, str], dict[str, str]] = {}


def accepted(address: str, model: str, parameters: Mapping[str, Json]) -> Mapping[str, Json]:
    """The parameters without those that the model is known to refuse."""
    known = _known.get((address, model))
    if not known:
        return parameters
    for name in parameters:
        if name in known:
            current_traffic().notice(_words(model, name, known[name]))
    named = ((known.get(name, name), value) for name, value in parameters.items())
    return {name: value for name, value in named if name}


def learn_refusal(
    address: str, model: str, said: ErrorAnswer, parameters: Mapping[str, Json]
) -> bool:
    """Whether the endpoint refused one of the parameters, which is remembered and told once."""
    name = _refused(said, parameters)
    if name is None:
        return False
    known = _known.setdefault((address, model), {})
    if name not in known:
        found = _INSTEAD.search(said.message)
        instead = found[1] if found and found[1] not in parameters else ""
        if not instead and name not in _OPTIONAL:
            return False
        known[name] = instead
        _log.warning("%s (%s)", _words(model, name, instead), said.message)
    return True


def _words(model: str, name: str, instead: str) -> str:
    done = f"it is sent as {instead}" if instead else "it is left out"
    return f"{model} does not take the parameter {name}: {done}"


def _refused(said: ErrorAnswer, parameters: Mapping[str, Json]) -> str | None:
    """The parameter that an error names as one that the model does not take."""
    if said.status not in (400, 422):
        return None
    if said.code not in _CODES and not _NOT_TAKEN.search(said.message):
        return None
    if _OTHER_VALUE.search(said.message):
        return None
    places = {name: _place(name, said) for name in parameters}
    named = sorted((place, name) for name, place in places.items() if place >= 0)
    if not named:
        return None
    # Of two that exclude each other the first is kept.
    return named[-1 if "both" in said.message else 0][1]


def _place(name: str, said: ErrorAnswer) -> int:
    """Where an error names a parameter; below 0 where it doesn't."""
    names = (name, *_OTHER_NAMES.get(name, ()))
    if said.param.rpartition(".")[2] in names:
        return 0
    # Google's names have no underscores: topP.
    words = "|".join(re.escape(one) for one in (*names, name.replace("_", "")))
    found = re.search(rf"\b(?:{words})\b", said.message, re.IGNORECASE)
    return found.start() + 1 if found else -1
