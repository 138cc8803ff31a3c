"""DSPy programs as agents: instructions, fields and tools are sections, demos are examples.

Burnish does not depend on dspy. It is found where the program came from, and only then.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from burnish.domain import (
    AgentOutput,
    Configuration,
    Purpose,
    Spending,
    Usage,
    UsageError,
    canonical_hash,
)
from burnish.evaluation.views import ConfigurationView, ItemView
from burnish.integrations.dspy.predictors import (
    Predictors,
    demos_of,
    examples_of,
    input_names,
)
from burnish.integrations.dspy.program_texts import ProgramTexts, submodules
from burnish.integrations.dspy.tools import tools_of
from burnish.integrations.dspy.transcript import Transcript
from burnish.integrations.frameworks.framework_agent import FrameworkAgent, as_ours, plain
from burnish.models.fingerprints import callable_fingerprint

_THINKING = ("reasoning", "rationale")
# What modules with tools answer besides; the transcript has it.
_ON_THE_WAY = ("trajectory", "history", "termination_reason")
_MOST_COPIES = 8


def from_dspy(
    module: Any,
    *,
    lm: Any = None,
    input_fields: Sequence[str] | None = None,
    output_field: str | None = None,
    name: str | None = None,
    version: str | None = None,
) -> FrameworkAgent:
    """An agent of a `dspy.Module`. The module itself is never changed: copies run.

    Each predictor's instructions are a section, such as `answer.predict.instructions`, and so are
    the descriptions of its fields, `answer.predict.fields.answer`, and those of tools and their
    parameters, `tools.search.description`. `apply` gives a copy with a winner's texts.

    Without `lm`, a model or its name, the one that dspy is configured with is asked. Of an item the
    `input_fields` are passed, by default what `forward` takes. The output's text is that of
    `output_field`; without it that of the only field besides the reasoning, else all as JSON.
    """
    texts = ProgramTexts.of(module)
    program = _Program(module, _language_model(lm), input_fields, output_field)
    return FrameworkAgent(
        name=name or type(module).__name__,
        configuration={"sections": texts.sections(), "examples": examples_of(texts.predictors)},
        run=program.run,
        version=version or _version(module, lm),
        rebuild=lambda configuration: _configured(module, configuration),
    )


def to_dspy(module: Any, configuration: Any) -> Any:
    """A copy of the module with a configuration's texts and demos, such as the winner's.

    `configuration` may be a configuration or whatever has one, such as `result.best`.
    """
    given = getattr(configuration, "configuration", configuration)
    return _configured(module, Configuration.of(given))


class _Program:
    """Runs copies of a module, one for each configuration that is in use."""

    def __init__(
        self, module: Any, lm: Any, fields: Sequence[str] | None, output_field: str | None
    ) -> None:
        self._module = module
        self._lm = lm
        self._fields = tuple(fields) if fields is not None else input_names(module)
        self._output_field = output_field
        self._copies: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, configuration: ConfigurationView, item: ItemView) -> AgentOutput:
        """One call of the program."""
        program = self._copy(configuration)
        given = {name: item[name] for name in self._fields if name in item}
        if not given:
            raise UsageError(
                what="the DSPy program cannot be run",
                why=f"the item has none of {', '.join(self._fields)}; it has {', '.join(item)}",
                fix="name the columns with input_fields=…, or rename them",
                code="unknown_field",
            )
        transcript = Transcript(program)
        try:
            with _context(self._lm, transcript):
                answer = program(**given)
        except Exception as error:
            raise as_ours(error, "DSPy") from error
        return self._output(answer, transcript)

    def _copy(self, configuration: ConfigurationView) -> Any:
        with self._lock:
            known = self._copies.get(configuration.hash)
            if known is None:
                known = _configured(self._module, Configuration.of(dict(configuration)))
                self._copies[configuration.hash] = known
                if len(self._copies) > _MOST_COPIES:
                    self._copies.popitem(last=False)
            self._copies.move_to_end(configuration.hash)
            return known

    def _output(self, answer: Any, transcript: Transcript) -> AgentOutput:
        fields = _answer_fields(answer)
        return AgentOutput(
            text=self._text(answer, fields),
            data=_told(fields) or None,
            trace=transcript.trace,
            spending=Spending.on(Purpose.AGENT, _usage(answer, transcript.calls)),
        )

    def _text(self, answer: Any, fields: Mapping[str, Any]) -> str:
        wanted = self._output_field
        if wanted is not None and wanted not in fields:
            raise UsageError(
                what=f"the DSPy program gave no {wanted!r}",
                why=f"it gave {', '.join(fields) or 'no fields'}",
                fix="correct output_field",
                code="no_output",
            )
        told = _told(fields)
        chosen = [wanted] if wanted else [one for one in told if one not in _THINKING]
        value = fields[chosen[0]] if len(chosen) == 1 else (told or plain(answer))
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _configured(module: Any, configuration: Configuration) -> Any:
    copy = ProgramTexts.of(module).with_texts(configuration.sections)
    before = Configuration.of({"examples": examples_of(Predictors.of(module))}).examples
    if list(configuration.examples) != list(before):
        for predictor, demos in demos_of(configuration.examples, Predictors.of(copy)):
            predictor.demos = demos
    return copy


def _answer_fields(answer: Any) -> dict[str, Any]:
    read = getattr(answer, "toDict", None)
    value = read() if callable(read) else answer
    if not isinstance(value, Mapping):
        return {}
    return {str(key): plain(inner) for key, inner in value.items()}


def _told(fields: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without the steps to it, where there is anything else."""
    told = {name: value for name, value in fields.items() if name not in _ON_THE_WAY}
    return told or dict(fields)


def _usage(answer: Any, calls: int) -> Usage:
    """Tokens where dspy counted them. It knows no price of a single call."""
    read = getattr(answer, "get_lm_usage", None)
    counted = read() if callable(read) else None
    tokens = [one for one in (counted or {}).values() if isinstance(one, Mapping)]
    return Usage(
        calls=calls,
        input_tokens=sum(int(one.get("prompt_tokens") or 0) for one in tokens),
        output_tokens=sum(int(one.get("completion_tokens") or 0) for one in tokens),
        cost_usd=None if calls else 0.0,
    )


@contextlib.contextmanager
def _context(lm: Any, transcript: Transcript) -> Iterator[None]:
    dspy = _loaded()
    if dspy is None:
        yield
        return
    chosen = {} if lm is None else {"lm": lm}
    callbacks = [*(dspy.settings.get("callbacks") or ()), transcript]
    with dspy.context(callbacks=callbacks, track_usage=True, **chosen):
        yield


def _language_model(lm: Any) -> Any:
    if lm is None:
        return None
    dspy = _loaded()
    if dspy is None:
        raise UsageError(
            what="the language model of a DSPy program cannot be used",
            why="dspy is not loaded",
            fix="pip install dspy, and import it",
            code="missing_extra",
        )
    return dspy.LM(lm) if isinstance(lm, str) else lm


def _loaded() -> ModuleType | None:
    """The library, where a program of it can be: it is not a dependency of ours."""
    return sys.modules.get("dspy")


def _version(module: Any, lm: Any) -> str | None:
    """What answers depend on besides the configuration; None where that cannot be seen."""
    held = [module, *(one for _, one in submodules(module) if one is not module)]
    kinds = sorted(
        {type(one) for one in held}, key=lambda kind: (kind.__module__, kind.__qualname__)
    )
    code = [callable_fingerprint(kind.forward) for kind in kinds if not _is_of_dspy(kind)]
    tools = [place.tool for one in held for place in tools_of(one)]
    code += [callable_fingerprint(one.func) for one in tools if not _is_of_dspy(one.func)]
    asked = _model_state(lm)
    try:
        state = json.dumps(module.dump_state(), sort_keys=True)
    except (AttributeError, TypeError, ValueError):
        return None
    if None in code or asked is None:
        return None
    library = getattr(_loaded(), "__version__", "")
    return f"dspy-{canonical_hash([library, state, asked, code])[:32]}"


def _model_state(lm: Any) -> str | None:
    """A model as text; None for the one that dspy happens to be set to, and for models of others."""
    if isinstance(lm, str):
        return lm
    if lm is None or type(lm) is not getattr(_loaded(), "LM", None):
        return None
    try:
        return json.dumps(lm.dump_state(), sort_keys=True)
    except (AttributeError, TypeError, ValueError):
        return None


def _is_of_dspy(kind: Any) -> bool:
    return str(getattr(kind, "__module__", "")).partition(".")[0] == "dspy"
