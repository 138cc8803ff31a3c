"""Scorers that judge an output: built-in ones, your own functions, and sets of them."""

from burnish.evaluation.scorers.asserts import Asserts
from burnish.evaluation.scorers.catalog import (
    OpenModel,
    ScorerSpec,
    build_scorer,
    build_scorers,
    stratify_field,
)
from burnish.evaluation.scorers.fields import FieldScorer, InstantScorer
from burnish.evaluation.scorers.function_scorer import FunctionScorer
from burnish.evaluation.scorers.json_scorers import JsonField, JsonSchema
from burnish.evaluation.scorers.judge import JUDGE_UNAVAILABLE, LLMJudge, SkippedJudge, has_criteria
from burnish.evaluation.scorers.judges import deciding_judges, judges_in, row_judges
from burnish.evaluation.scorers.numeric import NumericTolerance
from burnish.evaluation.scorers.patterns import Contains, Regex
from burnish.evaluation.scorers.scorer_set import (
    SYSTEMIC_CODES,
    ScorerSet,
    Weighted,
    WeightedScore,
    combine,
    is_scorer,
    is_systemic,
)
from burnish.evaluation.scorers.text import ExactMatch, Similarity

__all__ = [
    "JUDGE_UNAVAILABLE",
    "SYSTEMIC_CODES",
    "Asserts",
    "Contains",
    "ExactMatch",
    "FieldScorer",
    "FunctionScorer",
    "InstantScorer",
    "JsonField",
    "JsonSchema",
    "LLMJudge",
    "NumericTolerance",
    "OpenModel",
    "Regex",
    "ScorerSet",
    "ScorerSpec",
    "Similarity",
    "SkippedJudge",
    "Weighted",
    "WeightedScore",
    "build_scorer",
    "build_scorers",
    "combine",
    "deciding_judges",
    "has_criteria",
    "is_scorer",
    "is_systemic",
    "judges_in",
    "row_judges",
    "stratify_field",
]
