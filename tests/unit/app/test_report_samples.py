"""What tests of the report share: a run's material, and a page as a browser would see it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

from burnish.app.report.html import render_page
from burnish.app.report.html.material import (
    Change,
    EventTally,
    ItemChange,
    ItemComparison,
    Material,
    Side,
)
from burnish.domain import (
    AgentOutput,
    ExperimentStatus,
    ItemResult,
    OptimizationStatus,
    Purpose,
    Score,
    Spending,
    Usage,
)
from burnish.testing.samples.optimizations import (
    make_candidate,
    make_record,
    make_rejection,
    make_trial,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
NASTY = MARKUP + " & \"q\" 'a' \u2028\u2029\u202e\x00\x1b\ud800"
SECTIONS = ("scores", "prompt", "items", "lineage", "pareto", "trials", "rejections")
SECTIONS += ("usage", "events")
VOID = {"meta", "br", "input", "path", "circle", "rect"}


class Page(HTMLParser):
    """What a browser would see: balanced tags, their attributes and texts."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.ids, self.open = [], [], [], []
        self.scripts, self._texts = [], []
        self.feed(html)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif not self.open or self.open[-1] != "style":
            self._texts.append(data)

    @property
    def text(self):
        return "".join(self._texts)


def result(**changes):
    document = {
        "optimization_id": "o1",
        "stop_message": "the budget's max_trials is reached",
        "baseline": {"candidate_id": "o1-0", "score": 0.4},
        "best": {"candidate_id": "o1-2", "score": 0.6},
        "improved": True,
        "why_not_improved": None,
        "test": {"baseline_score": 0.4, "best_score": 0.65, "items": 20},
        "improvement": {
            "delta": 0.25,
            "ci_low": 0.1,
            "ci_high": 0.4,
            "p_value": 0.0004,
            "fixed": 6,
            "broken": 1,
            "held_out": True,
        },
        "confirmation": "compared on 20 held-out items",
        "evaluations": 120,
    }
    return {**document, **changes}


def item_result(score=1.0, text="yes", **changes):
    plain = ItemResult(
        item_id="i1",
        item_hash="h",
        repeat=0,
        score=score,
        passed=score == 1,
        output=AgentOutput(text=text),
        scores=(Score(score, "" if score else "expected yes", name="exact"),),
    )
    return replace(plain, **changes)


def item_change(change=Change.FIXED, item_id="i1", fields=None, before="no", after="yes"):
    scores = {Change.FIXED: (0.0, 1.0), Change.BROKEN: (1.0, 0.0), Change.UNCHANGED: (0.0, 0.0)}
    old, new = scores[change]
    return ItemChange(
        item_id=item_id,
        change=change,
        before=Side(score=old, results=(item_result(old, before),)),
        after=Side(score=new, results=(item_result(new, after),)),
        fields={"question": "Is it so?", "label": "yes"} if fields is None else fields,
    )


def material(**changes):
    """A finished run of two trials; the second descends from the first and won."""
    candidates = [
        make_candidate(0, rationale="as given"),
        make_candidate(1, rationale="shorter"),
        make_candidate(
            2, step_index=2, parent_candidate_ids=("o1-1", "o1-0"), rationale="a merge of both"
        ),
    ]
    trials = [
        make_trial(0, objective_score=0.4),
        make_trial(1, objective_score=0.5, status=ExperimentStatus.PRUNED, error="could not win"),
        make_trial(2, objective_score=0.6),
    ]
    shown = (item_change(Change.BROKEN, "i0"), item_change(), item_change(Change.UNCHANGED, "i2"))
    facts = {
        "record": make_record(
            status=OptimizationStatus.COMPLETED,
            stop_reason="budget",
            result=result(),
            created_at="2026-01-01T10:00:00Z",
            updated_at="2026-01-01T11:00:00Z",
        ),
        "candidates": candidates,
        "trials": {one.candidate_id: one for one in trials},
        "rejections": [make_rejection(3)],
        "events": EventTally(
            counts={"run_finished": 1},
            first={"run_finished": "2026-01-01T11:00:00Z"},
            last={"run_finished": "2026-01-01T11:00:00Z"},
            statuses=(("2026-01-01T10:00:00Z", "running"),),
        ),
        "spending": Spending.on(Purpose.AGENT, Usage(calls=120, input_tokens=900, cost_usd=0.5)),
        "tokens": {"o1-0": 30, "o1-1": 20, "o1-2": 25},
        "items": ItemComparison(
            held_out=True,
            counts={Change.BROKEN: 1, Change.FIXED: 6, Change.UNCHANGED: 13},
            shown=shown,
        ),
        "expected_fields": ("label",),
    }
    return Material(**{**facts, **changes})


def page(**changes):
    return render_page(material(**changes), NOW)


def headline(html):
    return re.search(r'class="headline">(.*?)</p>', html)[1]


def verdict(html):
    return re.sub(r"<[^>]+>", " ", re.search(r'class="verdict .*?</header>', html, re.DOTALL)[0])


def unbeaten(**changes):
    document = result(
        best={"candidate_id": "o1-0", "score": 0.4},
        improved=False,
        why_not_improved="none of the 2 candidates tried scored above the baseline",
        **changes,
    )
    trials = [make_trial(0, objective_score=0.4), make_trial(2, objective_score=0.3)]
    return {
        "record": replace(material().record, result=document),
        "trials": {one.candidate_id: one for one in trials},
    }
