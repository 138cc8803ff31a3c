"""A real PromptTemplate, its store and its EvalLoop. `make wi-venv` has the package."""

import asyncio
import json
import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("weakincentives.evals", reason="test_weakincentives.py runs these")

from tests.wink import world
from weakincentives.evals import EvalLoop, exact_match
from weakincentives.prompt import (
    LocalPromptOverridesStore,
    MarkdownSection,
    Prompt,
    PromptTemplate,
)
from weakincentives.prompt.overrides import PromptOverridesError, SectionOverride
from weakincentives.runtime import InMemoryMailbox

import burnish
from burnish.domain import CandidateProposal
from burnish.optimization.validator import CandidateValidator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "weakincentives.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python[^\n]*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return LocalPromptOverridesStore(root_path=tmp_path / "overrides")


def tags():
    return sorted(path.stem for path in Path("overrides").rglob("*.json"))


def contents():
    return {path.name: path.read_bytes() for path in Path("overrides").rglob("*.json")}


def prompt_of(store, **given):
    template = given.pop("template", None) or world.template()
    if "runs" not in given:
        given = {"run": world.run, "evaluator": exact_match, **given}
    return burnish.WeakincentivesPrompt(template, store=store, samples=world.samples(), **given)


def mailbox_runs(store, heeds_tag=True):
    requests = InMemoryMailbox(name="eval-requests")
    loop = world.RouterLoop(
        world.template(),
        store,
        heeds_tag=heeds_tag,
        adapter=world.ScriptedAdapter(),
        requests=InMemoryMailbox(name="requests"),
    )
    eval_loop = EvalLoop(loop=loop, evaluator=exact_match, requests=requests)
    return burnish.MailboxRuns(requests, eval_loop=eval_loop, timeout_seconds=30)


def compressed(prompt, **options):
    return burnish.compress(
        agent=prompt.agent,
        suite=prompt.suite(split={"validation": 0.5, "test": 0.5}),
        space=prompt.space,
        **{"seed": 0, **options},
    )


def rendered(store, tag):
    with (prompt := Prompt(world.template(), store, tag).bind(world.Ticket(text="Hi"))).resources:
        return prompt.render().text


def changed(prompt, **sections):
    return prompt.configuration.with_sections(sections)


def test_sections_become_a_configuration_with_our_placeholders(store):
    prompt = prompt_of(store)

    sections = prompt.configuration.sections
    assert list(sections) == ["rules", "rules.tone-v1", "legal", "house", "ticket"]
    assert "more than $5" in sections["rules"]
    assert sections["ticket"] == "Ticket: {{text}}"
    # One accepts no overrides; the other's braces would read as a placeholder of ours.
    assert prompt.space.locked == ("legal", "house")


def test_two_keys_that_would_share_a_dotted_path_get_one_each(store):
    nested = MarkdownSection(
        title="A",
        key="a",
        template="1",
        children=[
            MarkdownSection(title="B", key="b.c", template="2"),
            MarkdownSection(title="B", key="b-c", template="3"),
        ],
    )
    template = PromptTemplate(
        ns="n", key="k", sections=[nested, MarkdownSection(title="9", key="9", template="4")]
    )

    prompt = prompt_of(store, template=template)

    assert dict(prompt.configuration.sections) == {
        "a": "1",
        "a.b-c": "2",
        "a.b-c-2": "3",
        "_9": "4",
    }
    assert [one.path for one in prompt.sections.sections] == [
        ("a",),
        ("a", "b.c"),
        ("a", "b-c"),
        ("9",),
    ]


def test_an_eval_loop_compresses_it_and_only_the_chosen_tag_is_written(store):
    store.store(
        world.template().descriptor,
        SectionOverride(
            path=("rules", "tone.v1"),
            expected_hash=world.template().descriptor.sections[1].content_hash,
            body="Be kind.",
        ),
        tag="latest",
    )
    before = contents()

    with prompt_of(store, runs=mailbox_runs(store)) as prompt:
        done = compressed(prompt)
        kept = prompt.keep(done, tag="short")

    assert kept
    assert not done.report.regressions
    assert done.report.tokens_after < done.report.tokens_before
    assert tags() == ["latest", "short"]
    assert contents()["latest.json"] == before["latest.json"]
    text = rendered(store, "short")
    assert "more than $5" in text
    assert "helpful assistant" not in text
    # What it was built on is neither lost nor mistaken for a change of the template.
    assert "Be kind." in text
    assert "Ticket: Hi" in text


def test_a_run_function_is_optimized_and_the_winner_kept(store):
    class Shorter:
        name = "shorter"

        def initialize(self, context):
            return burnish.OptimizerState()

        def propose(self, state, history, max_candidates):
            base = history.candidate(history.trials[0].candidate_id).configuration
            better = base.sections["rules"] + "\nTickets about a crash go to engineering."
            texts = [{"rules": better}, {"ticket": "Ticket: {{text}} {{text}}", "rules": better}]
            return [burnish.CandidateProposal(configuration=base.with_sections(t)) for t in texts]

        def observe(self, state, trial_results):
            return burnish.OptimizerState(generation=1)

        def should_stop(self, state, history):
            return burnish.StopDecision(
                should_stop=state.generation > 0, reason=burnish.StopReason.TARGET_REACHED
            )

    template = world.template(rules="Tickets about a refund go to billing.")
    with prompt_of(store, template=template) as prompt:
        result = burnish.optimize(
            agent=prompt.agent, suite=prompt.suite(), optimizer=Shorter(), space=prompt.space
        )
        kept = prompt.keep(result, tag="better")

    assert result.baseline.score == 0.5
    assert result.best.score == 1.0
    assert kept
    assert tags() == ["better"]


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"ticket": "Ticket."}, "placeholder_dropped"),
        ({"ticket": "{{text}} of {{nobody}}"}, "placeholder_unknown"),
        ({"rules": "See {{text}}"}, "placeholder_unknown"),
        ({"house": "Be unfair."}, "section_locked"),
        ({"rules": "  "}, "empty_section"),
    ],
)
def test_what_cannot_be_rendered_is_refused_by_the_validator_and_again_by_keep(
    store, sections, reason
):
    prompt = prompt_of(store)
    bad = changed(prompt, **sections)
    validator = CandidateValidator(
        baseline=prompt.configuration, space=prompt.space, item_ids={"s0"}
    )

    accepted, refused = asyncio.run(
        validator.validate(
            [CandidateProposal(configuration=bad)],
            known_candidates=set(),
            is_seen=lambda *_: False,
            limit=1,
        )
    )
    with pytest.raises(burnish.UsageError) as error:
        prompt.keep(bad, tag="bad")

    assert not accepted
    assert refused[0].reason.value == error.value.code == reason
    assert tags() == []


@pytest.mark.parametrize("kind", ["loop", "function"])
def test_a_loop_that_ignores_the_tag_is_refused_before_anything_is_believed(store, kind):
    template = world.template()
    ignoring = (
        {"runs": mailbox_runs(store, heeds_tag=False)}
        if kind == "loop"
        else {"run": lambda _, sample: world.run(Prompt(template), sample)}
    )

    with (
        prompt_of(store, **ignoring) as prompt,
        pytest.raises(burnish.BurnishError, match="tag_ignored"),
    ):
        compressed(prompt)

    assert tags() == []


def test_a_tag_with_other_overrides_is_only_replaced_when_asked(store):
    prompt = prompt_of(store)
    prompt.keep(changed(prompt, rules="One."), tag="mine")
    before = contents()

    with pytest.raises(burnish.ConflictError, match="other overrides"):
        prompt.keep(changed(prompt, rules="Two."), tag="mine")
    assert contents() == before

    assert prompt.keep(changed(prompt, rules="Two."), tag="mine", replace=True)
    assert not prompt.keep(prompt.configuration, tag="same")
    assert tags() == ["mine"]


def test_a_baseline_tag_that_somebody_changed_meanwhile_is_not_overwritten(store):
    prompt = prompt_of(store)
    other = prompt_of(store)
    assert other.keep(changed(other, rules="Theirs."), tag="latest")

    with pytest.raises(burnish.ConflictError, match="since it was read"):
        prompt.keep(changed(prompt, rules="Ours."), tag="latest")


def test_the_store_itself_refuses_a_template_that_has_changed(store):
    prompt = prompt_of(store)
    prompt.keep(changed(prompt, rules="Short."), tag="short")
    path = next(Path("overrides").rglob("short.json"))
    document = json.loads(path.read_text())

    newer = world.template(rules="Other rules.")

    assert store.resolve(newer.descriptor, "short") is None
    with pytest.raises(PromptOverridesError, match="Hash mismatch"):
        store.store(
            newer.descriptor,
            SectionOverride(
                path=("rules",),
                expected_hash=document["sections"]["rules"]["expected_hash"],
                body="x",
            ),
            tag="short",
        )


def test_a_run_outside_the_block_says_how_to_open_it(store):
    with pytest.raises(burnish.UsageError, match="with prompt"):
        prompt_of(store)._answer({"sections": {}}, world.samples()[0])


CRASHING = """
import os, signal
from tests.wink import world
from tests.wink.test_prompt import LocalPromptOverridesStore, compressed, prompt_of

def run(prompt, sample):
    answer = world.run(prompt, sample)
    os.kill(os.getpid(), signal.SIGKILL)

store = LocalPromptOverridesStore(root_path="overrides")
with prompt_of(store, run=run) as prompt:
    compressed(prompt)
"""


def test_temporary_tags_of_a_killed_process_are_swept_by_the_next_and_no_others(store):
    prompt = prompt_of(store)
    prompt.keep(changed(prompt, rules="Mine."), tag="mine")
    before = contents()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    killed = subprocess.run([sys.executable, "-c", CRASHING], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    left = set(tags()) - {"mine"}
    assert left
    assert all(tag.startswith("burnish-mask-") for tag in left)

    with prompt_of(store) as one:
        swept = tags()
        # A live process's tags are left to it.
        with one._masks.under(one.configuration) as mask, prompt_of(store):
            assert mask in tags()

    assert swept == ["mine"]
    assert contents() == before
    assert not list(Path(".burnish/weakincentives").iterdir())


def test_a_failing_sample_is_a_failed_item_and_a_silent_loop_is_unavailable(store):
    def run(prompt, sample):
        found = world.run(prompt, sample)
        if sample.id == "s0":
            raise RuntimeError("provider down")
        return found

    with prompt_of(store, run=run) as prompt:
        result = burnish.evaluate(agent=prompt.agent, suite=prompt.suite())
    assert (result.failed, result.errors) == (1, 1)

    silent = burnish.MailboxRuns(InMemoryMailbox(name="nobody"), timeout_seconds=0.2)
    silent.open()
    with pytest.raises(burnish.UnavailableError, match="did not answer"):
        silent.evaluate("latest", world.samples()[0])
    silent.close()


def test_the_example_keeps_what_it_shortened(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    runpy.run_path(str(ROOT / "examples" / "weakincentives_compress.py"), run_name="__main__")

    assert "kept: True" in capsys.readouterr().out


def test_the_blocks_of_the_page_run(tmp_path, monkeypatch):
    assert BLOCKS
    for number, code in enumerate(BLOCKS):
        (folder := tmp_path / f"page-{number}").mkdir()
        monkeypatch.chdir(folder)
        (script := tmp_path / f"page-{number}.py").write_text(code)

        runpy.run_path(str(script), run_name="__main__")
