"""SCPI over TCP, as Polatis switches take it.

A command is a line; only queries are answered, with a line each. `:oxc:swit:conn:add (@1,2),(@9,10)` makes circuits,
`:sub` unmakes them, `:only` makes them and unmakes all others, `:oxc:swit:disc:all` unmakes all;
`:oxc:swit:conn:stat?` answers `(@1,2),(@9,10)`, `:oxc:swit:size?` the ports of each side, `16,16`. Egress ports are
numbered after the ingress ports. `*OPC?` (IEEE 488.2) answers 1 when all before it is done, `:syst:err?` (SCPI 1999,
21.8.8) the oldest error, `0,"No error"` if there is none. Sources: `docs/decisions/0011-drivers-of-switches.md`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lightloom.switches.circuits import Connections, crossed
from lightloom.switches.driver import Identity, SwitchDriver
from lightloom.switches.failures import LostError, RejectedError, Rejection, SwitchError, quoted
from lightloom.switches.transport import Connection

if TYPE_CHECKING:
    from lightloom.switches.address import Address

SIZE = re.compile(r"\+?([0-9]{1,6})\s*,\s*\+?([0-9]{1,6})")
LISTS = re.compile(r"\(@([0-9,\s]*)\)\s*,\s*\(@([0-9,\s]*)\)")
ERROR = re.compile(r"([+-]?[0-9]{1,6})\s*(?:,\s*(.*))?")
# Errors that a switch may have kept for us to read.
MOST_ERRORS = 64


class Driver(SwitchDriver):
    """A switch that takes SCPI."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._connection = Connection(address)
        given = address.settings["first-egress"]
        self._first_egress = given if isinstance(given, int) else None

    def identity(self) -> Identity:
        """The answers of `*IDN?` and `:oxc:swit:size?`."""
        words = self._ask("*idn?")
        size = self._ask(":oxc:swit:size?")
        found = SIZE.fullmatch(size)
        if found is None:
            raise self._no_answer(":oxc:swit:size?", size)
        ingress, egress = int(found[1]), int(found[2])
        return Identity(quoted(words), ingress, egress)

    def read(self) -> Connections:
        """The answer of `:oxc:swit:conn:stat?`."""
        answer = self._ask(":oxc:swit:conn:stat?")
        shift = self._shift()
        circuits: list[tuple[int, int]] = []
        # One pair of lists, or one for every circuit with semicolons between them: switches differ.
        for part in answer.split(";"):
            found = LISTS.fullmatch(part.strip())
            if found is None:
                raise self._no_answer(":oxc:swit:conn:stat?", answer)
            sides = [[number.strip() for number in side.split(",")] for side in found.groups()]
            ingress, egress = ([] if side == [""] else side for side in sides)
            if len(ingress) != len(egress) or not all(0 < len(number) < 7 for number in (*ingress, *egress)):
                raise self._no_answer(":oxc:swit:conn:stat?", answer)
            circuits += [(int(one), int(other) - shift) for one, other in zip(ingress, egress, strict=True)]
        if any(one < 1 or other < 1 for one, other in circuits) or crossed(circuits) is not None:
            raise self._no_answer(":oxc:swit:conn:stat?", answer)
        return frozenset(circuits)

    def connect(self, circuits: Connections) -> None:
        """`:oxc:swit:conn:add`; where that is rejected, each circuit by itself, so that those at fault are named."""
        self._make_or_name("add", circuits)

    def disconnect(self, circuits: Connections) -> None:
        """`:oxc:swit:conn:sub`; where that is rejected, each circuit by itself."""
        self._make_or_name("sub", circuits)

    def replace(self, circuits: Connections) -> None:
        """`:oxc:swit:conn:only`, or `:oxc:swit:disc:all` without circuits."""
        if not circuits:
            self._refused_if(self._order(":oxc:swit:disc:all"))
            return
        if self._order(f":oxc:swit:conn:only {self._lists(circuits)}"):
            held = self.read()
            if held - circuits:
                self.disconnect(held - circuits)
            self.connect(circuits - held)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _make_or_name(self, verb: str, circuits: Connections) -> None:
        said = self._order(f":oxc:swit:conn:{verb} {self._lists(circuits)}")
        if not said:
            return
        held = self.read()
        left = circuits - held if verb == "add" else circuits & held
        rejections = []
        for circuit in sorted(left):
            said_of_one = said
            if len(circuits) > 1:
                said_of_one = self._order(f":oxc:swit:conn:{verb} {self._lists(frozenset([circuit]))}")
            if said_of_one:
                rejections.append(Rejection(circuit, said_of_one))
        if rejections:
            raise RejectedError(tuple(rejections))

    def _refused_if(self, said: str) -> None:
        if said:
            raise RejectedError((Rejection(None, said),))

    def _lists(self, circuits: Connections) -> str:
        shift = self._shift()
        ordered = sorted(circuits)
        ingress = ",".join(str(one) for one, _ in ordered)
        egress = ",".join(str(other + shift) for _, other in ordered)
        return f"(@{ingress}),(@{egress})"

    def _shift(self) -> int:
        """The offset from an egress port's number, counted from 1, to the switch's own number."""
        if self._first_egress is None:
            who = self.identity()
            if not who.ingress or not who.egress:
                raise SwitchError("it does not state its ingress and egress ports; add ?first-egress=N to its address")
            self._first_egress = who.ingress + 1
        return self._first_egress - 1

    def _order(self, command: str) -> str:
        """Send a command and wait until it is done; the errors that the switch reports for it, or an empty text."""
        # Lines of their own: of a line with a wrong command, a switch may drop the rest.
        self._connection.send(f"*cls\n{command}\n*opc?\n".encode("ascii"))
        done = self._answer("*opc?")
        if done.lstrip("+") != "1":
            raise self._no_answer("*opc?", done)
        errors: list[str] = []
        for _ in range(MOST_ERRORS):
            answer = self._ask(":syst:err?")
            found = ERROR.fullmatch(answer.strip())
            if found is None:
                raise self._no_answer(":syst:err?", answer)
            if int(found[1]) == 0:
                return quoted("; ".join(errors))
            errors.append(f"{found[1]} {(found[2] or '').strip().strip(chr(34))}".strip())
        raise SwitchError(f"its list of errors does not end within {MOST_ERRORS}")

    def _ask(self, query: str) -> str:
        was_open = self._connection.is_open
        try:
            self._connection.send(f"{query}\n".encode("ascii"))
            return self._answer(query)
        except LostError:
            if not was_open:
                raise
        # A switch may end a connection that was idle; asking again changes nothing.
        self._connection.send(f"{query}\n".encode("ascii"))
        return self._answer(query)

    def _answer(self, query: str) -> str:
        answer = self._connection.line()
        try:
            return answer.decode("ascii").strip()
        except UnicodeDecodeError:
            raise self._no_answer(query, answer) from None

    def _no_answer(self, query: str, answer: str | bytes) -> SwitchError:
        # Later answers cannot be told from the answer to the next question.
        self._connection.close()
        return SwitchError(f'"{quoted(answer)}" is no answer to {query}')
