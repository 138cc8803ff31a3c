"""Results in MLflow and Weights & Biases, each in a store of this machine where it is installed."""

import builtins
import importlib.util

import pytest

import burnish
from burnish.domain import UsageError
from burnish.integrations.tracking.facts import facts_of

ROWS = [{"q": f"q{n}", "label": "x" if n % 2 else "y"} for n in range(20)]
SUITE = burnish.Suite(
    dataset=ROWS,
    scorers=[{"kind": "exact_match", "field": "label"}],
    split={"train": 0.2, "validation": 0.4, "test": 0.4},
)


def answer(configuration, item):
    better = len(configuration["sections"]["user"]) > len("{{q}}")
    return item["label"] if better else "x"


AGENT = burnish.Agent(
    name="a", configuration={"sections": {"system": "Say.", "user": "{{q}}"}}, run=answer
)


@pytest.fixture
def optimized(tmp_path):
    budget = burnish.Budget(max_trials=4)
    return burnish.optimize(AGENT, SUITE, "edits", budget, seed=1, db=tmp_path / "b.db")


@pytest.fixture
def evaluated(tmp_path):
    return burnish.evaluate(AGENT, SUITE, db=tmp_path / "b.db")


def test_an_optimization_is_its_winner_its_series_and_the_comparison(optimized):
    facts = facts_of(optimized)

    assert facts.metrics["best_score"] == optimized.best.score
    assert facts.metrics["test_best_score"] == optimized.test["best_score"]
    assert facts.metrics["improvement_delta"] == optimized.improvement.delta
    assert "cost_usd" not in facts.metrics, "an unknown cost is not a cost of 0"
    assert facts.parameters["optimizer"] == "edits"
    assert facts.configuration == optimized.best.configuration
    assert [number for number, _ in facts.series] == [0, 1, 2, 3, 4]
    best = [values["trial_best_score"] for _, values in facts.series]
    assert best == sorted(best)
    assert best[-1] == optimized.best.score > best[0]


def test_an_evaluation_and_a_compression_are_logged_too(evaluated, tmp_path):
    budget = burnish.Budget(max_trials=2)
    shorter = burnish.compress(AGENT, SUITE, budget, seed=1, db=tmp_path / "b.db")

    assert facts_of(evaluated).metrics["score"] == evaluated.score
    assert facts_of(shorter).metrics["tokens_before"] == shorter.report.tokens_before
    with pytest.raises(UsageError, match="it is a dict"):
        facts_of({})


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_what_is_not_installed_is_named(evaluated, monkeypatch, name):
    real = builtins.__import__

    def without(wanted, *rest, **options):
        if wanted == name:
            raise ImportError(wanted)
        return real(wanted, *rest, **options)

    log = getattr(burnish, f"to_{name}")
    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(UsageError, match=rf"pip install 'burnish\[{name}\]'"):
        log(evaluated)


def installed(name):
    missing = importlib.util.find_spec(name) is None
    return pytest.mark.skipif(missing, reason=f"pip install 'burnish[{name}]' to run this")


@installed("mlflow")
@pytest.mark.filterwarnings("ignore")
def test_mlflow_has_parameters_series_winner_and_report(optimized, evaluated, tmp_path):
    from mlflow import MlflowClient  # noqa: PLC0415

    place = f"sqlite:///{tmp_path / 'mlflow.db'}"
    client = MlflowClient(place)
    client.create_experiment("prompts", artifact_location=(tmp_path / "artifacts").as_uri())

    first = burnish.to_mlflow(optimized, experiment="prompts", tracking_uri=place)
    second = burnish.to_mlflow(evaluated, experiment="prompts", tracking_uri=place)

    run = client.get_run(first)
    assert run.info.status == "FINISHED"
    assert run.data.tags["burnish.id"] == optimized.optimization_id
    assert run.data.params["seed"] == "1"
    assert run.data.metrics["best_score"] == optimized.best.score
    assert run.data.metrics["test_best_score"] == optimized.test["best_score"]
    history = client.get_metric_history(first, "trial_score")
    assert [(one.step, one.value) for one in history] == [
        (row["number"], row["score"]) for row in optimized.rows
    ]
    files = {one.name: one for one in (tmp_path / "artifacts").rglob("*") if one.is_file()}
    assert {"configuration.json", "report.html"} <= set(files)
    assert client.get_run(second).data.metrics["score"] == evaluated.score


@installed("mlflow")
@pytest.mark.filterwarnings("ignore")
def test_mlflow_goes_on_with_a_run_of_the_callers(evaluated, tmp_path):
    from mlflow import MlflowClient  # noqa: PLC0415

    place = f"sqlite:///{tmp_path / 'mlflow.db'}"
    client = MlflowClient(place)
    experiment = client.create_experiment("e", artifact_location=(tmp_path / "a").as_uri())
    own = client.create_run(experiment).info.run_id

    assert burnish.to_mlflow(evaluated, tracking_uri=place, run_id=own) == own

    assert client.get_run(own).info.status == "RUNNING"
    assert client.get_run(own).data.metrics["score"] == evaluated.score


@installed("wandb")
@pytest.mark.filterwarnings("ignore")
def test_wandb_keeps_an_offline_run(optimized, tmp_path, monkeypatch):
    for name in ("WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "own"))
    monkeypatch.setenv("WANDB_SILENT", "true")

    import wandb  # noqa: PLC0415

    identity = burnish.to_wandb(optimized, mode="offline", folder=tmp_path)
    wandb.teardown()  # Its own process writes the file, and is waited for here.

    kept = list((tmp_path / "wandb").glob(f"offline-run-*-{identity}/run-{identity}.wandb"))
    assert len(kept) == 1
    stored = kept[0].read_bytes()
    for told in ("trial_best_score", "test_best_score", optimized.optimization_id):
        assert told.encode() in stored
