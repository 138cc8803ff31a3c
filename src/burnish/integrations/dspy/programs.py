"""DSPy programs as agents: their predictors' instructions are sections, their demos examples.

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

from burnish.config.specs import AgentSpec
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
    copied,
    demos_of,
    examples_of,
    input_names,
    plain,
)
from burnish.models.fingerprints import callable_fingerprint

_THINKING = ("reasoning", "rationale")
_MOST_COPIES = 8
_MOST_STEPS = 50


def from_dspy(
    module: Any,
    *,
    lm: Any = None,
    input_fields: Sequence[str] | None = None,
    output_field: str | None = None,
    name: str | None = None,
    version: str | None = None,
) -> AgentSpec:
    """An agent of a `dspy.Module`. The module itself is never changed: copies run.

    Each predictor's instructions are a section, such as `answer.predict.instructions`. Without
    `lm`, a model or its name, the one that dspy is configured with is asked. Of an item the
    `input_fields` are passed, by default what `forward` takes. The output's text is that of
    `output_field`; without it that of the only field besides the reasoning, else all as JSON.
    """
    predictors = Predictors.of(module)
    program = _Program(module, _language_model(lm), input_fields, output_field)
    return AgentSpec(
        name=name or type(module).__name__,
        configuration={"sections": predictors.instructions(), "examples": examples_of(predictors)},
        run=program.run,
        version=version or _version(module, lm),
    )


def to_dspy(module: Any, configuration: Any) -> Any:
    """A copy of the module with a configuration's instructions and demos, such as the winner's.

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
        steps: list[Any] = []
        with _context(self._lm, steps):
            answer = program(**given)
        return self._output(answer, program, steps)

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

    def _output(self, answer: Any, program: Any, steps: Sequence[Any]) -> AgentOutput:
        fields = _answer_fields(answer)
        return AgentOutput(
            text=self._text(answer, fields),
            data=fields or None,
            trace=_trace(program, steps),
            spending=Spending.on(Purpose.AGENT, _usage(answer, len(steps))),
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
        told = [wanted] if wanted else [one for one in fields if one not in _THINKING]
        value = fields[told[0]] if len(told) == 1 else (fields or plain(answer))
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _configured(module: Any, configuration: Configuration) -> Any:
    predictors = Predictors.of(module)
    copy = copied(module)
    chosen = Predictors.of(copy)
    unknown = [path for path in configuration.sections if path not in chosen.by_path]
    if unknown:
        raise UsageError(
            what=f"the DSPy program has no section {unknown[0]!r}",
            why=f"it has {', '.join(chosen.by_path)}",
            fix="give a configuration that was made from this program",
            code="unknown_section",
        )
    for path, text in configuration.sections.items():
        predictor = chosen.by_path[path]
        predictor.signature = predictor.signature.with_instructions(text)
    before = Configuration.of({"examples": examples_of(predictors)}).examples
    if list(configuration.examples) != list(before):
        for predictor, demos in demos_of(configuration.examples, chosen):
            predictor.demos = demos
    return copy


def _answer_fields(answer: Any) -> dict[str, Any]:
    read = getattr(answer, "toDict", None)
    value = read() if callable(read) else answer
    if not isinstance(value, Mapping):
        return {}
    return {str(key): plain(inner) for key, inner in value.items()}


def _trace(program: Any, steps: Sequence[Any]) -> Any:
    """What each predictor was given and said: what reflection reads."""
    names = {id(one): path for path, one in Predictors.of(program).by_path.items()}
    told = []
    for predictor, given, said in steps[:_MOST_STEPS]:
        path = names.get(id(predictor), type(predictor).__name__)
        told.append({"section": path, "given": plain(given), "said": _answer_fields(said)})
    return told or None


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
def _context(lm: Any, steps: list[Any]) -> Iterator[None]:
    dspy = _loaded()
    if dspy is None:
        yield
        return
    chosen = {} if lm is None else {"lm": lm}
    with dspy.context(trace=steps, track_usage=True, **chosen):
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
    kinds = {type(module), *(type(one) for _, one in _submodules(module))}
    own = sorted(kinds, key=lambda kind: (kind.__module__, kind.__qualname__))
    code = [callable_fingerprint(kind.forward) for kind in own if not _is_of_dspy(kind)]
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


def _submodules(module: Any) -> list[tuple[str, Any]]:
    read = getattr(module, "named_sub_modules", None)
    return list(read()) if callable(read) else []


def _is_of_dspy(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "dspy"
