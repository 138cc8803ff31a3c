"""Optimizers of others: what they see, what they need not have, and mistakes told as theirs."""

import asyncio
import threading

import pytest

import burnish
from burnish.app.wiring import Workspace
from burnish.optimization.search_plan import candidate_id

ROWS = [
    {"id": f"{split}-{n}", "q": f"question of {split} {n}", "expected": "x", "split": split}
    for split in ("train", "validation", "test")
    for n in range(8)
]


def agent(run=lambda configuration, item: "x"):
    return burnish.Agent(name="a", configuration={"sections": {"s": "{{q}}"}}, run=run)


def suite(rows=ROWS):
    return burnish.Suite(dataset=rows, scorers=["exact_match"], split="field")


class Four:
    """The four methods of the contract, and nothing else."""

    def initialize(self, context):
        return burnish.OptimizerState()

    def propose(self, state, history, max_candidates):
        return [
            burnish.CandidateProposal(
                configuration={"sections": {"s": f"Look {state.generation}. {{{{q}}}}"}}
            )
        ]

    def observe(self, state, trial_results):
        return burnish.OptimizerState(generation=state.generation + 1)

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=state.generation > 1)


def words_in(value, depth=6):
    """Every text below a value: in containers and in attributes, private ones too."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for pair in value.items():
            yield from words_in(pair, depth - 1)
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from words_in(one, depth - 1)
    elif depth and type(value).__module__.startswith("burnish.") and "Sql" not in repr(type(value)):
        names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
        for name in names:
            yield from words_in(getattr(value, name, None), depth - 1)


class Peeking(Four):
    """Looks everywhere for the test split."""

    def __init__(self):
        self.words, self.refused, self.splits = set(), [], None

    def initialize(self, context):
        self.splits = {name: len(ids) for name, ids in context.splits.items()}
        self.words.update(words_in(context))
        return super().initialize(context)

    def propose(self, state, history, max_candidates):
        self.words.update(words_in(history))
        for trial in history.trials:
            self.words.update(words_in(history.item_results(trial.candidate_id)))
        for ask in (history.items, lambda ids: asyncio.run(history.load_items(ids))):
            try:
                self.words.update(words_in(ask(["test-0"])))
            except burnish.UsageError as error:
                self.refused.append(error.code)
        (proposal,) = super().propose(state, history, max_candidates)
        return [
            proposal,
            burnish.CandidateProposal(configuration=proposal.configuration, item_ids=["test-0"]),
        ]


def test_the_test_split_is_out_of_an_optimizers_reach(tmp_path):
    optimizer = Peeking()

    result = burnish.optimize(
        agent(), suite(), optimizer, burnish.Budget(max_trials=2), db=tmp_path / "b.db"
    )

    assert optimizer.splits == {"train": 8, "validation": 8}
    assert any("question of train" in word for word in optimizer.words)
    assert [word for word in optimizer.words if "test-" in word or "of test" in word] == []
    assert optimizer.refused == ["unknown_item"] * 4
    assert result.to_json()["rejections"] == 2


def search(tmp_path, optimizer, **options):
    budget = burnish.Budget(max_trials=3)
    return burnish.optimize(agent(), suite(), optimizer, budget, db=tmp_path / "b.db", **options)


def test_four_methods_are_enough_and_a_reason_may_be_its_text(tmp_path):
    class Contented(Four):
        def should_stop(self, state, history):
            stops = state.generation > 0
            return burnish.StopDecision(
                should_stop=stops, reason="target_reached" if stops else None
            )

    result = search(tmp_path, Contented())

    assert result.record.optimizer_name == "Contented"
    assert (result.stop_reason, len(result.trials)) == ("target_reached", 2)


def test_a_refused_proposal_is_kept_with_what_it_repeats(tmp_path):
    class Repeating(Four):
        def propose(self, state, history, max_candidates):
            (first,) = super().propose(state, history, max_candidates)
            parents = [history.trials[0].candidate_id]
            said = {"parent_candidate_ids": parents, "rationale": "once more"}
            again = burnish.CandidateProposal(configuration=first.configuration, **said)
            known = burnish.CandidateProposal(configuration={"sections": {"s": "{{q}}"}}, **said)
            return [first, again, known]

    search(tmp_path, Repeating())
    run, rejections = asyncio.run(read_rejections(tmp_path))

    said = {"rationale": "once more", "parent_candidate_ids": ["0"]}
    assert [one.step_index for one in rejections[:2]] == [1, 1]
    assert [kept(run, one) for one in rejections[:2]] == [
        {"configuration": {"sections": {"s": "Look 0. {{q}}"}}, **said, "duplicate_of": "1"},
        {"configuration": {"sections": {"s": "{{q}}"}}, **said, "duplicate_of": "0"},
    ]


def kept(run, rejection):
    """Its proposal, with candidates by their numbers."""
    numbers = {candidate_id(run, one): str(one) for one in range(9)}
    parents = [numbers[one] for one in rejection.proposal["parent_candidate_ids"]]
    same = numbers[rejection.proposal["duplicate_of"]]
    return {**rejection.proposal, "parent_candidate_ids": parents, "duplicate_of": same}


async def read_rejections(tmp_path):
    async with Workspace.open(str(tmp_path / "b.db")) as workspace:
        (record,) = await workspace.optimizations.list_optimizations()
        return record.id, await workspace.optimizations.list_rejections(record.id)


def test_how_long_a_method_may_take_is_set_in_python_and_set_anew_on_resume(tmp_path):
    waiting = threading.Event()

    class Slow(Four):
        def propose(self, state, history, max_candidates):
            waiting.wait()
            return super().propose(state, history, max_candidates)

    seen = []
    with pytest.raises(burnish.BurnishError, match=r"no answer within 0\.2 s"):
        search(tmp_path, Slow(), timeout_seconds=0.2, watch=seen.append)
    waiting.set()

    resume = seen[0].orchestrator.trial_index.baseline().optimization_id
    assert len(search(tmp_path, Slow(), timeout_seconds=60, resume=resume).trials) == 3


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        ("observe", None, "it has no such method"),
        ("should_stop", lambda *_: burnish.StopDecision(should_stop=True, reason="bored"), "bored"),
        (
            "should_stop",
            lambda *_: burnish.StopDecision(should_stop=True, reason=burnish.StopReason.CANCELLED),
            "not among its own",
        ),
    ],
)
def test_a_mistake_of_an_optimizer_is_told_as_its_own(method, answer, words, tmp_path):
    optimizer = Four()
    setattr(optimizer, method, answer)

    with pytest.raises(burnish.BurnishError, match=f"'Four' failed in {method}.*{words}") as caught:
        search(tmp_path, optimizer)

    assert (caught.value.code, caught.value.exit_code) == ("optimizer_failed", 5)
    assert "bug in burnish" not in str(caught.value)
