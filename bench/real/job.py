"""One run in a process of its own: a contestant optimizes a task's prompt, which is then measured.

Jobs come as a JSON list on stdin, and each is answered with a JSON line.
"""

from __future__ import annotations

import asyncio
import io
import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from statistics import fmean
from typing import Any

import burnish
from bench.real.calls import CountedModel, KeptCalls
from bench.real.foreign import FOREIGN, with_foreign
from bench.real.tasks import Row, Split, Task, load_task, split
from bench.real.verdicts import SAID_ON, second_look, verdict
from burnish.benchmarks.burnish_runner import build_for
from burnish.benchmarks.contestants import PEERS
from burnish.benchmarks.peers.peer_jobs import serve
from burnish.domain import AgentOutput, Configuration, Item, Message, ModelRequest, UsageError
from burnish.evaluation.agents.prompt_agent import PromptAgent
from burnish.evaluation.scorers.catalog import build_scorer
from burnish.evaluation.statistics import paired_permutation_test
from burnish.models.catalog import open_model
from burnish.models.settings import ModelSettings

# What `gepa` gives its questions by a schema; the package's questions get the same.
_REFLECTION_TOKENS = 1_024
_FIRST_REFLECTIONS = 2
# Those that go by the probability of the right label too.
SOFT = ("auto", "joint")
# Behind a name of ours: the same without probabilities, to measure what they save.
HARD = "_hard"
# One process a model; results must not depend on how busy the machine is.
_PATIENT = ModelSettings(workers=1, timeout_seconds=3_600, queue_seconds=36_000)


class Setting:
    """A task with its models, in the form of a world: what every contestant is given."""

    def __init__(
        self, task: Task, rows: Split, model: CountedModel, reflector: CountedModel
    ) -> None:
        self.task, self.rows = task, rows
        self.model, self.reflect = model, reflector
        self.sections = {"system": task.seed_prompt}
        self.train, self.validation = rows.train, rows.validation
        self.calls = 0
        self.texts: set[str] = set()
        self._agent = PromptAgent(
            name=task.name,
            configuration=self.configuration(self.sections),
            model=model,
            labels=task.labels,
        )
        self._scorer = build_scorer(self.scorer, open_model=open_model, folder=Path.cwd())

    @property
    def scorer(self) -> dict[str, str]:
        """For a suite."""
        return {"kind": self.task.scorer, "field": "label"}

    def configuration(self, sections: Mapping[str, str]) -> Configuration:
        """The message follows the text that is optimized."""
        return Configuration.of({"sections": {**sections, "user": "{{message}}"}})

    def answer(self, sections: Mapping[str, str], row: Row) -> AgentOutput:
        """What the agent says, as in Burnish's own runs; a text that cannot be used says nothing."""
        self.calls += 1
        self.texts.add(sections["system"])
        return self.answer_with(self.configuration(sections), row)

    def answer_with(self, configuration: Configuration, row: Row) -> AgentOutput:
        """The same for a whole configuration, examples and label words with it."""
        item = Item(id="", data=row)
        try:
            return asyncio.run(self._agent.run(configuration, item, repeat=0))
        except UsageError as error:
            return AgentOutput(text=f"(no answer: {error.why})")

    def score(self, output: AgentOutput, row: Row) -> tuple[float, str]:
        """The score, and what the reflector is told about it."""
        score = asyncio.run(self._scorer.score(output, Item(id="", data=row)))
        verdict = "correct" if score.value >= 1 else "wrong"
        said = f"{verdict}, score {score.value:g}. {score.reason or ''}"
        if score.value < 1 and self.task.labels:
            said = f"{said}. The answer is one of: {', '.join(self.task.labels)}"
        return score.value, said.strip()

    def ask(self, prompt: str) -> str:
        """The reflector's answer in free text."""
        request = ModelRequest(
            messages=(Message("user", prompt),), parameters={"max_tokens": _REFLECTION_TOKENS}
        )
        return asyncio.run(self.reflect.complete(request)).text

    def scores(self, configuration: Configuration, rows: Sequence[Row]) -> list[float]:
        """On rows that no search sees."""
        return [self.score(self.answer_with(configuration, row), row)[0] for row in rows]


def run(job: dict[str, Any]) -> dict[str, Any]:
    """One optimization, and both prompts on the test rows."""
    task = load_task(Path(job["data"]), job["task"])
    calls = KeptCalls(Path(job["calls"]))
    model = CountedModel(open_model(f"local/{job['model']}", _PATIENT, cache=calls))
    reflector = CountedModel(
        open_model(f"local/{job['reflector']}", _PATIENT, cache=calls), job["reflections"]
    )
    setting = Setting(task, split(task, job["seed"], job["test"]), model, reflector)
    started = time.perf_counter()
    try:
        found = search_of(job["contestant"])(setting, job)
        seconds = time.perf_counter() - started
        measured = measure(setting, found)
    finally:
        asyncio.run(model.close())
        asyncio.run(reflector.close())
        calls.close()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    kept = ("task", "seed", "contestant", "code", "key", "evaluations")
    return {
        **{name: job[name] for name in kept},
        **measured,
        "asked": reflector.calls,
        "seconds": seconds,
        "cpu_seconds": sum(one.ru_utime + one.ru_stime for one in used),
        "from_disk": [model.from_disk, reflector.from_disk],
        **{"made" if name == "evaluations" else name: value for name, value in found.items()},
    }


def search_of(contestant: str) -> Callable[[Setting, Mapping[str, Any]], dict[str, Any]]:
    """What runs a contestant."""
    if contestant in FOREIGN:
        return with_foreign
    return with_package if contestant.startswith("gepa_package") else with_burnish


def measure(setting: Setting, found: Mapping[str, Any]) -> dict[str, Any]:
    """Both prompts on the test rows, what a third of these says, and what all others say to that."""
    test, spare = setting.rows.test, setting.rows.spare
    first = setting.configuration(setting.sections)
    winner = Configuration.of(found["configuration"])
    is_new = asked_apart(winner) != asked_apart(first)
    before = setting.scores(first, test)
    after = setting.scores(winner, test)
    change = paired_permutation_test(before, after, seed=0)
    part = len(test) // SAID_ON
    second = None
    other = found["configuration"] if is_new else found.get("challenger")
    if other is not None:
        old = [*before[part:], *setting.scores(first, spare)]
        new = setting.scores(Configuration.of(other), [*test[part:], *spare])
        second = second_look(old, new)
    return {
        "items": [len(setting.train), len(setting.validation), len(test)],
        "before": fmean(before),
        "after": fmean(after),
        "gain": change.delta,
        "low": change.ci_low,
        "high": change.ci_high,
        "p_value": change.p_value,
        "fixed": change.improved,
        "broken": change.worsened,
        "said": verdict(before[:part], after[:part], is_new=is_new),
        "second": second,
    }


def asked_apart(configuration: Configuration) -> dict[str, Any]:
    """A configuration without what changes no answer."""
    told = configuration.to_json()
    kept = {name: one for name, one in told["parameters"].items() if name != "label_logprobs"}
    return {**told, "parameters": kept}


def with_burnish(setting: Setting, job: Mapping[str, Any]) -> dict[str, Any]:
    """An optimizer of the catalog, through the public API and in a database of its own."""
    settings = dict(job["settings"])
    if job["contestant"] == "gepa":
        first = min(_FIRST_REFLECTIONS, job["reflections"])
        rest = max(job["reflections"] - first, 0.5)
        settings = {
            "population_size": first,
            "evaluations_per_reflection": job["evaluations"] / rest,
            **settings,
        }
    if job["contestant"].endswith(HARD):
        settings = {"soft_scores": False, **settings}
    if job["contestant"] == "auto":
        settings = {"model": None, **settings}  # Without a key, so without a writer.
    splits = {"train": setting.train, "validation": setting.validation}
    with tempfile.TemporaryDirectory(prefix="burnish-real-") as folder:
        result = burnish.optimize(
            agent=burnish.Agent(
                name=setting.task.name,
                configuration=_asking(setting, job["contestant"]),
                model=setting.model,
                labels=setting.task.labels,
            ),
            suite=burnish.Suite(
                dataset=[{**row, "split": name} for name, rows in splits.items() for row in rows],
                scorers=[setting.scorer],
                split="field",
            ),
            optimizer=build_for(setting, job["contestant"].removesuffix(HARD), settings),
            budget=burnish.Budget(max_evaluations=job["evaluations"]),
            seed=job["seed"],
            db=Path(folder) / "real.db",
        )
    tally = (result.document.get("search") or {}).get("reflections") or {}
    if failed := tally.get("kinds", {}).get("failed"):
        # A result would depend on how busy the machine was; what was answered is on disk.
        raise RuntimeError(f"{failed} questions had no answer in time; run the command again")
    return {
        "configuration": result.best.configuration.to_json(),
        "validation": [result.baseline.score, result.best.score],
        "evaluations": result.evaluations,
        "usable": setting.reflect.calls - sum(tally.get("kinds", {}).values()),
        "unusable": tally,
        "note": result.stop_reason or "",
        "challenger": _challenger(result),
    }


def _challenger(result: burnish.OptimizationResult) -> dict[str, Any] | None:
    """Where the first prompt was kept, the best other one that the search had run as a whole."""
    first = result.baseline.candidate_id
    if result.best.candidate_id != first:
        return None
    others = [one for one in result.trials if one.counts and one.candidate_id != first]
    if not others:
        return None
    best = max(others, key=lambda one: one.objective_score or 0.0)
    return result.candidates[best.candidate_id].configuration.to_json()


def _asking(setting: Setting, contestant: str) -> Configuration:
    """With probabilities of labels for those that read them; an answer is the same without."""
    plain = setting.configuration(setting.sections)
    if contestant.removesuffix(HARD) not in SOFT or not setting.task.labels:
        return plain
    return Configuration.of({**plain.to_json(), "parameters": {"label_logprobs": True}})


def with_package(setting: Setting, job: Mapping[str, Any]) -> dict[str, Any]:
    """The `gepa` package, asking as it does; it ends where the next iteration might ask too often."""
    sys.path.append(str(PEERS))
    from gepa.api import optimize  # noqa: PLC0415 - needed by one contestant
    from gepa.strategies.proposal_sampling import PxNSampling  # noqa: PLC0415
    from gepa_package import Quiet, WorldAdapter  # noqa: PLC0415 - a script, beside our package

    settings = dict(job["settings"])
    sampling = settings.pop("sampling", ())

    def has_asked_enough(_state: Any) -> bool:
        return setting.reflect.calls + math.prod(sampling) > job["reflections"]

    with redirect_stdout(io.StringIO()):
        result = optimize(
            seed_candidate=dict(setting.sections),
            trainset=setting.train,
            valset=setting.validation,
            adapter=WorldAdapter(setting, threads=1),
            reflection_lm=setting.ask,
            max_metric_calls=job["evaluations"],
            stop_callbacks=[has_asked_enough],
            sampling_strategy=PxNSampling(*sampling) if sampling else None,
            seed=job["seed"],
            logger=Quiet(),
            **settings,
        )
    scores = result.val_aggregate_scores
    return {
        "configuration": setting.configuration(result.best_candidate).to_json(),
        "validation": [scores[0], scores[result.best_idx]],
        "evaluations": setting.calls,
        "usable": len(setting.texts - set(setting.sections.values())),
        "note": f"{len(result.candidates) - 1} accepted",
    }


if __name__ == "__main__":
    serve(run)
