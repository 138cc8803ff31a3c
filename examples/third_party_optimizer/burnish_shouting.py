"""Does it help to shout? Tries each line of a prompt in capitals, one line a candidate."""

from burnish.domain import CandidateProposal, OptimizerState, StopDecision, StopReason, placeholders


class Shouting:
    """Keeps nothing but the state, so a killed run resumes into the same run."""

    name = "shouting"

    def __init__(self, *, mark: str = "!") -> None:
        self.mark = mark

    def initialize(self, context):
        """Write down all candidates; the baseline has been scored by now."""
        baseline = context.baseline
        todo = [
            {path: text.replace(line, line.rstrip(".!").upper() + self.mark, 1)}
            for path, text in sorted(baseline.sections.items())
            if context.space.may_change(path)
            for line in text.split("\n")
            if line.strip() and not placeholders(line)
        ]
        return OptimizerState(
            algorithm_data={
                "baseline": baseline.to_json(),
                "baseline_id": context.baseline_candidate_id,
                "todo": todo,
            }
        )

    def propose(self, state, history, max_candidates):
        """The next lines. `history` tells what was tried and how it went; here it is not needed."""
        data = state.algorithm_data
        return [
            CandidateProposal(
                configuration={
                    **data["baseline"],
                    "sections": {**data["baseline"]["sections"], **change},
                },
                parent_candidate_ids=[data["baseline_id"]],
                rationale="say one line in capitals",
            )
            for change in data["todo"][:max_candidates]
        ]

    def observe(self, state, trial_results):
        """A new state; the old one is not changed."""
        todo = state.algorithm_data["todo"][max(len(trial_results), 1) :]
        return OptimizerState(
            generation=state.generation + 1, algorithm_data={**state.algorithm_data, "todo": todo}
        )

    def should_stop(self, state, history):
        """When every line was tried."""
        done = not state.algorithm_data["todo"]
        return StopDecision(should_stop=done, reason=StopReason.CONVERGENCE if done else None)
