"""Requests that no browser of ours sends: refused in one line, and the server goes on."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightloom.inputs.options import Kind, options_of
from lightloom.page.guard import HEADERS
from lightloom.page.offer import offered
from lightloom.page.parser import DEEPEST, MOST_BRACKETS
from lightloom.page.tasks import TASKS
from tests.draws import cases

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.served import Served

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {"collective": "all-reduce", "size": "1MiB", "gpus": 4}
BODY = json.dumps(SMALL).encode()
# Texts that an answer must never contain.
REVEALING = re.compile(r"Traceback|\.py\b|/(?:usr|work|home|root|tmp|etc|proc|opt)/|site-packages")
TWO_HOSTS = b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"


def checked(status: int, text: str, asked: object = "") -> dict[str, Any]:
    """The error, which is one line and says nothing of the machine but the request."""
    revealed = set(REVEALING.findall(text)) - set(REVEALING.findall(json.dumps(asked)))
    assert not revealed, text
    told: dict[str, Any] = json.loads(text)
    assert set(told) <= {"error", "field", "retry_after_s"}
    assert told["error"].isprintable()
    assert status in {403, 404, 405, 408, 413, 415, 421, 422, 429}, (status, told)
    return told


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:9000", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8080", 200),
        ("192.0.2.7", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("user@localhost", 421),
        ("localhost/evil", 421),
        ("localhost?evil", 421),
        ("localhost#evil", 421),
        ("localhost\\evil", 421),
        ("127.0.0.1/", 421),
        ("[localhost]", 421),
        ("[127.0.0.1]", 421),
        ("::1", 421),
        ("", 421),
        ("[::1", 421),
        ("localhost:port", 421),
    ],
)
def test_only_names_of_the_server_are_answered(server: Served, host: str, status: int) -> None:
    answer = server.client.post("/api/plan", json=SMALL, headers={"host": host})
    assert answer.status_code == status, answer.text
    if status != 200:
        checked(status, answer.text)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[localhost"}, 403),
        ({"origin": "file://localhost"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_requests_of_other_sites_are_refused(server: Served, headers: dict[str, str], status: int) -> None:
    answer = server.client.post("/api/plan", content=BODY, headers={"content-type": "application/json", **headers})
    assert answer.status_code == status, answer.text
    own = {"content-type": "application/json", "origin": f"http://localhost:{server.port}"}
    same = {**own, "host": f"localhost:{server.port}"}
    assert server.client.post("/api/plan", content=BODY, headers=same).status_code == 200
    assert server.client.post("/api/plan", content=BODY, headers=own).status_code == 403
    for more in ("/", "/path", "?query", "#part"):
        assert server.client.post("/api/plan", content=BODY, headers={**same, "origin": own["origin"] + more}).is_error


def test_every_answer_has_its_headers(server: Served) -> None:
    for path in ("/", "/plan", "/static/none", "/openapi.json", "/api/options", "/none", "/api/none"):
        answer = server.client.get(path)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
        assert "server" not in answer.headers
    assert "unsafe" not in HEADERS["content-security-policy"]


@pytest.mark.parametrize("path", ["/nowhere", "/static/nowhere", "/api/nowhere"])
def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(server: Served, path: str) -> None:
    page = server.client.get(path, headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert 'href="/"' in page.text
    assert path not in page.text
    answer = server.client.get(path, headers={"accept": "application/json"})
    assert (answer.status_code, answer.json()["field"]) == (404, "address")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/..%2f..%2f..%2f..%2fetc/passwd",
        "/static/index.html%00",
        "/../../etc/passwd",
        "/api/../etc/passwd",
        "/api/work.plan",
        "/api/plan/",
        "/%ff",
        "/" + "a" * 8000,
    ],
)
def test_no_address_leads_to_a_file(server: Served, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    head, _, body = server.raw(request).partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert status in {404, 307, 405}, head
    assert b"root:" not in body


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"5",
        b"\xff\xfe{}",
        b'{"gpus": NaN}',
        b'{"gpus": Infinity}',
        b'{"gpus": 1e999}',
        BODY[:-1] + b', "hop_delay": 1e-400}',
        BODY[:-1] + b', "gpus": 16}',
        b'{"gpus": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'{"matrix": ' + b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1) + b"}",
        b'{"matrix": [' + b"[]," * (MOST_BRACKETS // 2) + b"[]]}",
        b'{"size": "\\ud800"}',
        b'{"size": "\\u0000", "gpus": 4, "collective": "all-reduce"}',
        json.dumps({"a" * 100_000: 1}).encode(),
        json.dumps({f"a{index}": 1 for index in range(10_000)}).encode(),
        json.dumps({**SMALL, "size": "1" * 100_000}).encode(),
        json.dumps({**SMALL, "dims": [2] * 100_000}).encode(),
        json.dumps({"matrix": [[0.0] * 2000] * 2}).encode(),
        json.dumps({**SMALL, "candidates": "ring," * 20_000}).encode(),
        json.dumps({**SMALL, "hop_delay": "1ns", "hop-delay": "2ns"}).encode(),
    ],
)
@pytest.mark.parametrize("task", ["plan", "map", "train", "simulate"])
def test_bodies_that_say_nothing_of_use_are_refused(server: Served, task: str, body: bytes) -> None:
    answer = server.client.post(f"/api/{task}", content=body, headers={"content-type": "application/json"})
    told = checked(answer.status_code, answer.text)
    assert answer.status_code == 422, told
    assert len(answer.text) < 5000


@pytest.mark.large
@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", {400, 421}),
        (TWO_HOSTS, {400, 421}),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"x: y\r\n" * 100_000 + b"\r\n", {400, 431}),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nx: " + b"y" * 1_000_000 + b"\r\n\r\n", {400, 431}),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", {400}),
        (b"NONSENSE\r\n\r\n", {400}),
        (b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", {400}),
        (
            b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 99999999999\r\nConnection: close\r\n\r\n",
            {413},
        ),
        (
            b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 80,
            {413},
        ),
    ],
)
def test_requests_that_are_none_are_ended(server: Served, sent: bytes, statuses: set[int]) -> None:
    answer = server.raw(sent, seconds=5)
    # A connection may be reset before its answer is read: no answer is one too.
    assert not answer or int(answer.split()[1]) in statuses, answer[:200]
    assert server.post("plan", **SMALL).status_code == 200


FABRIC = "gpus = 4\nports = 1\n"
FILES = {
    "fabric.toml": FABRIC,
    "optics.toml": 'kind = "crossbar"\n',
    "ring.csv": "0 1\n1 2\n2 3\n3 0\n",
    "ring.edgelist": "0 1\n1 2\n2 3\n3 0\n",
    "matrix.csv": "0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n",
}


@pytest.mark.large
@pytest.mark.parametrize("verb", ["plan", "compare", "bound", "train", "simulate", "circuits", "export"])
def test_no_option_names_a_file(server: Served, tmp_path: Path, verb: str) -> None:
    """Each of these is read, and gives an answer, where the command line is given it."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    own = {"model": "bert-pccl", "ranks": 4} if verb == "train" else SMALL
    more = {"to": "graphml"} if verb == "export" else {}
    names = {"file", *(option.name for option in options_of("plan")), *(option.name for option in options_of(verb))}
    free = {"algorithm", "planner", "format"}
    for name in sorted(names - free):
        for file in FILES:
            for written in (str(tmp_path / file), f"ring,{tmp_path / file}", f"x;{tmp_path / file} "):
                told = {key: value for key, value in own.items() if key != "gpus"} if name == "matrix" else own
                answer = server.post(verb, **{**told, **more, name: written})
                assert answer.status_code == 422, (name, written, answer.text[:200])
                told = json.loads(answer.text)
                assert "Permission" not in told["error"], (name, written, told)
    for option in offered("plan").values():
        assert option.kind not in {Kind.FILE, Kind.FOLDER}


def test_models_and_workloads_are_no_files(server: Served, tmp_path: Path) -> None:
    (tmp_path / "workload.json").write_text("{}")
    for told in (str(tmp_path / "workload.json"), "../bert-pccl", "bert-pccl.toml", "/dev/stdin", ""):
        for key in ("model", "description", "workload"):
            answer = server.post("train", **{key: told})
            assert answer.status_code == 422, answer.text
            checked(answer.status_code, answer.text, told)


TEXTS = [
    *("ring", "auto", "64MiB", "0", "-1", "1e400B", "10us", "1KiB/pair", "4x4", "0x0", "free", "zipf:9e9", "x" * 300),
    *("../../etc/passwd", "/dev/zero", "file:///etc/passwd", "http://127.0.0.1/", "$(id)", "%s%n", "\x1b[2J", "ﬀ"),
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
OPTIONS = sorted({name for verb in ("plan", "train", "simulate", "export") for name in offered(verb)})
KEYS = [*OPTIONS, "plan", "workload", "model", "step", "of", "format", "x", "y", "against", "options", "verb", "figure"]
NAMES = st.sampled_from([task.name for task in TASKS if task.is_asked])


@pytest.mark.large
@settings(max_examples=cases(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(task=NAMES, changed=st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), VALUES, max_size=3))
def test_whatever_is_asked_is_answered_or_refused_in_one_line(
    server: Served, task: str, changed: dict[str, Any]
) -> None:
    # Searches as long as one likes are another test's.
    changed = {key: value for key, value in changed.items() if key not in {"budget", "gpus"}}
    answer = server.post(task, **{**SMALL, "planner": "harvest", **changed})
    if answer.status_code != 200:
        checked(answer.status_code, answer.text, changed)
