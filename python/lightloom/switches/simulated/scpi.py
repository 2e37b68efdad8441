"""A simulated switch with the SCPI of Polatis switches: commands in lines, separated by semicolons.

Ingress ports are numbered from 1 to N, egress ports from N + 1 to 2 N. Keywords are taken in their short and long
forms, in any case; a command that goes wrong puts an error into the list that `:system:error?` reads, oldest first.
"""

from __future__ import annotations

import socketserver
from collections import deque
from typing import TYPE_CHECKING

from lightloom.switches.simulated.crossbar import After, PortsRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.switches.simulated.crossbar import Crossbar, Pair
    from lightloom.switches.simulated.server import Server

# Bytes of a line that are taken, errors that are kept.
LONGEST_LINE = 1 << 16
KEPT_ERRORS = 16
# Keywords that have a long form; either may be written.
SHORT = {
    "switch": "swit",
    "connect": "conn",
    "disconnect": "disc",
    "state": "stat",
    "system": "syst",
    "error": "err",
}
NO_ERROR = '0,"No error"'


class ScpiError(Exception):
    """A command that is not carried out, as the list of errors has it."""


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    server: Server
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Take lines until the connection ends, or a fault ends it."""
        session = Session(self.server.crossbar)
        while True:
            line = self.rfile.readline(LONGEST_LINE + 1)
            if not line.endswith(b"\n"):
                return  # ended, or longer than any line should be
            answer = session.answer(line)
            if answer is None:
                return
            if answer:
                self.server.crossbar.wait_to_answer()
                self.wfile.write(answer)


class Session:
    """The state of a connection: its commands and the answers."""

    def __init__(self, crossbar: Crossbar) -> None:
        self._crossbar = crossbar
        self._errors: deque[str] = deque(maxlen=KEPT_ERRORS)
        self._is_garbled = False

    def answer(self, line: bytes) -> bytes | None:
        """The answer to a line of commands: nothing for commands, a line for queries; None ends the connection."""
        answers = []
        for command in line.decode("latin-1").strip().split(";"):
            try:
                said = self._obeyed(command.strip())
            except ConnectionAbortedError:
                return None
            except ScpiError as error:
                self._errors.append(str(error))
                continue
            if said is not None:
                answers.append(said)
        if not answers:
            return b""
        if self._is_garbled:
            self._is_garbled = False
            return b"\x00\xff(@1,,)\xfe;+-\n"
        return (";".join(answers) + "\n").encode("ascii")

    def _obeyed(self, command: str) -> str | None:
        """The answer to one command, None if it has no answer."""
        if not command:
            return None
        header, _, parameters = command.partition(" ")
        words = [SHORT.get(word, word) for word in header.lower().lstrip(":").rstrip("?").split(":")]
        name = ":".join(words) + ("?" if header.endswith("?") else "")
        n = self._crossbar.ports
        queries: dict[str, Callable[[], str]] = {
            "*idn?": lambda: f"Lightloom,SIM-OST-{n}x{n}-LA1,000001,1.0",
            "*opc?": lambda: "1",
            "syst:err?": lambda: self._errors.popleft() if self._errors else NO_ERROR,
            "oxc:swit:size?": lambda: f"{n},{n}",
            "oxc:swit:conn:stat?": self._held,
        }
        commands: dict[str, Callable[[], None]] = {
            "*cls": self._errors.clear,
            "oxc:swit:disc:all": lambda: self._change(all_others=True),
            "oxc:swit:conn:add": lambda: self._change(make=self._pairs(parameters)),
            "oxc:swit:conn:sub": lambda: self._change(unmake=self._pairs(parameters)),
            "oxc:swit:conn:only": lambda: self._change(make=self._pairs(parameters), all_others=True),
        }
        if name in queries:
            return queries[name]()
        if name not in commands:
            raise ScpiError('-113,"Undefined header"')
        commands[name]()
        return None

    def _held(self) -> str:
        """All circuits, as `(@1,2),(@9,10)`."""
        pairs = sorted(self._crossbar.circuits)
        ingress = ",".join(str(one) for one, _ in pairs)
        egress = ",".join(str(other + self._crossbar.ports) for _, other in pairs)
        return f"(@{ingress}),(@{egress})"

    def _pairs(self, parameters: str) -> list[Pair]:
        """The circuits of `(@1,2),(@9,10)`."""
        text = "".join(parameters.split())
        if not (text.startswith("(@") and text.endswith(")") and text.count("),(@") == 1):
            raise ScpiError('-104,"Data type error"')
        lists = [[] if not side else side.split(",") for side in text[2:-1].split("),(@")]
        if not all(word.isascii() and word.isdigit() and len(word) < 7 for side in lists for word in side):
            raise ScpiError('-104,"Data type error"')
        ingress, egress = ([int(word) for word in side] for side in lists)
        if len(ingress) != len(egress):
            raise ScpiError('-220,"Parameter error; lists of different lengths"')
        return list(zip(ingress, (number - self._crossbar.ports for number in egress), strict=True))

    def _change(
        self, *, unmake: list[Pair] | None = None, make: list[Pair] | None = None, all_others: bool = False
    ) -> None:
        try:
            after = self._crossbar.change(unmake or [], make or [], all_others=all_others)
        except PortsRefusedError as error:
            raise ScpiError(f'-200,"Execution error; {error}"') from error
        if after is After.DROP:
            raise ConnectionAbortedError
        self._is_garbled = after is After.GARBAGE
