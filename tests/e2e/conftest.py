"""Commands in this process; those in processes of their own are in the conftest above."""

import pytest
from optimize_project import Here


@pytest.fixture
def here(capfd, monkeypatch):
    return Here(capfd, monkeypatch)
