"""What every experiment repository keeps to. Subclass it and provide its fixtures."""

from burnish.testing.experiment_records_contract import ExperimentRecordsContract
from burnish.testing.experiment_results_contract import ExperimentResultsContract
from burnish.testing.experiment_rounds_contract import ExperimentRoundsContract
from burnish.testing.experiment_summaries_contract import ExperimentSummariesContract


class ExperimentRepositoryContract(
    ExperimentRecordsContract,
    ExperimentResultsContract,
    ExperimentRoundsContract,
    ExperimentSummariesContract,
):
    """Provide `experiments`, and `datasets` on the same store."""
