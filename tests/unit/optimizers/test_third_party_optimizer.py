"""Optimizers by name: built in, of other packages, and what is said when the name is wrong."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from driver import Run

import burnish.optimizers
from burnish.domain import Configuration, StopReason, UsageError
from burnish.optimizers import build_optimizer, list_optimizers

EXAMPLE = Path(__file__).parents[3] / "examples" / "third_party_optimizer"


def install(folder: Path, entry_points: str, **modules: str) -> None:
    """What pip leaves behind: metadata with entry points, and modules beside it."""
    info = folder / "somebody-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[burnish.optimizers]\n{entry_points}\n")
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]
    importlib.invalidate_caches()


class TestBuiltIn:
    @pytest.mark.parametrize(
        ("name", "settings", "made"),
        [
            ("edits", {"patience": 3, "target": 1}, "Edits"),
            ("few_shot", {"max_examples": 4, "answer_field": "gold"}, "FewShot"),
            ("random", {"max_edits": 2, "patience": None}, "RandomSearch"),
            ("grid", {"steps": 3, "sections": {"system": ["a", "b"]}}, "GridSearch"),
        ],
    )
    def test_each_is_made_by_its_name(self, name, settings, made):
        optimizer = build_optimizer(name, settings)

        assert type(optimizer) is getattr(burnish.optimizers, made)
        assert optimizer.name == name
        assert all(getattr(optimizer, key) for key, value in settings.items() if value)

    def test_all_are_listed(self):
        assert {"edits", "few_shot", "grid", "random"} <= set(list_optimizers())
        assert list_optimizers() == sorted(list_optimizers())

    def test_a_wrong_name_is_answered_with_the_nearest_and_the_list(self):
        with pytest.raises(UsageError) as refused:
            build_optimizer("edit", {})

        assert "'edits'" in refused.value.fix and "few_shot" in refused.value.fix

    @pytest.mark.parametrize(
        ("name", "settings", "says"),
        [
            ("edits", {"patiense": 3}, "did you mean 'patience'"),
            ("edits", {"zzz": 3}, "max_edits"),
            ("edits", {"patience": "3"}, "'3' is not a whole number"),
            ("edits", {"patience": 2.5}, "2.5 is not a whole number"),
            ("edits", {"patience": True}, "True is not a whole number"),
            ("edits", {"target": "high"}, "'high' is not a number"),
            ("few_shot", {"answer_field": 7}, "7 is not text"),
            ("grid", {"sections": {"system": "a"}}, "a table whose values are each a list"),
            ("grid", {"sections": ["a"]}, "is not a table"),
            ("grid", {"steps": 1}, "from 2 up"),
            ("random", {"max_edits": 0}, "from 1 up"),
        ],
    )
    def test_a_wrong_setting_is_refused_by_name(self, name, settings, says):
        with pytest.raises(UsageError) as refused:
            build_optimizer(name, settings)

        assert says in str(refused.value)
        assert next(iter(settings)) in str(refused.value)

    def test_a_missing_attribute_of_the_folder_is_an_attribute_error(self):
        with pytest.raises(AttributeError, match="Gradient"):
            _ = burnish.optimizers.Gradient

        assert set(burnish.optimizers.__all__) <= set(dir(burnish.optimizers))

    def test_asking_for_one_loads_no_other(self):
        code = (
            "import sys, burnish.optimizers as o; o.GridSearch; "
            "print('burnish.optimizers.edits.optimizer' in sys.modules)"
        )

        said = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=1200
        )

        assert said.stdout.strip() == "False"


class TestThirdParty:
    def test_the_example_package_runs_like_a_built_in_one(self, site):
        points = (EXAMPLE / "pyproject.toml").read_text()
        assert 'shouting = "burnish_shouting:Shouting"' in points
        source = (EXAMPLE / "burnish_shouting.py").read_text()
        install(site, "shouting = burnish_shouting:Shouting", burnish_shouting=source)

        optimizer = build_optimizer("shouting", {"mark": "!!"})
        run = Run(
            optimizer=optimizer,
            baseline=Configuration.of(
                {"sections": {"system": "Be kind.\nBe brief.", "user": "Now:\n{{q}}"}}
            ),
            world=lambda candidate, item: (
                float("BRIEF!!" in candidate.configuration.sections["system"]),
                "x",
            ),
            places=2,
        ).go()

        assert "shouting" in list_optimizers()
        assert run.best.objective_score == 1.0
        assert run.decision.reason is StopReason.CONVERGENCE
        assert len(run.trials) == 4
        assert not run.refused

    def test_its_settings_are_checked_by_its_signature(self, site):
        install(site, "mine = mine_module:make", mine_module=MINE)

        with pytest.raises(UsageError, match="did you mean 'depth'"):
            build_optimizer("mine", {"dept": 1})
        with pytest.raises(UsageError, match="not a whole number"):
            build_optimizer("mine", {"depth": "deep"})
        with pytest.raises(UsageError, match="lacks its setting 'depth'"):
            build_optimizer("mine", {})
        with pytest.raises(UsageError, match="no method initialize"):
            build_optimizer("mine", {"depth": 1})

    def test_a_built_in_name_cannot_be_taken(self, site):
        install(site, "edits = mine_module:make", mine_module=MINE)

        assert type(build_optimizer("edits", {})).__name__ == "Edits"

    def test_a_broken_package_is_named(self, site):
        install(site, "broken = broken_module:Thing", broken_module="raise RuntimeError('no disk')")

        with pytest.raises(UsageError, match="no disk"):
            build_optimizer("broken", {})

    def test_something_that_makes_nothing_is_named(self, site):
        install(site, "odd = odd_module:VALUE", odd_module="VALUE = 7")

        with pytest.raises(UsageError, match="odd_module:VALUE is a int"):
            build_optimizer("odd", {})


MINE = """
def make(*, depth: int):
    return object()
"""
