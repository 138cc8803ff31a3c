"""What several integration tests of mailboxes share."""

import pytest

from burnish.testing.samples.mailboxes import open_redis_box


@pytest.fixture
def box(redis_client):
    return open_redis_box(redis_client)
