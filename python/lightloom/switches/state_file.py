"""The circuits of switches before a change, in a file that restores them (`lightloom.switch-state/1`).

`{"schema", "switches": [{"name", "address", "connections": [[ingress, egress], ...], "ports": {"ingress": [...],
"egress": [...]} or null}]}`: circuits and ports are numbered from 1 on either side; of all circuits that the switch
held, those at the `ports` are brought back, and all where it is null.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import OutputError, refuse, shown
from lightloom.base.files import FULL, read_text, usable_path
from lightloom.base.temporary_files import unfinished_file
from lightloom.switches.address import Address, parse_address
from lightloom.switches.circuits import Connections, Ports, crossed

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = "lightloom.switch-state/1"
FOLDER = Path("out/switches")
MAX_FILE_BYTES = 64 << 20
LARGEST_PORT = 1 << 20
# Files of one folder that are tried for a free name.
MOST_FILES = 1_000_000


class SwitchState(NamedTuple):
    """The circuits of a switch, and the ports whose circuits are restored."""

    name: str
    address: Address
    connections: Connections
    ports: Ports


def save_state(states: Sequence[SwitchState], path: Path | None) -> Path:
    """Write what switches hold to `path`, which must not be there, or to the next free `out/switches/before-N.json`.

    The file is whole once it has its name, and on the disk. Raises `InputError` that names `state`, and `OutputError`.
    """
    content = (json.dumps(_document(states), separators=(",", ":")) + "\n").encode()
    folder = FOLDER if path is None else path.parent
    try:
        if path is None:
            folder.mkdir(parents=True, exist_ok=True)
        with unfinished_file(folder / "state", 0o644) as temporary:
            with temporary.stream as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            # A link fails where the name is taken, so that no earlier state is lost.
            return _named(temporary.path, path, folder)
    except OSError as error:
        message = f"cannot write `{path or folder}`: {error.strerror or error}"
        if error.errno in FULL:
            raise OutputError(error.errno, f"state: {message}") from error
        raise refuse("state", message) from error


def check_state(path: str | os.PathLike[str]) -> Path:
    """The path of a state file that is to be made. Raises `InputError` that names `state` where something is there."""
    file = usable_path("state", path)
    if os.path.lexists(file):
        raise refuse("state", f"`{path}` exists already; it takes the name of a new file")
    return file


def load_state(path: str | os.PathLike[str]) -> list[SwitchState]:
    """The content of a file of `save_state`. Raises `InputError` that names `restore` and the fault."""
    text = read_text("restore", path, MAX_FILE_BYTES)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refuse("restore", f"`{path}` is not JSON: {str(error)[:100]}") from error
    found = _part("", document, {"schema": str, "switches": list})
    if found["schema"] != SCHEMA:
        raise refuse("restore: schema", f"`{shown(found['schema'])}` is not accepted; it takes {SCHEMA}")
    states = [_state(f"switches[{index}]", one) for index, one in enumerate(found["switches"])]
    if not states or len({state.name for state in states}) != len(states):
        raise refuse("restore: switches", "it takes one entry or more, of different names")
    return states


def _named(temporary: Path, path: Path | None, folder: Path) -> Path:
    if path is not None:
        os.link(temporary, path)
        return path
    for number in range(1, MOST_FILES):
        named = folder / f"before-{number}.json"
        if named.exists():
            continue
        try:
            os.link(temporary, named)
        except FileExistsError:
            continue
        return named
    raise FileExistsError(None, f"all names up to before-{MOST_FILES}.json are taken")


def _document(states: Sequence[SwitchState]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "switches": [
            {
                "name": state.name,
                "address": state.address.text,
                "connections": sorted(state.connections),
                "ports": None
                if state.ports.ingress is None or state.ports.egress is None
                else {"ingress": sorted(state.ports.ingress), "egress": sorted(state.ports.egress)},
            }
            for state in states
        ],
    }


def _state(where: str, value: object) -> SwitchState:
    found = _part(where, value, {"name": str, "address": str, "connections": list, "ports": (dict, type(None))})
    circuits = []
    for index, pair in enumerate(found["connections"]):
        if not isinstance(pair, list) or len(pair) != 2:
            raise refuse(f"restore: {where}.connections[{index}]", "it takes a pair [ingress, egress]")
        circuits.append(
            (_number(f"{where}.connections[{index}]", pair[0]), _number(f"{where}.connections[{index}]", pair[1]))
        )
    port = crossed(circuits)
    if port is not None:
        raise refuse(f"restore: {where}.connections", f"port {port} has two circuits")
    ports = Ports()
    if found["ports"] is not None:
        sides = _part(f"{where}.ports", found["ports"], {"ingress": list, "egress": list})
        ports = Ports(
            *(
                frozenset(_number(f"{where}.ports.{side}[{index}]", one) for index, one in enumerate(sides[side]))
                for side in ("ingress", "egress")
            )
        )
    address = parse_address(f"restore: {where}.address", found["address"])
    return SwitchState(found["name"], address, frozenset(circuits), ports)


def _part(where: str, value: object, keys: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these keys, of these types."""
    field = f"restore: {where}" if where else "restore"
    if not isinstance(value, dict):
        raise refuse(field, "it takes an object")
    for name in value:
        if name not in keys:
            raise refuse(field, f"unknown key `{shown(name)}`; it takes {', '.join(keys)}")
    for name, kind in keys.items():
        if name not in value:
            raise refuse(field, f"`{name}` is missing")
        if not isinstance(value[name], kind):
            raise refuse(f"{field}: {name}", f"`{shown(value[name])}` is not accepted")
    return value


def _number(where: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= LARGEST_PORT:
        raise refuse(f"restore: {where}", f"`{shown(value)}` is not accepted; it takes ports from 1 to {LARGEST_PORT}")
    return value
