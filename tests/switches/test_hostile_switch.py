"""Switches that answer whatever they like: bounded time and memory, and one line."""

import socket
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightloom.switches import SwitchError, driver_of, parse_address
from tests.draws import cases

# The switch is not asked for its size.
FIRST_EGRESS = {"scpi": "&first-egress=1", "restconf": "&first-egress=1", "sonic": ""}
Answer = Callable[[socket.socket], None]
SCHEMES = ("scpi", "restconf", "sonic")


@contextmanager
def hostile(answer: Answer) -> Iterator[str]:
    """A server whose connections are given to `answer` once they have said something; its place."""
    ended = Event()
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.05)

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            with connection, suppress(OSError):
                connection.settimeout(2)
                connection.recv(1 << 16)
                answer(connection)

    thread = Thread(target=serve)
    thread.start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        ended.set()
        thread.join()
        listening.close()


def asked(scheme: str, place: str, timeout: str = "400ms") -> str:
    """The driver's error about this switch, which must come in time, on one line, in little memory."""
    tracemalloc.start()
    began = monotonic()
    try:
        address = parse_address("send", f"{scheme}://{place}?timeout={timeout}{FIRST_EGRESS[scheme]}")
        with driver_of(address) as driver, pytest.raises(SwitchError) as raised:
            driver.read()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Asked once or, where the connection was ended, twice; what trickles would take 20 s.
    assert monotonic() - began < 8.0
    assert most < 16 << 20
    said = str(raised.value)
    assert said.isprintable()
    assert len(said) < 500
    return said


def endless(piece: bytes, start: bytes = b"") -> Answer:
    def answer(connection: socket.socket) -> None:
        connection.sendall(start)
        for _ in range(1 << 14):
            connection.sendall(piece)

    return answer


def trickling(start: bytes, piece: bytes) -> Answer:
    """A byte now and then: each comes in time, all of them never do."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(start)
        for _ in range(1000):
            connection.sendall(piece)
            Event().wait(0.02)

    return answer


HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: application/yang-data+json\r\n"


@pytest.mark.large
@pytest.mark.parametrize(
    ("scheme", "answer", "said"),
    [
        ("scpi", endless(b"9" * 65536), "does not end within"),
        ("scpi", endless(b"(@1,2),(@3,4);" * 4096), "does not end within"),
        ("scpi", trickling(b"", b"1"), "no answer"),
        ("sonic", endless(b"9" * 65536), "does not end within"),
        ("sonic", endless(b"+" + b" " * 200_000 + b"\r\n"), "is no answer"),
        ("sonic", endless(b"$200000\r\n" + b"9" * 200_000 + b"\r\n", b"+OK\r\n*60000\r\n"), "longer than"),
        ("sonic", endless(b"*60000\r\n", b"+OK\r\n"), "is no answer"),
        ("sonic", endless(b"", b"+OK\r\n$99999999999\r\n"), "is no answer"),
        ("sonic", trickling(b"+OK\r\n*9\r\n", b":1\r\n"), "no answer"),
        ("restconf", endless(b"9" * 65536), "is not HTTP"),
        ("restconf", endless(b"X-A: b\r\n" * 4096, HTTP), "is not HTTP"),
        ("restconf", endless(b" " * 65536, HTTP + b"Content-Length: 999999999999\r\n\r\n"), "longer than"),
        (
            "restconf",
            endless(b"10000\r\n" + b" " * 65536 + b"\r\n", HTTP + b"Transfer-Encoding: chunked\r\n\r\n"),
            "longer",
        ),
        ("restconf", trickling(HTTP, b"X"), "no answer"),
        ("restconf", trickling(HTTP + b"Content-Length: 1000\r\n\r\n", b" "), "no answer"),
        ("restconf", trickling(HTTP + b"\r\n", b" "), "no answer"),
        ("restconf", trickling(b"HTTP/1.0 200 OK\r\n\r\n", b" "), "no answer"),
        ("restconf", trickling(HTTP + b"Connection: close\r\nContent-Length: 1000\r\n\r\n", b" "), "no answer"),
        ("restconf", trickling(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "no answer"),
        ("restconf", endless(b"", b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n"), "with HTTP 301"),
        ("restconf", endless(b"", b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), 'rejected: "HTTP 404"'),
        ("restconf", endless(b"", HTTP + b"Content-Length: 100\r\n\r\n{}"), "in the middle of its answer"),
    ],
)
def test_an_answer_that_does_not_end(scheme: str, answer: Answer, said: str) -> None:
    # Other answers are refused for what they say, however slow the machine is.
    timeout = "400ms" if said in {"no answer", "does not end within"} else "10s"
    with hostile(answer) as place:
        assert said in asked(scheme, place, timeout)


def of_http(content: bytes) -> bytes:
    return HTTP + b"Content-Length: %d\r\n\r\n%b" % (len(content), content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"(@1,2),(@3)",
        b"(@1,1),(@3,4)",
        b"(@1,2),(@3,3)",
        b"(@-1),(@3)",
        b"(@0),(@3)",
        b"(@1),(@0)",
        b"(@1.5),(@3)",
        b"(@99999999999999999999999999),(@3)",
        b"(@1),(@3),(@4)",
        b"(@1:3),(@4:6)",
        b"(@\xb2),(@3)",
        b"\x00\xff\xfe",
        b'-113,"Undefined header"',
        b"\x1b[2J\x07",
    ],
)
def test_lines_that_are_no_lists_of_circuits(content: bytes) -> None:
    with hostile(lambda connection: connection.sendall(content + b"\n")) as place:
        assert "is no answer to :oxc:swit:conn:stat?" in asked("scpi", place)


PAIRS = b'{"optical-switch:cross-connects": {"pair": %b}}'


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"null",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"optical-switch:cross-connects": 3}',
        b'{"optical-switch:cross-connects": {"pear": []}}',
        *(
            PAIRS % pairs
            for pairs in (
                b"3",
                b"[3]",
                b"[{}]",
                b'[{"ingress": 1}]',
                b'[{"ingress": 1, "egress": -3}]',
                b'[{"ingress": true, "egress": 3}]',
                b'[{"ingress": 1e300, "egress": 3}]',
                b'[{"ingress": 1' + b"0" * 5000 + b', "egress": 3}]',
                b'[{"ingress": NaN, "egress": 3}]',
                b'[{"ingress": "one", "egress": 3}]',
                b'[{"ingress": 1, "egress": 3}, {"ingress": 1, "egress": 4}]',
            )
        ),
    ],
)
def test_contents_that_are_no_lists_of_circuits(content: bytes) -> None:
    with hostile(lambda connection: connection.sendall(of_http(content))) as place:
        assert "is no answer to GET /api/data/optical-switch:cross-connects" in asked("restconf", place)


def test_all_places_of_a_name_are_tried_within_one_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten places whose queue of connections is full, so that no place answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        place = listening.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(place)
        found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", place)] * 10
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_settings: found)
        for scheme in SCHEMES:
            assert "cannot be reached: switch.example" in asked(scheme, "switch.example", timeout="300ms")
        for one in waiting:
            one.close()


WORDS = st.lists(
    st.sampled_from(
        [
            b"(@",
            b"),(@",
            b")",
            b"1",
            b",",
            b"2",
            b";",
            b" ",
            b'{"pair": [',
            b"{",
            b"}",
            b'"optical-switch:',
            b"\r",
            b"\x00",
            b"9" * 40,
            b"+OK\r\n",
            b"*1\r\n",
            b"$7\r\n",
            b"T|1A-2B\r\n",
            b"-ERR\r\n",
        ]
    ),
    max_size=12,
).map(b"".join)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_whatever_is_answered_is_circuits_or_one_line(scheme: str) -> None:
    answers = [b""]
    with hostile(lambda connection: connection.sendall(answers[0])) as place:
        address = parse_address("send", f"{scheme}://{place}?timeout=2s{FIRST_EGRESS[scheme]}")

        framings = {"scpi": lambda it: it + b"\n", "restconf": of_http, "sonic": lambda it: b"+OK\r\n" + it}

        @settings(max_examples=cases(400), deadline=None)
        @given(content=WORDS | st.binary(max_size=60), framed=st.booleans())
        def check(content: bytes, framed: bool) -> None:
            answers[0] = framings[scheme](content) if framed else content
            with driver_of(address) as driver:
                try:
                    found = driver.read()
                except SwitchError as error:
                    assert str(error).isprintable()
                else:
                    assert all(ingress > 0 and egress > 0 for ingress, egress in found)

        check()
