"""Gets a file of data: within its stated size, to a temporary name, held to its checksum, then renamed."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.data import DataFile

# How long nothing may come, and how long a file may take in all.
IDLE_S = 30.0
WHOLE_S = 300.0
PIECE = 1 << 16


class DownloadError(Exception):
    """Why a file cannot be had, in a line."""


def is_there(file: DataFile, folder: Path) -> bool:
    """Whether the folder has the file as the table states it."""
    path = folder / file.name
    return path.is_file() and path.stat().st_size == file.bytes and _sum_of(path) == file.sha256


def download(file: DataFile, folder: Path, *, idle_s: float = IDLE_S, whole_s: float = WHOLE_S) -> None:
    """Get the file into the folder. The part got before a connection was cut is kept, and the next try goes on there.

    Raises `DownloadError`.
    """
    if file.url is None:
        raise DownloadError(f"it has no address; it was made {file.made}")
    if not file.url.startswith(("https://", "http://127.0.0.1:")):
        raise DownloadError(f"{file.url} is no address of https")
    path = folder / file.name
    partial = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _receive(file, file.url, partial, idle_s, time.monotonic() + whole_s)
        if _sum_of(partial) != file.sha256:
            partial.unlink()
            raise DownloadError(f"{file.url} has other bytes than the table's checksum says")
        partial.replace(path)
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{file.url} answers {error.code} {error.reason}") from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise DownloadError(f"{file.url}: {getattr(error, 'reason', None) or error or type(error).__name__}") from None


def _receive(file: DataFile, url: str, partial: Path, idle_s: float, end_s: float) -> None:
    """Bring the partial file to its stated size, from where it ends by now."""
    had = partial.stat().st_size if partial.is_file() else 0
    if had >= file.bytes:
        had = 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={had}-"} if had else {})  # noqa: S310 (checked above)
    with urllib.request.urlopen(request, timeout=idle_s) as answer:  # noqa: S310
        # A server that does not go on in the middle sends all.
        had = had if answer.status == http.client.PARTIAL_CONTENT else 0
        with partial.open("ab" if had else "wb") as out:
            while piece := answer.read1(PIECE):
                had += len(piece)
                if had > file.bytes:
                    out.truncate(0)
                    raise DownloadError(f"{url} has more than the {file.bytes} B that the table states")
                out.write(piece)
                if time.monotonic() > end_s:
                    raise DownloadError(f"{url} takes too long: {had} of {file.bytes} B came")
    if had < file.bytes:
        raise DownloadError(f"{url} broke off after {had} of {file.bytes} B: try again")


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
