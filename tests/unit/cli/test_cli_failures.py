"""Every way to fail ends in a message of one form, the right exit code, and no trace."""

from __future__ import annotations

import io
import json

import pytest
import typer

from burnish.cli import invocation as failures
from burnish.cli.console import Streams
from burnish.cli.invocation import run_command
from burnish.cli.running import Interrupted, run
from burnish.domain import ConflictError, InvariantError, UnavailableError, UsageError


@pytest.fixture
def guarded(monkeypatch, capsys):
    """Run a command that raises; the exit code, what stderr got and what stdout got."""

    def call(error, *, json_output=False, debug=False):
        def fail(_arguments, _session):
            raise error

        monkeypatch.setattr(failures, "_invoke", fail)
        out = io.StringIO()
        code = failures._guarded([], Streams(out=out, json_output=json_output, debug=debug))
        return code, capsys.readouterr().err, out.getvalue()

    return call


@pytest.mark.parametrize(
    ("kind", "code"),
    [(UsageError, 2), (ConflictError, 3), (UnavailableError, 4), (InvariantError, 70)],
)
def test_each_family_has_its_exit_code_and_one_form(guarded, kind, code):
    error = kind(what="the soup is cold", why="the fire is out", fix="light it")

    assert guarded(error) == (
        code,
        "error: the soup is cold\n  why: the fire is out\n  fix: light it\n",
        "",
    )


def test_with_json_the_error_is_the_one_document(guarded):
    error = UsageError(what="a", why="b", fix="c", code="bad_soup")

    code, message, out = guarded(error, json_output=True)

    assert code == 2
    assert message.startswith("error: a")
    assert json.loads(out) == {
        "error": {"code": "bad_soup", "message": "a: b", "fix": "c", "retryable": False}
    }


def test_anything_else_is_our_bug_without_a_trace(guarded):
    code, message, _ = guarded(ZeroDivisionError("by zero"))

    assert code == 70
    assert "this is a bug in burnish" in message
    assert "ZeroDivisionError: by zero" in message
    assert "Traceback" not in message


def test_debugging_shows_the_trace(guarded):
    _, message, _ = guarded(ZeroDivisionError("by zero"), debug=True)

    assert "Traceback" in message


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), typer.Abort(), Interrupted("go on with: x")])
def test_an_interruption_is_130(guarded, stop):
    code, message, _ = guarded(stop)

    assert code == 130
    assert message.startswith("interrupted")


def test_an_interruption_says_how_to_go_on(guarded):
    _, message, out = guarded(Interrupted("3 runs saved; go on with: x"), json_output=True)

    assert "kept: 3 runs saved; go on with: x" in message
    assert json.loads(out)["error"]["code"] == "interrupted"


def test_what_is_kept_stands_below_the_error(guarded):
    async def fail():
        raise UnavailableError(what="a", why="b", fix="c")

    with pytest.raises(UnavailableError) as caught:
        run(fail(), note=lambda: "3 runs saved")

    assert "  kept: 3 runs saved\n" in guarded(caught.value)[1]


def test_secrets_are_hidden(guarded, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "canary-value-1")
    error = RuntimeError("canary-value-1 at postgresql://me:hunter2@host/x")

    code, message, _ = guarded(error, debug=True)

    assert code == 70
    assert "canary-value-1" not in message
    assert "hunter2" not in message


def test_control_characters_of_foreign_text_do_not_reach_the_terminal(guarded):
    _, message, _ = guarded(UsageError(what="a\x1b[2J", why="b\x07", fix="c"))

    assert "\x1b" not in message
    assert "\x07" not in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evl"], "did you mean 'eval'?"),
        (["optimise"], "did you mean 'optimize'?"),
        (["cancle", "x"], "did you mean 'cancel'?"),
        (["eval", "--basline", "x"], "did you mean '--baseline'?"),
        (["models", "pul"], "did you mean 'pull'?"),
        (["eval", "--limit", "many"], "--limit"),
        (["export", "x", "-f", "docx"], "see `burnish export --help`"),
    ],
)
def test_a_wrong_command_line_is_2_with_the_nearest_right_one(capsys, arguments, words):
    code = run_command(arguments)

    assert code == 2
    assert words in capsys.readouterr().err
