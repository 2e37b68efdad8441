"""Network namespaces of a run whose packets the kernel carries: one for every rank, and one for the switch.

A rank's port is one end of a veth pair, and the other end is in the switch's namespace; a token bucket on the rank's
end gives the circuit's rate. The filters that are the circuits are made while a plan runs, by the crate `runtime`.

Names say which controller process they belong to: its number, when it started, and in which namespace of processes
that is true. By its name a namespace left over from an ended process is recognised, and the next run removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse
from lightloom.base.temporary_files import removed_at_end
from lightloom.running.commands import carried_out
from lightloom.running.pace import MOST_PACKET

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from lightloom.base.errors import InputError

__all__ = ["KernelNetwork", "reason_against", "remove_left"]

# Bytes of a frame in addition to a packet's data: Ethernet, IP, UDP, and the header of `runtime`.
ETHERNET, IP_AND_UDP, ENVELOPE = 14, 28, 48
LEAST_MTU_OF_IPV6 = 1280
# Index of the first port's interface in the switch's namespace; 1 is the loopback's.
FIRST_INDEX = 2
# Capacity of a token bucket: packets, and seconds at its rate, so that a timer that is late by less
# costs nothing. A rank waits before it sends for the time of the packets that the bucket lets through at once.
BUCKET_PACKETS, BUCKET_S = 4, 5e-4
# Bytes that may wait at a token bucket: more than the sender's socket takes, so that no packet is dropped.
QUEUE = 1 << 30
# Most seconds of one command of `ip` or `tc`.
COMMAND_S = 60.0
FOLDER = Path("/run/netns")
NAME = re.compile(r"lightloom-(\d+)-(\d+)-(\d+)-(?:switch|rank-\d+)")


class KernelNetwork:
    """The namespaces of a run, with their ports and token buckets; made and removed as a context.

    controller: number of the controller process. rate_bps: bytes that a circuit takes in a second. Raises `InputError`
    that names `transport`, with the reason, where the system refuses one.
    """

    def __init__(self, controller: int, *, ranks: int, ports: int, packet_bytes: int, rate_bps: float) -> None:
        stem = f"lightloom-{controller}-{_started(controller)}-{_process_namespace()}"
        self._switch, self._ranks = f"{stem}-switch", [f"{stem}-rank-{rank}" for rank in range(ranks)]
        self._ports, self._packet_bytes, self._rate_bps = ports, packet_bytes, rate_bps
        frame = packet_bytes + ENVELOPE + IP_AND_UDP + ETHERNET
        self._stack, self._lock, self._is_over = ExitStack(), Lock(), False
        self._bucket_bytes = max(BUCKET_PACKETS * packet_bytes, round(BUCKET_S * rate_bps), frame)

    @property
    def described(self) -> tuple[str, list[str], int, int]:
        """The fields of `runtime::Namespaces`."""
        return str(FOLDER / self._switch), [str(FOLDER / name) for name in self._ranks], FIRST_INDEX, self._bucket_bytes

    def __enter__(self) -> Self:
        reason = reason_against()
        if reason is not None:
            raise _refused(reason)
        if self._packet_bytes > MOST_PACKET["kernel"]:
            accepted = f"at most {MOST_PACKET['kernel']} bytes where the kernel carries packets"
            raise refuse("packet_size", f"`{self._packet_bytes}` is not accepted; it takes {accepted}")
        with ExitStack() as stack:
            stack.enter_context(removed_at_end(self.remove))
            self._make()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def remove(self) -> None:
        """Remove the namespaces that exist, and make no more; from any thread."""
        with self._lock:
            self._is_over = True
            _remove([name for name in (self._switch, *self._ranks) if (FOLDER / name).exists()])

    def _make(self) -> None:
        names = [self._switch, *self._ranks]
        self._carry_out(["ip"], [f"netns add {name}" for name in names])
        mtu = self._packet_bytes + ENVELOPE + IP_AND_UDP
        numbers = [(rank, port) for rank in range(len(self._ranks)) for port in range(self._ports)]
        pairs = [
            f"link add name r{rank}p{port} index {FIRST_INDEX + place} mtu {mtu} "
            f"type veth peer name p{port} mtu {mtu} netns {self._ranks[rank]}"
            for place, (rank, port) in enumerate(numbers)
        ]
        ends = [f"r{rank}p{port}" for rank, port in numbers]
        self._carry_out(["ip", "-n", self._switch], [*pairs, *_up(ends, mtu)])
        # Tried once, so that missing features of the kernel are known before anything starts.
        place = f"dev {ends[0]} parent ffff: protocol ip prio 1 u32"
        trial = [
            f"filter add {place} match ip protocol 17 0xff action mirred egress redirect dev {ends[0]}",
            f"filter del {place}",
        ]
        self._carry_out(["tc", "-n", self._switch], [*(f"qdisc add dev {end} ingress" for end in ends), *trial])
        # Headers take no time: the bytes of a frame other than its packet's data are not counted.
        uncounted = ETHERNET + IP_AND_UDP + ENVELOPE
        bucket = (
            f"stab overhead -{uncounted} linklayer ethernet tbf rate {max(round(8 * self._rate_bps), 8)}bit "
            f"burst {self._bucket_bytes} limit {QUEUE}"
        )
        ports = [f"p{port}" for port in range(self._ports)]
        for name in self._ranks:
            self._carry_out(["ip", "-n", name], _up(ports, mtu))
            self._carry_out(["tc", "-n", name], [f"qdisc add dev {port} root handle 1: {bucket}" for port in ports])

    def _carry_out(self, command: list[str], lines: list[str]) -> None:
        with self._lock:
            if self._is_over:
                raise InterruptedError(None, "the program ends")
            done = _say(command, lines)
        if done.returncode:
            lines_said = done.stderr.decode("utf-8", "replace").splitlines()
            said = " ".join(map(str.strip, lines_said)) or f"exit status {done.returncode}"
            raise _refused(f"`{command[0]}` says: {said}")


def reason_against() -> str | None:
    """Why the kernel cannot carry packets here, in a line, as far as that is known without trying; None if it can."""
    if sys.platform != "linux":
        return "there are no network namespaces on this system"
    for program in ("ip", "tc"):
        if shutil.which(program) is None:
            return f"there is no `{program}`, which is part of iproute2"
    if os.geteuid() != 0:
        return "it takes root to make network namespaces"
    return None


def remove_left() -> int:
    """Remove the namespaces of runs whose controller process has ended; how many these were.

    Namespaces of a process that may still exist, and of another process namespace, are left.
    """
    if reason_against() is not None or not FOLDER.is_dir():
        return 0
    left = [path.name for path in FOLDER.iterdir() if _is_left(path.name)]
    _remove(left)
    return len(left)


def _is_left(name: str) -> bool:
    told = NAME.fullmatch(name)
    if told is None or int(told[3]) != _process_namespace():
        return False
    try:
        return _started(int(told[1])) != int(told[2])
    except ProcessLookupError:
        return True
    except OSError:  # nothing is known of it
        return False


def _started(process: int) -> int:
    """Start of a process, in ticks since that of the machine. Raises `ProcessLookupError` where it has ended."""
    try:
        # The name of the program, in brackets, may hold anything.
        state, *told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError as error:
        raise ProcessLookupError from error
    if state in "ZX":  # ended, and its parent has not asked
        raise ProcessLookupError
    return int(told[18])


def _process_namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _up(ends: list[str], mtu: int) -> list[str]:
    # Without an address of its own an interface sends no IPv6 packets (router solicitations and the like).
    has_ipv6 = mtu >= LEAST_MTU_OF_IPV6 and Path("/proc/net/if_inet6").exists()
    silent = [f"link set dev {end} addrgenmode none" for end in ends] if has_ipv6 else []
    return [*silent, *(f"link set dev {end} up" for end in ends)]


def _remove(names: list[str]) -> None:
    if names:
        # Another run may remove the same at the same time.
        _say(["ip", "-force"], [f"netns del {name}" for name in names])


def _say(command: list[str], lines: list[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return carried_out([*command, "-batch", "-"], ("\n".join(lines) + "\n").encode(), limit_s=COMMAND_S)
    except subprocess.TimeoutExpired as error:
        raise _refused(f"`{command[0]}` did not end within {COMMAND_S:g} s") from error


def _refused(reason: str) -> InputError:
    return refuse("transport", f"`kernel` is not accepted here: {reason}")
