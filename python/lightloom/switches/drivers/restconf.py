"""RESTCONF (RFC 8040) with the data model `optical-switch` of Polatis switches.

`GET /api/data/optical-switch:cross-connects` answers
`{"optical-switch:cross-connects": {"pair": [{"ingress": 1, "egress": 13}]}}`, or 204 if there are none; `PUT` there
replaces all, `PUT` and `DELETE` of `.../pair=INGRESS` make and unmake one. Egress ports are numbered after the ingress
ports; `optical-switch:product-information` has the model, such as `I-OST-24x24-LU1-DMHNS`.
Sources: `docs/decisions/0011-drivers-of-switches.md`.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from base64 import b64encode
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse
from lightloom.base.files import MIB, read_bytes
from lightloom.switches.circuits import Connections, crossed
from lightloom.switches.credentials import credentials_of
from lightloom.switches.driver import Identity, SwitchDriver
from lightloom.switches.failures import LostError, RejectedError, Rejection, SwitchError, quoted
from lightloom.switches.transport import connected, failed

if TYPE_CHECKING:
    from lightloom.switches.address import Address
    from lightloom.switches.circuits import Circuit

MODULE = "optical-switch"
ROOT = f"/api/data/{MODULE}:cross-connects"
PRODUCT = f"/api/data/{MODULE}:product-information"
YANG_JSON = "application/yang-data+json"
# Bytes of an answer that are read, and the largest number of a port.
LONGEST_ANSWER = 1 << 20
LARGEST_PORT = 1 << 20
# Bytes of a file of certificates.
LARGEST_CA = 16 * MIB
MODEL_SIZE = re.compile(r"(?<![0-9])([0-9]{1,5})x([0-9]{1,5})(?![0-9])")
# Answers that mean that the switch refuses the request.
REFUSALS = range(400, 500)


class _Answer(NamedTuple):
    """The status of an answer and its content."""

    status: int
    content: bytes


class Driver(SwitchDriver):
    """A switch that takes RESTCONF."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._list = str(address.settings["list"])
        self._whole = address.settings["write"] == "all"
        self._http: HTTPConnection | None = None
        given = address.settings["first-egress"]
        self._first_egress = given if isinstance(given, int) else None
        self._tls = _tls_of(address) if address.settings["tls"] else None
        credentials = credentials_of(address, is_encrypted=self._tls is not None)
        self._headers = {"Accept": YANG_JSON}
        if credentials is not None:
            joined = f"{credentials.user}:{credentials.password}".encode()
            self._headers["Authorization"] = f"Basic {b64encode(joined).decode('ascii')}"

    def identity(self) -> Identity:
        """Model and serial number of `optical-switch:product-information`, and the ports that the model's name says."""
        answer = self._get(PRODUCT)
        information = _json(answer, PRODUCT).get(f"{MODULE}:product-information")
        if not isinstance(information, dict):
            raise _no_answer(answer.content, PRODUCT)
        model = str(information.get("model-name", ""))
        known = [str(information[key]) for key in ("manufacturer", "model-name", "serial-number") if key in information]
        size = MODEL_SIZE.search(model)
        return Identity(quoted(", ".join(known)), *(map(int, size.groups()) if size else ()))

    def read(self) -> Connections:
        """The list of cross-connects."""
        shift = self._shift()
        answer = self._get(ROOT)
        if answer.status == 204:
            return frozenset()
        inner = _json(answer, ROOT).get(f"{MODULE}:cross-connects")
        pairs = inner.get(self._list, []) if isinstance(inner, dict) else None
        if not isinstance(pairs, list) or (isinstance(inner, dict) and inner and self._list not in inner):
            others = ", ".join(map(str, inner)) if isinstance(inner, dict) else ""
            hint = f"; it has `{quoted(others)}`: add ?list=NAME to the address" if others else ""
            raise SwitchError(f"{_no_answer(answer.content, ROOT)}: it has no list `{self._list}`{hint}")
        circuits = [
            (_port(pair, "ingress", answer.content), _port(pair, "egress", answer.content) - shift) for pair in pairs
        ]
        if any(egress < 1 for _, egress in circuits) or crossed(circuits) is not None:
            raise _no_answer(answer.content, ROOT)
        return frozenset(circuits)

    def connect(self, circuits: Connections) -> None:
        """A PUT for every circuit; those that are rejected are named."""
        rejections = []
        for circuit in sorted(circuits):
            content = json.dumps({f"{MODULE}:{self._list}": [self._pair(circuit)]})
            answer = self._request("PUT", f"{ROOT}/{self._list}={circuit[0]}", content)
            if answer.status in REFUSALS:
                rejections.append(Rejection(circuit, _said(answer)))
        if rejections:
            raise RejectedError(tuple(rejections))

    def disconnect(self, circuits: Connections) -> None:
        """A DELETE for every circuit; those that are rejected are named."""
        rejections = []
        for circuit in sorted(circuits):
            answer = self._request("DELETE", f"{ROOT}/{self._list}={circuit[0]}")
            # 404: it is gone already.
            if answer.status in REFUSALS and answer.status != 404:
                rejections.append(Rejection(circuit, _said(answer)))
        if rejections:
            raise RejectedError(tuple(rejections))

    def replace(self, circuits: Connections) -> None:
        """A PUT of all cross-connects."""
        content = {f"{MODULE}:cross-connects": {self._list: [self._pair(circuit) for circuit in sorted(circuits)]}}
        answer = self._request("PUT", ROOT, json.dumps(content))
        if answer.status in REFUSALS:
            raise RejectedError((Rejection(None, _said(answer)),))

    def change(self, gone: Connections, new: Connections, held: Connections) -> None:
        """One PUT of all; where that is rejected, or `write=each` is set, a request for every circuit."""
        if self._whole:
            try:
                self.replace((held - gone) | new)
            except RejectedError:
                held = self.read()
            else:
                return
        # Both are tried, so that every rejected circuit is named.
        rejections: tuple[Rejection, ...] = ()
        for ask, circuits in ((self.disconnect, gone & held), (self.connect, new - held)):
            try:
                ask(circuits)
            except RejectedError as error:
                rejections += error.rejections
        if rejections:
            raise RejectedError(rejections)

    def close(self) -> None:
        """End the connection."""
        opened, self._http = self._http, None
        if opened is not None:
            opened.close()

    def _pair(self, circuit: Circuit) -> dict[str, int]:
        return {"ingress": circuit[0], "egress": circuit[1] + self._shift()}

    def _shift(self) -> int:
        """The offset from an egress port's number, counted from 1, to the switch's own number."""
        if self._first_egress is None:
            who = self.identity()
            if not who.ingress:
                raise SwitchError(
                    f'its model name "{who.words}" does not tell its number of ports, so its first egress port is '
                    "not known; add ?first-egress=N to its address"
                )
            self._first_egress = who.ingress + 1
        return self._first_egress - 1

    def _get(self, path: str) -> _Answer:
        was_open = self._http is not None
        try:
            answer = self._request("GET", path)
        except LostError:
            if not was_open:
                raise
            # A switch may end a connection that was idle; asking again changes nothing.
            answer = self._request("GET", path)
        if answer.status in REFUSALS:
            raise SwitchError(f'GET {path} was rejected: "{_said(answer)}"')
        return answer

    def _request(self, method: str, path: str, content: str | None = None) -> _Answer:
        """The answer, 2xx or 4xx. Raises `SwitchError` for any other, no answer in time and a wrong password."""
        http = self._http = self._http or self._unopened()
        # A switch may end the connection with each answer.
        was_open = http.sock is not None
        headers = self._headers if content is None else {**self._headers, "Content-Type": YANG_JSON}
        timeout_s = self.address.seconds("timeout")
        # The connection's own timeout is for each piece that comes; this one is for the whole.
        late = _Late()
        timer = Timer(timeout_s, late)
        timer.daemon = True
        timer.start()
        try:
            if http.sock is None:
                http.sock = self._connected(monotonic() + timeout_s)
            http.sock.settimeout(timeout_s)
            late.ends(http.sock)
            http.request(method, path, None if content is None else content.encode("ascii"), headers)
            was_open = True
            with http.getresponse() as response:
                received = response.read(LONGEST_ANSWER + 1)
                status, missing = response.status, response.length
            # An answer that was cut off looks whole to a reader of at most this many bytes.
            if late.happened:
                raise TimeoutError
            if missing and len(received) <= LONGEST_ANSWER:
                raise IncompleteRead(received)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            if late.happened:
                raise failed(self.address, TimeoutError(), was_open=was_open) from error
            if isinstance(error, OSError):
                raise failed(self.address, error, was_open=was_open) from error
            if isinstance(error, IncompleteRead):
                raise LostError(f"{self.address.place} ended the connection in the middle of its answer") from error
            raise SwitchError(f"the answer of {self.address.place} is not HTTP: {_http_words(error)}") from error
        finally:
            timer.cancel()
        if len(received) > LONGEST_ANSWER:
            self.close()
            raise SwitchError(f"its answer to {method} {path} is longer than {LONGEST_ANSWER} bytes")
        if status in {401, 403}:
            raise SwitchError(
                f"{self.address.place} takes a user and password (HTTP {status}); they are read from "
                "LIGHTLOOM_SWITCH_USER and LIGHTLOOM_SWITCH_PASSWORD, for the host of LIGHTLOOM_SWITCH_HOST, or from a "
                ".netrc file"
            )
        if not (200 <= status < 300 or status in REFUSALS):
            raise SwitchError(f"{self.address.place} answered {method} {path} with {_status(status, received)}")
        return _Answer(status, received)

    def _unopened(self) -> HTTPConnection:
        if self._tls is not None:
            return HTTPSConnection(self.address.host, self.address.port, context=self._tls)
        return HTTPConnection(self.address.host, self.address.port)

    def _connected(self, deadline_s: float) -> socket.socket:
        opened = connected(self.address, deadline_s)
        return opened if self._tls is None else self._tls.wrap_socket(opened, server_hostname=self.address.host)


class _Late:
    """Ends a connection whose answer takes too long, from another thread.

    It holds the socket itself: of an answer that ends the connection, `HTTPConnection` lets go before it is read.
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self.happened = False

    def ends(self, opened: socket.socket) -> None:
        """The connection that is ended. Raises `TimeoutError` where it is late already."""
        self._socket = opened
        if self.happened:
            raise TimeoutError

    def __call__(self) -> None:
        self.happened = True
        if self._socket is not None:
            with suppress(OSError):  # it has ended by itself
                self._socket.shutdown(socket.SHUT_RDWR)


def _tls_of(address: Address) -> ssl.SSLContext:
    file = address.settings["ca"]
    if file is not None:
        # The library would wait for a pipe, and read a device without end.
        read_bytes("send: ca", str(file), LARGEST_CA)
    try:
        return ssl.create_default_context(cafile=None if file is None else str(file))
    except (OSError, ValueError) as error:
        raise refuse("send: ca", f"`{file}` has no certificates (PEM)") from error


def _json(answer: _Answer, path: str) -> dict[str, Any]:
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
        raise _no_answer(answer.content, path) from None
    if not isinstance(found, dict):
        raise _no_answer(answer.content, path)
    return found


def _port(pair: object, side: str, content: bytes) -> int:
    number = pair.get(side) if isinstance(pair, dict) else None
    if isinstance(number, str) and len(number) < 8 and number.isascii() and number.isdigit():
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < LARGEST_PORT:
        raise _no_answer(content, ROOT)
    return number


def _said(answer: _Answer) -> str:
    """The message of an `ietf-restconf:errors`, else the status and the content."""
    try:
        errors = json.loads(answer.content)["ietf-restconf:errors"]["error"]
        first = errors[0] if isinstance(errors, list) else errors
        words = [str(first[key]) for key in ("error-tag", "error-message") if key in first]
        if words:
            return quoted(f"HTTP {answer.status}: {', '.join(words)}")
    except (ValueError, RecursionError, LookupError, TypeError):
        pass
    return _status(answer.status, answer.content)


def _status(status: int, content: bytes) -> str:
    said = quoted(content)
    return f"HTTP {status}: {said}" if said else f"HTTP {status}"


def _http_words(error: Exception) -> str:
    return quoted(f"{type(error).__name__} {error}")


def _no_answer(content: bytes, path: str) -> SwitchError:
    return SwitchError(f'"{quoted(content)}" is no answer to GET {path}')
