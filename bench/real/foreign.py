"""Other libraries' optimizers as contestants: each in an environment of its own, on our endpoint.

A script of `bench/peers` gets the rows, the first prompt and the address of an endpoint on loopback,
the same that `burnish models serve` is. Answers are limited to the labels there, calls are counted
there, and refused beyond the limit. What it finds comes back as a system message, a template of the
user's message, and examples, and is measured as ours is.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.peers import venvs
from burnish.domain import Configuration

if TYPE_CHECKING:
    from bench.real.job import Setting

_DEADLINE_SECONDS = 4 * 3_600.0
# The open slot of a user's template, as the scripts write it.
_SLOT = "<<message>>"


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """An optimizer of another library; `asks` tells whether it asks the reflector."""

    about: str
    environment: str
    script: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    asks: bool = False


FOREIGN: Mapping[str, Foreign] = {
    "dspy_bootstrap": Foreign(
        about="dspy BootstrapFewShotWithRandomSearch, its defaults, as many candidates as can be paid",
        environment="dspy",
        script="real_dspy.py",
        settings={"optimizer": "bootstrap"},
    ),
    "dspy_mipro": Foreign(
        about="dspy MIPROv2, every trial on all rows, as many trials as can be paid",
        environment="dspy",
        script="real_dspy.py",
        settings={"optimizer": "mipro"},
        asks=True,
    ),
    "capo": Foreign(
        about="promptolution's CAPO",
        environment="promptolution",
        script="real_promptolution.py",
        settings={"optimizer": "capo"},
        asks=True,
    ),
    "opro": Foreign(
        about="promptolution's OPRO",
        environment="promptolution",
        script="real_promptolution.py",
        settings={"optimizer": "opro"},
        asks=True,
    ),
    "opik_few_shot": Foreign(
        about="opik-optimizer's FewShotBayesianOptimizer, as many trials as can be paid",
        environment="opik",
        script="real_opik.py",
        settings={"optimizer": "few_shot"},
        asks=True,
    ),
}


def with_foreign(setting: Setting, job: Mapping[str, Any]) -> dict[str, Any]:
    """One run of another library, and its winner as a configuration of our agent."""
    from bench.real.endpoint import Limits, serving  # noqa: PLC0415 - a server, for few jobs

    one = FOREIGN[job["contestant"]]
    limits = Limits(answers=job["evaluations"], questions=job["reflections"] if one.asks else 0)
    with serving(setting.model, setting.reflect, setting.task.labels, limits) as served:
        told = {
            "url": served.url,
            "seed": job["seed"],
            "evaluations": job["evaluations"],
            "questions": limits.questions,
            "labels": list(setting.task.labels),
            "seed_prompt": setting.task.seed_prompt,
            "train": setting.train,
            "validation": setting.validation,
            **one.settings,
        }
        with tempfile.TemporaryDirectory(prefix="burnish-real-") as folder:
            path = Path(folder) / "job.json"
            path.write_text(json.dumps(told), encoding="utf-8")
            found = venvs.run(one.environment, one.script, path, timeout=_DEADLINE_SECONDS)
    return {
        "configuration": configuration_of(found).to_json(),
        "validation": found["validation"],
        "evaluations": served.answers,
        "usable": found.get("usable", 0),
        "note": "; ".join(filter(None, (str(found.get("note") or ""), served.refusals()))),
    }


def configuration_of(found: Mapping[str, Any]) -> Configuration:
    """What a script found, as our agent runs it; braces of its texts open no placeholder."""
    system, user = (str(found[name]) for name in ("system", "user"))
    examples = [
        {"input": {"message": message}, "output": label} for message, label in found["examples"]
    ]
    sections = {"system": _plain(system), "user": _plain(user).replace(_SLOT, "{{message}}")}
    return Configuration.of({"sections": sections, "examples": examples})


def _plain(text: str) -> str:
    return text.replace("{{", "{ {").replace("}}", "} }")
