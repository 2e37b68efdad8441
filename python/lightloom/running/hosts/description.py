"""Hosts of a run: names with numbers of ranks, or a TOML file that also has the addresses of every rank's ports."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lightloom._core import counted
from lightloom.base.errors import refuse, shown, text_of
from lightloom.base.files import MIB, parse_toml, read_text

__all__ = ["Host", "PortAddresses", "hosts_in_file", "hosts_of", "ranks_said"]

# Parts between dots have at most 63 letters (RFC 1035).
NAME = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_][A-Za-z0-9_-]{0,62}(\.[A-Za-z0-9_-]{1,63})*")
ADDRESS = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_:][A-Za-z0-9:_-]{0,62}(\.[A-Za-z0-9:_-]{1,63})*")
# The path of an interpreter.
PROGRAM = re.compile(r"[^\x00-\x1f]{1,4096}")
# Linux's names of interfaces.
INTERFACE = re.compile(r"[^\s/:]{1,15}")
HOST_KEYS: dict[str, type] = {"name": str, "address": str, "python": str, "ranks": list}
PORT_FORMS = {"interface": INTERFACE, "transmitter": ADDRESS, "receiver": ADDRESS}
# A number of ranks.
COUNT = re.compile(r"[1-9]\d{0,5}")
MOST_HOSTS, MOST_PORTS = 1024, 64


class PortAddresses(NamedTuple):
    """A port of a rank: the interface, and the addresses from which its transmitter sends and its receiver is reached.

    Text without anything where the host's own are meant.
    """

    interface: str
    transmitter: str
    receiver: str


class Host(NamedTuple):
    """A host: its name, the address of its agent, its ranks, the addresses of their ports, and the interpreter there.

    ports: by rank of the host and port. python: text without anything where it is that of this process.
    """

    name: str
    address: str
    ranks: range
    ports: tuple[tuple[PortAddresses, ...], ...]
    python: str


def hosts_of(given: str, ranks: int, ports: int) -> list[Host]:
    """The hosts that are given for a plan of this many ranks and ports of each.

    given: `a,b,c`, with as many ranks on each; `a:2,b:6`; or the name of a file that ends in `.toml`. Ranks are
    numbered host by host. Raises `InputError` that names `hosts`.
    """
    text_of("hosts", given)
    told = hosts_in_file(given) if given.endswith(".toml") else _from_names(given, ranks, ports)
    _check_names(told)
    found = sum(len(host.ranks) for host in told)
    if found != ranks:
        raise refuse("hosts", f"{counted(len(told), 'host')} with {counted(found, 'rank')}; the plan needs {ranks}")
    for rank, of_rank in enumerate(of_rank for host in told for of_rank in host.ports):
        if len(of_rank) != ports:
            raise refuse("hosts", f"rank {rank} has {counted(len(of_rank), 'port')}; the plan needs {ports} of each")
    return told


def ranks_said(given: str) -> int | None:
    """How many ranks the hosts that are given have together; None where names come without numbers.

    given, errors: as of `hosts_of`.
    """
    text_of("hosts", given)
    if given.endswith(".toml"):
        return sum(len(host.ranks) for host in hosts_in_file(given))
    numbers = [part.partition(":")[2].strip() for part in given.split(",")]
    return sum(map(int, numbers)) if all(COUNT.fullmatch(number) for number in numbers) else None


def _from_names(given: str, ranks: int, ports: int) -> list[Host]:
    parts = [part.strip() for part in given.split(",")]
    if len(parts) > MOST_HOSTS:
        raise refuse("hosts", f"{len(parts)} hosts are too many; it takes at most {MOST_HOSTS}")
    hosts: list[Host] = []
    first = 0
    for part in parts:
        name, has_number, number = part.partition(":")
        if not NAME.fullmatch(name) or (has_number and not COUNT.fullmatch(number)):
            taken = "it takes names such as node1,node2, or node1:2,node2:6 with the ranks of each, or a .toml file"
            raise refuse("hosts", f"`{shown(part)}` is not accepted; {taken}")
        if not has_number and ranks % len(parts):
            raise refuse("hosts", f"{ranks} ranks are not as many on each of {len(parts)}; say how many: {name}:2,...")
        count = int(number) if has_number else ranks // len(parts)
        own = tuple(PortAddresses("", "", "") for _ in range(ports))
        hosts.append(Host(name, name, range(first, first + count), (own,) * count, ""))
        first += count
    return hosts


def hosts_in_file(path: str) -> list[Host]:
    """The hosts of a TOML file: tables `[[hosts]]` with `name`, `ranks`, and, if need be, `address` and `python`.

    `ranks` is a list by rank of lists by port of tables with `interface`, `transmitter` and `receiver`. Raises
    `InputError` that names `hosts` or the key.
    """
    tables = parse_toml("hosts", read_text("hosts", path, MIB), f"`{path}`")
    rows = tables.get("hosts")
    if set(tables) != {"hosts"} or not isinstance(rows, list) or not 0 < len(rows) <= MOST_HOSTS:
        raise refuse("hosts", f"`{path}` is not accepted; it takes 1 to {MOST_HOSTS} tables [[hosts]] and nothing else")
    hosts: list[Host] = []
    first = 0
    for index, row in enumerate(rows):
        field = f"hosts[{index}]"
        if not isinstance(row, dict):
            raise refuse(field, f"`{shown(row)}` is not accepted; it takes a table")
        _check_keys(field, row, HOST_KEYS)
        name = _text(f"{field}.name", row.get("name", ""), NAME)
        address = _text(f"{field}.address", row.get("address", name), ADDRESS)
        python = _text(f"{field}.python", row["python"], PROGRAM) if "python" in row else ""
        places = row.get("ranks", [])
        if not places:
            raise refuse(f"{field}.ranks", "missing; it takes a list with the ports of every rank of the host")
        own = tuple(_ports(f"{field}.ranks[{rank}]", place) for rank, place in enumerate(places))
        hosts.append(Host(name, address, range(first, first + len(own)), own, python))
        first += len(own)
    _check_names(hosts)
    return hosts


def _check_names(hosts: list[Host]) -> None:
    names = [host.name for host in hosts]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise refuse("hosts", f"`{twice}` is there twice; every host has one agent, and `{twice}:2` two ranks")


def _ports(field: str, rows: Any) -> tuple[PortAddresses, ...]:
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_PORTS:
        raise refuse(field, f"`{shown(rows)}` is not accepted; it takes a list of 1 to {MOST_PORTS} ports")
    found = []
    for port, row in enumerate(rows):
        place = f"{field}[{port}]"
        if not isinstance(row, dict) or sorted(row) != sorted(PORT_FORMS):
            raise refuse(place, f"`{shown(row)}` is not accepted; it takes a table of {', '.join(PORT_FORMS)}")
        found.append(PortAddresses(*(_text(f"{place}.{key}", row[key], form) for key, form in PORT_FORMS.items())))
    return tuple(found)


def _check_keys(field: str, row: dict[str, Any], kinds: dict[str, type]) -> None:
    for key, value in row.items():
        if key not in kinds:
            raise refuse(field, f"unknown key `{shown(key)}`; one of {', '.join(kinds)}")
        if not isinstance(value, kinds[key]):
            raise refuse(f"{field}.{key}", f"`{shown(value)}` is not accepted; it takes a {kinds[key].__name__}")


def _text(field: str, value: Any, form: re.Pattern[str]) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes a name or an address")
    return value
