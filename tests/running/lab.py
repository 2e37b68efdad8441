"""A laboratory for tests: hosts and a switch as network namespaces, whose ports are joined where a circuit is.

Every host has a leg in a network of management, and an interface for every port of its ranks, whose other end is in
the namespace of the switch. There a simulated switch's circuits are filters of the kernel, which pass what comes from
one port on to another; what comes on a port without a circuit is dropped, and counted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lightloom.running.hosts.description import hosts_in_file
from lightloom.running.hosts.interfaces import port_commands
from lightloom.running.hosts.secret import SECRET
from lightloom.running.namespaces import reason_against
from lightloom.switches.simulated import SimulatedSwitch, start_switch
from tests.interfaces import interfaces_change
from tests.running.host_agents import SECRET_OF_TESTS, await_listening

# Ranks of filters: those that are circuits come before that which takes all other frames.
LIT, DARK = 1, 9
# Matches every frame.
EVERY, LEADS = "u32 match u32 0 0", "action mirred egress redirect dev"


def carried_out(*words: str, lines: Collection[str] = (), inside: str = "") -> str:
    """What a program of iproute2 says; inside: the namespace, and lines: what it is told by standard input."""
    program, *others = words
    command = [f"{shutil.which(program)}", *(["-n", inside] if inside else []), *others]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, lines, done.stderr)
    return done.stdout


class Lab:
    """Hosts, ranks on each and ports of each rank; and the switch, which has a port for every port of a rank.

    file: the description of the hosts, for `--hosts`.
    """

    def __init__(self, folder: Path, hosts: int, ranks: int, ports: int) -> None:
        self.stem = f"lab-{os.getpid()}-"
        self.switch_place = f"{self.stem}switch"
        self.names = [f"{self.stem}host{host}" for host in range(hosts)]
        self._ports = [
            [(f"p{number}", (host * ranks) * ports + number) for number in range(ranks * ports)]
            for host in range(hosts)
        ]
        self.number = hosts * ranks * ports
        # Of management, in which this process has a leg: of its own, as others may run tests on this machine.
        self._leg = f"lab{os.getpid()}"
        self._network = f"198.18.{os.getpid() % 250}"
        self.file = folder / "hosts.toml"
        self._describe(ranks, ports)
        self._lit: frozenset[tuple[int, int]] = frozenset()
        self._passed = [0] * self.number

    @property
    def places(self) -> list[tuple[str, int]]:
        """Where agents listen."""
        return [(f"{self._network}.{host + 2}", 7411) for host in range(len(self.names))]

    @contextmanager
    def agents(self) -> Iterator[list[subprocess.Popen[bytes]]]:
        """An agent on every host, which is ended again; others may be put in their places."""
        agents = [self.agent(host) for host in range(len(self.names))]
        try:
            await_listening(self.places)
            yield agents
        finally:
            for agent in agents:
                agent.kill()
                agent.wait()

    def cut_off(self, host: int, *, again: bool = False) -> None:
        """Take a host from the network of management, as if its power was gone; or put it there again."""
        carried_out("ip", "link", "set", f"m{host}", "up" if again else "down", inside=self.switch_place)

    def agent(self, host: int) -> subprocess.Popen[bytes]:
        """An agent on a host."""
        command = [sys.executable, "-m", "lightloom.running.hosts.agent", "--listen", ":7411"]
        return subprocess.Popen(
            [f"{shutil.which('ip')}", "netns", "exec", self.names[host], *command],
            env=os.environ | {SECRET: SECRET_OF_TESTS},
            stdout=subprocess.DEVNULL,
        )

    @contextmanager
    def switch(self) -> Iterator[SimulatedSwitch]:
        """The switch, whose circuits are those of the namespace."""
        with start_switch("scpi", self.number, listen="127.0.0.1:0") as switch:
            change = switch.crossbar.change

            def changed(*given: Any, **told: Any) -> Any:
                try:
                    return change(*given, **told)
                finally:
                    self.light(switch.crossbar.circuits)

            switch.crossbar.change = changed  # type: ignore[method-assign]
            yield switch

    def light(self, circuits: Collection[tuple[int, int]]) -> None:
        """Have the namespace pass frames over these circuits and no others; ports are numbered from 1."""
        wanted = frozenset(circuits)
        gone, new = self._lit - wanted, wanted - self._lit
        for begin, _ in gone:
            self._passed[begin - 1] += self._count(begin, LIT, "bytes")
        lines = [f"filter del dev s{begin} parent ffff: prio {LIT}" for begin, _ in gone]
        lines += [
            f"filter add dev s{begin} parent ffff: protocol all prio {LIT} {EVERY} {LEADS} s{end}" for begin, end in new
        ]
        if lines:
            carried_out("tc", "-batch", "-", lines=lines, inside=self.switch_place)
        self._lit = wanted

    @property
    def dark(self) -> int:
        """Frames that have come on a port without a circuit."""
        return sum(self._count(port, DARK) for port in range(1, self.number + 1))

    @property
    def passed_bytes(self) -> list[int]:
        """Bytes of frames that have been passed on, by port."""
        lit = {begin for begin, _ in self._lit}
        return [
            before + (self._count(port, LIT, "bytes") if port in lit else 0)
            for port, before in enumerate(self._passed, start=1)
        ]

    def close(self) -> None:
        """Remove all namespaces, and with them what is in them."""
        # Before its other end, which the kernel takes its time to remove.
        with interfaces_change():
            subprocess.run([f"{shutil.which('ip')}", "link", "del", self._leg], capture_output=True, check=False)
        for name in (self.switch_place, *self.names):
            subprocess.run([f"{shutil.which('ip')}", "netns", "del", name], capture_output=True, check=False)

    def _count(self, port: int, rank: int, what: str = "packets") -> int:
        """Frames, or their bytes, that the filters of this rank have taken from a port."""
        show = ("filter", "show", "dev", f"s{port}", "ingress")
        told = json.loads(carried_out("tc", "-s", "-json", *show, inside=self.switch_place))
        rows = [
            row["options"]["actions"] for row in told if row.get("pref") == rank and "actions" in row.get("options", {})
        ]
        return sum(action["stats"][what] for actions in rows for action in actions)

    def _describe(self, ranks: int, ports: int) -> None:
        """Write the file of hosts, as a person would."""
        text = ""
        for host, name in enumerate(self.names):
            rows = []
            for rank in range(ranks):
                own = self._ports[host][rank * ports : (rank + 1) * ports]
                rows.append([self._port(interface, number) for interface, number in own])
            told = ",\n".join("  [" + ", ".join(row) + "]" for row in rows)
            text += f'[[hosts]]\nname = "{name}"\naddress = "{self._network}.{host + 2}"\nranks = [\n{told},\n]\n'
        self.file.write_text(text)

    def _port(self, interface: str, number: int) -> str:
        transmitter, receiver = f"198.19.1.{number + 1}", f"198.19.2.{number + 1}"
        return f'{{interface = "{interface}", transmitter = "{transmitter}", receiver = "{receiver}"}}'

    def make(self) -> None:
        """Make all namespaces."""
        for name in (self.switch_place, *self.names):
            carried_out("ip", "netns", "add", name)
        # Management: a bridge, in which the tests have a leg too.
        lines = ["link add br0 type bridge", "link set br0 up"]
        # Where frames go that come on a port without a circuit.
        lines += ["link add dark type veth peer name sink", "link set dark up"]
        for host, name in enumerate(self.names):
            lines += [f"link add m{host} type veth peer name eth0 netns {name}", f"link set m{host} master br0 up"]
            for interface, number in self._ports[host]:
                lines += [
                    f"link add s{number + 1} type veth peer name {interface} netns {name}",
                    f"link set s{number + 1} addrgenmode none",
                    f"link set s{number + 1} up",
                ]
        carried_out("ip", "-batch", "-", lines=lines, inside=self.switch_place)
        leg = f"link add {self._leg} type veth peer name tests netns {self.switch_place}"
        # Without an address of its own, which would come later.
        up = [f"link set {self._leg} addrgenmode none up", f"address add {self._network}.1/24 dev {self._leg}"]
        with interfaces_change():
            carried_out("ip", "-batch", "-", lines=[leg, *up])
        carried_out("ip", "-batch", "-", lines=["link set tests master br0 up"], inside=self.switch_place)
        drops = f"parent ffff: protocol all prio {DARK} {EVERY} {LEADS} dark"
        ports = range(1, self.number + 1)
        lines = [
            f"{what} add dev s{port} {how}" for port in ports for what, how in (("qdisc", "ingress"), ("filter", drops))
        ]
        carried_out("tc", "-batch", "-", lines=lines, inside=self.switch_place)
        described = hosts_in_file(str(self.file))
        for host, name in enumerate(self.names):
            own = ["link set lo up", f"address add {self._network}.{host + 2}/24 dev eth0", "link set eth0 up"]
            carried_out("ip", "-batch", "-", lines=own, inside=name)
            shell = "\n".join(["set -e", *port_commands(described, name)])
            command = [f"{shutil.which('ip')}", "netns", "exec", name, "sh"]
            done = subprocess.run(command, input=shell, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr


@contextmanager
def made(folder: Path, hosts: int = 4, ranks: int = 2, ports: int = 1) -> Iterator[Lab]:
    """A laboratory, which is removed again."""
    lab = Lab(folder, hosts, ranks, ports)
    try:
        lab.make()
        yield lab
    finally:
        lab.close()


@cache
def reason_to_skip() -> str | None:
    """Why there can be no laboratory here."""
    reason = reason_against()
    if reason is not None:
        return reason
    try:
        with TemporaryDirectory() as folder, made(Path(folder), 1, 1):
            return None
    except AssertionError as error:
        return str(error)
