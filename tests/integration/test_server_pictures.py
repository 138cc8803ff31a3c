"""Pictures over HTTP: what is let in, how it is served, and what nobody gets."""

import contextlib
import hashlib
import socket
from dataclasses import replace

import pytest
from served_images import bomb, picture, png, start, stored_files, upload
from serving_world import DEADLINE, ServerThread, make_served_project, settings_of
from tests.support.image_leases import release_run, take_this_run

from burnish.domain import UnavailableError


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_served_project(tmp_path_factory.mktemp("pictures"), items=8)


@pytest.fixture(scope="module")
def server(project):
    with ServerThread(settings_of(project, execute=False, max_image_bytes=400_000)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with server.client() as opened:
        yield opened


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_served_as_what_it_was_decoded_as(client, kind):
    data = picture(kind)
    # What the client says that it is does not count.
    commit = upload(client, data, kind="text/html", prompt="red").json()
    answer = client.get(commit["image_url"])

    assert answer.content == data
    assert answer.headers["content-type"] == f"image/{kind.lower()}"
    assert commit["images"][0]["digest"] == hashlib.sha256(data).hexdigest()
    assert (commit["images"][0]["width"], commit["images"][0]["height"]) == (48, 32)
    assert (commit["prompt"], commit["status"], commit["can_be_parent"]) == ("red", "success", True)


def test_a_picture_may_be_kept_for_ever_and_is_never_run(client):
    url = upload(client, png()).json()["image_url"]
    first = client.get(url)
    tag = first.headers["etag"]
    again = client.get(url, headers={"If-None-Match": tag})
    small = client.get(f"{url}/thumbnail")

    assert first.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert first.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in first.headers["content-security-policy"]
    assert "default-src 'none'" in first.headers["content-security-policy"]
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert small.status_code == 200
    assert small.headers["content-type"].startswith("image/")
    assert small.headers["etag"] != tag


def test_a_tag_is_confirmed_only_for_pictures_that_are_stored(client):
    digest = "ab" * 32
    answer = client.get(f"/images/{digest}", headers={"If-None-Match": f'"{digest}"'})

    assert answer.status_code == 404


def test_a_thumbnail_is_small(client):
    url = upload(client, png(size=(1600, 1200))).json()["thumbnail_url"]

    assert len(client.get(url).content) < 20_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a picture",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<html><script>alert(1)</script></html>",
        b"GIF89a\x01\x00\x01\x00\x00\x00\x00;",
        png()[:40],
        picture("JPEG")[:300],
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        b"RIFF\x10\x00\x00\x00WEBPVP8X",
        bomb(),
        bomb(60_000, 60_000),
    ],
    ids=["empty", "text", "svg", "html", "gif", "head", "cut", "zeros", "webp", "100MP", "3600MP"],
)
def test_what_is_no_picture_is_refused_and_not_stored(client, project, data):
    before = stored_files(project)
    answer = upload(client, data, project="refused")

    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] in ("INVALID_IMAGE", "INVALID_REQUEST")
    assert answer.json()["fix"]
    assert stored_files(project) == before
    names = [one["project_id"] for one in client.get("/projects?limit=500").json()["items"]]
    assert "refused" not in names


def test_a_picture_that_is_too_large_is_refused_before_and_while_it_comes(server, client):
    declared = upload(client, b"x" * 400_001)
    host, _, port = server.address.removeprefix("http://").rpartition(":")
    head = (
        "POST /projects/fox/commits HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=DEADLINE) as wire:
        wire.sendall(head.encode())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(40):
                wire.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
        answer = wire.recv(65536)

    assert (declared.status_code, declared.json()["code"]) == (413, "too_large")
    assert "at most 0.4 MB" in declared.json()["message"]
    assert "picture" in declared.json()["fix"]
    assert b" 413 " in answer


@pytest.mark.parametrize(
    "path",
    [
        "/images/..%2F..%2Fburnish.toml",
        "/images/../burnish.toml",
        "/images/%2e%2e/burnish.db",
        "/images/" + "A" * 64,
        "/images/" + "0" * 63,
        "/images/" + "0" * 64 + "%00.png",
        "/images/" + "0" * 64 + "/../../x",
        "/projects/..%2Fx/commits",
        "/projects/%00/commits",
    ],
)
def test_paths_lead_nowhere_else(client, path):
    answer = client.get(path)

    assert answer.status_code in (404, 422), (path, answer.text)
    assert set(answer.json()) >= {"code", "message", "fix", "retryable"}


def test_a_file_that_no_commit_names_is_not_served(client, server):
    data = png((1, 2, 3))
    digest = hashlib.sha256(data).hexdigest()
    server.call(server.services.images.files.put(digest, data))

    assert client.get(f"/images/{digest}").status_code == 404
    assert client.get(f"/images/{digest}/thumbnail").status_code == 404
    upload(client, data)
    assert client.get(f"/images/{digest}").content == data


def test_a_project_has_to_have_a_harmless_name(client):
    answer = upload(client, png(), project="a b")

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")


async def build_on(repository, run_id, commit_id):
    """As an executor that has begun and went away."""
    leased = await take_this_run(repository, run_id, owner="gone", seconds=30)
    await repository.save_run(replace(leased.run, anchor_commit_id=commit_id), token=leased.token)
    await release_run(repository, run_id, token=leased.token)


def test_a_commit_in_use_stays_and_a_deleted_one_leaves_its_children(client, server):
    root = upload(client, png((9, 9, 9)), project="tree").json()["commit_id"]
    child = upload(client, png((8, 8, 8)), project="tree", parent_commit_id=root).json()
    run = start(client, project_id="tree", parent_commit_id=child["commit_id"])
    server.call(build_on(server.services.images.repository, run["run_id"], child["commit_id"]))
    in_use = client.delete(f"/commits/{child['commit_id']}")
    client.post(f"/eval-runs/{run['run_id']}/cancel")
    deleted = client.delete(f"/commits/{root}")
    lineage = client.get("/projects/tree/lineage").json()

    assert (in_use.status_code, in_use.json()["code"]) == (409, "commit_in_use")
    assert (deleted.status_code, deleted.json()["commit_id"]) == (200, root)
    assert client.get(f"/commits/{root}").status_code == 404
    assert [one["parent_commit_id"] for one in lineage["nodes"]] == [root]
    assert lineage["edges"] == []
    assert client.delete(f"/commits/{child['commit_id']}").status_code == 200


def test_a_parent_of_an_upload_has_to_be_there(client):
    answer = upload(client, png(), parent_commit_id="no-such-commit")

    assert answer.json()["code"] in ("INVALID_REQUEST", "not_found")


def test_a_picture_that_cannot_be_stored_says_so(client, server, monkeypatch):
    async def full(*_):
        raise UnavailableError(
            what="the picture cannot be stored",
            why="no space is left",
            fix="free some",
            code="STORAGE_WRITE_FAILED",
        )

    monkeypatch.setattr(server.services.images.files, "put", full)
    answer = upload(client, png((5, 6, 7)), project="full")

    assert (answer.status_code, answer.json()["code"]) == (503, "STORAGE_WRITE_FAILED")
    assert answer.json()["retryable"]
    assert client.get("/projects/full/commits").json().get("items", []) == []
