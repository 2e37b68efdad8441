"""Runs on several hosts, which are addresses of this machine: right bytes, and one line for what is wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.running.controller import RunFailedError
from lightloom.running.data import DATA_TYPES, DrawnInputs
from lightloom.running.hosts import agents as agents_of_command
from lightloom.running.hosts.secret import SECRET
from lightloom.running.interpreter import interpret
from lightloom.running.program import program_of
from lightloom.switches.simulated import Faults, start_switch
from tests.conftest import ROOT, RunCli
from tests.refusals import assert_refused
from tests.running.host_agents import ADDRESSES, SECRET_OF_TESTS, agents_here, free_port
from tests.running.processes import plan_of
from tests.running.programs import small_plan
from tests.running.test_mpi import MPIEXEC

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
HOSTS = ",".join(ADDRESSES)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    number = free_port()
    with agents_here(number):
        yield number


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, SECRET_OF_TESTS)


def executor(port: int, **told: object) -> ll.Executor:
    given: dict[str, object] = {"hosts": HOSTS, "launch": "none", "agent_port": port, "runs": 1, "warm_ups": 0}
    return ll.Executor(transport="tcp", **(given | told))  # type: ignore[arg-type]


@pytest.mark.large
@pytest.mark.parametrize("index", range(24))
def test_random_plans_give_what_they_mean(index: int, port: int) -> None:
    """On two hosts of uneven numbers of ranks, in every type and reduction in turn."""
    plan = small_plan(index)
    if plan is None:
        return
    kind, reduction = list(DATA_TYPES.values())[index % len(DATA_TYPES)], ("sum", "max")[index % 3 % 2]
    first = max(1, plan.gpus // 3)
    hosts = f"{ADDRESSES[0]}:{first},{ADDRESSES[1]}:{plan.gpus - first}"
    try:
        with executor(port, hosts=hosts, dtype=kind.name, reduction=reduction) as run:
            found = run.run(plan, seed=index)
    except InputError as error:
        assert "background" in str(error) or "electrical" in str(error)
        return
    program = program_of(plan, kind.size_bytes)
    wanted = interpret(program, DrawnInputs(program, kind, reduction, index), kind, reduction)
    assert found.wrong == 0
    assert all(np.array_equal(one, other) for one, other in zip(found.arrays, wanted, strict=True))
    # What crosses circuits: every message over each of its hops.
    crossed = int((program.message_bytes * (np.diff(program.gpu_offsets) - 1)).sum())
    assert found.times.circuit_bytes.sum() == crossed
    assert sum(step.forwarded_bytes for step in found.steps) == crossed - program.message_bytes.sum()


def test_moments_follow_each_other_and_clocks_agree(port: int) -> None:
    plan = plan_of(planner="bvn", algorithm="recursive-doubling")
    assert plan.reconfigurations
    with executor(port, runs=3) as run:
        times, settings = (found := run.run(plan)).times, found.settings
    # Both hosts have the clock of this machine, so that all differences are errors of the comparison.
    uncertain_s = max(host.clock_uncertainty_s for host in settings.hosts)
    assert 0 < uncertain_s < 0.1
    moments = [times.begun_s, times.asked_s, times.acknowledged_s, times.released_s.min(axis=2), times.end_s]
    for before, after in pairwise(moments):
        assert (after - before > -2 * uncertain_s).all()
    assert (times.arrived_s >= times.received_s).all()
    assert (times.arrived_s >= times.released_s).all()
    assert [(host.name, host.ranks) for host in settings.hosts] == [(address, 2) for address in ADDRESSES]


def test_own_data_and_the_same_agents_for_other_plans(port: int) -> None:
    plan = plan_of("all-reduce", size="16KiB")
    arrays = [np.full(4096, rank + 1, dtype=np.float32) for rank in range(4)]
    with executor(port) as run:
        for one in (plan, plan_of("all-to-all", gpus=6), plan):
            assert run.run(one).wrong == 0
        found = run.run(plan, arrays)
    assert all((array == 10.0).all() for array in found.arrays)


def test_the_verb_writes_what_the_schema_says(cli: RunCli, in_tmp: Path, port: int) -> None:
    plan_of(planner="bvn", algorithm="recursive-doubling").save("plan.json")
    with start_switch("scpi", 4, listen="127.0.0.1:0") as switch:
        told = ("--transport", "tcp", "--hosts", HOSTS, "--launch", "none", "--agent-port", port, "--runs", 2)
        ran = cli("run", "plan.json", *told, "--switch", switch.address, "--output", in_tmp / "run.json")
        assert ran.status == 0, ran.err
        assert switch.crossbar.changes > 0
    assert "all 4 ranks match NumPy" in ran.out
    assert "2 hosts whose clocks are compared to within" in ran.out
    made = json.loads((in_tmp / "run.json").read_text())
    assert (made["transport"], made["wrong"], len(made["hosts"])) == ("tcp", 0, 2)
    assert [step["dark_s"] > 0 for step in made["steps"]] == [step["reconfigured"] for step in made["steps"]]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--transport", "tcp"], "hosts: missing; transport tcp takes hosts"),
        (["--hosts", "a,b"], "hosts: `a,b` is not accepted: the transport is shared-memory"),
        (["--transport", "tcp", "--hosts", "a,b", "--dilation", "2"], "dilation: `2.0` is not accepted: TCP sends"),
        (["--transport", "tcp", "--hosts", "a,b,c"], "hosts: 4 ranks are not as many on each of 3"),
        (["--transport", "tcp", "--hosts", "a,a"], "hosts: `a` is there twice"),
        (["--transport", "tcp", "--hosts", "a:3,b:2"], "hosts: 2 hosts with 5 ranks; the plan needs 4"),
        (["--transport", "tcp", "--hosts", "a:0,b:4"], "hosts: `a:0` is not accepted"),
        (["--transport", "tcp", "--hosts", "no such host!"], "hosts: `no such host!` is not accepted"),
        (["--transport", "tcp", "--hosts", "missing.toml"], "hosts: no such file: `missing.toml`"),
        (["--barriers", "--hosts", "a,b"], "hosts: it cannot be combined with --barriers"),
    ],
)
def test_wrong_options_are_named(cli: RunCli, in_tmp: Path, arguments: list[str], field: str) -> None:
    plan_of().save("plan.json")
    plan = [] if "--barriers" in arguments else ["plan.json"]
    assert_refused(cli, in_tmp, "run", *plan, *arguments, field=field)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("hosts = 1\n", "hosts: `hosts.toml` is not accepted; it takes 1 to 1024 tables"),
        ("[[hosts]]\nname = 'a'\n", "hosts[0].ranks: missing"),
        ("[[hosts]]\nname = 'a'\nrank = []\n", "hosts[0]: unknown key `rank`; one of name, address, python, ranks"),
        ("[[hosts]]\nname = 'a; rm'\nranks = [[]]\n", "hosts[0].name: `a; rm` is not accepted"),
        ("[[hosts]]\nname = 'a'\nranks = [[{interface = 'p0'}]]\n", "hosts[0].ranks[0][0]: "),
        ("[[hosts]]\nname = 'a'\nranks = [1]\n", "hosts[0].ranks[0]: `1` is not accepted"),
        (
            "[[hosts]]\nname = 'a'\nranks = [[{interface = 'p0', transmitter = '$(x)', receiver = '10.0.0.1'}]]\n",
            "hosts[0].ranks[0][0].transmitter: `$(x)` is not accepted",
        ),
        (
            "[[hosts]]\nname = 'a'\nranks = [[{interface = 'p0', transmitter = '10.0.0.1', receiver = 'a..b'}]]\n",
            "hosts[0].ranks[0][0].receiver: `a..b` is not accepted",
        ),
        (f"[[hosts]]\nname = '{64 * 'a'}'\nranks = [[]]\n", "hosts[0].name: "),
        ("[[hosts]]\nname = 'a'\npython = \"a\\u0000b\"\nranks = [[]]\n", "hosts[0].python: "),
    ],
)
def test_wrong_files_of_hosts_are_named(cli: RunCli, in_tmp: Path, text: str, field: str) -> None:
    plan_of().save("plan.json")
    Path("hosts.toml").write_text(text)
    assert_refused(cli, in_tmp, "run", "plan.json", "--transport", "tcp", "--hosts", "hosts.toml", field=field)


def test_a_missing_secret_and_another_one(
    cli: RunCli, in_tmp: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_of().save("plan.json")
    told = ("run", "plan.json", "--transport", "tcp", "--hosts", HOSTS, "--launch", "none", "--agent-port", port)
    monkeypatch.setenv(SECRET, "another secret than theirs")
    ran = cli(*told)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"error: host 127.0.0.1: the agent at 127.0.0.1:{port} is not used: it knows another secret\n"
    monkeypatch.delenv(SECRET)
    assert_refused(cli, in_tmp, *told, field=f"{SECRET}: it takes at least 16 characters")


def test_nobody_listens_and_something_else_listens() -> None:
    with pytest.raises(
        RunFailedError, match=r"^host 127.0.0.1: no agent is reached at 127.0.0.1:\d+: Connection refused"
    ):
        executor(free_port()).run(plan_of())
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            with other.accept()[0] as connection:
                connection.sendall(b"220 mail.example ESMTP welcome\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(RunFailedError, match="no agent of this version"):
            executor(other.getsockname()[1]).run(plan_of())
        thread.join()


def test_strangers_disturb_nobody(port: int) -> None:
    """Bytes of somebody without the secret, at the agents' port while these are busy with a run."""
    plan = plan_of(planner="bvn", algorithm="recursive-doubling")
    with executor(port) as run:
        assert run.run(plan).wrong == 0
        with socket.create_connection((ADDRESSES[0], port)) as stranger:
            stranger.sendall(os.urandom(4096))
            assert run.run(plan).wrong == 0
    with executor(port) as run:
        assert run.run(plan).wrong == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_host_that_dies_is_named_and_the_others_serve_on(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents_of_command, "SILENT_S", 2.0)
    port = free_port()
    slow = ll.Fabric(gpus=4, reconfiguration_delay="10us", window="1s")
    plan = ll.plan("all-reduce", "16KiB", fabric=slow, planner="bvn", algorithm="recursive-doubling")
    with agents_here(port) as agents:
        said: list[str] = []

        def carry_out() -> None:
            with pytest.raises(RunFailedError) as caught, executor(port) as run:
                run.run(plan)
            said.append(str(caught.value))

        thread = threading.Thread(target=carry_out)
        thread.start()
        time.sleep(1.5)
        agents[1].send_signal(number)
        thread.join(15)
        assert len(said) == 1
        why = "it closed its connection" if number == signal.SIGKILL else "it has not answered for 2 s"
        line = rf"host 127.0.0.2 was lost (at|before) step \d of run 1: {why}; all hosts were told to stop"
        assert re.fullmatch(line, said[0]), said
        agents[1].kill()
        # The agent that is left takes the next run.
        with executor(port, hosts=ADDRESSES[0]) as run:
            assert run.run(plan_of()).wrong == 0


@pytest.mark.usefixtures("in_tmp")
def test_a_switch_that_refuses_ends_the_run(port: int) -> None:
    plan = plan_of(planner="bvn", algorithm="recursive-doubling")
    with start_switch("scpi", 4, listen="127.0.0.1:0") as switch:
        switch.crossbar.faults = Faults.parse("faults", "refuse=3")
        with (
            executor(port, switch=switch.address) as run,
            pytest.raises(
                RunFailedError, match=r"^configuration 0 was not made before the first step of run 1: switch"
            ),
        ):
            run.run(plan)
        switch.crossbar.faults = Faults()
        with executor(port, switch=switch.address) as run:
            assert run.run(plan).wrong == 0
    islands = ll.plan("all-reduce", "64KiB", fabric=ll.Fabric(gpus=4, ports=2, optics="parallel"), algorithm="ring")
    with (
        executor(port, switch="scpi://127.0.0.1") as run,
        pytest.raises(InputError, match=r"^switch: the plan has 2 sw"),
    ):
        run.run(islands)


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that are found before those of the system."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_agents_are_started_by_ssh_and_gone_afterwards(on_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in the place of ssh writes down what it is told, and runs the command here."""
    monkeypatch.delenv(SECRET)
    log = on_path / "log"
    program(on_path / "ssh", f'echo "$$ $@" >> {log}\nfor last; do :; done\nexec sh -c "exec $last"')
    with executor(free_port(), launch="ssh") as run:
        assert run.run(plan_of()).wrong == 0
        told = [line.split() for line in log.read_text().splitlines()]
        assert sorted(line[6] for line in told) == list(ADDRESSES)
        assert "--secret-from-input" in told[0]
    assert not any(Path(f"/proc/{line[0]}").exists() for line in told)


def test_what_ssh_says_is_passed_on(on_path: Path) -> None:
    program(on_path / "ssh", 'echo "ssh: connect to host a port 22: No route to host" >&2; exit 255')
    with (
        executor(free_port(), launch="ssh") as run,
        pytest.raises(RunFailedError, match=r"^host 127.0.0.1: ssh ended with status 255 .*: ssh: connect to host a"),
    ):
        run.run(plan_of())


def test_agents_are_started_by_srun(on_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in the place of srun, which starts the command once for the one host of its list."""
    monkeypatch.delenv(SECRET)
    log = on_path / "log"
    program(
        on_path / "srun",
        f'echo "$@" >> {log}\nwhile [ "$1" != --kill-on-bad-exit=1 ]; do shift; done; shift\nexec "$@"',
    )
    with executor(free_port(), launch="slurm", hosts=ADDRESSES[0]) as run:
        assert run.run(plan_of()).wrong == 0
    assert log.read_text().startswith("--nodelist 127.0.0.1 --nodes 1 --ntasks 1 --ntasks-per-node 1 ")
    assert "SECRET" not in log.read_text()


@pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec")
def test_agents_are_started_by_mpiexec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET)
    with executor(free_port(), launch="mpiexec", hosts=ADDRESSES[0]) as run:
        assert run.run(plan_of()).wrong == 0


def test_sends_are_measured_for_calibrate(cli: RunCli, in_tmp: Path, port: int) -> None:
    plan_of().save("plan.json")
    told = ("--transport", "tcp", "--hosts", HOSTS, "--launch", "none", "--agent-port", port, "--runs", 1)
    ran = cli("run", "plan.json", *told, "--calibrate", "times.csv")
    assert ran.status == 0, ran.err
    about, header, *rows = (in_tmp / "times.csv").read_text().splitlines()
    assert about.startswith("# one-hop sends by tcp, ")
    assert header == "size_bytes,time_s"
    assert all(float(time_s) > 0 for _, time_s in (row.split(",") for row in rows))
    assert len(rows) > 5


def figure_6(folder: Path, *told: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "examples" / "hosts" / "figure_6.py"), *map(str, told)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=100)


def test_the_example_measures_what_is_planned(in_tmp: Path, port: int) -> None:
    """On a fabric as `calibrate` writes it, which says no number of GPUs: that of the hosts' ranks counts."""
    (in_tmp / "lab.toml").write_text('bandwidth = "85.11Gbps"\nstartup = "30.32us"\nhop_delay = "500ns"\n')
    hosts = f"{ADDRESSES[0]}:3,{ADDRESSES[1]}:1"
    with start_switch("scpi", 4, listen="127.0.0.1:0") as switch:
        told = ("--launch", "none", "--agent-port", port, "--sizes", "256KiB", "1MiB")
        ran = figure_6(in_tmp, hosts, switch.address, "--fabric", "lab.toml", *told)
    assert ran.returncode == 0, ran.stderr
    table, _, closing = ran.stdout.partition("\n\n")
    rows = [line.split() for line in table.splitlines()[1:]]
    assert [row[0] for row in rows] == ["256KiB", "1MiB"]
    fabric = ll.Fabric.load(in_tmp / "lab.toml", gpus=4)
    for size, _, over_static, _, over_bvn, spread, verdict in rows:
        harvest, static, bvn = (
            ll.plan("all-reduce", size, fabric=fabric, algorithm="recursive-doubling", planner=planner).total_s
            for planner in ("harvest", "static", "bvn")
        )
        assert (over_static, over_bvn) == (f"{static / harvest:.2f}", f"{bvn / harvest:.2f}")
        assert float(spread.removesuffix("%")) >= 0
        assert verdict in {"conclusive", "inconclusive"}
    doubtful = sum(row[-1] == "inconclusive" for row in rows)
    assert closing.startswith(f"inconclusive: {doubtful} of 2 sizes") if doubtful else not closing


@pytest.mark.large
@pytest.mark.parametrize(
    ("hosts", "more", "status", "field"),
    [
        ("a,b", ("--fabric", "lab.toml"), 2, "gpus: missing"),
        ("a:3,b:3", (), 2, "algorithm: "),
        ("a:4,b:4", ("--sizes", "nonsense"), 2, "size: `nonsense`"),
        ("127.0.0.1:4", ("--launch", "none", "--agent-port", 1), 1, "host 127.0.0.1: no agent is reached"),
    ],
)
def test_the_example_says_what_is_wrong_in_one_line(
    in_tmp: Path, hosts: str, more: tuple[object, ...], status: int, field: str
) -> None:
    (in_tmp / "lab.toml").write_text('bandwidth = "85.11Gbps"\n')
    ran = figure_6(in_tmp, hosts, "scpi://127.0.0.1:1", *more)
    assert ran.returncode == status, ran.stderr
    assert ran.stderr.startswith(f"error: {field}")
    assert len(ran.stderr.splitlines()) == 1
