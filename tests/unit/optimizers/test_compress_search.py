"""The search: bisecting against one by one, planted conflicts, flaky items."""

import random

import pytest

from burnish.domain import Configuration
from burnish.optimizers.compress.cuts import Cut
from burnish.optimizers.compress.search import CompressSearch
from burnish.optimizers.compress.verdicts import Unknown, Verdicts, missing_runs, regressed

ITEMS = tuple(f"i{n}" for n in range(20))


class Bench:
    """Runs what the search asks for. `breaks` maps an item to the sets of sections that break it."""

    def __init__(self, saving, breaks, *, flaky=(), eval_runs=1, noise=0.0, seed=0):
        self.saving = saving
        self.breaks = breaks
        self.flaky = set(flaky)
        # How often a broken item fails, where that is not always; the draws come with the seed.
        self.noise = noise
        self.draw = random.Random(seed)
        self.eval_runs = eval_runs
        self.runs = {}
        self.evaluations = 0
        self.probes = set()
        self.baseline = Configuration.of({"sections": {path: f"long {path}" for path in saving}})

    def fails(self, configuration, item):
        if self.noise and self.draw.random() >= self.noise:
            return False
        short = {path for path, text in configuration.sections.items() if text.startswith("short")}
        return any(group <= short for group in self.breaks.get(item, ()))

    def verdicts(self):
        failed = [
            item
            for item in ITEMS
            if any(regressed(found.get(item, ())) for found in self.runs.values())
        ]
        return Verdicts(
            gate=ITEMS,
            eval_runs=self.eval_runs,
            baseline=self.baseline.hash,
            runs={
                self.baseline.hash: dict.fromkeys(ITEMS, (True,) * self.eval_runs),
                **self.runs,
            },
            witnesses=tuple(failed),
        )

    def solve(self):
        choices = {
            path: [Cut(name=f"{path}/x", path=path, saving=saving, body=f"short {path}")]
            for path, saving in self.saving.items()
        }
        for _ in range(1000):
            search = CompressSearch(self.baseline, choices, self.verdicts(), screened=4)
            try:
                return search.sections()
            except Unknown as unknown:
                for ask in unknown.asks:
                    self.run(search.built[ask.digest][0], ask)
        raise AssertionError("it never ends")

    def run(self, configuration, ask):
        self.probes.add(ask.digest)
        known = self.verdicts().runs.get(ask.digest, {})
        found = self.runs.setdefault(ask.digest, dict(known))
        for item in ask.item_ids:
            runs = list(found.get(item, ()))
            assert len(runs) < ask.repeats, "nothing is run twice"
            while len(runs) < ask.repeats:
                self.evaluations += 1
                flake = item in self.flaky and not runs
                runs.append(not (flake or self.fails(configuration, item)))
            found[item] = tuple(runs)


def one_by_one(bench):
    """Greedy, with every edit alone and all together before it, each on all items."""
    tried = 0
    best = []

    def passes(paths):
        nonlocal tried
        tried += 1
        under = bench.baseline.with_sections({path: f"short {path}" for path in paths})
        return not any(bench.fails(under, item) for item in ITEMS)

    alone = [path for path in bench.saving if passes([path])]
    if passes(alone):
        return sum(bench.saving[path] for path in alone), tried * len(ITEMS)
    for path in sorted(alone, key=lambda one: -bench.saving[one]):
        if passes([*best, path]):
            best.append(path)
    return sum(bench.saving[path] for path in best), tried * len(ITEMS)


@pytest.mark.parametrize("seed", range(8))
def test_it_saves_as_much_as_one_by_one_with_fewer_evaluations(seed):
    draw = random.Random(seed)
    paths = [f"s{n}" for n in range(12)]
    saving = {path: draw.randint(5, 60) for path in paths}
    breaks = {}
    for _ in range(draw.randint(1, 6)):
        group = frozenset(draw.sample(paths, draw.choice([1, 2, 2, 3])))
        for item in draw.sample(ITEMS, draw.randint(1, 4)):
            breaks.setdefault(item, []).append(group)
    bench = Bench(saving, breaks)

    solution = bench.solve()

    greedy, evaluations = one_by_one(bench)
    assert solution.saving >= greedy
    assert bench.evaluations < 0.7 * evaluations
    assert not any(bench.fails(solution.configuration, item) for item in ITEMS)


def test_a_planted_conflict_costs_the_smaller_of_the_two():
    bench = Bench({"a": 50, "b": 30, "c": 20}, {"i7": [frozenset("ab")]})

    solution = bench.solve()

    assert {cut.path for cut in solution.accepted} == {"a", "c"}
    refusal = solution.refusals["b/x"]
    assert refusal.item_ids == ("i7",)
    assert "together" in refusal.reason


def test_the_cut_that_breaks_an_item_is_found_by_halving():
    bench = Bench({f"s{n:02}": 10 + n for n in range(32)}, {"i7": [frozenset({"s13"})]})

    solution = bench.solve()

    assert set(solution.refusals) == {"s13/x"}
    # Each alone, all together, five halves of 32 with the culprit alone, and all the others.
    assert len(bench.probes) <= 32 + 1 + 6 + 1


def test_one_large_cut_gives_way_to_several():
    pairs = [frozenset("ab"), frozenset("ac"), frozenset("ad")]
    bench = Bench({"a": 50, "b": 30, "c": 30, "d": 30}, {"i7": pairs})

    solution = bench.solve()

    assert {cut.path for cut in solution.accepted} == {"b", "c", "d"}


def test_nothing_goes_where_everything_is_needed():
    bench = Bench({"a": 50, "b": 30}, {"i1": [frozenset("a")], "i19": [frozenset("b")]})

    assert bench.solve().accepted == ()


def test_a_flaky_failure_is_run_again_and_rejects_nothing():
    bench = Bench({"a": 50, "b": 30}, {}, flaky=ITEMS[:3], eval_runs=3)

    solution = bench.solve()

    assert {cut.path for cut in solution.accepted} == {"a", "b"}
    final = bench.runs[solution.configuration.hash]
    assert all(len(final[item]) >= 3 for item in ITEMS)


def harm_accepted(eval_runs, *, items, rate, seeds=30):
    """How often an edit passes that makes some items fail now and then, beside a harmless one."""
    breaks = {item: [frozenset("a")] for item in ITEMS[:items]}
    accepted = [
        {
            cut.path
            for cut in Bench({"a": 30, "b": 30}, breaks, eval_runs=eval_runs, noise=rate, seed=seed)
            .solve()
            .accepted
        }
        for seed in range(seeds)
    ]
    return sum("a" in one for one in accepted), sum("b" in one for one in accepted)


@pytest.mark.parametrize(("items", "rate"), [(3, 0.3), (10, 0.2)])
def test_more_runs_make_the_gate_stricter(items, rate):
    few, _ = harm_accepted(3, items=items, rate=rate)
    many, harmless = harm_accepted(9, items=items, rate=rate)

    assert many < few
    assert many <= 3
    assert harmless >= 24


def test_a_prompt_as_unsure_as_the_baseline_is_no_regression():
    # Both fail one run in ten on every item: the gate was chosen by runs that happened to pass.
    bench = Bench({"a": 30}, {item: [frozenset()] for item in ITEMS}, eval_runs=3, noise=0.1)

    assert bench.solve().accepted


def test_an_outage_is_no_verdict_and_is_asked_for_again():
    verdicts = Verdicts(gate=ITEMS, eval_runs=1, lost={"cut": {"i0": 1, "i1": 1}})

    ask = verdicts.next_ask("cut", ITEMS[:2], 1)

    assert (ask.item_ids, ask.repeats) == (("i0", "i1"), 2)
    assert verdicts.lacks_answers(ask)
    assert not verdicts.regressions("cut")


@pytest.mark.parametrize(
    ("runs", "confirmed", "more"),
    [
        ([], False, 1),
        ([True], False, 0),
        ([False], False, 2),
        ([False, False], True, 0),
        ([False, True], False, 3),
        ([False, True, True], False, 0),
        ([False, True, False], True, 0),
    ],
)
def test_a_failure_counts_once_it_is_repeated(runs, confirmed, more):
    assert regressed(runs) is confirmed
    assert missing_runs(runs, 1) == more


def test_a_weaker_edit_takes_the_place_of_one_that_breaks():
    bench = Bench({"a": 50, "b": 30}, {"i3": [frozenset("ab")]})
    weak = Cut(name="b/weak", path="b", saving=10, body="weak b")
    strong = {
        path: [Cut(name=f"{path}/x", path=path, saving=saving, body=f"short {path}")]
        for path, saving in bench.saving.items()
    }
    choices = {"a": strong["a"], "b": [*strong["b"], weak]}

    solution = None
    while solution is None:
        search = CompressSearch(bench.baseline, choices, bench.verdicts(), screened=2)
        try:
            solution = search.sections()
        except Unknown as unknown:
            for ask in unknown.asks:
                bench.run(search.built[ask.digest][0], ask)

    assert [cut.name for cut in solution.accepted] == ["a/x", "b/weak"]
    assert list(solution.refusals) == ["b/x"]
