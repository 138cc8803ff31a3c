"""Records of Opik clients and mirrors, on both databases."""

import shutil

import pytest
from tests.contract.opik_contract import MirrorBookContract, OpikRecordsContract

from burnish.app.wiring import Workspace


@pytest.fixture(params=["sqlite", "postgres"])
def location(request, tmp_path):
    if request.param == "sqlite":
        return str(shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "copy.db"))
    server = request.getfixturevalue("postgres")
    template = request.getfixturevalue("postgres_template")
    return server.url(server.create_database(template=template))


@pytest.fixture
async def workspace(location):
    async with Workspace.open(location) as opened:
        yield opened


class TestOpikRecords(OpikRecordsContract):
    pass


class TestMirrorBook(MirrorBookContract):
    pass
