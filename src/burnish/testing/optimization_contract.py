"""What every store of optimizations keeps to. Subclass a contract and provide its fixtures."""

from burnish.testing.lease_contract import LeaseContract
from burnish.testing.optimization_events_contract import OptimizationEventsContract
from burnish.testing.optimization_records_contract import OptimizationRecordsContract
from burnish.testing.optimization_trials_contract import OptimizationTrialsContract
from burnish.testing.overlay_contract import OverlayStoreContract

__all__ = ["LeaseContract", "OptimizationRepositoryContract", "OverlayStoreContract"]


class OptimizationRepositoryContract(
    OptimizationRecordsContract, OptimizationTrialsContract, OptimizationEventsContract
):
    """Provide `optimizations`, and `experiments` and `datasets` on the same store."""
