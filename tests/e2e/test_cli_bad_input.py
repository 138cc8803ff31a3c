"""Bad input: one clear message with what, why and fix, the right exit code, no trace."""

from __future__ import annotations

import http.server
import importlib.util
import json
import os
import threading

import pytest

KEY = "sk-canary-0123456789abcdef"
CONFIG = """
[agent]
model = "scripted/first-label"
labels = ["good", "bad"]
concurrency = 1
[agent.sections]
user = "{{text}}"
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
"""
ROWS = "".join(f'{{"id": "r{n}", "text": "t{n}", "label": "good"}}\n' for n in range(6))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "burnish.toml").write_text(CONFIG)
    (tmp_path / "rows.jsonl").write_text(ROWS)
    return tmp_path


@pytest.fixture
def run(commands):
    def run(project, *arguments):
        return commands.run(arguments, cwd=project, env={**os.environ, "OPENAI_API_KEY": KEY})

    return run


@pytest.fixture
def fails(run):
    def fails(project, *arguments, code):
        """The message of a command that ends with this code, in the one form, without a trace."""
        done = run(project, *arguments)
        everything = done.stdout + done.stderr
        assert done.returncode == code, everything
        assert "Traceback" not in everything
        assert KEY not in everything
        parts = ("error: ", "\n  why: ", "\n  fix: ")
        assert all(part in done.stderr for part in parts), done.stderr
        return done.stderr

    return fails


def change(project, old, new):
    file = project / "burnish.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("command", "old", "new", "words"),
    [
        ("eval", "concurrency", "concurency", ["agent.concurency", "mean 'concurrency'"]),
        ("eval", "rows.jsonl", "none.jsonl", ["none.jsonl"]),
        ("validate", "exact_match", "exact_mach", ["exact_mach", "exact_match"]),
        ("eval", "scripted/first-label", "opnai/x", ["opnai/x", "openai/x"]),
        ("eval", "{{text}}", "{{txet}}", ["{{txet}}", "text"]),
        ("validate", 'field = "label"', 'field = "lable"', ["lable", "label"]),
    ],
)
def test_a_wrong_word_in_the_config_is_named(fails, project, command, old, new, words):
    change(project, old, new)

    message = fails(project, command, code=2)

    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ROWS + '{"id": "x", "text": }\n', ["rows.jsonl", "line 7, column 21"]),
        (ROWS + '{"id": "r2", "text": "again", "label": "bad"}\n', ["line 7", "r2", "line 3"]),
        ("", ["empty"]),
    ],
)
def test_bad_rows_are_named_with_file_line_and_column(fails, project, rows, words):
    (project / "rows.jsonl").write_text(rows)

    message = fails(project, "eval", code=2)

    assert all(word in message for word in words), message


def test_a_folder_without_a_config_points_to_init(fails, tmp_path):
    assert "burnish init" in fails(tmp_path, "eval", code=2)


def test_a_broken_config_names_the_line(fails, project):
    change(project, "[suite]", "[suite")

    assert "line 8" in fails(project, "eval", code=2)


def test_an_unknown_experiment_points_to_the_list(fails, run, project):
    assert run(project, "eval").returncode == 0

    assert "burnish list" in fails(project, "show", "nope", code=2)


def test_reading_where_nothing_is_makes_no_database(fails, project):
    fails(project, "show", code=2)

    assert not (project / ".burnish").exists()


def test_an_unreachable_database_is_4_and_its_password_stays_hidden(fails, project):
    message = fails(project, "eval", "--db", "postgresql://me:hunter2@127.0.0.1:1/x", code=4)

    assert "hunter2" not in message


class Endpoint(http.server.ThreadingHTTPServer):
    """An OpenAI-compatible server that answers some calls and then refuses the key."""

    good_answers = 0
    calls = 0


class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls += 1
        if self.server.calls <= self.server.good_answers:
            message = {"role": "assistant", "content": "good"}
            body = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
            }
            self.reply(200, body)
        else:
            self.reply(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})

    def reply(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def endpoint():
    server = Endpoint(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def on_endpoint(port):
    address = f"models.openai.base_url=http://127.0.0.1:{port}/v1"
    return ["--model", "openai/m", "--set", address, "--set", "models.openai.max_attempts=1"]


def test_a_bad_key_is_2_and_is_never_repeated(fails, project, endpoint):
    message = fails(project, "eval", *on_endpoint(endpoint.server_port), code=2)

    assert "OPENAI_API_KEY" in message
    assert endpoint.calls == 1, "every item would meet the same answer"


def test_what_was_evaluated_before_the_key_went_bad_is_kept(fails, run, project, endpoint):
    endpoint.good_answers = 4

    message = fails(project, "eval", *on_endpoint(endpoint.server_port), code=2)
    assert "4 of 6 runs saved; go on with: burnish eval --resume" in message

    endpoint.good_answers = 100
    command = message.split("go on with: burnish ")[1].split()
    done = run(project, *command, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["items"] == 6
    assert endpoint.calls == 4 + 1 + 2


def test_an_unreachable_endpoint_is_4(fails, project):
    message = fails(project, "eval", *on_endpoint(9), code=4)

    assert "http://127.0.0.1:9/v1" in message


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_the_command_says_how_to_get_it(project, fails):
    message = fails(project, "optimize", "--runner", "ray", code=2)

    assert "the package ray is not installed" in message
    assert "pip install 'burnish[ray]'" in message
    assert not (project / ".burnish").exists()
