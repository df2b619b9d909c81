"""A server of files on this machine that can misbehave; nothing of the package is needed."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Served:
    """How a path is answered."""

    body: bytes = b""
    kind: str = "application/octet-stream"
    ranges: bool = True
    length: int | None = None  # announced instead of the true one; -1: none is announced
    cut: int | None = None  # so many bytes are sent
    status: int = 200
    wait: float = 0.0
    shift: int = 0  # a wrong place, in answers to a range
    location: str = ""  # where a redirect leads


@dataclass
class Server:
    address: str
    paths: dict[str, Served] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    sent: list[tuple[str, int]] = field(default_factory=list)

    def put(self, name: str, body: bytes = b"", **how: object) -> str:
        self.paths[f"/{name}"] = Served(body, **how)  # type: ignore[arg-type]
        return f"{self.address}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        state: Server = self.server.state  # type: ignore[attr-defined]
        wanted = self.headers.get("Range")
        state.asked.append((self.path, wanted))
        served = state.paths.get(self.path, Served(status=404))
        time.sleep(served.wait)
        body, status = served.body, served.status
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted else 0  # type: ignore[index]
        if wanted and served.ranges:
            status = 206 if start < len(body) else 416
        self.send_response(status)
        if status == 206:
            start += served.shift
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            body = body[start:]
        if status == 416:
            body = b""
        self.send_header("Content-Type", served.kind)
        if served.location:
            self.send_header("Location", served.location)
        if served.length != -1:
            self.send_header("Content-Length", str(served.length or len(body)))
        self.end_headers()
        body = body[: served.cut]
        try:
            self.wfile.write(body)
            state.sent.append((self.path, len(body)))
        except OSError:
            pass  # the other side has hung up

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.state = Server(f"http://127.0.0.1:{http.server_port}")  # type: ignore[attr-defined]
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    yield http.state  # type: ignore[attr-defined]
    http.shutdown()
    http.server_close()


def closed_port() -> str:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        return f"http://127.0.0.1:{http.server_port}"
