"""MCP server: confirmations that count once, keys and addresses, and the message without the SDK."""

import pytest

from burnish.cli.commands.servers import mcp as command
from burnish.domain import UsageError
from burnish.integrations import mcp_server


def test_a_confirmation_counts_once_for_what_was_shown_and_for_a_while():
    moment = [0.0]
    confirmations = mcp_server.Confirmations(now=lambda: moment[0])
    word, old = (confirmations.offer("start", {"seed": 1}) for _ in range(2))

    with pytest.raises(mcp_server.ToolError, match="Call review"):
        confirmations.take("promote", word, "review")
    assert confirmations.take("start", word, "estimate") == {"seed": 1}
    with pytest.raises(mcp_server.ToolError, match="was used"):
        confirmations.take("start", word, "estimate")
    moment[0] = 901.0
    with pytest.raises(mcp_server.ToolError, match="older than 15 minutes"):
        confirmations.take("start", old, "estimate")


@pytest.mark.parametrize("url", ["127.0.0.1:8720", "file:///etc/passwd", "http://a:b@host", ""])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(UsageError, match="address"):
        mcp_server.make_server(url)


def test_several_keys_are_refused():
    with pytest.raises(UsageError, match="several keys"):
        mcp_server.make_server("http://127.0.0.1:1", "a:read:one b:write:two")


def test_long_texts_are_cut_and_say_by_how_much():
    found = mcp_server.told({"output": "x" * 5_000, "spark": [1]})["data"]

    assert found == {"output": "x" * 4_000 + "… (1000 more characters)"}


def test_without_the_sdk_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda name: None)

    with pytest.raises(UsageError, match="not installed") as raised:
        command.mcp()

    assert (raised.value.code, raised.value.fix) == ("missing_extra", "pip install 'burnish[mcp]'")
