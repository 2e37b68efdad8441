"""`calibrate` of what nccl-tests print: every time of its rows, and one line for what is not a measurement."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.calibration import calibrate
from lightloom.calibration.measurements import read_measurements
from tests.conftest import ROOT, RunCli
from tests.draws import cases
from tests.refusals import assert_refused

EXAMPLE = ROOT / "examples" / "nccl_tests.txt"
BEGINNING = "# nThread 1 nGpus 8 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 5 iters: 20"
TIMES = "    time   algbw   busbw #wrong"
COLUMNS = f"#       size         count      type   redop    root {TIMES} {TIMES}"


def output(
    *rows: str, program: str = "all_reduce_perf", gpus: int = 8, header: str = COLUMNS, beginning: str = BEGINNING
) -> str:
    starting = [f"# Collective test starting: {program}"] if program else []
    ranks = [f"#  Rank {rank:2} Group  0 Pid   6899 on host device {rank:2} [0000:04:00] GPU" for rank in range(gpus)]
    return "\n".join(
        [*starting, beginning, "#", "# Using devices", *ranks, "#", header, *rows, "# Avg bus bandwidth : 1"]
    )


def row(size: int, out_of_place_us: float, in_place: str, wrong: str = "0") -> str:
    return f"{size} {size // 4} float sum -1 {out_of_place_us} 0.00 0.00 {wrong} {in_place} 0.00 0.00 0"


def test_a_ring_gives_its_startup_and_bandwidth_back(tmp_path: Path) -> None:
    """The time of nccl-tests' rows by the closed form of a ring: 2(n - 1) steps of m/n bytes."""
    gpus, startup_us, rate = 8, 9.0, 46e9
    rows = []
    for power in range(12, 28):
        size = 1 << power
        time_us = round(2 * (gpus - 1) * (startup_us + size / gpus / rate * 1e6), 6)
        rows.append(row(size, time_us, f"{time_us:.6f}"))
    (tmp_path / "times.txt").write_text(output(*rows))
    fit = calibrate(tmp_path / "times.txt", algorithm="ring")
    assert fit.startup_s.value == pytest.approx(startup_us * 1e-6, rel=1e-5)
    assert fit.bandwidth_bps.value == pytest.approx(8 * rate, rel=1e-5)
    assert len(fit.measurements.rows) == 2 * len(rows)


def test_the_example_is_within_two_percent_of_what_it_was_made_from(cli: RunCli, tmp_path: Path) -> None:
    ran = cli("calibrate", EXAMPLE, "--algorithm", "ring", "--output", tmp_path / "fabric.toml")
    assert (ran.status, ran.err) == (0, "")
    fit = calibrate(EXAMPLE, algorithm="ring")
    assert fit.startup_s.value == pytest.approx(6e-6, rel=0.02)
    assert fit.bandwidth_bps.value == pytest.approx(8 * 46e9, rel=0.02)


def test_messages_of_sendrecv_are_one_transfer_and_need_no_algorithm(tmp_path: Path) -> None:
    (tmp_path / "times.txt").write_text(output(row(1 << 20, 100.0, "N/A"), program="sendrecv_perf_mpi"))
    (told,) = read_measurements(tmp_path / "times.txt").rows
    assert told[1:] == pytest.approx((1 << 20, 100e-6, 1, 1, 1 << 20))


def test_tests_of_several_programs_groups_and_an_owner_before_each_line(tmp_path: Path) -> None:
    text = "\n".join(
        [
            "Warning: what a job prints before",
            output(row(4096, 10.0, "11.0"), gpus=4),
            output(row(4096, 20.0, "N/A"), program="build/all_gather_perf", gpus=2),
        ]
    )
    # Two groups of two ranks: half of the ranks are in each.
    split = text.replace("Rank  2 Group  0", "Rank  2 Group  1").replace("Rank  3 Group  0", "Rank  3 Group  1")
    owned = "\n".join(f"[1,0]<stdout>: {line}" for line in split.splitlines())
    (tmp_path / "times.txt").write_text(owned)
    rows = read_measurements(tmp_path / "times.txt", algorithm="ring").rows
    # Rings of 2: an AllReduce has two steps of half the buffer, an AllGather one.
    told = [number for one in rows for number in (one.time_s, one.steps, one.wire_bytes)]
    assert told == pytest.approx([10e-6, 2, 4096, 11e-6, 2, 4096, 20e-6, 1, 2048])


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (output(row(1024, 1.0, "1.0")), [], "algorithm: missing"),
        (output(row(1024, 1.0, "1.0"), program=""), ["--algorithm", "ring"], "give --collective"),
        (output(row(1024, 1.0, "1.0", "3")), ["--algorithm", "ring"], "3 elements of the result were wrong"),
        (output(row(1024, 1.0, "fast")), ["--algorithm", "ring"], "the time `fast` is not a number"),
        (output("1024 256 float"), ["--algorithm", "ring"], "has 3 cells, its header 13"),
        (output(program="hypercube_perf"), ["--algorithm", "ring"], "hypercube_perf; it takes all_gather"),
        (output(), ["--algorithm", "ring"], "has no rows"),
        (output(row(1024, 1.0, "1.0"), gpus=0), ["--algorithm", "ring"], "no line `# Rank ...` before it"),
        (output(row(1024, 1.0, "1.0")).replace("Rank  7", "Rank  3"), ["--algorithm", "ring"], "rank 3 is there"),
        *(
            (output(row(1024, 1.0, "1.0"), failure, row(2048, 1.0, "1.0")), ["--algorithm", "ring"], "the test failed")
            for failure in (
                "node-1: Test NCCL failure common.cu:303 'unhandled system error / '",
                " .. node-1 pid 4711: Test failure common.cu:401",
            )
        ),
    ],
)
def test_what_is_no_measurement_is_refused_in_a_line(
    cli: RunCli, tmp_path: Path, text: str, options: list[str], said: str
) -> None:
    (tmp_path / "times.txt").write_text(text)
    said_so = assert_refused(cli, tmp_path, "calibrate", tmp_path / "times.txt", *options, field="measurements")
    assert said in said_so


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("gpus", "9", "not the number of ranks"), ("collective", "broadcast", "starts, all_reduce_perf")],
)
def test_options_that_contradict_the_output_are_refused(
    cli: RunCli, tmp_path: Path, field: str, value: str, said: str
) -> None:
    ring = ["calibrate", EXAMPLE, "--algorithm", "ring"]
    assert said in assert_refused(cli, tmp_path, *ring, f"--{field}", value, field=field)
    agreed = cli(*ring, "--gpus", 8, "--collective", "AllReduce")
    assert (agreed.status, agreed.out) == (0, cli(*ring).out)


@settings(max_examples=cases(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 32))
def test_a_damaged_output_is_read_or_refused_in_one_line(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    text = list(EXAMPLE.read_text())
    for _ in range(draw.randint(1, 20)):
        place = draw.randrange(len(text))
        text[place : place + draw.randint(0, 40)] = draw.choice(["", "#", "\n", "9e99", "-1", "N/A", "\x00", "size"])
    (tmp_path / "times.txt").write_text("".join(text))
    try:
        rows = read_measurements(tmp_path / "times.txt", algorithm="ring", collective="all-reduce", gpus=8).rows
    except InputError as error:
        assert error.field in {"measurements", "gpus", "collective"}
        assert "\n" not in str(error)
    else:
        assert all(0 < one.time_s < 1e9 and one.size_bytes >= 0 for one in rows)
