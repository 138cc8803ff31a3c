"""An endpoint that draws and judges after a wait, as OpenAI's would. Prints its port, then serves.

`GET /stats` tells how many calls there were since `GET /reset`, and how long from the first to the
last.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import random
import sys
import time

from PIL import Image, ImageFilter

RUBRIC = {
    "prompt_adherence": 0.8,
    "subject_fidelity": 0.7,
    "composition_quality": 0.6,
    "style_coherence": 0.7,
    "technical_artifact_penalty": 0.1,
    "confidence": 0.9,
    "failure_tags": [],
    "strength_tags": ["bench"],
    "rationale": "written down beforehand",
}


def pictures(count: int = 16) -> list[str]:
    """Different ones of 1024 pixels and some hundred kilobytes, as services draw them."""
    made = []
    for number in range(count):
        noise = Image.effect_noise((128, 128), 60 + number).resize((1024, 1024))
        soft = noise.filter(ImageFilter.GaussianBlur(6)).convert("RGB")
        written = io.BytesIO()
        soft.save(written, "PNG")
        made.append(base64.b64encode(written.getvalue()).decode())
    return made


class Endpoint:
    """Counts its calls while it waits."""

    def __init__(self, wait: float) -> None:
        self.wait = wait
        self.calls = self.now = self.most = 0
        self.first = self.last = 0.0
        self.pictures = pictures()

    async def answer(self, path: str) -> dict[str, object]:
        """What a path is answered with, after its wait."""
        if path == "/reset":
            self.calls = self.most = 0
            self.first = self.last = 0.0
            return {}
        if path == "/stats":
            span = self.last - self.first
            return {"calls": self.calls, "most": self.most, "seconds": span, "wait": self.wait}
        self.first = self.first or time.perf_counter()
        self.calls, self.now = self.calls + 1, self.now + 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.wait)
        self.now -= 1
        self.last = time.perf_counter()
        if path.endswith("/responses"):
            text = [{"type": "output_text", "text": json.dumps(RUBRIC), "annotations": []}]
            said = {"type": "message", "role": "assistant", "status": "completed", "content": text}
            return {"id": "r", "object": "response", "status": "completed", "output": [said]}
        return {"created": 0, "data": [{"b64_json": random.choice(self.pictures)}]}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request by request."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
                fields = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
                await reader.readexactly(int(fields.get("content-length", 0)))
                body = json.dumps(await self.answer(head[0].split()[1])).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                    b"content-length: %d\r\n\r\n" % len(body)
                )
                writer.write(body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main() -> None:
    endpoint = Endpoint(float(sys.argv[1]))
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
