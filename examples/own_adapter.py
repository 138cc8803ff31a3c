"""An adapter of your own: experiments are posted to a queue, and somebody else's worker runs them.

The queue here is one of this process, and the worker a thread; SQS, Kafka or a table would do as well.
What counts: `trigger` posts, the worker answers, and nothing is posted twice under one id.
"""

import queue
import threading

import burnish

HELPS = {"politely": 0.3, "twice": 0.3}


def answer(configuration: burnish.Configuration, item: burnish.Item) -> str:
    """Stands for an agent that two of the words help."""
    text = configuration.sections["system"]
    skill = 0.3 + sum(worth for word, worth in HELPS.items() if word in text)
    return "right" if item.data["difficulty"] < skill else "wrong"


class QueueAdapter:
    """The four methods. Statuses may be plain text."""

    def __init__(self) -> None:
        self.posted: queue.Queue[burnish.ExperimentRequest] = queue.Queue()
        self.statuses: dict[str, str] = {}
        self.answers: dict[str, list[burnish.ItemResult]] = {}

    def trigger(self, request: burnish.ExperimentRequest) -> burnish.TriggeredExperiment:
        if request.experiment_id not in self.statuses:
            self.statuses[request.experiment_id] = "running"
            self.posted.put(request)
        return burnish.TriggeredExperiment(experiment_id=request.experiment_id)

    def get_status(self, experiment_id: str) -> str | None:
        return self.statuses.get(experiment_id)

    def get_results(self, experiment_id: str) -> burnish.RawExperimentResults:
        return burnish.RawExperimentResults(
            status=self.statuses[experiment_id], results=self.answers.get(experiment_id, [])
        )

    def cancel(self, experiment_id: str) -> None:
        if self.statuses.get(experiment_id) == "running":
            self.statuses[experiment_id] = "cancelled"


def work(adapter: QueueAdapter) -> None:
    """What a worker on another machine would do: run the agent, score, answer."""
    while True:
        request = adapter.posted.get()
        results = []
        for item in request.items:
            for repeat in range(request.repeats):
                text = answer(request.configuration, item)
                passed = text == item.data["expected"]
                results.append(
                    burnish.ItemResult(
                        item_id=item.id,
                        repeat=repeat,
                        score=float(passed),
                        passed=passed,
                        output=burnish.AgentOutput(text=text),
                    )
                )
        if adapter.statuses[request.experiment_id] == "running":
            adapter.answers[request.experiment_id] = results
            adapter.statuses[request.experiment_id] = "completed"


def main() -> None:
    adapter = QueueAdapter()
    threading.Thread(target=work, args=(adapter,), daemon=True).start()
    result = burnish.optimize(
        agent=burnish.Agent(
            name="reader",
            configuration={"sections": {"system": "Read {{text}}\nAnswer politely.\nThink twice."}},
            run=lambda configuration, item: "never called: the adapter runs the agent",
        ),
        suite=burnish.Suite(
            dataset=[
                {"text": f"t{n}", "difficulty": n / 60, "expected": "right"} for n in range(60)
            ],
            scorers=["exact_match"],
            split={"train": 0.25, "validation": 0.5, "test": 0.25},
        ),
        optimizer="edits",
        budget=burnish.Budget(max_trials=4),
        seed=1,
        adapter=adapter,
    )
    print(f"{len(adapter.statuses)} experiments on the queue, best {result.best.score:.3f}")
    assert set(adapter.statuses.values()) == {"completed"}
    assert len(result.trials) == 5
    assert result.test["items"] == 15


if __name__ == "__main__":
    main()
