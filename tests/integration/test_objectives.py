"""Score against tokens, cost and latency, through the Python door and real storage."""

import asyncio

import pytest
from kills import die_in_call, killed
from optimization_world import World, fingerprint, run

import burnish
from burnish.app.optimize.result import FrontPoint
from burnish.app.report.html.page import write_report
from burnish.app.wiring import Workspace
from burnish.domain import EventType
from burnish.optimization.objective import read_objective

# What each wording is worth, and the tokens it takes.
WORDINGS = {
    "plain": (0.50, 100),
    "rich": (0.90, 400),
    "lean": (0.88, 120),
    "tiny": (0.30, 20),
    "dear": (0.60, 900),
    "top": (0.94, 900),
}
ROWS = [{"n": n, "label": "yes"} for n in range(100)]


class Wordings:
    """Proposes every wording once, and notes what it is told."""

    name = "wordings"

    def __init__(self, *names):
        self.names = names or ("rich", "lean", "tiny", "dear")
        self.told = {}
        self.context = None

    def initialize(self, context):
        self.context = context
        return burnish.OptimizerState()

    def propose(self, state, history, max_candidates):
        self.told = {
            history.candidate(one.candidate_id).configuration.sections["system"].split()[0]: one
            for one in history.trials
        }
        return [
            burnish.CandidateProposal(configuration={"sections": {"system": f"{name} {{{{n}}}}"}})
            for name in self.names[state.generation : state.generation + 1]
        ]

    def observe(self, state, trial_results):
        return burnish.OptimizerState(generation=state.generation + 1)

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=False)


def answer(configuration, item):
    name = configuration["sections"]["system"].split()[0]
    worth, tokens = WORDINGS[name]
    usage = burnish.Usage(
        calls=1, input_tokens=tokens - 1, output_tokens=1, cost_usd=tokens / 1_000_000
    )
    return burnish.AgentOutput(
        text="yes" if item["n"] < worth * 100 else "no",
        spending=burnish.Spending.on(burnish.Purpose.AGENT, usage),
        latency_ms=tokens / 10,
    )


def optimize(folder, objective=None, *, run=answer, optimizer=None, **options):
    return burnish.optimize(
        agent=burnish.Agent(
            name="wordings",
            configuration={"sections": {"system": "plain {{n}}"}},
            run=run,
            version="1",
        ),
        suite=burnish.Suite(
            dataset=ROWS,
            scorers=[{"kind": "exact_match", "field": "label"}],
            split=options.pop("split", {"validation": 0.5, "test": 0.5}),
        ),
        optimizer=optimizer or Wordings(),
        budget=burnish.Budget(max_trials=8),
        db=folder / "b.db",
        objective=objective,
        **{"seed": 0, **options},
    )


def name_of(result, candidate_id):
    return result.candidates[candidate_id].configuration.sections["system"].split()[0]


def chosen(result):
    return name_of(result, result.best.candidate_id)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One database: what the first run has paid for, the others find."""
    return tmp_path_factory.mktemp("objectives")


@pytest.mark.parametrize(
    ("objective", "winner", "front"),
    [
        (None, "rich", ["tiny", "plain", "lean", "rich"]),
        ({"tokens": 0.1}, "lean", ["tiny", "plain", "lean", "rich"]),
        ({"tokens": 2.0}, "tiny", ["tiny", "plain", "lean", "rich"]),
        ({"cost": 0.1}, "lean", ["tiny", "plain", "lean", "rich"]),
        ({"latency": 0.0001}, "rich", ["tiny", "plain", "lean", "rich"]),
        ({"pareto": ["tokens"], "tolerance": 0.15}, "lean", ["tiny", "plain", "lean", "rich"]),
        ({"pareto": ["tokens"], "tolerance": 0.0}, "rich", ["tiny", "plain", "lean", "rich"]),
        ({"pareto": ["latency", "cost"], "tolerance": 1.0}, "tiny", None),
    ],
    ids=str,
)
def test_what_is_best_is_what_the_objective_says(place, objective, winner, front):
    result = optimize(place, objective)

    assert chosen(result) == winner
    assert result.objective["chosen"]["candidate_id"] == result.best.candidate_id
    assert result.objective["chosen"]["score"] == result.best.score
    assert front is None or [name_of(result, one.candidate_id) for one in result.front] == front
    ends = [FrontPoint.of(result.objective[name]) for name in ("chosen", "baseline")]
    for one in (*result.front, *ends):
        tokens = WORDINGS[name_of(result, one.candidate_id)][1]
        assert one.tokens == tokens
        assert one.cost_usd == pytest.approx(tokens / 1_000_000)
        assert one.latency_ms == pytest.approx(tokens / 10)
    assert result.progress[-1].best_candidate_id == result.best.candidate_id
    assert result.progress[-1].best_score == result.best.score
    assert result.record.best_score == result.best.score
    scores = {name_of(result, one.candidate_id): one.objective_score for one in result.trials}
    assert result.best.score == scores[winner]


def test_an_optimizer_is_told_utilities_and_that_there_is_no_end(tmp_path):
    plain, weighed, pareto = Wordings(), Wordings(), Wordings()

    scores = optimize(tmp_path, optimizer=plain)
    optimize(tmp_path, {"tokens": 0.1}, optimizer=weighed)
    optimize(tmp_path, {"pareto": ["tokens"]}, optimizer=pareto)

    assert [one.context.perfect_score for one in (plain, weighed, pareto)] == [1.0, None, None]
    for name, trial in weighed.told.items():
        score = plain.told[name].objective_score
        tokens = WORDINGS[name][1]
        assert trial.objective_score == pytest.approx(score - 0.1 * (tokens / 100 - 1))
        assert pareto.told[name].objective_score == score
        assert trial.summary.avg_tokens == tokens
    assert weighed.context.baseline_score == scores.baseline.score


def test_a_warm_cache_changes_no_measure_and_no_choice(tmp_path):
    cold, warm, warmer = [optimize(tmp_path, {"tokens": 0.1}) for _ in range(3)]

    assert (cold.usage["calls"], warm.usage["calls"], warmer.usage["calls"]) == (350, 0, 0)
    assert warm.usage["cost_usd"] == 0
    for one in (warm, warmer):
        assert chosen(one) == chosen(cold) == "lean"
        assert essence(one) == essence(cold)


def essence(result):
    """The objective's part of a result, but for ids."""
    number = {one.id: one.number for one in result.candidates.values()}

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [plain(one) for one in value]
        return number.get(value, value) if isinstance(value, str) else value

    return plain(dict(result.objective))


def test_held_out_items_tell_of_measures_too(tmp_path):
    result = optimize(tmp_path, {"pareto": ["tokens"], "tolerance": 0.15})

    objective = result.objective
    assert objective["held_out"]["baseline"]["tokens"] == 100
    assert objective["held_out"]["chosen"]["tokens"] == 120
    assert objective["allowance"] == 0.0


def test_what_is_saved_is_allowed_for_when_it_is_compared(tmp_path):
    result = optimize(tmp_path, {"tokens": 2.0})

    assert chosen(result) == "tiny"
    assert result.improved
    assert result.improvement.delta < 0
    assert result.objective["allowance"] == pytest.approx(2.0 * 0.8)


def test_the_baseline_stays_where_nothing_is_better_by_the_objective(tmp_path):
    result = optimize(tmp_path, {"tokens": 0.1}, optimizer=Wordings("dear"))

    assert not result.improved
    assert chosen(result) == "plain"
    assert "by the objective" in result.why_not_improved


def test_an_agent_that_reports_nothing_cannot_be_searched_by_tokens(tmp_path):
    def silent(configuration, item):
        return "yes"

    optimizer = Wordings()
    with pytest.raises(burnish.UsageError, match="reports no usage") as caught:
        optimize(tmp_path, {"tokens": 0.1}, run=silent, optimizer=optimizer)

    assert caught.value.code == "unmeasured_objective"
    assert optimizer.context is None
    by_score = optimize(tmp_path, run=silent)
    assert [(one.number, one.tokens) for one in by_score.front] == [(0, None)]


def test_a_cost_that_nobody_knows_is_never_taken_for_0(tmp_path):
    def unpriced(configuration, item):
        usage = burnish.Usage(calls=1, input_tokens=5, cost_usd=None)
        spending = burnish.Spending.on(burnish.Purpose.AGENT, usage)
        return burnish.AgentOutput(text="yes", spending=spending)

    for objective in ({"cost": 0.1}, {"pareto": ["cost"]}):
        with pytest.raises(burnish.UsageError, match="not known"):
            optimize(tmp_path, objective, run=unpriced)


def test_a_candidate_of_unknown_cost_does_not_win(tmp_path):
    def sometimes(configuration, item):
        output = answer(configuration, item)
        if "rich" not in configuration["sections"]["system"]:
            return output
        usage = burnish.Usage(calls=1, input_tokens=1, cost_usd=None)
        spending = burnish.Spending.on(burnish.Purpose.AGENT, usage)
        return burnish.AgentOutput(text=output.text, spending=spending)

    result = optimize(tmp_path, {"cost": 0.0001}, run=sometimes)

    assert chosen(result) == "lean"
    assert result.objective["unmeasured"] == 1


def test_a_named_model_without_a_price_is_refused_before_anything_is_paid(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(burnish.UsageError, match="price of openai/nobody-knows") as caught:
        burnish.optimize(
            agent=burnish.Agent(
                name="a",
                configuration={"sections": {"user": "{{n}}"}},
                model="openai/nobody-knows",
            ),
            suite=burnish.Suite(dataset=ROWS, scorers=[{"kind": "exact_match", "field": "label"}]),
            objective={"cost": 0.1},
            db=tmp_path / "b.db",
        )

    assert caught.value.code == "unmeasured_objective"


def test_racing_is_off_and_says_so(tmp_path):
    result = optimize(tmp_path, {"tokens": 2.0}, racing="aggressive")

    assert chosen(result) == "tiny"
    assert {one.status.value for one in result.trials} == {"completed"}
    assert "racing is off" in result.objective["notes"][0]


def test_nobody_goes_on_for_another_objective(tmp_path):
    first = optimize(tmp_path, {"tokens": 0.1})

    with pytest.raises(burnish.ConflictError, match="started for score − 0.1 × tokens"):
        optimize(tmp_path, {"tokens": 0.2}, resume=first.optimization_id)

    again = optimize(tmp_path, {"tokens": 0.1}, resume=first.optimization_id)
    assert again.document == first.document


def test_a_candidate_can_be_the_best_again(tmp_path):
    result = optimize(
        tmp_path,
        {"pareto": ["tokens"], "tolerance": 0.05},
        optimizer=Wordings("rich", "lean", "top"),
        split=None,
    )

    async def told():
        async with Workspace.open(str(tmp_path / "b.db")) as workspace:
            events = await workspace.optimizations.list_events(result.optimization_id)
            return [one for one in events if one.type is EventType.BEST_CANDIDATE_CHANGED]

    bests = [name_of(result, one.payload["candidate_id"]) for one in asyncio.run(told())]
    assert bests == ["plain", "rich", "lean", "rich"]
    assert [name_of(result, one.best_candidate_id) for one in result.progress] == bests
    assert result.progress[-1].best_score == 0.9


def test_a_perfect_score_does_not_end_a_search_that_can_still_save(tmp_path):
    def always(configuration, item):
        tokens = len(configuration["sections"]["system"])
        usage = burnish.Usage(calls=1, input_tokens=tokens)
        spending = burnish.Spending.on(burnish.Purpose.AGENT, usage)
        return burnish.AgentOutput(text="yes", spending=spending)

    plain = optimize(tmp_path, run=always, optimizer="random")
    saving = optimize(tmp_path, {"tokens": 0.5}, run=always, optimizer="random")

    assert (plain.stop_reason, plain.document["trials"]) == ("target_reached", 0)
    assert saving.document["trials"] > 0


def test_the_report_marks_the_front_and_the_chosen_point(tmp_path):
    result = optimize(tmp_path, {"tokens": 0.1, "latency": 0.1})

    async def page():
        async with Workspace.open(str(tmp_path / "b.db")) as workspace:
            path = tmp_path / "report.html"
            return await write_report(workspace, result.optimization_id, path)

    html = asyncio.run(page()).read_text()

    chart = html.partition('id="pareto"')[2].partition("</section>")[0]
    number = result.candidates[result.best.candidate_id].number
    assert f'<a href="#c{number}">{number}</a> ★' in chart
    assert "chosen by the objective" in chart
    assert f"Chosen is candidate {number}, on the front" in chart
    assert "Score against tokens and latency" in html
    assert "Utility" in chart
    assert "by the objective" in html.partition('class="headline"')[2][:300]


@pytest.mark.parametrize("table", [{"tokens": 0.02}, {"pareto": ["tokens"], "tolerance": 0.1}])
def test_a_killed_run_ends_as_if_nothing_had_happened(table, tmp_path):
    options = {"objective": read_objective(table), "budget": burnish.Budget(max_trials=6)}
    (tmp_path / "whole").mkdir()
    whole = World(tmp_path / "whole")
    expected = asyncio.run(run(whole, **options))
    calls = len(whole.calls())

    # In the search twice, and while the winner is confirmed.
    for number in (calls // 3, 2 * calls // 3, calls - 4):
        world = World(tmp_path / str(number))
        world.folder.mkdir()

        def work(world=world, number=number):
            die_in_call(world, number)
            asyncio.run(run(world, **options))

        killed(work)
        result = asyncio.run(run(world, **options))

        assert fingerprint(result) == fingerprint(expected)
        assert timeless(essence(result)) == timeless(essence(expected))
        assert len(result.front) > 1


def timeless(value):
    """Without what a clock measured."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key != "latency_ms"}
    return [timeless(one) for one in value] if isinstance(value, list) else value
