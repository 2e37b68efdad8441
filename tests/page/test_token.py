"""`serve --token`: nothing is answered without it, the page works with it; and who listens to a network is told so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest
from openapi_spec_validator import validate
from starlette.types import Scope

from lightloom.page.files import INDEX, page_files, view_addresses
from lightloom.page.interface import openapi
from lightloom.page.token import Token
from tests.page.served import Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import RunCli

TOKEN = "k7Jq-2w.E_9~x"  # noqa: S105 (of the tests)
SMALL = {"collective": "all-reduce", "size": "1MiB", "gpus": 4}


@pytest.fixture(scope="module")
def locked() -> Iterator[Served]:
    yield from served("--token", TOKEN, "--workers", 1)


def test_nothing_is_answered_without_it(locked: Served) -> None:
    views = view_addresses(page_files()[INDEX])
    assert len(views) > 4
    paths = [*views, "/static/index.html", "/static/icon.svg", "/openapi.json", "/api/options", "/none"]
    wrong = [TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "x", "é"]
    for headers in ({}, *({"authorization": f"Bearer {one}".encode()} for one in wrong), {"cookie": f"token={TOKEN}"}):
        for path in paths:
            answer = locked.client.get(path, headers=headers)  # type: ignore[arg-type]
            assert (answer.status_code, answer.json()["field"]) == (401, "token")
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "set-cookie" not in answer.headers
    assert locked.post("plan", **SMALL).status_code == 401
    for one in wrong:
        assert locked.client.get("/", params={"token": one}).status_code == 401
    # It is for addresses that are opened, not for requests.
    assert locked.client.post("/api/plan", params={"token": TOKEN}, json=SMALL).status_code == 401


@pytest.mark.large
def test_programs_show_it_in_a_header(locked: Served) -> None:
    for scheme in ("Bearer", "bearer"):
        answer = locked.client.post("/api/plan", json=SMALL, headers={"authorization": f"{scheme} {TOKEN}"})
        assert answer.status_code == 200
    described = locked.client.get("/openapi.json", headers={"authorization": f"Bearer {TOKEN}"}).json()
    assert described == json.loads(json.dumps(openapi(with_token=True)))
    validate(described)
    assert described["security"] == [{"token": []}]
    assert "401" in described["paths"]["/api/plan"]["post"]["responses"]


@pytest.mark.large
def test_a_browser_opens_the_address_that_is_printed(locked: Served) -> None:
    opened = locked.line.split()[0]
    assert opened == f"{locked.address}/?token={TOKEN}"
    with httpx.Client(trust_env=False) as browser:
        answer = browser.get(opened)
        # It is not left in the address, which is sent to others and kept in lists of visited pages.
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert TOKEN not in cookie
        assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
        assert browser.get(f"{locked.address}/").text.startswith("<!doctype html>")
        assert browser.get(f"{locked.address}/static/icon.svg").status_code == 200
        origin = {"origin": locked.address}
        assert browser.post(f"{locked.address}/api/plan", json=SMALL, headers=origin).status_code == 200
        # Requests of other sites are refused, whatever cookie they bring.
        other = {"origin": "http://evil.example"}
        assert browser.post(f"{locked.address}/api/plan", json=SMALL, headers=other).status_code == 403


@pytest.mark.parametrize(
    ("path", "query", "left"),
    [
        ("/plan", f"gpus=8&token={TOKEN}&size=1MiB", "/plan?gpus=8&size=1MiB"),
        ("/plan", f"token={TOKEN}&size=a%26b", "/plan?size=a%26b"),
        ("//evil.example/", f"token={TOKEN}", "/evil.example/"),
        ("/a\r\nset-cookie: b", f"token={TOKEN}", "/a%0D%0Aset-cookie%3A%20b"),
        ("/\\evil.example", f"token={TOKEN}", "/%5Cevil.example"),
        ("/", f"TOKEN={TOKEN}", None),
        ("/", "token", None),
        ("/", "", None),
    ],
)
def test_the_address_that_is_left_leads_to_no_other_host(path: str, query: str, left: str | None) -> None:
    scope: Scope = {"method": "GET", "path": path, "query_string": query.encode()}
    assert Token(TOKEN).address_without(scope) == left
    assert Token(TOKEN).address_without({**scope, "method": "POST"}) is None


def test_cookies_of_other_servers_are_none(locked: Served) -> None:
    # Browsers send cookies of all ports of a host.
    for other in (Token("other-token"), Token(TOKEN + "x")):
        cookie = other.cookie.partition(";")[0]
        assert locked.client.get("/", headers={"cookie": cookie}).status_code == 401
        own = Token(TOKEN).cookie.partition(";")[0]
        assert locked.client.get("/", headers={"cookie": f"{cookie}; {own}; a=b"}).status_code == 200


@pytest.mark.parametrize("token", ["", "short", "x" * 201, "with space", "a/b/c/d/e", "é" * 10, "line\nend-line"])
def test_what_is_no_token_is_refused_and_not_repeated(cli: RunCli, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = cli("serve", "--port", 0, "--token", token)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("error: token: it takes 8 to 200 letters")
    assert token == "" or token not in ran.err
    if token:
        monkeypatch.setenv("LIGHTLOOM_TOKEN", token)
        assert cli("serve", "--port", 0).status == 2


@pytest.mark.large
def test_it_may_stand_where_the_list_of_processes_does_not_show_it() -> None:
    words = [sys.executable, "-m", "lightloom", "serve", "--port", "0", "--workers", "1"]
    environment = {**os.environ, "LIGHTLOOM_TOKEN": TOKEN}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    opened = process.stdout.readline().split()[0]
    assert opened.endswith(f"/?token={TOKEN}")
    assert httpx.get(opened.partition("?")[0], trust_env=False).status_code == 401
    process.terminate()
    assert process.communicate()[1] == ""


@pytest.mark.large
@pytest.mark.parametrize("token", [None, TOKEN])
def test_who_listens_to_a_network_is_told_so(token: str | None) -> None:
    shown = ("--token", token) if token else ()
    server = Served.start("--workers", 1, "--host", "0.0.0.0", *shown)  # noqa: S104 (tested here)
    others = server.line.partition("other machines: ")[2].strip()
    assert others.endswith(f":{server.port}/" + (f"?token={token}" if token else ""))
    headers = {"authorization": f"Bearer {token}"} if token else {}
    host = others.partition("//")[2].partition("/")[0]
    if host.rpartition(":")[0].replace(".", "").isdecimal():
        # A browser that opens it gets an answer: the address is a Host that the server knows.
        assert server.client.get("/", headers={**headers, "host": host}).status_code == 200
    status, said = server.end()
    assert status == 0
    if token:
        assert said == ""
    else:
        assert said.count("\n") == 1
        assert said.startswith(f"warning: anyone who reaches {others} can use this server")
        assert "--token" in said
