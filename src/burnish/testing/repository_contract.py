"""What every repository keeps to. Subclass a contract and provide the fixtures that it names."""

from burnish.testing.database_contract import DatabaseContract
from burnish.testing.dataset_contract import CallCacheContract, DatasetRepositoryContract
from burnish.testing.experiment_contract import ExperimentRepositoryContract
from burnish.testing.experiment_samples import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    SCOPE,
    failed_result,
    make_experiment,
    make_result,
    random_results,
    summary_of,
)

__all__ = [
    "AWKWARD_JSON",
    "AWKWARD_TEXTS",
    "SCOPE",
    "CallCacheContract",
    "DatabaseContract",
    "DatasetRepositoryContract",
    "ExperimentRepositoryContract",
    "failed_result",
    "make_experiment",
    "make_result",
    "random_results",
    "summary_of",
]
