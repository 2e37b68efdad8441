"""`make data` against a server of its own on the loopback interface: whole, cut and wrong files."""

from __future__ import annotations

import hashlib
import http.server
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.data import FOLDER, DataFile, data_files
from tests.data.__main__ import main
from tests.data.download import DownloadError, download, is_there

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = bytes(range(256)) * 1000
CUT = 100_000


class Handler(http.server.BaseHTTPRequestHandler):
    """`/whole`, `/moved`, `/cut`, `/other`, `/long`, `/silent`: the word names the kind of answer."""

    protocol_version = "HTTP/1.1"
    server: Served

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Range")))
        content, status = CONTENT, 200
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/whole")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/none":
            self.send_error(404)
            return
        if self.path == "/silent":
            self.server.woken.wait(10)
        if self.path == "/other":
            content = bytes(len(CONTENT))
        if self.path == "/long":
            content = CONTENT * 2
        wanted = self.headers.get("Range")
        if wanted and self.path == "/cut":
            content, status = content[int(wanted.removeprefix("bytes=").removesuffix("-")) :], 206
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:CUT] if self.path == "/cut" else content)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name of the base class)
        """Says nothing."""


class Served(http.server.ThreadingHTTPServer):
    """The server, with the paths and ranges that it was asked for."""

    daemon_threads = False  # closing waits for them, so that no connection outlives its test

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str | None]] = []
        self.woken = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing of connections that the other side ended."""

    def file(self, path: str, name: str = "folder/file.bin") -> DataFile:
        url = f"http://127.0.0.1:{self.server_address[1]}/{path}"
        return DataFile(name, len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "MIT", url)


@pytest.fixture
def server() -> Iterator[Served]:
    with Served() as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served
        served.woken.set()
        served.shutdown()
        thread.join()


@pytest.mark.parametrize("path", ["whole", "moved"])
def test_what_comes_is_held_to_its_checksum_and_named(server: Served, tmp_path: Path, path: str) -> None:
    file = server.file(path)
    assert not is_there(file, tmp_path)
    download(file, tmp_path)
    assert (tmp_path / file.name).read_bytes() == CONTENT
    assert [one.name for one in (tmp_path / "folder").iterdir()] == ["file.bin"]
    assert is_there(file, tmp_path)


def test_what_was_cut_goes_on_where_it_ended(server: Served, tmp_path: Path) -> None:
    file = server.file("cut")
    for had in (CUT, 2 * CUT):
        with pytest.raises(DownloadError, match=f"/cut broke off after {had} of 256000 B: try again$"):
            download(file, tmp_path)
        assert not (tmp_path / file.name).exists()
        assert (tmp_path / "folder" / "file.bin.part").stat().st_size == had
    download(file, tmp_path)
    assert (tmp_path / file.name).read_bytes() == CONTENT
    assert server.asked == [("/cut", None), ("/cut", f"bytes={CUT}-"), ("/cut", f"bytes={2 * CUT}-")]


def test_a_server_that_does_not_go_on_sends_all_again(server: Served, tmp_path: Path) -> None:
    file = server.file("whole")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file.bin.part").write_bytes(b"of another server")
    download(file, tmp_path)
    assert (tmp_path / file.name).read_bytes() == CONTENT
    assert server.asked == [("/whole", "bytes=17-")]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("other", "/other has other bytes than the table's checksum says"),
        ("long", "/long has more than the 256000 B that the table states"),
        ("none", "/none answers 404 Not Found"),
    ],
)
def test_what_is_wrong_is_said_and_not_kept(server: Served, tmp_path: Path, path: str, said: str) -> None:
    file = server.file(path)
    with pytest.raises(DownloadError) as raised:
        download(file, tmp_path)
    assert str(raised.value) == f"{str(file.url).removesuffix(f'/{path}')}{said}"
    assert not (tmp_path / file.name).exists()
    # Nothing is left that a later try would go on from.
    partial = tmp_path / "folder" / "file.bin.part"
    assert not partial.exists() or partial.stat().st_size == 0


def test_a_server_that_says_nothing_is_left(server: Served, tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(DownloadError, match=r"/silent: .*timed out"):
        download(server.file("silent"), tmp_path, idle_s=0.2)
    assert time.monotonic() - begun < 9, "it waited until the server answered"


def test_a_file_that_comes_too_slowly_is_left(server: Served, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"/whole takes too long: \d+ of 256000 B came$"):
        download(server.file("whole"), tmp_path, whole_s=0.0)


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    with socket.socket() as silent:  # holds its port, and listens to nobody
        silent.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/whole"
        with pytest.raises(DownloadError, match=r"/whole: .*refused"):
            download(DataFile("folder/file.bin", 1, "", "MIT", url), tmp_path)


@pytest.mark.parametrize("url", ["http://example.invalid/file", "file:///etc/passwd", "ftp://example.invalid/file"])
def test_only_encrypted_addresses_are_asked(tmp_path: Path, url: str) -> None:
    with pytest.raises(DownloadError, match=r"is no address of https$"):
        download(DataFile("file", 1, "0" * 64, "MIT", url), tmp_path)


def test_every_file_has_a_line_and_what_is_there_is_not_asked_for(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [server.file("whole", "one"), server.file("other", "two")]
    table = tmp_path / "files.toml"
    texts = [
        f'[[file]]\nname = "{row.name}"\nurl = "{row.url}"\nbytes = {row.bytes}\nsha256 = "{row.sha256}"\n'
        'licence = "MIT"\n'
        for row in rows
    ]
    made = f'[[file]]\nname = "three"\nmade = "by hand"\nbytes = 1\nsha256 = "{"0" * 64}"\nlicence = "MIT"\n'
    table.write_text("".join(texts) + made)
    arguments = ["--folder", str(tmp_path / "data"), "--table", str(table)]
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "got one (256000 B, MIT)",
        "three has no address: it was made by hand",
        f"3 files of data in {tmp_path / 'data'}: 1 got, 1 without an address, 1 failed",
    ]
    assert said.err == f"error: two: {rows[1].url} has other bytes than the table's checksum says\n"
    assert main(arguments) == 1
    assert [path for path, _ in server.asked] == ["/whole", "/other", "/other"]
    assert "1 there, 1 without an address, 1 failed" in capsys.readouterr().out


def test_the_table_is_whole() -> None:
    files = data_files()
    assert len({file.name for file in files}) == len(files) > 20
    for file in files:
        assert not file.name.startswith("/")
        assert ".." not in file.name.split("/")
        assert len(bytes.fromhex(file.sha256)) == 32
        assert 0 < file.bytes < 1 << 24
        assert file.licence in {"Apache-2.0", "MIT"}
        assert (file.url is None) != (file.made is None)
        if file.url is not None:
            # At a commit, so that it never changes.
            assert len(bytes.fromhex(file.url.removeprefix("https://raw.githubusercontent.com/").split("/")[2])) == 20


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no {FOLDER}: make data")
@pytest.mark.parametrize("file", data_files(), ids=lambda file: file.name)
def test_what_is_there_is_what_the_table_states(file: DataFile) -> None:
    if not (FOLDER / file.name).exists():
        pytest.skip(f"no {file.name} in {FOLDER}: make data")
    assert is_there(file, FOLDER)
