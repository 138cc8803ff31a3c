"""As much of OpenAI's images API as a run needs, which hangs or fails when it is told to."""

import base64
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from PIL import Image


class DrawingServer:
    """Answers each request with a picture of its own; `hang_from` and `fail` are counted from 1."""

    def __init__(self, *, hang_from=None, fail=(), status=503):
        self.drawn = 0
        self.asked = 0
        self.hanging = threading.Event()
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._hang_from, self._fail, self._status = hang_from, fail, status

    def __enter__(self):
        drawing = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                drawing.answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request):
        request.rfile.read(int(request.headers["content-length"]))
        with self._lock:
            self.asked += 1
            number = self.asked
        if self._hang_from is not None and number >= self._hang_from:
            self.hanging.set()
            self.released.wait()
            return
        if self._fail == "all" or number in self._fail:
            self._send(request, self._status, {"error": {"message": "no"}})
            return
        with self._lock:
            self.drawn += 1
        self._send(request, 200, {"data": [{"b64_json": _picture(number)}]})

    def _send(self, request, status, body):
        data = json.dumps(body).encode()
        request.send_response(status)
        request.send_header("content-type", "application/json")
        request.send_header("content-length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)


def _picture(number):
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), (40 * number % 256, 90, 160)).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()
