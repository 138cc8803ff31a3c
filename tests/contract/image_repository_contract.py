"""The contract of an ImageRepository, all of it."""

from __future__ import annotations

from burnish.testing.image_history_contract import ImageHistoryContract
from burnish.testing.image_leases_contract import ImageLeasesContract
from burnish.testing.image_runs_contract import ImageRunsContract


class ImageRepositoryContract(ImageHistoryContract, ImageRunsContract, ImageLeasesContract):
    """Provide `images`, and `another` repository on the same database, as of another server."""
