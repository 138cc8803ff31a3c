"""The next rows of examples, by all that the trials so far tell."""

from __future__ import annotations

from burnish.domain import OptimizerState, TrialHistory
from burnish.optimizers.examples.pool import ExamplePool
from burnish.optimizers.examples.search import ExampleSearch, Row, features_of
from burnish.optimizers.shared.gradient import Gradient, Prior
from burnish.optimizers.shared.search_status import tried_hashes
from burnish.optimizers.shared.trial_reading import baseline_luck, read_trials, score_scale

_COLLAPSE_PENALTY = 0.05


def pick_rows(
    pool: ExamplePool, state: OptimizerState, history: TrialHistory, count: int, *, most: int
) -> list[Row]:
    """Up to `count` rows of at most `most` examples that were never tried."""
    rows: dict[str, tuple[int, ...]] = {}
    for trial in history.trials:
        shown = pool.places_in(history.candidate(trial.candidate_id).configuration)
        if shown is not None:
            rows[trial.candidate_id] = shown

    def features(candidate_id: str) -> tuple[str, ...] | None:
        row = rows.get(candidate_id)
        return None if row is None else features_of(pool, row)

    trials = read_trials(history, pool.facts, features)
    scale = score_scale(pool.facts, trials)
    gradient = Gradient(
        [trial.observation(penalty=_COLLAPSE_PENALTY * scale) for trial in trials],
        Prior(
            name=0.04,
            prefix=0.05,
            pair=0.0,
            luck=baseline_luck(history, pool.facts) / scale,
            scale=scale,
        ),
    )
    search = ExampleSearch(
        pool,
        trials,
        rows,
        generation=state.generation,
        turn=state.algorithm_data["results"] + pool.facts.in_flight(count),
        most=most,
        tried=tried_hashes(history) | {pool.facts.baseline.hash},
    )
    return search.picks(count, gradient=gradient)


def describe_row(pool: ExamplePool, row: Row) -> str:
    """A rationale that people read."""
    if not row.places:
        return f"{row.says.capitalize()}."
    shown = ", ".join(pool.shown[place].item_id for place in row.places)
    return f"{row.says.capitalize()}: {shown}."
