"""Keys, hosts and cursors, without a server."""

import base64

import pytest

from burnish.domain import UsageError
from burnish.server.http.auth import Keys, KeyScope, host_name
from burnish.server.http.requests import decode_cursor, encode_cursor
from burnish.server.http.settings import ServerSettings
from burnish.support.secrets import without_secrets

KEY, OTHER = "k" * 16, "colon:inside:0123456789"


def test_a_plain_key_may_write_and_named_ones_have_their_scope():
    keys = Keys.of(f" {KEY}, eyes:read:{OTHER}\n")

    assert keys.find(KEY).scope is KeyScope.WRITE
    assert (keys.find(OTHER).name, keys.find(OTHER).may_write) == ("eyes", False)
    assert keys.find("another") is None
    assert keys.find("") is None
    assert keys.find("\ud800") is None


@pytest.mark.parametrize("nothing", [None, "", "  ", ","])
def test_no_keys_are_no_keys(nothing):
    assert not Keys.of(nothing)


def test_a_key_is_never_shown():
    keys = Keys.of(KEY)

    assert KEY not in repr(keys)
    assert KEY not in repr(keys.entries)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost.:80", "localhost"),
        ("127.0.0.1:8720", "127.0.0.1"),
        ("[::1]:8720", "[::1]"),
        ("[::1]", "[::1]"),
        ("", None),
        (":80", None),
        ("a:b", None),
        ("a:80:90", None),
        ("user@localhost", "user@localhost"),
    ],
)
def test_the_name_in_a_host(host, name):
    assert host_name(host) == name


def settings(tmp_path, **changes):
    return ServerSettings(config=tmp_path / "burnish.toml", database="x.db", **changes)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_key(tmp_path, host):
    assert settings(tmp_path, host=host).is_loopback


def test_others_need_a_key_or_a_loud_word(tmp_path):
    with pytest.raises(UsageError, match="no key"):
        settings(tmp_path, host="0.0.0.0")
    assert settings(tmp_path, host="0.0.0.0", keys=Keys.of(KEY))
    assert settings(tmp_path, host="0.0.0.0", insecure=True)


def test_the_names_of_a_server(tmp_path):
    own = settings(tmp_path, host="192.0.2.1", keys=Keys.of(KEY), allowed_hosts=("API.example",))

    assert own.hosts == {"localhost", "127.0.0.1", "[::1]", "192.0.2.1", "api.example"}


@pytest.mark.parametrize("place", [(1, "x"), ("2026", "id é"), (0.5, 3, "")])
def test_a_cursor_comes_back_as_it_was(place):
    cursor = encode_cursor("-name", place)

    assert decode_cursor("-name", cursor) == list(place)
    assert cursor.isascii()


@pytest.mark.parametrize(
    "wrong",
    ["", "@", "é", "x" * 5, base64.b64encode(b"{}").decode(), base64.b64encode(b"[]").decode()],
)
def test_what_is_no_cursor_is_refused(wrong):
    with pytest.raises(UsageError, match="cursor"):
        decode_cursor("name", wrong)


def test_a_cursor_of_another_order_is_refused():
    with pytest.raises(UsageError, match="sorted otherwise"):
        decode_cursor("name", encode_cursor("-name", ("x", "y")))


def test_every_key_of_a_list_is_hidden(monkeypatch):
    monkeypatch.setenv("BURNISH_API_KEY", f"ops:write:{KEY} eyes:read:reader-0123456789")

    shown = without_secrets(f"{KEY} reader-0123456789 redis://u:pass@h/0")

    assert shown == "[hidden] [hidden] redis://u:***@h/0"
