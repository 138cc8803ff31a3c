"""`gepa_reference`: its settings, and what is said when the package is not there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from burnish.domain import UsageError
from burnish.optimizers import GepaReference, build_optimizer, list_optimizers

MERGES = """
import random
from gepa.proposer.merge import sample_and_attempt_merge_programs_by_common_predictors as merge
from burnish.optimizers.gepa_package.adapter import _Name

def merged(name, seed):
    names = [name(one) for one in ("system", "style", "user", "format", "task")]
    programs = [
        {one: "old" for one in names},
        {one: "old" if one == names[0] else "left" for one in names},
        {one: "right" for one in names},
    ]
    new, *_ = merge(
        agg_scores=[0.1, 0.5, 0.5],
        rng=random.Random(seed),
        merge_candidates=[1, 2],
        merges_performed=([], []),
        program_candidates=programs,
        parent_program_for_candidate=[[None], [0], [0]],
    )
    return list(new.values())

print([[merged(name, seed) for seed in range(20)] for name in (str, _Name)])
"""


class TestSettings:
    def test_it_is_found_by_its_name(self) -> None:
        assert "gepa_reference" in list_optimizers()
        made = build_optimizer("gepa_reference", {"model": str.upper, "use_merge": True})

        assert isinstance(made, GepaReference)

    @pytest.mark.parametrize(
        "setting",
        [
            {"model": None},
            {"minibatch_size": 0},
            {"candidate_selection": "best"},
            {"module_selector": "any"},
            {"max_merge_invocations": -1},
            {"max_metric_calls": 0},
        ],
        ids=str,
    )
    def test_a_wrong_one_is_refused_at_once(self, setting: dict[str, object]) -> None:
        with pytest.raises(UsageError) as caught:
            GepaReference(**{"model": str.upper, **setting})

        assert caught.value.code == "invalid_setting"
        assert next(iter(setting)) in caught.value.what

    def test_without_the_package_it_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "gepa", None)

        with pytest.raises(UsageError) as caught:
            build_optimizer("gepa_reference", {"model": str.upper})

        assert caught.value.code == "missing_extra"
        assert caught.value.fix == "pip install 'burnish[gepa]'"
        assert "gepa_reference" in list_optimizers()


def test_merges_draw_alike_in_every_process() -> None:
    """The package draws in the order of a set of names; under plain text that order is by chance."""
    told = [
        eval(
            subprocess.run(
                [sys.executable, "-c", MERGES],
                env={**os.environ, "PYTHONHASHSEED": seed},
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for seed in ("1", "2", "3")
    ]

    plain, named = zip(*told, strict=True)
    assert plain[0] != plain[1] or plain[1] != plain[2]
    assert named[0] == named[1] == named[2]
