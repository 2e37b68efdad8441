"""A simulated switch with SONiC's databases: as much of Redis as rows of tables need, and the manager behind it.

CONFIG_DB (4) has the orders, STATE_DB (6) the state: a row of `OCS_CROSS_CONNECT` becomes one of
`OCS_CROSS_CONNECT_TABLE` whose `status` is `tuning` while the switch moves, then `tuned`, or `failed`.
"""

from __future__ import annotations

import fnmatch
import socketserver
from threading import Thread
from typing import TYPE_CHECKING

from lightloom.switches.simulated.crossbar import After, PortsRefusedError

if TYPE_CHECKING:
    from lightloom.switches.simulated.crossbar import Crossbar, Pair
    from lightloom.switches.simulated.server import Server

ORDERS, STATES = 4, 6
LONGEST_WORD, MOST_WORDS = 1 << 16, 1 << 13


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    server: Server
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Take commands until the connection ends, or a fault ends it."""
        tables = tables_of(self.server.crossbar)
        database = 0
        while words := self._command():
            name, arguments = words[0].upper(), words[1:]
            if name == "SELECT":
                database = int(arguments[0])
                said = b"+OK\r\n"
            else:
                answer = tables.obey(name, arguments, database)
                if answer is After.DROP:
                    return
                said = b"$9\r\n\x00\xff(@)\r\n" if answer is After.GARBAGE else encoded(answer)
            self.server.crossbar.wait_to_answer()
            self.wfile.write(said)

    def _command(self) -> list[str]:
        """The words of the next command; empty if the connection ends or the text is no command."""
        head = self.rfile.readline(32)
        if not head.startswith(b"*") or not head[1:].strip().isdigit() or int(head[1:]) > MOST_WORDS:
            return []
        words = []
        for _ in range(int(head[1:])):
            size = self.rfile.readline(32)
            if not size.startswith(b"$") or not size[1:].strip().isdigit() or int(size[1:]) > LONGEST_WORD:
                return []
            words.append(self.rfile.read(int(size[1:]) + 2)[:-2].decode("utf-8", "replace"))
        return words


class Tables:
    """The rows of both databases, and the manager that makes the one of the other."""

    def __init__(self, crossbar: Crossbar) -> None:
        self._crossbar = crossbar
        # Circuits ordered and not there (yet), with their status; the crossbar knows those that are there.
        self._orders: dict[str, str] = {}

    def obey(self, name: str, arguments: list[str], database: int) -> object:
        """The answer to a command."""
        if name in {"PING", "AUTH"}:
            return "OK"
        rows = self._rows(database)
        if name == "KEYS":
            return [key for key in rows if fnmatch.fnmatchcase(key, arguments[0])]
        if name in {"HGETALL", "HGET"}:
            row = rows.get(arguments[0], {})
            return row.get(arguments[1]) if name == "HGET" else [word for pair in row.items() for word in pair]
        if name in {"HSET", "DEL"} and database == ORDERS:
            return self._order(arguments) if name == "HSET" else self._take_back(arguments)
        return Exception(f"ERR unknown command '{name[:20]}'")

    def _rows(self, database: int) -> dict[str, dict[str, str]]:
        held = {f"{ingress}A-{egress}B": "tuned" for ingress, egress in sorted(self._crossbar.circuits)}
        names = {**held, **{name: status for name, status in self._orders.items() if name not in held}}
        if database == STATES:
            return {f"OCS_CROSS_CONNECT_TABLE|{name}": {"status": status} for name, status in names.items()}
        if database != ORDERS:
            return {}
        rows = {
            f"OCS_CROSS_CONNECT|{name}": dict(zip(("a_side", "b_side"), name.split("-"), strict=True)) for name in names
        }
        for port in range(1, self._crossbar.ports + 1):
            rows[f"OCS_PORT|{port}A"] = rows[f"OCS_PORT|{port}B"] = {"config_status": "normal"}
        return rows

    def _order(self, arguments: list[str]) -> object:
        name = arguments[0].partition("|")[2]
        fields = dict(zip(arguments[1::2], arguments[2::2], strict=True))
        if f"{fields.get('a_side')}-{fields.get('b_side')}" != name:
            return Exception("ERR the sides are not those of the name")
        self._orders[name] = "tuning"
        if self._crossbar.faults.slow_s:
            Thread(target=self._tune, args=(name,), daemon=True).start()
            return 2
        return self._tune(name)

    def _tune(self, name: str) -> object:
        try:
            after = self._crossbar.change(make=[_pair(name)])
        except PortsRefusedError:
            if name in self._orders:
                self._orders[name] = "failed"
            return 2
        if _pair(name) in self._crossbar.circuits:
            self._orders.pop(name, None)
        return 2 if after is After.ANSWER else after

    def _take_back(self, keys: list[str]) -> object:
        names = [key.partition("|")[2] for key in keys]
        for name in names:
            self._orders.pop(name, None)
        held = [_pair(name) for name in names if _pair(name) in self._crossbar.circuits]
        if not held:
            return 0
        try:
            after = self._crossbar.change(unmake=held)
        except PortsRefusedError as error:
            return Exception(f"ERR {error}")
        return len(held) if after is After.ANSWER else after


def tables_of(crossbar: Crossbar) -> Tables:
    """The tables of a switch, the same for all of its connections."""
    if not isinstance(crossbar.interface, Tables):
        crossbar.interface = Tables(crossbar)
    return crossbar.interface


def encoded(answer: object) -> bytes:
    """An answer as the protocol of Redis has it."""
    if isinstance(answer, Exception):
        return f"-{answer}\r\n".encode()
    if isinstance(answer, int):
        return f":{answer}\r\n".encode()
    if answer is None:
        return b"$-1\r\n"
    if isinstance(answer, list):
        return b"*%d\r\n" % len(answer) + b"".join(encoded(one) for one in answer)
    content = str(answer).encode()
    return b"$%d\r\n%b\r\n" % (len(content), content)


def _pair(name: str) -> Pair:
    a_side, _, b_side = name.partition("-")
    return int(a_side.removesuffix("A")), int(b_side.removesuffix("B"))
