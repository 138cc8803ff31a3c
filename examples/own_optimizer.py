"""An optimizer of your own: state in, state out, so that a killed run resumes into the same run."""

import random

import burnish

WORDS = ["slowly", "twice", "kindly", "aloud", "backwards", "carefully"]
HELPS = {"twice": 0.25, "carefully": 0.3}


def reader(configuration: dict, item: dict) -> str:
    """Stands for an agent that two of the words help."""
    text = configuration["sections"]["system"]
    skill = 0.3 + sum(worth for word, worth in HELPS.items() if word in text)
    return "right" if item["difficulty"] < skill else "wrong"


class AddAWord:
    """Adds a word to the best prompt so far."""

    name = "add-a-word"

    def initialize(self, context: burnish.RunContext) -> burnish.OptimizerState:
        return burnish.OptimizerState(algorithm_data={"seed": context.seed})

    def propose(self, state, history, max_candidates):
        draw = random.Random(f"{state.algorithm_data['seed']}:{state.generation}")
        best = max((t for t in history.trials if t.counts), key=lambda t: t.objective_score)
        parent = history.candidate(best.candidate_id)
        text = parent.configuration.sections["system"]
        return [
            burnish.CandidateProposal(
                configuration=parent.configuration.with_sections({"system": f"{text} {word}"}),
                parent_candidate_ids=[parent.id],
                rationale=f"read {word}",
            )
            for word in draw.sample(WORDS, max_candidates)
        ]

    def observe(self, state, trial_results):
        return burnish.OptimizerState(
            generation=state.generation + 1, algorithm_data=state.algorithm_data
        )

    def should_stop(self, state, history):
        perfect = any(trial.objective_score == 1.0 for trial in history.trials)
        return burnish.StopDecision(
            should_stop=perfect,
            reason=burnish.StopReason.TARGET_REACHED if perfect else None,
        )


result = burnish.optimize(
    agent=burnish.Agent(
        name="reader", configuration={"sections": {"system": "Read {{text}}"}}, run=reader
    ),
    suite=burnish.Suite(
        dataset=[{"text": f"t{n}", "difficulty": n / 80, "expected": "right"} for n in range(80)],
        scorers=["exact_match"],
        split={"train": 0.25, "validation": 0.5, "test": 0.25},
    ),
    optimizer=AddAWord(),
    budget=burnish.Budget(max_trials=16),
    seed=1,
)
for point in result.progress:
    print(f"after {point.evaluations} evaluations: {point.best_score:.3f}")
assert result.improved, result.why_not_improved
