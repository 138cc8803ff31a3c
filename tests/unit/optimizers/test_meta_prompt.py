"""The `meta_prompt` optimizer with scripted models: what it shows, what it takes, what it leaves."""

from __future__ import annotations

import re

import pytest
from asking_driver import AskingRun, rows

import burnish
from burnish.domain import Configuration, SearchSpace, StopReason, UsageError
from burnish.optimizers import MetaPrompt, build_optimizer

BASELINE = Configuration.of(
    {"sections": {"system": "Route the ticket.", "user": "Ticket: {{ticket}}"}}
)
RULES = {"Say billing for invoices.": 0.25, "Say shipping for parcels.": 0.25, "Be brief.": -0.1}
ITEMS = {
    **rows("train", 20, ticket=lambda n: f"a rather long ticket of number {n} about x{n}"),
    **rows("validation", 40, ticket=lambda n: f"another long ticket of number {n} about y{n}"),
}
SPLITS = {
    name: tuple(one.id for one in ITEMS.values() if one.split == name)
    for name in ("train", "validation")
}


def world(candidate, item):
    said = candidate.configuration.sections["system"]
    level = 0.4 + sum(worth for rule, worth in RULES.items() if rule in said)
    return float(int(item[1:]) % 20 < 20 * level), f"answer to {item}"


def obliging(prompt: str) -> str:
    """Adds to the best text the first rule that it lacks."""
    best = re.search(r"```\n(.*?)\n```", prompt, re.DOTALL)[1]
    rule = next((one for one in RULES if one not in best), "Be kind.")
    return f"It lacks a rule.\n```\n{best}\n{rule}\n```"


def new_run(model=obliging, **more) -> AskingRun:
    settings = more.pop("settings", {})
    given = {"baseline": BASELINE, "world": world, "items": ITEMS, "splits": SPLITS, **more}
    given.setdefault("space", SearchSpace(locked=("user",)))
    return AskingRun(optimizer=lambda: MetaPrompt(model=model, **settings), **given)


def hashes(run: AskingRun) -> list[str]:
    return [one.configuration.hash for one in run.candidates.values()]


class TestSearching:
    def test_it_climbs_with_a_model_that_knows_what_is_missing(self):
        run = new_run().go(max_trials=12)

        assert run.best.objective_score == pytest.approx(0.9)
        assert not run.refused
        assert run.best_candidate.rationale == "It lacks a rule."
        assert run.best_candidate.parent_candidate_ids == ("c-1",)

    def test_equal_seeds_give_equal_runs_with_nothing_kept_in_the_process(self):
        assert hashes(new_run().go(max_trials=10)) == hashes(new_run().go(max_trials=10))

    def test_the_first_step_looks_at_training_items_and_later_ones_at_each_new_best(self):
        run = new_run(settings={"batch": 6}).go(max_trials=12)

        assert [one.summary.total_items for one in run.batches] == [6] * len(run.batches)
        assert run.batches[0].candidate_id == "c-0"
        assert len({one.candidate_id for one in run.batches}) == len(run.batches) >= 2

    def test_one_section_at_a_time_in_turns(self):
        def rewording(prompt):
            best = re.search(r"```\n(.*?)\n```", prompt, re.DOTALL)[1]
            return f"```\n{best}\nNow {len(prompt)}.\n```"

        baseline = BASELINE.with_sections({"user": "Ticket: {{ticket}}\nWhich desk is it for?"})
        splits = {"validation": SPLITS["validation"]}
        run = new_run(rewording, space=SearchSpace(), splits=splits, baseline=baseline)
        run.start()
        changed = [
            path
            for one in run.proposals(4)
            for path, text in one.configuration.sections.items()
            if text != baseline.sections[path]
        ]

        assert changed == ["system", "user", "system", "user"]


class TestWhatIsShown:
    def prompts(self, **more) -> list[str]:
        asked = []

        def model(prompt):
            asked.append(prompt)
            return obliging(prompt)

        new_run(model, **more).go(max_trials=8)
        return asked

    def test_failures_of_training_items_with_output_and_feedback(self):
        first = self.prompts(feedback=lambda candidate, item: f"{item} is wrong")[0]

        shown = re.findall(r"of number (\d+) about x\1", first)
        assert len(shown) == 4
        assert "about y" not in first
        assert re.search(r"Answer of the assistant: answer to t\d\d", first)
        assert re.search(r"Judgement: wrong, score 0. t\d\d is wrong", first)

    def test_failures_of_the_trial_without_training_items(self):
        first = self.prompts(splits={"validation": SPLITS["validation"]})[0]

        assert len(re.findall(r"of number (\d+) about y\1", first)) == 4

    def test_a_look_that_cannot_be_paid_is_left_out(self):
        first = self.prompts(evaluations_left=40)[0]

        assert "about y" in first

    def test_tried_texts_come_in_ascending_order_and_not_too_many(self):
        last = self.prompts(settings={"shown": 2})[-1]

        tried = last.split("in ascending order of scores:")[1]
        scores = [float(one) for one in re.findall(r"^Score ([\d.]+):", tried, re.MULTILINE)]
        assert len(scores) == 2
        assert scores == sorted(scores)

    def test_each_place_is_asked_another_way(self):
        assert len(set(self.prompts()[:4])) == 4

    def test_texts_with_fences_are_fenced_longer(self):
        baseline = BASELINE.with_sections({"system": "Route it:\n```json\n{}\n```\nNow."})

        assert "````\nRoute it:\n```json\n{}\n```\nNow.\n````" in self.prompts(baseline=baseline)[0]


class TestBadAnswers:
    @pytest.mark.parametrize(
        "answer",
        [
            "",
            "```\n```",
            "I'm sorry, I can't.",
            "\x00",
            "```\nRoute the ticket.\n```",
            "```\n{{no}}\n```",
        ],
    )
    def test_garbage_proposes_nothing_and_fails_nothing(self, answer):
        run = new_run(lambda prompt: answer).go(max_trials=8)

        assert len(run.trials) == 1
        assert not run.refused

    def test_a_bad_answer_among_good_ones_is_left_out(self):
        asked = []

        def moody(prompt):
            asked.append(prompt)
            return (
                "" if len(asked) % 3 == 1 else f"```\nRoute the ticket to desk {len(asked)}.\n```"
            )

        run = new_run(moody).go(max_trials=8)

        assert len(run.trials) > 4

    def test_lines_that_quote_the_shown_tasks_are_left_out(self):
        def memorising(prompt):
            ticket = re.search(r"(a rather .*)", prompt)[1]
            return f"```\nRoute the ticket.\nExample: {ticket} -> billing\nBe quick.\n```"

        run = new_run(memorising).go(max_trials=8)

        assert [one.configuration.sections["system"] for one in run.candidates.values()] == [
            "Route the ticket.",
            "Route the ticket.\nBe quick.",
        ]
        assert "quote training items" in run.candidates["c-1"].rationale


class TestEnding:
    def test_without_a_free_section_it_says_so(self):
        run = new_run(space=SearchSpace(sections=())).go()

        assert run.decision.reason is StopReason.ALGORITHM_SPECIFIC

    def test_a_perfect_baseline_stops_at_once(self):
        run = new_run(world=lambda candidate, item: (1.0, "x")).go()

        assert run.decision.reason is StopReason.TARGET_REACHED

    def test_it_runs_out_of_patience(self):
        count = iter(range(1_000))
        run = new_run(
            lambda prompt: f"```\nRoute the ticket, {next(count)} times.\n```",
            settings={"patience": 2},
        ).go(max_trials=100)

        assert run.decision.reason is StopReason.NO_IMPROVEMENT

    def test_it_needs_a_model(self):
        with pytest.raises(UsageError, match="model"):
            MetaPrompt(model=None)
        with pytest.raises(UsageError, match="model"):
            build_optimizer("meta_prompt", {})
        with pytest.raises(UsageError, match="shown"):
            build_optimizer("meta_prompt", {"model": "openai/x", "shown": 0})


def test_a_whole_optimization(tmp_path):
    def route(configuration, item):
        system = configuration["sections"]["system"]
        return item["label"] if item["label"] in system or item["n"] % 3 == 0 else "other"

    def model(prompt):
        best = re.search(r"```\n(.*?)\n```", prompt, re.DOTALL)[1]
        wanted = re.findall(r"expected \"(\w+)\"", prompt)
        rules = [f"- Some tickets are {one}." for one in dict.fromkeys(wanted) if one not in best]
        return "Named what was missing.\n```\n" + "\n".join([best, *rules[:1]]) + "\n```"

    result = burnish.optimize(
        agent=burnish.Agent(
            name="router",
            configuration={"sections": {"system": "Route the ticket.", "user": "{{text}}"}},
            run=route,
            version="1",
        ),
        suite=burnish.Suite(
            dataset=[
                {"n": n, "text": f"ticket {n}", "label": ("billing", "shipping")[n % 2]}
                for n in range(60)
            ],
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"train": 0.3, "validation": 0.4, "test": 0.3},
        ),
        optimizer=MetaPrompt(model=model),
        budget=burnish.Budget(max_trials=12),
        space=SearchSpace(locked=("user",)),
        seed=3,
        db=tmp_path / "x.db",
    )

    assert result.best.score == 1.0
    assert "Named what was missing." in [one.rationale for one in result.candidates.values()]
    assert result.usage["by_purpose"]["propose"]["calls"] >= 1
