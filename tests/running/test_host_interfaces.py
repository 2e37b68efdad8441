"""The commands that make ports of a host ends of circuits."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.running.hosts.description import Host, PortAddresses, hosts_in_file, ranks_said
from lightloom.running.hosts.interfaces import main, port_commands
from tests.conftest import ROOT

EXAMPLE = ROOT / "examples" / "hosts" / "eight-servers.toml"


def one_host(port: PortAddresses) -> list[Host]:
    return [Host("node1", "192.0.2.1", range(1), ((port,),), "")]


@given(st.integers(127 << 24, (128 << 24) - 1), st.sampled_from(["transmitter", "receiver"]))
def test_loopback_addresses_are_refused(number: int, key: str) -> None:
    """All of 127.0.0.0/8 (RFC 1122 §3.2.1.3)."""
    address = str(IPv4Address(number))
    port = PortAddresses("p0", "198.51.100.1", "203.0.113.1")._replace(**{key: address})
    with pytest.raises(InputError) as caught:
        port_commands(one_host(port), "node1")
    assert str(caught.value).startswith(f"hosts[0].ranks[0][0].{key}: `{address}` is not accepted; it takes a port")


def test_the_loopback_interface_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also at another host than the one whose commands are asked for, which would get routes to it."""
    file = tmp_path / "hosts.toml"
    file.write_text(EXAMPLE.read_text().replace("ens1f0", "lo", 1))
    for name in ("node1", "node2"):
        assert main([str(file), name]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("error: hosts[0].ranks[0][0].interface: `lo` is not accepted; it takes a port")
        assert len(said.err.splitlines()) == 1


def test_other_ports_get_commands() -> None:
    hosts = hosts_in_file(str(EXAMPLE))
    for host in hosts:
        lines = port_commands(hosts, host.name)
        for port in (port for of_rank in host.ports for port in of_rank):
            assert f"ip address add {port.transmitter}/32 dev {port.interface}" in lines
        assert not any("dev lo" in line for line in lines)


@given(st.lists(st.integers(1, 999_999), min_size=1, max_size=8))
def test_ranks_of_hosts_are_added_where_all_say_them(numbers: list[int]) -> None:
    told = [f"host{index}:{number}" for index, number in enumerate(numbers)]
    assert ranks_said(",".join(told)) == sum(numbers)
    assert ranks_said(",".join([*told, "other"])) is None


def test_ranks_of_a_file_are_counted() -> None:
    assert ranks_said(str(EXAMPLE)) == 8
