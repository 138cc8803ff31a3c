"""Prompt of weakincentives as an agent and a suite, and the way back into its overrides store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from burnish.app.compress.compressions import CompressionResult
from burnish.app.optimize.result import OptimizationResult
from burnish.app.wiring import STATE_FOLDER
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import (
    AgentOutput,
    Configuration,
    ConflictError,
    Score,
    SearchSpace,
    UsageError,
    text_hash,
)
from burnish.integrations.weakincentives.masks import MASK_PREFIX, Masks
from burnish.integrations.weakincentives.runs import (
    DEFAULT_TIMEOUT_SECONDS,
    FunctionRuns,
    MailboxRuns,
    SampleRuns,
    Verdict,
    as_json,
)
from burnish.integrations.weakincentives.sections import TemplateSections

_FOLDER = "weakincentives"
_NOWHERE = "burnish_no_such_field"


class WeakincentivesPrompt:
    """A PromptTemplate with its store and samples, to be optimized as it is run in production.

    `built_on` is the tag it is shown under now. Samples are run by `run(prompt, sample)` and judged
    by `evaluator(output, expected)`, or both by an EvalLoop: `runs=MailboxRuns(…)`. Each candidate
    runs under a temporary tag, which is taken away at the end of the block; those of a killed
    process the next one takes away, by the journal in `folder`: use one folder for one store.
    `version` names your code for the result cache; without it nothing is cached. `check` makes sure
    that tags reach the prompt at all, with one sample that must fail to render.
    """

    def __init__(
        self,
        template: Any,
        *,
        store: Any,
        samples: Iterable[Any],
        runs: MailboxRuns | None = None,
        run: Callable[[Any, Any], Any] | None = None,
        evaluator: Callable[..., Any] | None = None,
        built_on: str = "latest",
        version: str | None = None,
        folder: str | Path | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        concurrency: int = 16,
        check: bool = True,
    ) -> None:
        _require_package()
        self._template = template
        self._store = store
        self._descriptor = template.descriptor
        self._samples = {sample.id: sample for sample in samples}
        self._built_on = built_on
        self._below = store.resolve(self._descriptor, built_on)
        self.sections = TemplateSections.of(
            template, {} if self._below is None else self._below.sections
        )
        self._runs = self._chosen(runs, run, evaluator)
        self._version = None if version is None else self._exact_version(version)
        self._timeout = timeout_seconds
        self._concurrency = concurrency
        self._unchecked = check
        self._checking = threading.Lock()
        place = Path.cwd() / STATE_FOLDER / _FOLDER if folder is None else Path(folder)
        self._masks = Masks(store, self._descriptor, self.sections, self._below, place)

    @property
    def configuration(self) -> Configuration:
        """The prompt as it is now: sections by dotted path, with {{placeholders}}."""
        return self.sections.configuration

    @property
    def space(self) -> SearchSpace:
        """What an optimizer may change."""
        return self.sections.space

    @property
    def agent(self) -> AgentSpec:
        """What `burnish.optimize` and `burnish.compress` take as the agent."""
        return AgentSpec(
            name=f"{self._descriptor.ns}/{self._descriptor.key}",
            configuration=self.configuration,
            run=self._answer,
            version=self._version,
            timeout_seconds=self._timeout,
            concurrency=self._concurrency,
        )

    def suite(self, **options: Any) -> SuiteSpec:
        """The samples with the evaluator's verdicts; options are those of `burnish.Suite`."""
        rows = [
            {"id": one.id, "input": as_json(one.input), "expected": as_json(one.expected)}
            for one in self._samples.values()
        ]
        name = f"{self._descriptor.ns}/{self._descriptor.key}"
        return SuiteSpec(**{"dataset": rows, "scorers": [verdict], "name": name, **options})

    def keep(
        self,
        result: CompressionResult | OptimizationResult | Configuration,
        *,
        tag: str,
        replace: bool = False,
    ) -> bool:
        """Write a winner to a tag, through the store, which checks hashes; False for no winner.

        The tag is then exactly what was measured: what `built_on` holds and the winner's sections.
        One that holds something else already is only overwritten with `replace`.
        """
        configuration = _winner(result)
        if configuration is None:
            return False
        bodies = self.sections.bodies(configuration)
        if not bodies:
            return False
        if tag.startswith(MASK_PREFIX):
            raise _bad_tag(tag, "such names are for temporary tags", "choose another name")
        wanted = self._masks.override(tag, bodies)
        now = self._store.resolve(self._descriptor, tag)
        if tag == self._built_on and not _same(now, self._below):
            raise _bad_tag(tag, "somebody changed it since it was read", "start again from it")
        if tag != self._built_on and now is not None and not _same(now, wanted) and not replace:
            raise _bad_tag(
                tag, "it holds other overrides", "choose another name, or say replace=True"
            )
        self._store.upsert(self._descriptor, wanted)
        return True

    def __enter__(self) -> Self:
        self._masks.open()
        self._runs.open()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._runs.close()
        finally:
            self._masks.close()

    def _answer(self, configuration: Mapping[str, Any], item: Any) -> AgentOutput:
        sample = self._samples[item.id]
        if self._unchecked:
            self._require_effect(sample)
        with self._masks.under(Configuration.of(dict(configuration))) as tag:
            judged = self._runs.evaluate(tag, sample)
        return AgentOutput(text=_told(judged), data=_document(judged))

    def _require_effect(self, sample: Any) -> None:
        """Refuse a loop that renders without the tag: every cut would seem to do no harm."""
        with self._checking:
            if not self._unchecked:
                return
            with self._masks.unrenderable(_NOWHERE) as tag:
                try:
                    self._runs.evaluate(tag, sample)
                except Exception as error:  # noqa: BLE001 - any failure but that one says nothing
                    self._unchecked = "placeholder" not in str(error).lower()
                    return
        raise UsageError(
            what="candidates would not be tried",
            why="a sample ran under a tag that no prompt can be rendered with, and nothing failed",
            fix="render with the given prompt, or in AgentLoop.prepare with this store and "
            "experiment.overrides_tag",
            code="tag_ignored",
        )

    def _chosen(
        self,
        runs: MailboxRuns | None,
        run: Callable[[Any, Any], Any] | None,
        evaluator: Callable[..., Any] | None,
    ) -> SampleRuns:
        if runs is not None and run is None and evaluator is None:
            return runs
        if runs is None and run is not None and evaluator is not None:
            return FunctionRuns(run, evaluator, self._prompt)
        raise UsageError(
            what="the prompt cannot be run",
            why="there is neither an EvalLoop's mailbox nor a run with an evaluator, or both",
            fix="give runs=MailboxRuns(requests, eval_loop=…), or run=… and evaluator=…",
            code="invalid_agent",
        )

    def _prompt(self, tag: str) -> Any:
        from weakincentives.prompt import Prompt  # noqa: PLC0415 - an extra

        return Prompt(self._template, overrides_store=self._store, overrides_tag=tag)

    def _exact_version(self, version: str) -> str:
        """What is in the prompt and in no section counts too: tools, and what the tag does to them."""
        return f"{version} {text_hash(f'{self._descriptor!r} {self._below!r}')[:16]}"


def verdict(output: Any, item: Any) -> Score:
    """The evaluator's score, which came with the output."""
    judged = output.data["score"]
    return Score(value=judged["value"], passed=judged["passed"], reason=judged["reason"])


def _told(judged: Verdict) -> str:
    if judged.output is not None:
        return judged.output
    return ("passed" if judged.passed else "failed") + (judged.reason and f": {judged.reason}")


def _document(judged: Verdict) -> dict[str, Any]:
    return {
        "output": judged.output,
        "score": {"value": judged.value, "passed": judged.passed, "reason": judged.reason},
    }


def _winner(result: CompressionResult | OptimizationResult | Configuration) -> Configuration | None:
    if isinstance(result, Configuration):
        return result
    if isinstance(result, CompressionResult):
        return result.configuration if result.report.worth_keeping else None
    return result.best.configuration if result.improved else None


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("sections", "tool_overrides", "task_example_overrides")
    )


def _bad_tag(tag: str, why: str, fix: str) -> ConflictError:
    return ConflictError(
        what=f"the tag {tag!r} was not written", why=why, fix=fix, code="tag_taken"
    )


def _require_package() -> None:
    try:
        import weakincentives.prompt  # noqa: F401, PLC0415 - an extra
    except (ImportError, SyntaxError):
        raise UsageError(
            what="weakincentives prompts cannot be used",
            why="the package weakincentives cannot be imported; it needs Python 3.12 or later",
            fix="with Python 3.13: pip install 'burnish[weakincentives]'",
            code="missing_extra",
        ) from None
