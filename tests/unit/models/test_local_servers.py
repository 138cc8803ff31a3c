"""Local model servers: which are found, and what is said of them; nothing is ever a failure."""

import asyncio
import json

import httpx2
import pytest

from burnish.models.openai.local_servers import find_local_servers


def find(answer, tables=None):
    """What is found where `answer` speaks for every port, by the request."""
    transport = httpx2.MockTransport(answer)
    return asyncio.run(find_local_servers(tables, transport=transport))


def models(*names, owner="someone"):
    data = [{"id": name, "object": "model", "owned_by": owner} for name in names]
    return httpx2.Response(200, json={"object": "list", "data": data})


def only(port, response):
    def answer(request):
        if request.url.port == port:
            return response
        raise httpx2.ConnectError("refused")

    return answer


@pytest.mark.parametrize(
    ("port", "provider"),
    [(11434, "ollama"), (8000, "vllm"), (1234, "lmstudio"), (8080, "llamacpp")],
)
def test_each_server_is_known_by_its_port_and_names_its_models(port, provider):
    (server,) = find(only(port, models("nomic-embed-text", "llama3.2:3b")))

    assert server.provider == provider
    assert server.models == ("nomic-embed-text", "llama3.2:3b")
    assert server.use == f'burnish.toml: model = "{provider}/llama3.2:3b"'


def test_a_server_that_says_what_it_is_is_believed():
    (server,) = find(only(8000, models("qwen", owner="llamacpp")))

    assert server.provider == "llamacpp"
    assert 'base_url = "http://127.0.0.1:8000/v1"' in server.use


def test_a_server_without_models_or_with_a_key_says_what_to_do():
    (empty,) = find(only(11434, models()))
    (locked,) = find(only(8000, httpx2.Response(401, text="no")))

    assert "no model" in empty.words
    assert locked.use == "put its key into VLLM_API_KEY"


@pytest.mark.parametrize(
    "response",
    [
        httpx2.Response(404),
        httpx2.Response(200, text="<html>"),
        httpx2.Response(200, json=[1]),
        httpx2.Response(200, json={"data": "x"}),
        httpx2.Response(200, json={"data": [1]}),
        httpx2.Response(200, content=b"[" * 100_000),
        httpx2.Response(200, content=b" " * 2_000_000),
        httpx2.Response(302, headers={"location": "http://example.org"}),
    ],
)
def test_whatever_else_listens_there_is_no_model_server(response):
    assert find(only(8080, response)) == []


def test_what_breaks_is_no_failure():
    def answer(_):
        raise RuntimeError("broken")

    assert find(answer) == []


def test_the_config_may_say_where_a_server_is_but_only_on_this_machine():
    asked = []

    def answer(request):
        asked.append(str(request.url))
        raise httpx2.ConnectError("refused")

    find(
        answer,
        {
            "ollama": {"base_url": "http://127.0.0.1:7777/v1/"},
            "vllm": {"base_url": "http://gpu.example.org/v1"},
        },
    )

    assert "http://127.0.0.1:7777/v1/models" in asked
    assert not [one for one in asked if "example.org" in one]


def test_many_models_are_counted():
    names = [f"m{number}" for number in range(11)]
    (server,) = find(only(1234, models(*names)))

    assert server.words.endswith("m7 and 3 more")
    assert json.loads(server.use.partition("= ")[2]) == "lmstudio/m0"
