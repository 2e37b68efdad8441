"""Agents that are started for a run: by ssh, by mpiexec, or by Slurm's srun."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from ipaddress import ip_address
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from lightloom.base.errors import refuse
from lightloom.running.commands import end_group, program_at
from lightloom.running.hosts.secret import SECRET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.running.hosts.description import Host

__all__ = ["LAUNCHERS", "Launched"]

# By the option `launch`: the program that starts agents; none where a person does.
LAUNCHERS = {"ssh": "ssh", "mpiexec": "mpiexec", "slurm": "srun", "none": ""}
MODULE = "lightloom.running.hosts.agent"
# Without questions that nobody sees; a host that is not there is said soon.
SSH_OPTIONS = ("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
# Seconds in which agents whose command is gone end by themselves.
ENDING_S = 5.0


class Launched:
    """Programs that have been told to start the agents of hosts; `close` ends them.

    tls: the folder of certificates on every host, None without. secret: goes to agents by standard input (ssh) or the
    environment, never by arguments. Raises `InputError` that names `launch` where the program is not there.
    """

    def __init__(self, launch: str, hosts: Sequence[Host], number: int, tls: str | None, secret: bytes) -> None:
        self._launch, self._processes = launch, list[tuple[str, subprocess.Popen[bytes], IO[bytes]]]()
        if launch == "none":
            return
        # An MPI from a package index is the interpreter's; ssh and Slurm are the machine's.
        find = program_at if launch == "mpiexec" else shutil.which
        program = find(LAUNCHERS[launch])
        if program is None:
            raise refuse("launch", f"{launch} needs `{LAUNCHERS[launch]}`, which is not found")
        try:
            if launch == "ssh":
                for host in hosts:
                    self._start(f"host {host.name}", _by_ssh(program, host, number, tls), secret + b"\n")
            else:
                by = _by_mpiexec if launch == "mpiexec" else _by_srun
                command = by(program, hosts, number, tls)
                self._start(launch, command, None, {SECRET: secret.decode()})
        except BaseException:
            self.close()
            raise

    def ended(self) -> str | None:
        """Why an agent will not come, in a line, where what was to start it has ended; None while nothing has."""
        for name, process, said in self._processes:
            if process.poll() is not None:
                said.seek(0)
                lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
                program = LAUNCHERS[self._launch]
                what = lines[-1] if lines else "it says nothing"
                return f"{name}: {program} ended with status {process.returncode} and started no agent: {what}"
        return None

    def close(self) -> None:
        """End what is left of agents and of what started them."""
        for _, process, _ in self._processes:
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
        for _, process, said in self._processes:
            try:
                process.wait(ENDING_S)
            except subprocess.TimeoutExpired:
                end_group(process)
            said.close()
        self._processes.clear()

    def _start(self, name: str, command: list[str], given: bytes | None, more: dict[str, str] | None = None) -> None:
        said = TemporaryFile()  # noqa: SIM115 (open as long as the process)
        process = subprocess.Popen(  # noqa: S603 (a program as it is installed)
            command,
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=said,
            stderr=subprocess.STDOUT,
            env=os.environ | (more or {}),
            # An interrupt from the keyboard ends the process that started it, which ends it.
            process_group=0,
        )
        self._processes.append((name, process, said))
        if given is not None:
            assert process.stdin is not None  # noqa: S101 (it is a pipe)
            with suppress(OSError):  # it has ended, which `ended` says
                process.stdin.write(given)
                process.stdin.flush()


def _agent(host: Host, address: str, number: int, tls: str | None) -> list[str]:
    more = [] if tls is None else ["--tls", tls]
    return [host.python or sys.executable, "-m", MODULE, "--once", "--listen", f"{address}:{number}", *more]


def _by_ssh(program: str, host: Host, number: int, tls: str | None) -> list[str]:
    # A name may mean another address on the host itself.
    address = host.address if _is_number(host.address) else ""
    # The other side's shell reads the command as one text.
    command = shlex.join([*_agent(host, address, number, tls), "--secret-from-input"])
    return [program, *SSH_OPTIONS, host.name, command]


def _by_mpiexec(program: str, hosts: Sequence[Host], number: int, tls: str | None) -> list[str]:
    # MPICH and Open MPI start one process for each host of the list.
    return [
        program,
        "-host",
        ",".join(host.name for host in hosts),
        "-n",
        str(len(hosts)),
        *_agent(hosts[0], "", number, tls),
    ]


def _by_srun(program: str, hosts: Sequence[Host], number: int, tls: str | None) -> list[str]:
    count = str(len(hosts))
    where = ["--nodelist", ",".join(host.name for host in hosts), "--nodes", count, "--ntasks", count]
    return [program, *where, "--ntasks-per-node", "1", "--kill-on-bad-exit=1", *_agent(hosts[0], "", number, tls)]


def _is_number(address: str) -> bool:
    try:
        ip_address(address)
    except ValueError:
        return False
    return True
