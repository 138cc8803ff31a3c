"""Judge agent: a judge that is improved itself, on outputs and labels of a dataset."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from burnish.domain import (
    AgentOutput,
    Configuration,
    Item,
    Json,
    Message,
    Model,
    Purpose,
    Spending,
    UnavailableError,
    UsageError,
    canonical_hash,
)
from burnish.domain.configuration import MODEL
from burnish.domain.labels import SAID
from burnish.evaluation.agents.model_choice import ModelChoice
from burnish.evaluation.scorers.comparison import as_text
from burnish.evaluation.scorers.judge import PROMPT_VERSION, LLMJudge
from burnish.evaluation.scorers.judge_calls import JUDGE_UNAVAILABLE
from burnish.support.hints import nearest

CRITERIA = "criteria"


class JudgeAgent:
    """Answers with its verdict on an output that the item holds; its sections are its criteria.

    `output` is the item's column with the output. Of the others the judge sees `fields`, or all but
    those in `hidden`, which are the labels; what was said beside them it never sees. With a
    `threshold` the score decides what passes; with `score_only` the judge gives nothing else, and
    passes from 0.5 on. The answer is `pass` or `fail`; score and reason come with it, for the scorer
    `agreement`. `models` has the model of each configuration, `model` is that of the agent's own.
    """

    def __init__(
        self,
        *,
        name: str,
        configuration: Configuration,
        model: Model | ModelChoice,
        output: str = "output",
        fields: Sequence[str] | None = None,
        hidden: Sequence[str] = ("label",),
        threshold: float | None = None,
        score_only: bool = False,
    ) -> None:
        self.name = name
        self.configuration = configuration
        self.models = model if isinstance(model, ModelChoice) else ModelChoice(model)
        self.model = self.models.of(configuration)
        self._output = output
        self._fields = None if fields is None else tuple(fields)
        self._hidden = (*hidden, *SAID)
        self._threshold = threshold
        self._score_only = score_only
        self._order = tuple(configuration.sections)
        self._require_unlabelled_fields()
        self._judge(configuration)  # refuses what no item could be judged by
        self.fingerprint: str | None = self.fingerprint_under(configuration)

    @classmethod
    def of(
        cls,
        name: str,
        configuration: Configuration,
        model: Model | ModelChoice,
        table: Mapping[str, Any],
    ) -> JudgeAgent:
        """From the `judge` table of an agent."""
        own = ("self", "name", "configuration", "model")
        known = [one for one in inspect.signature(cls.__init__).parameters if one not in own]
        for key in table:
            if key not in known:
                raise UsageError(
                    what=f"the agent {name!r} cannot be a judge",
                    why=f"it has no setting {key!r}",
                    fix=nearest(key, known),
                    code="unknown_setting",
                )
        return cls(name=name, configuration=configuration, model=model, **table)

    def fingerprint_under(self, configuration: Configuration) -> str:
        """The fingerprint with the model that the configuration names."""
        material = [self._output, self._fields, self._hidden]
        shown = [*material, self._threshold, self._score_only, self._order]
        model = self.models.of(configuration).fingerprint
        return canonical_hash(["judge-agent/2", PROMPT_VERSION, model, shown])

    def require_columns(self, columns: Collection[str]) -> None:
        """Refuse a dataset without the outputs, before anything is paid."""
        for name in (self._output, *(self._fields or ())):
            if name not in columns:
                raise UsageError(
                    what=f"the judge {self.name!r} cannot judge",
                    why=f"the dataset has no column {name!r}; it has {', '.join(sorted(columns))}",
                    fix="name the column in the agent's `judge` table",
                    code="unknown_field",
                )

    def require_hidden(self, labels: Iterable[str]) -> None:
        """Refuse to be compared with labels that the judge would see; they may be paths."""
        columns = [one.split(".")[0] for one in labels]
        shown = [one for one in columns if one not in (self._output, *self._hidden)]
        if self._fields is not None:
            shown = [one for one in shown if one in self._fields]
        if shown:
            raise UsageError(
                what=f"the judge {self.name!r} cannot be compared with labels",
                why=f"it would see the column {shown[0]!r}, which holds them",
                fix=f'hide it in the agent\'s `judge` table: hidden = ["{shown[0]}"]',
                code="label_shown",
            )

    def _require_unlabelled_fields(self) -> None:
        told = [one for one in self._fields or () if one in self._hidden]
        if told:
            raise UsageError(
                what=f"the judge {self.name!r} cannot see the column {told[0]!r}",
                why="it is hidden, or holds what was said of the outputs",
                fix="leave it out of `fields`; where it is part of the task, give it another name",
                code="label_shown",
            )

    async def run(self, configuration: Configuration, item: Item, *, repeat: int) -> AgentOutput:
        """One verdict."""
        judge = self._judge(configuration)
        score = await judge.verdict_on(*self._material(item), repeat=repeat)
        if score.error is not None:
            self._raise(score.error)
        passed = score.passed if score.passed is not None else score.value >= 0.5
        data: Json = {"score": score.value, "pass": passed, "reason": score.reason}
        spending = Spending.on(Purpose.AGENT, score.spending.total)
        return AgentOutput(text="pass" if passed else "fail", data=data, spending=spending)

    def messages(self, item: Item) -> tuple[Message, ...]:
        """What the model is asked about an item, by the agent's own criteria."""
        return self._judge(self.configuration).messages(*self._material(item))

    def _material(self, item: Item) -> tuple[AgentOutput, dict[str, Json]]:
        """The output that is judged, and what else the judge sees."""
        shown = {
            name: value
            for name, value in item.data.items()
            if (self._fields is None or name in self._fields)
            and name not in (self._output, *self._hidden)
        }
        return AgentOutput(text=as_text(item.data.get(self._output))), shown

    async def close(self) -> None:
        """Nothing of its own: the model belongs to whoever opened it."""

    def _judge(self, configuration: Configuration) -> LLMJudge:
        criteria = [configuration.sections[one] for one in self._order]
        given = {name: one for name, one in configuration.parameters.items() if name != MODEL}
        return LLMJudge(
            self.models.of(configuration),
            criteria[0] if len(criteria) == 1 else "\n\n".join(criteria),
            threshold=self._threshold,
            parameters=given or None,
            score_only=self._score_only,
        )

    def _raise(self, error: str) -> None:
        if error.startswith(JUDGE_UNAVAILABLE):
            raise UnavailableError(
                what="the judge could not be asked", why=error, fix="check its model"
            )
        raise ValueError(error)
