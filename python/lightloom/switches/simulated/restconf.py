"""A simulated switch with RESTCONF (RFC 8040) and Polatis' data model `optical-switch`.

Ingress ports are numbered from 1 to N, egress ports from N + 1 to 2 N. A user and password are asked for where the
environment has LIGHTLOOM_SWITCH_USER when the switch is started.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from lightloom.switches.simulated.crossbar import After, PortsRefusedError

if TYPE_CHECKING:
    from lightloom.switches.simulated.crossbar import Pair
    from lightloom.switches.simulated.server import Server

LARGEST_BODY = 1 << 20
CONNECTS = "/api/data/optical-switch:cross-connects"
ONE = re.compile(re.escape(CONNECTS) + "/pair=([0-9]{1,6})")
REASONS = {400: "invalid-value", 401: "access-denied", 404: "data-missing", 409: "in-use", 413: "too-big"}


class RestconfError(Exception):
    """A request that is not carried out: its status and the message of its error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """The list of cross-connects, one of them, or the switch's identity."""
        self._carry_out(self._get)

    def do_PUT(self) -> None:
        """Replace all cross-connects, or make one."""
        self._carry_out(self._put)

    def do_POST(self) -> None:
        """Make cross-connects in addition to the existing ones."""
        self._carry_out(self._post)

    def do_DELETE(self) -> None:
        """Unmake all cross-connects or one."""
        self._carry_out(self._delete)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def _carry_out(self, work: Any) -> None:
        try:
            self._check_user()
            status, content = work()
        except RestconfError as error:
            status = error.status
            tag = REASONS.get(status, "operation-failed")
            content = {"ietf-restconf:errors": {"error": [{"error-tag": tag, "error-message": str(error)}]}}
        except ConnectionAbortedError:
            self.close_connection = True
            return
        self.server.crossbar.wait_to_answer()
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/yang-data+json")
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="switch"')
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def _check_user(self) -> None:
        user = os.environ.get("LIGHTLOOM_SWITCH_USER")
        if user:
            both = f"{user}:{os.environ.get('LIGHTLOOM_SWITCH_PASSWORD', '')}".encode()
            if self.headers.get("Authorization", "") != f"Basic {b64encode(both).decode()}":
                self._body()
                raise RestconfError(401, "a user and password are needed")

    def _get(self) -> tuple[int, object]:
        n = self.server.crossbar.ports
        if self.path == "/api/data/optical-switch:product-information":
            model = {"manufacturer": "Lightloom", "model-name": f"SIM-OST-{n}x{n}-LA1", "serial-number": "000001"}
            return 200, {"optical-switch:product-information": model}
        held = sorted(self.server.crossbar.circuits)
        if self.path in {CONNECTS, f"{CONNECTS}/pair"}:
            pairs = [{"ingress": ingress, "egress": egress + n} for ingress, egress in held]
            if not pairs:
                return 204, None
            return 200, (
                {"optical-switch:cross-connects": {"pair": pairs}}
                if self.path == CONNECTS
                else {"optical-switch:pair": pairs}
            )
        one = [pair for pair in held if pair[0] == self._one()]
        if not one:
            return 204, None
        return 200, {"optical-switch:pair": {"ingress": one[0][0], "egress": one[0][1] + n}}

    def _put(self) -> tuple[int, object]:
        body = self._body()
        if self.path == CONNECTS:
            return self._answered(204, make=self._pairs(body, "optical-switch:cross-connects"), all_others=True)
        ingress = self._one()
        pairs = self._pairs({"": body}, "", "optical-switch:pair")
        if len(pairs) != 1 or pairs[0][0] != ingress:
            raise RestconfError(400, "the key of the path is not that of the content")
        held = [pair for pair in self.server.crossbar.circuits if pair[0] == ingress]
        return self._answered(204 if held else 201, unmake=[pair for pair in held if pair not in pairs], make=pairs)

    def _post(self) -> tuple[int, object]:
        if self.path != CONNECTS:
            raise RestconfError(404, "there is no such resource")
        make = self._pairs({"": self._body()}, "", "optical-switch:pair")
        return self._answered(201, make=make)

    def _delete(self) -> tuple[int, object]:
        if self.path == CONNECTS:
            return self._answered(204, all_others=True)
        held = [pair for pair in self.server.crossbar.circuits if pair[0] == self._one()]
        if not held:
            raise RestconfError(404, "there is no such cross-connect")
        return self._answered(204, unmake=held)

    def _answered(self, status: int, **change: Any) -> tuple[int, object]:
        try:
            after = self.server.crossbar.change(**change)
        except PortsRefusedError as error:
            raise RestconfError(409, str(error)) from error
        if after is After.DROP:
            raise ConnectionAbortedError
        if after is After.GARBAGE:
            self.wfile.write(b"\x00\xff{optical-switch: +-\r\n\r\n")
            raise ConnectionAbortedError
        return status, None

    def _one(self) -> int:
        found = ONE.fullmatch(self.path)
        if found is None:
            raise RestconfError(404, "there is no such resource")
        return int(found[1])

    def _body(self) -> Any:
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            self.close_connection = True
            raise RestconfError(413, "the content is too long")
        try:
            return json.loads(self.rfile.read(int(length)) or b"null")
        except (ValueError, RecursionError) as error:
            raise RestconfError(400, "the content is no JSON") from error

    def _pairs(self, body: Any, outer: str, inner: str = "pair") -> list[Pair]:
        try:
            pairs = body[outer][inner]
            return [(int(pair["ingress"]), int(pair["egress"]) - self.server.crossbar.ports) for pair in pairs]
        except (KeyError, TypeError, ValueError) as error:
            raise RestconfError(400, "the content is not of the model optical-switch") from error
