"""SONiC's optical circuit switch: its databases, by the protocol of Redis.

A row `OCS_CROSS_CONNECT|1A-2B` of CONFIG_DB (database 4), with `a_side` 1A and `b_side` 2B, orders a circuit from
ingress 1 to egress 2; the row `OCS_CROSS_CONNECT_TABLE|1A-2B` of STATE_DB (6) has its `status`: `tuning`, then `tuned`,
or `failed` or `blocked`. `OCS_PORT|1A` of CONFIG_DB is a port. SONiC's database listens on the switch itself: from
elsewhere it is reached through a tunnel, such as `ssh -L 6379:127.0.0.1:6379 SWITCH`.
Sources: `docs/decisions/0011-drivers-of-switches.md`.
"""

from __future__ import annotations

import re
from time import monotonic, sleep
from typing import TYPE_CHECKING

from lightloom.switches.circuits import Connections, crossed, described
from lightloom.switches.credentials import credentials_of
from lightloom.switches.driver import Identity, SwitchDriver
from lightloom.switches.failures import LostError, RejectedError, Rejection, SwitchError, quoted
from lightloom.switches.transport import LONGEST_ANSWER, Connection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.switches.address import Address
    from lightloom.switches.circuits import Circuit

CONFIG_DB, STATE_DB = 4, 6
CONNECTS, STATUSES, PORTS = "OCS_CROSS_CONNECT", "OCS_CROSS_CONNECT_TABLE", "OCS_PORT"
NAME = re.compile(r"([0-9]{1,6})A-([0-9]{1,6})B")
PORT = re.compile(r"[0-9]{1,6}([AB])")
TUNED = "tuned"
# Statuses of a circuit that will not come.
LOST = ("failed", "blocked")
# Elements of an answer that are read.
MOST_ELEMENTS = 1 << 16
PAUSE_S = 0.01

# Text, a number, nothing, or a list of these.
Reply = str | int | None | list["Reply"]


class Driver(SwitchDriver):
    """A switch that runs SONiC."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._connection = Connection(address)
        self._credentials = credentials_of(address)

    def identity(self) -> Identity:
        """The number of ports of each side in CONFIG_DB."""
        keys = self._keys(CONFIG_DB, PORTS)
        sides = [found[1] for key in keys if (found := PORT.fullmatch(key))]
        return Identity("SONiC", sides.count("A"), sides.count("B"))

    def read(self) -> Connections:
        """The circuits of STATE_DB that are tuned."""
        names = self._keys(STATE_DB, STATUSES)
        statuses = self._statuses(names)
        circuits = [self._circuit(name) for name, status in zip(names, statuses, strict=True) if status == TUNED]
        if crossed(circuits) is not None:
            raise self._no_answer(str(sorted(names)))
        return frozenset(circuits)

    def connect(self, circuits: Connections) -> None:
        """Rows of CONFIG_DB; returns when all are tuned, and names those that fail, whose rows are taken back."""
        self._order(frozenset(), circuits)

    def disconnect(self, circuits: Connections) -> None:
        """Rows of CONFIG_DB are deleted; returns when STATE_DB does not have them any more."""
        self._order(circuits, frozenset())

    def replace(self, circuits: Connections) -> None:
        """All other rows of CONFIG_DB are deleted."""
        ordered = frozenset(self._circuit(name) for name in self._keys(CONFIG_DB, CONNECTS))
        self._order(ordered - circuits, circuits - ordered)

    def change(self, gone: Connections, new: Connections, held: Connections) -> None:  # noqa: ARG002
        """Rows that must go are deleted, with all that were ordered on the same ports and are not held."""
        ordered = frozenset(self._circuit(name) for name in self._keys(CONFIG_DB, CONNECTS))
        ingress, egress = {one for one, _ in new}, {other for _, other in new}
        stale = frozenset(one for one in ordered - new if one[0] in ingress or one[1] in egress)
        self._order(gone | stale, new)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _order(self, gone: Connections, new: Connections) -> None:
        commands: list[list[str]] = []
        if gone:
            commands.append(["DEL", *(f"{CONNECTS}|{_name(one)}" for one in sorted(gone))])
        commands += [
            ["HSET", f"{CONNECTS}|{_name(one)}", "a_side", f"{one[0]}A", "b_side", f"{one[1]}B"] for one in sorted(new)
        ]
        self._ask_all(CONFIG_DB, commands)
        end_s = monotonic() + self.address.seconds("settle")
        while True:
            there = set(self._keys(STATE_DB, STATUSES))
            left = [one for one in gone if _name(one) in there]
            statuses = dict(zip(sorted(new), self._statuses([_name(one) for one in sorted(new)]), strict=True))
            failed = [one for one, status in statuses.items() if status in LOST]
            waiting = [one for one, status in statuses.items() if status not in {TUNED, *LOST}]
            is_over = (not left and not waiting) or monotonic() >= end_s
            if is_over and failed:
                self._ask_all(CONFIG_DB, [["DEL", *(f"{CONNECTS}|{_name(one)}" for one in failed)]])
                raise RejectedError(tuple(Rejection(one, f"status {statuses[one]}") for one in failed))
            if not left and not waiting:
                return
            if is_over:
                words = [f"not tuned: {described(waiting)}"] if waiting else []
                words += [f"not gone: {described(left)}"] if left else []
                raise SwitchError(f"within {self.address.seconds('settle'):g} s {'; '.join(words)}")
            sleep(PAUSE_S)

    def _keys(self, database: int, table: str) -> list[str]:
        """The names of a table's rows."""
        (keys,) = self._ask_all(database, [["KEYS", f"{table}|*"]])
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise self._no_answer(str(keys))
        return [str(key).partition("|")[2] for key in keys]

    def _statuses(self, names: Sequence[str]) -> list[str]:
        """The statuses of circuits; empty for those that STATE_DB does not have."""
        replies = self._ask_all(STATE_DB, [["HGET", f"{STATUSES}|{name}", "status"] for name in names])
        if not all(isinstance(reply, (str, type(None))) for reply in replies):
            raise self._no_answer(str(replies))
        return [reply if isinstance(reply, str) else "" for reply in replies]

    def _circuit(self, name: str) -> Circuit:
        found = NAME.fullmatch(name)
        if found is None or not int(found[1]) or not int(found[2]):
            raise self._no_answer(name)
        return int(found[1]), int(found[2])

    def _ask_all(self, database: int, commands: Sequence[Sequence[str]]) -> list[Reply]:
        """The replies to commands that are sent together. Raises `SwitchError`, also where one of them is an error."""
        asked = [["SELECT", str(database)], *commands]
        if self._credentials is not None:
            asked.insert(0, ["AUTH", *self._credentials])
        content = b"".join(_encoded(command) for command in asked)
        was_open = self._connection.is_open
        try:
            replies = self._replies(content, len(asked))
        except LostError:
            # A switch may end a connection that was idle; rows that are written twice are the same rows.
            if not was_open:
                raise
            replies = self._replies(content, len(asked))
        return replies[len(asked) - len(commands) :]

    def _replies(self, content: bytes, count: int) -> list[Reply]:
        self._connection.send(content)
        return [self._reply(MOST_ELEMENTS) for _ in range(count)]

    def _reply(self, most: int) -> Reply:
        """The next reply; a list of at most this many elements, which are not lists."""
        line = self._connection.line()
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return quoted(rest)
        if kind == b"-":
            self._connection.close()
            raise SwitchError(f'its database says "{quoted(rest)}"')
        if kind not in {b":", b"$", b"*"} or not re.fullmatch(rb"-?[0-9]{1,15}", rest):
            raise self._no_answer(line)
        number = int(rest)
        if kind == b":":
            return number
        if number == -1:
            return None
        if not 0 <= number <= (LONGEST_ANSWER if kind == b"$" else most):
            raise self._no_answer(line)
        if kind == b"*":
            return [self._reply(0) for _ in range(number)]
        text = self._connection.exactly(number + 2)
        if not text.endswith(b"\r\n"):
            raise self._no_answer(text)
        return text[:-2].decode("utf-8", "replace")

    def _no_answer(self, answer: str | bytes) -> SwitchError:
        self._connection.close()
        return SwitchError(f'"{quoted(answer)}" is no answer of a database with optical cross-connects')


def _name(circuit: Circuit) -> str:
    return f"{circuit[0]}A-{circuit[1]}B"


def _encoded(words: Sequence[str]) -> bytes:
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        content = word.encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(content), content))
    return b"".join(parts)
