"""The commands that make the ports of a host ends of one-way circuits: `python -m lightloom.running.hosts.interfaces`.

A circuit leads one way, so nothing can be asked of its other end: there is no ARP, and all ports of the fabric have one
hardware address, which whatever port is at the other end takes as its own. What leaves from a transmitter's address
takes its port, also where the receiver is on the same host; all else, acknowledgements among it, takes the network that
joins the hosts. IPv4 only.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from ipaddress import ip_address
from typing import TYPE_CHECKING

from lightloom.base.errors import InputError, refuse
from lightloom.running.hosts.description import hosts_in_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.running.hosts.description import Host

__all__ = ["main", "port_commands"]

# Locally administered, as IEEE 802 has it for addresses that nobody else gives out.
HARDWARE_ADDRESS = "02:4c:4c:00:00:01"
# Order of the rules: those of ports come before that of the host's own addresses, which is moved behind them.
PORT_RULE, LOCAL_RULE = 7400, 7500
# Routing tables of the ports, from this one on.
FIRST_TABLE = 7400


def port_commands(hosts: Sequence[Host], name: str) -> list[str]:
    """The commands for the host of that name, for a shell of root; they last until the host starts anew.

    Raises `InputError` that names `host`, or the place of a loopback port, which these commands would break.
    """
    host = next((one for one in hosts if one.name == name), None)
    if host is None:
        raise refuse("host", f"`{name}` is not among {', '.join(one.name for one in hosts)}")
    _check_ports(hosts)
    lines = ["sysctl -q -w net/ipv4/conf/all/rp_filter=0"]
    for index, port in enumerate(port for of_rank in host.ports for port in of_rank):
        device, table = shlex.quote(port.interface), FIRST_TABLE + index
        settings = f"net/ipv4/conf/{port.interface}"
        lines += [
            f"ip link set dev {device} addrgenmode none",
            f"ip link set dev {device} address {HARDWARE_ADDRESS} arp off up",
            f"ip address add {port.transmitter}/32 dev {device}",
            f"ip address add {port.receiver}/32 dev {device}",
            f"sysctl -q -w {shlex.quote(settings)}/rp_filter=0 {shlex.quote(settings)}/accept_local=1",
            f"ip route replace default dev {device} table {table}",
            f"ip rule add pref {PORT_RULE} iif lo from {port.transmitter} table {table}",
        ]
    lines += [f"ip rule add pref {LOCAL_RULE} table local", "ip rule del pref 0"]
    for other in hosts:
        if other.name != name:
            ports = [port for of_rank in other.ports for port in of_rank]
            lines += [
                f"ip route replace {address}/32 via {other.address}"
                for port in ports
                for address in (port.transmitter, port.receiver)
            ]
    return lines


def _check_ports(hosts: Sequence[Host]) -> None:
    for index, host in enumerate(hosts):
        for rank, of_rank in enumerate(host.ports):
            for number, port in enumerate(of_rank):
                key = next((key for key, value in port._asdict().items() if _is_loopback(value)), None)
                if key is not None:
                    field = f"hosts[{index}].ranks[{rank}][{number}].{key}"
                    taken = "it takes a port that a cable joins to the switch, not the host's loopback"
                    raise refuse(field, f"`{getattr(port, key)}` is not accepted; {taken}")


def _is_loopback(value: str) -> bool:
    """Whether it is Linux's loopback interface or one of its addresses."""
    try:
        return ip_address(value).is_loopback
    except ValueError:
        return value in {"lo", "localhost"}


def main(arguments: list[str] | None = None) -> int:
    """Print the commands; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m lightloom.running.hosts.interfaces", description=__doc__)
    parser.add_argument("hosts", metavar="HOSTS.toml")
    parser.add_argument("host", metavar="NAME", help="name of the host whose ports are set up")
    told = parser.parse_args(arguments)
    try:
        lines = port_commands(hosts_in_file(told.hosts), told.host)
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
