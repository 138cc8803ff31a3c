"""promptolution's CAPO and OPRO on a task, asking our endpoint.

Its prompts are one text before the input, examples written into it, behind its own system message. The
endpoint lets the model answer with labels only, so answers need no markers and examples no reasoning.
The first population is the task's first prompt and variations of it that the library's own function
asks the reflector for.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
from promptolution.llms.api_llm import APILLM
from promptolution.optimizers.capo import CAPO
from promptolution.optimizers.opro import OPRO
from promptolution.predictors.base_predictor import BasePredictor
from promptolution.tasks.classification_tasks import ClassificationTask
from promptolution.utils.callbacks import BaseCallback
from promptolution.utils.prompt_creation import create_prompt_variation
from promptolution.utils.templates import DEFAULT_SYS_PROMPT
from real_job import ANSWERS, REFLECTOR, SLOT, found, serve

_BLOCK = 10
# So many prompts live at once, and so many are crossed in a step; each asks the reflector twice.
_POPULATION, _CROSSOVERS = 4, 2
_OPRO_STEP = 4


class Labels(BasePredictor):
    """Answers as they are: they are labels."""

    def __init__(self, llm: Any, labels: list[str]) -> None:
        super().__init__(llm)
        self.extraction_description = f"The answer is one of: {', '.join(labels)}."

    def _extract_preds(self, preds: list[str]) -> list[str]:
        return [one.strip().lower() for one in preds]


class Enough(BaseCallback):
    """Ends the search before a step that could ask too often."""

    def __init__(self, counted: Counted, questions: int, a_step: int) -> None:
        super().__init__()
        self.counted, self.questions, self.a_step = counted, questions, a_step

    def on_step_end(self, optimizer: Any) -> bool:
        """Called by promptolution."""
        return self.counted.asked + self.a_step <= self.questions


class Counted(APILLM):
    """Counts questions."""

    asked = 0

    def _get_response(self, prompts: list[str], system_prompts: list[str]) -> list[str]:
        self.asked += len(prompts)
        return super()._get_response(prompts, system_prompts)


def run(job: dict[str, Any]) -> dict[str, Any]:
    """The optimizer that the job names."""
    random.seed(job["seed"])
    np.random.seed(job["seed"])
    common = {"api_url": job["url"], "api_key": "none", "max_retries": 0}
    patient = {"call_timeout_s": 7_200.0, "gather_timeout_s": 14_000.0}
    client = {"client_kwargs": {"max_retries": 0}}
    answers = APILLM(
        model_id=ANSWERS, max_tokens=64, max_concurrent_calls=1, **common, **patient, **client
    )
    meta = Counted(
        model_id=REFLECTOR,
        max_tokens=512,
        max_concurrent_calls=1,
        call_kwargs={"temperature": 1.0},
        **common,
        **patient,
        **client,
    )
    frames = {
        name: pd.DataFrame([{"x": row["message"], "y": row["label"]} for row in job[name]])
        for name in ("train", "validation")
    }
    task = ClassificationTask(
        df=frames["validation"],
        task_description=job["seed_prompt"],
        n_subsamples=_BLOCK,
        eval_strategy="sequential_block" if job["optimizer"] == "capo" else "full",
        seed=job["seed"],
    )
    predictor = Labels(answers, job["labels"])
    varied = create_prompt_variation([job["seed_prompt"]] * (_POPULATION - 1), meta)
    first = list(dict.fromkeys([job["seed_prompt"], *(one for one in varied if one.strip())]))
    while len(first) < 2:
        first.append(f"{job['seed_prompt']} Answer with the label only.")
    search = capo if job["optimizer"] == "capo" else opro
    optimizer = search(job, task, predictor, meta, first, frames["train"])
    prompts = optimizer.optimize(n_steps=1_000)
    best = prompts[int(np.argmax(optimizer.scores))] if len(optimizer.scores) else prompts[0]
    return found(
        system=DEFAULT_SYS_PROMPT,
        user=f"{best.construct_prompt()}\n{SLOT}",
        validation=[None, max(map(float, optimizer.scores), default=None)],
        usable=len(first) - 1,
        note=f"{meta.asked} questions, first population {len(first)}",
    )


def capo(
    job: dict[str, Any], task: Any, predictor: Any, meta: Counted, first: list[str], train: Any
) -> Any:
    """Its defaults, but for a small population, as one question takes long."""
    return CAPO(
        predictor=predictor,
        task=task,
        meta_llm=meta,
        initial_prompts=first,
        crossovers_per_iter=_CROSSOVERS,
        upper_shots=5,
        create_fs_reasoning=False,
        check_fs_accuracy=False,
        df_few_shots=train,
        callbacks=[Enough(meta, job["questions"], 2 * _CROSSOVERS)],
    )


def opro(
    job: dict[str, Any], task: Any, predictor: Any, meta: Counted, first: list[str], _: Any
) -> Any:
    """Its defaults, but for fewer new prompts in a step."""
    return OPRO(
        predictor=predictor,
        task=task,
        meta_llm=meta,
        initial_prompts=first,
        num_instructions_per_step=_OPRO_STEP,
        callbacks=[Enough(meta, job["questions"], _OPRO_STEP)],
    )


serve(run)
