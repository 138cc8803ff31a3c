"""`burnish doctor` finds a model server that runs on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from burnish.cli.invocation import run_command
from burnish.models.openai import local_servers
from burnish.testing.vendors.batches import OpenAIBatchServer
from burnish.testing.vendors.server import in_thread

PROJECT = """
[agent]
name = "a"
model = "scripted/echo"
[agent.sections]
user = "{{{{message}}}}"
[suite]
dataset = "rows.jsonl"
scorers = [{{ kind = "exact_match", field = "label" }}]
[models.{provider}]
base_url = "http://127.0.0.1:{port}/v1"
"""


class Listing(BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.path == "/v1/models"
        body = json.dumps({"object": "list", "data": [{"id": "llama3.2:3b"}]}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_the_doctor_names_the_models_of_a_server_and_the_line_to_write(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local_servers, "_SECONDS", 600.0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Listing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        port = server.server_address[1]
        (tmp_path / "burnish.toml").write_text(
            PROJECT.format(provider="ollama", port=port), encoding="utf-8"
        )
        assert run_command(["doctor", "--json"]) == 0
    finally:
        server.shutdown()
        server.server_close()

    checks = {one["name"]: one for one in json.loads(capfd.readouterr().out)["checks"]}
    assert checks["ollama"]["ok"] is True
    assert "llama3.2:3b" in checks["ollama"]["detail"]
    assert checks["ollama"]["fix"].startswith('burnish.toml: model = "ollama/llama3.2:3b"')


def test_the_doctor_asks_a_model_of_batches_in_a_single_call(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    with in_thread(OpenAIBatchServer()) as server:
        text = PROJECT.format(provider="openai", port=server.base_url.split(":")[2].split("/")[0])
        text = text.replace("scripted/echo", "openai/small") + "batch = true\n"
        (tmp_path / "burnish.toml").write_text(text, encoding="utf-8")
        assert run_command(["doctor", "--json"]) == 0

    checks = {one["name"]: one for one in json.loads(capfd.readouterr().out)["checks"]}
    assert "answered 'fine'" in checks["model openai/small"]["detail"]
    assert (server.called.total(), server.batches) == (1, {})
