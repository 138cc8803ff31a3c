"""What judges an output: built-in scorers, your own functions, and sets of them."""

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
from burnish.evaluation.scorers.judge import JUDGE_UNAVAILABLE, LLMJudge, has_criteria
from burnish.evaluation.scorers.judges import deciding_judges, judges_in, row_judges
from burnish.evaluation.scorers.numeric import NumericTolerance
from burnish.evaluation.scorers.patterns import Contains, Regex
from burnish.evaluation.scorers.scorer_set import ScorerSet, combine, is_scorer
from burnish.evaluation.scorers.skipped_judge import SkippedJudge
from burnish.evaluation.scorers.systemic import SYSTEMIC_CODES, is_systemic
from burnish.evaluation.scorers.text import ExactMatch, Similarity
from burnish.evaluation.scorers.weighted import Weighted, WeightedScore

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
