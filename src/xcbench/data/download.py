"""Download one file: resumable, with a time limit; a web page in its place is refused.

pooch puts the file in its place. Its own downloader cannot resume, bounds neither time nor size,
and takes any web page; its checksums are of what was sent, ours of the uncompressed content.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pooch
import requests
from urllib3.exceptions import HTTPError

import xcbench
from xcbench.errors import UserError, reason
from xcbench.system import durable
from xcbench.system.terminal import afresh
from xcbench.units import duration, readable

TIMEOUT = (5.0, 30.0)  # seconds to connect, and without an answer
SLOWEST = 1024.0  # bytes a second; below it a server is given up
BLOCK = 1 << 16
KEPT = "what has arrived is kept, and `xcbench data fetch` continues from there"
PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)

_silent: dict[str, str] = {}
"""Hosts that could not be reached, and why: this process asks them no more."""


class Unavailable(UserError):
    """An address does not provide the file."""


class Downloader:
    """A pooch downloader that resumes from a file ``.part`` of an earlier attempt.

    Parameters
    ----------
    part : path of the incomplete file.
    label : start of the progress line.
    most : bytes that it may have; 0: not known.
    """

    def __init__(self, part: Path, label: str, most: int = 0) -> None:
        self.part, self.label, self.most = part, label, most

    def __call__(self, url: str, output_file: str | Path, pooch: object, **other: object) -> None:
        """Download to ``output_file``, as pooch calls it."""
        with _answer(url, self.part) as answer:
            total = _size(answer)
            most = min(self.most or math.inf, math.inf if total is None else total)
            self._refuse_more(total or 0, url)
            goes_on = answer.status_code == 206
            blocks = _blocks(answer, url)
            first = next(blocks, b"")
            _refuse_page(answer, b"" if goes_on else first, url)
            with open(self.part, "ab" if goes_on else "wb", opener=durable.no_link) as out:
                progress = _Progress(self.label, out.tell(), total)
                out.write(first)
                for block in blocks:
                    out.write(block)
                    progress.show(out.tell())
                    if out.tell() > most:
                        break
                progress.close()
        received = self.part.stat().st_size
        self._refuse_more(received, url)
        if total is not None and received > total:
            self.part.unlink()
            raise Unavailable(f"{url} sends more than the {total:,} bytes it announced")
        if total is not None and received != total:
            raise Unavailable(f"{url} broke off after {received:,} of {total:,} bytes; {KEPT}")
        self.part.replace(output_file)

    def _refuse_more(self, size: int, url: str) -> None:
        """Refuse what is larger than the file that is wanted."""
        if self.most and size > self.most:
            self.part.unlink(missing_ok=True)
            raise Unavailable(
                f"{url} has {size:,} bytes or more, the expected file has {self.most:,}"
            )


def get(url: str, folder: Path, label: str, most: int = 0) -> Path:
    """Download an address into a folder; an earlier partial download is resumed.

    Parameters
    ----------
    most : bytes that it may have; 0: not known.

    Raises
    ------
    Unavailable
        If the address does not provide it; the part that arrived is kept for the next attempt.
    """
    pooch.get_logger().setLevel("WARNING")
    name = hashlib.sha256(url.encode()).hexdigest()[:12] + ".download"
    downloader: Any = Downloader(folder / f"{name}.part", label, most)
    return Path(pooch.retrieve(url, None, fname=name, path=folder, downloader=downloader))


def size(url: str) -> int | None:
    """Bytes announced by an address, or None.

    Raises
    ------
    Unavailable
        If it does not answer, or answers with a web page.
    """
    with _asked(url, 0) as answer:
        _refuse_page(answer, next(_blocks(answer, url), b""), url)
        return _size(answer)


def _answer(url: str, part: Path) -> requests.Response:
    """Answer that goes on where the part ends; or, of a server that cannot, that starts anew."""
    start = part.stat().st_size if part.exists() else 0
    answer = _asked(url, start)
    sent = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    other = answer.status_code == 206 and (sent is None or int(sent[1]) != start)
    if not other and answer.status_code != 416:
        return answer
    answer.close()
    part.unlink(missing_ok=True)
    return _asked(url, 0)


def _asked(url: str, start: int) -> requests.Response:
    host = urlsplit(url).netloc
    if host in _silent:
        raise Unavailable(_silent[host])
    headers = {"Accept-Encoding": "identity", "User-Agent": f"xcbench/{xcbench.__version__}"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        answer = requests.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except (requests.ConnectionError, requests.Timeout) as error:
        _silent[host] = f"{host} cannot be reached ({_reason(error)})"
        raise Unavailable(_silent[host]) from None
    except requests.RequestException as error:
        raise Unavailable(f"{url} cannot be requested ({error})") from None
    if answer.status_code in (200, 206) or (start and answer.status_code == 416):
        return answer
    answer.close()
    raise Unavailable(f"{url} answers {answer.status_code} {answer.reason}")


def _reason(error: BaseException) -> str:
    """The innermost cause, in a few words."""
    if isinstance(error, requests.ConnectTimeout):
        return f"no connection within {TIMEOUT[0]:g} s"
    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT[1]:g} s"
    while inner := error.__cause__ or error.__context__:
        error = inner
    return reason(error)[:120]


def _size(answer: requests.Response) -> int | None:
    """Bytes of the whole file."""
    match = re.fullmatch(r"bytes \d+-\d+/(\d+)", answer.headers.get("Content-Range", ""))
    if answer.status_code == 206:
        return int(match[1]) if match else None
    length = answer.headers.get("Content-Length", "")
    return int(length) if re.fullmatch(r"\d+", length) else None


def _blocks(answer: requests.Response, url: str) -> Iterator[bytes]:
    """What arrives, as it arrives; ends early where a server sends less than it announced."""
    since, received = time.monotonic(), 0
    while True:
        try:
            block = answer.raw.read1(BLOCK, decode_content=False)
        except (HTTPError, OSError) as error:
            silent = "timed out" in str(error)
            if not silent and "Content-Length" in answer.headers:
                return  # who asked counts what came
            what = f"sent nothing for {TIMEOUT[1]:g} s" if silent else "broke off"
            raise Unavailable(f"{url} {what}; {KEPT}") from None
        if not block:
            return
        yield block
        received += len(block)
        spent = time.monotonic() - since
        if spent > TIMEOUT[1]:
            if received < SLOWEST * spent:
                raise Unavailable(f"{url} sends less than {SLOWEST:g} bytes a second; {KEPT}")
            since, received = time.monotonic(), 0


def _refuse_page(answer: requests.Response, first: bytes, url: str) -> None:
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml") or PAGE.match(first):
        raise Unavailable(
            f"{url} answers with a web page instead of the data (it may want a confirmation, "
            "or have moved)"
        )


class _Progress:
    """How far a download is and how long it may take, on a terminal."""

    def __init__(self, label: str, start: int, total: int | None) -> None:
        self.label, self.start, self.total = label, start, total
        self.began = self.shown = time.monotonic()
        self.live = sys.stdout.isatty()

    def show(self, done: int) -> None:
        """Print at most a few times a second."""
        now = time.monotonic()
        if not self.live or now - self.shown < 0.2:
            return
        self.shown = now
        text = f"{self.label}: {readable(done)}"
        if self.total:
            left = (self.total - done) * (now - self.began) / max(1, done - self.start)
            text += f" of {readable(self.total)}, about {duration(left)} left"
        print(f"{afresh(sys.stdout)}{text}", end="", flush=True)

    def close(self) -> None:
        """Leave the line empty."""
        if self.live:
            print(afresh(sys.stdout), end="", flush=True)
