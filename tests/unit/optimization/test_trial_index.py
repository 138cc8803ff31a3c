"""What an optimizer sees of a run's trials."""

from burnish.domain import ExperimentStatus
from burnish.optimization.trial_index import TrialIndex
from burnish.testing.samples.optimizations import make_candidate, make_trial

ENDS = ("completed", "failed", "cancelled", "timeout", "pruned", "completed")


async def test_trials_have_a_score_and_apart_from_them_all_that_were_tried_are_there():
    index = TrialIndex("o1")
    for number, end in enumerate(ENDS):
        scored = end in ("completed", "pruned")
        index.add_candidates([make_candidate(number)])
        trial = make_trial(number, status=ExperimentStatus(end))
        index.observe(
            [trial if scored else make_trial(number, status=trial.status, objective_score=None)]
        )

    history = index.history(None, {}, evaluations_left=None)

    assert max(one.objective_score for one in history.trials) == 0.5
    assert [one.status.value for one in history.trials] == ["completed", "completed"]
    assert tuple(one.status.value for one in history.tried) == ENDS
