"""Dataset rows from lists and files, streamed: read for each pass, never held in memory."""

from burnish.evaluation.datasets.dataset import Dataset
from burnish.evaluation.datasets.index import DatasetIndex
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem

__all__ = ["Dataset", "DatasetIndex", "ProblemKind", "RowProblem"]
