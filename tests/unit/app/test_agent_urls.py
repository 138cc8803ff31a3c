"""Addresses of HTTP agents that cannot be used are refused when they are declared."""

import pytest

from burnish.config.specs import AgentSpec
from burnish.domain import UsageError


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://[", "cannot be understood"),
        ("http://[::1/run", "cannot be understood"),
        ("http://host:99999/run", "cannot be understood"),
        ("http://host:secret/run", "cannot be understood"),
        ("http://me:secret@host/run", "user or a password"),
    ],
)
def test_a_bad_address_is_refused_without_being_shown(url, why):
    with pytest.raises(UsageError, match=why) as refusal:
        AgentSpec(name="far", configuration={"sections": {"user": "x"}}, url=url)

    assert refusal.value.code == "invalid_agent"
    assert "secret" not in str(refusal.value)
