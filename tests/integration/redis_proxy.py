"""A proxy before a Redis server that loses answers when it is told to."""

import asyncio
from contextlib import asynccontextmanager, suppress


class Proxy:
    """Passes everything on, until `lose_answers` lets the server work and cuts the line."""

    def __init__(self, port):
        self._upstream = port
        self._losing = 0
        self.lines = set()
        self.lost = 0

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def lose_answers(self, number):
        """The next so many answers are lost, each with its connection."""
        self._losing = number

    async def serve(self, reader, writer):
        self.lines.add(asyncio.current_task())
        upstream, out = await asyncio.open_connection("127.0.0.1", self._upstream)
        try:
            pumps = {
                asyncio.ensure_future(self._pump(reader, out)),
                asyncio.ensure_future(self._pump(upstream, writer, answers=True)),
            }
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            out.close()
            writer.close()
        # With both ends closed, neither has anything more to pass on.
        await asyncio.gather(
            *pumps, out.wait_closed(), writer.wait_closed(), return_exceptions=True
        )

    async def _pump(self, source, sink, *, answers=False):
        with suppress(OSError):
            while data := await source.read(65536):
                if answers and self._losing and not _greets(data):
                    self._losing -= 1
                    self.lost += 1
                    return
                sink.write(data)
                await sink.drain()


def _greets(data):
    """Answers to what a client asks first on each new line."""
    return data.startswith((b"-NOSCRIPT", b"+OK", b"%"))


@asynccontextmanager
async def running_proxy(port):
    proxy = Proxy(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await asyncio.gather(*proxy.lines)
