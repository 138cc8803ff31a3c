"""Refinement of single outputs in rounds: judged, written anew by a model, judged again."""

from burnish.evaluation.refine.loop import RefineLoop
from burnish.evaluation.refine.plan import RefinePlan, plan_refinement
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.refine.refiner import Refiner
from burnish.evaluation.refine.statistics import RefinementStatistics, refinement_statistics

__all__ = [
    "RefineLoop",
    "RefinePlan",
    "RefinePolicy",
    "RefinementStatistics",
    "Refiner",
    "plan_refinement",
    "refinement_statistics",
]
