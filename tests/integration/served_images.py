"""Pictures that are none, too large or plain, and runs over HTTP."""

import io
import struct
import time
import zlib

from PIL import Image
from serving_world import DEADLINE

ENDED = ("completed", "completed_degraded", "failed", "cancelled")
PROMPT = "a red fox in the snow at dawn"


def png(colour=(200, 60, 40), size=(48, 32)):
    return picture("PNG", colour, size)


def picture(kind, colour=(200, 60, 40), size=(48, 32)):
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, kind)
    return buffer.getvalue()


def bomb(width=10_000, height=10_000):
    """A PNG of a few bytes that says it has a hundred million pixels."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"\0" * 10_000, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def wanted(**changes):
    usual = {"project_id": "fox", "base_prompt": PROMPT, "objective_preset": "adherence"}
    return {**usual, "image_model": "sketch", "n_variants": 2, "quality": "low", **changes}


def start(client, **changes):
    made = client.post("/eval-runs", json=wanted(**changes))
    assert made.status_code == 201, made.text
    return made.json()


def wait_until_ended(client, run_id):
    deadline = time.monotonic() + DEADLINE
    while True:
        view = client.get(f"/eval-runs/{run_id}").json()
        if view["status"] in ENDED:
            return view
        assert time.monotonic() < deadline, view
        time.sleep(0.02)


def upload(client, data, *, project="fox", kind="image/png", **query):
    path = f"/projects/{project}/commits"
    return client.post(path, content=data, params=query, headers={"Content-Type": kind})


def stored_files(folder):
    root = folder / ".burnish" / "images"
    return sorted(one for one in root.rglob("*") if one.is_file()) if root.exists() else []
