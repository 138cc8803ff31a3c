"""Tracking of results elsewhere: MLflow and Weights & Biases."""

from burnish.integrations.tracking.mlflow import to_mlflow
from burnish.integrations.tracking.wandb import to_wandb

__all__ = ["to_mlflow", "to_wandb"]
