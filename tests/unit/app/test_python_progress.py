"""Progress and events of calls from Python: where a line is shown, and what callbacks are told."""

import asyncio
import io
import os
import sys
import types

import pytest

import burnish
from burnish.app import progress_line
from burnish.app.optimize import following
from burnish.app.progress_line import NotebookLine, PlainLines, TerminalLine, choose_display
from burnish.domain import EventType

ROWS = [{"q": f"q{n}", "label": "x"} for n in range(6)]
SUITE = burnish.Suite(dataset=ROWS, scorers=[{"kind": "exact_match", "field": "label"}])


def agent(run=lambda configuration, item: "x"):
    return burnish.Agent(
        name="a\x1b[2J", configuration={"sections": {"system": "Say.", "user": "{{q}}"}}, run=run
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def elsewhere(monkeypatch):
    """Neither a terminal nor a notebook, whatever runs the tests."""
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.usefixtures("elsewhere")
def test_a_line_is_shown_in_terminals_and_notebooks_unless_it_is_not_wanted(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert choose_display(None) is None
    assert isinstance(choose_display(True), PlainLines)

    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(choose_display(None), TerminalLine)
    assert choose_display(False) is None

    kernel = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel))
    assert isinstance(choose_display(None), NotebookLine)
    assert choose_display(False) is None


@pytest.mark.usefixtures("elsewhere")
def test_a_terminal_shows_where_it_stands_and_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())

    burnish.evaluate(agent(), SUITE, db=tmp_path / "b.db")
    scored = terminal.getvalue()
    burnish.optimize(
        agent(), SUITE, "edits", burnish.Budget(max_trials=2), seed=1, db=tmp_path / "b.db"
    )
    searched = terminal.getvalue()[len(scored) :]

    last = scored.rpartition("\x1b[2K")[2]
    assert last.startswith("a�[2J on dataset  6/6  score 1.000  ")
    assert "best 1.000 (baseline 1.000)" in searched.rpartition("\x1b[2K")[2]
    assert scored.endswith("\n")
    assert searched.endswith("\n")


@pytest.mark.parametrize(("columns", "shown"), [(0, "abcdef"), (4, "abc"), (80, "abcdef")])
def test_a_line_is_cut_where_the_terminal_says_how_wide_it_is(monkeypatch, columns, shown):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(terminal, "fileno", lambda: 2, raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((columns, 1)))

    TerminalLine().show("abcdef", last=True)

    assert terminal.getvalue() == f"\r\x1b[2K{shown}\n"


@pytest.mark.usefixtures("elsewhere")
def test_a_notebook_replaces_one_output(monkeypatch, tmp_path):
    shown = []
    output = types.SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

    def display(data, *, raw, display_id):
        shown.append(data["text/plain"])
        return output

    kernel = types.SimpleNamespace(kernel=object())
    parts = types.SimpleNamespace(display=display)
    monkeypatch.setitem(sys.modules, "IPython.display", parts)
    ipython = types.SimpleNamespace(get_ipython=lambda: kernel, display=parts)
    monkeypatch.setitem(sys.modules, "IPython", ipython)

    burnish.evaluate(agent(), SUITE, db=tmp_path / "b.db")

    assert "6/6  score 1.000" in shown[-1]
    assert len(shown) > 1


def test_files_get_a_line_now_and_then_and_the_last(capsys):
    now = [0.0]
    lines = PlainLines(clock=lambda: now[0])

    for moment, last in ((1.0, False), (6.0, False), (7.0, False), (8.0, True)):
        now[0] = moment
        lines.show(f"at {moment}", last=last)

    assert capsys.readouterr().err == "at 6.0\nat 8.0\n"


@pytest.mark.usefixtures("elsewhere")
def test_a_display_that_fails_harms_nothing(monkeypatch, tmp_path):
    class Broken:
        def show(self, line, *, last):
            raise OSError("no screen")

    monkeypatch.setattr(progress_line, "choose_display", lambda wanted: Broken())

    assert burnish.evaluate(agent(), SUITE, db=tmp_path / "b.db").score == 1.0


def test_every_event_of_a_search_is_told_once_and_in_order(tmp_path):
    told = []

    result = burnish.optimize(
        agent(),
        SUITE,
        "edits",
        burnish.Budget(max_trials=2),
        seed=1,
        db=tmp_path / "b.db",
        on_event=told.append,
    )

    sequences = [one.sequence for one in told]
    assert sequences == sorted(set(sequences))
    assert told[-1].type is EventType.RUN_FINISHED
    ended = [
        one.payload["number"]
        for one in told
        if one.type is EventType.TRIAL_ADDED_OR_UPDATED and one.payload["status"] == "completed"
    ]
    assert ended == [row["number"] for row in result.rows]


def test_a_resumed_search_tells_only_what_happens_then(tmp_path):
    budget = burnish.Budget(max_trials=2)
    first, second = [], []
    options = {"seed": 1, "db": tmp_path / "b.db"}

    done = burnish.optimize(agent(), SUITE, "edits", budget, on_event=first.append, **options)
    burnish.optimize(
        agent(),
        SUITE,
        "edits",
        budget,
        resume=done.optimization_id,
        on_event=second.append,
        **options,
    )

    assert first
    assert second == []


async def test_an_evaluation_tells_as_it_goes_on_and_at_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(progress_line, "_LOOK_SECONDS", 0.001)
    told, half = [], asyncio.Event()

    async def note(event):
        told.append(event)
        if event.payload["items"] >= 1:
            half.set()

    async def run(configuration, item):
        if item["q"] == "q5":
            await half.wait()
        return "x"

    await burnish.evaluate_async(agent(run), SUITE, db=tmp_path / "b.db", on_event=note)

    assert told[0].type is EventType.PROGRESS_CHANGED
    assert told[0].payload["items"] < 6
    assert (told[-1].type, told[-1].payload["items"]) == (EventType.RUN_FINISHED, 6)
    assert told[-1].payload["score"] == 1.0


def test_a_callback_that_fails_is_logged_and_the_run_goes_on(tmp_path, caplog):
    def broken(event):
        raise ValueError("no such board")

    result = burnish.evaluate(agent(), SUITE, db=tmp_path / "b.db", on_event=broken)

    assert result.score == 1.0
    assert "on_event failed at run_finished; the run goes on" in caplog.text
    assert following.__name__ in {one.name for one in caplog.records}
