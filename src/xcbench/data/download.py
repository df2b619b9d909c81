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
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
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


def get(url: str, folder: Path, label: str, most: int = 0) -> Path:
    """Download an address into a folder; an earlier partial download is resumed.

    Parameters
    ----------
    label : start of the progress line.
    most : bytes that it may have; 0: not known.

    Raises
    ------
    Unavailable
        If the address does not provide it; the part that arrived is kept for the next attempt.
    """
    pooch.get_logger().setLevel("WARNING")
    name = hashlib.sha256(url.encode()).hexdigest()[:12] + ".download"

    def downloader(url: str, output_file: str | Path, pooch: object, **other: object) -> None:
        part = folder / f"{name}.part"
        _receive(url, part, label, most or math.inf)
        part.replace(output_file)

    return Path(pooch.retrieve(url, None, fname=name, path=folder, downloader=downloader))


def _receive(url: str, part: Path, label: str, most: float) -> None:
    """Download into a file, which an earlier attempt may have begun."""
    with _answer(url, part) as answer:
        total = _size(answer)
        _refuse_more(url, part, total or 0, most)
        goes_on = answer.status_code == 206
        blocks = _blocks(answer, url)
        first = next(blocks, b"")
        _refuse_page(answer, b"" if goes_on else first, url)
        with open(part, "ab" if goes_on else "wb", opener=durable.no_link) as out:
            for block in _shown(chain([first], blocks), label, out.tell(), total):
                out.write(block)
                if out.tell() > min(most, math.inf if total is None else total):
                    break
    received = part.stat().st_size
    _refuse_more(url, part, received, most)
    if total is not None and received > total:
        part.unlink()
        raise Unavailable(f"{url} sends more than the {total:,} bytes it announced")
    if total is not None and received != total:
        raise Unavailable(f"{url} broke off after {received:,} of {total:,} bytes; {KEPT}")


def _refuse_more(url: str, part: Path, size: int, most: float) -> None:
    """Refuse what is larger than the file that is wanted."""
    if size > most:
        part.unlink(missing_ok=True)
        raise Unavailable(f"{url} has {size:,} bytes or more, the expected file has {most:,}")


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


def _shown(blocks: Iterable[bytes], label: str, start: int, total: int | None) -> Iterator[bytes]:
    """The same blocks; on a terminal with how far they are, a few times a second."""
    live, done = sys.stdout.isatty(), start
    began = shown = time.monotonic()
    try:
        for block in blocks:
            yield block
            done += len(block)
            now = time.monotonic()
            if live and now - shown >= 0.2:
                shown = now
                text = f"{label}: {readable(done)}"
                if total:
                    left = (total - done) * (now - began) / max(1, done - start)
                    text += f" of {readable(total)}, about {duration(left)} left"
                print(f"{afresh(sys.stdout)}{text}", end="", flush=True)
    finally:
        if live:  # leave the line empty
            print(afresh(sys.stdout), end="", flush=True)
