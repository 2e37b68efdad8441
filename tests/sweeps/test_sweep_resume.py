"""A sweep that is stopped, by anything at any moment, goes on where it was and ends as if nothing had happened."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.sweeps.description import SweepDescription
from lightloom.sweeps.labels import label_of
from lightloom.sweeps.layout import Layout
from lightloom.sweeps.store import LABEL, PARTS, opened
from tests.conftest import RunCli

pytestmark = pytest.mark.slow

# A point a chunk, so that every point is a moment to be stopped at. Baselines and pictures would take most of the time.
DESCRIPTION = """
engine = "flow"
baseline = []
plots = []
[settings]
collective = "all-reduce"
gpus = 16
algorithm = "recursive-doubling"
planner = "harvest"
[axes]
ports = [1, 2]
reconfiguration-delay = { from = "100ns", to = "1ms", count = 7 }
size = { from = "1KiB", to = "256MiB", count = 13 }
"""
POINTS = 2 * 7 * 13


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a run that nothing stopped."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    (folder / "stopped.toml").write_text(DESCRIPTION)
    result = ll.sweep(folder / "stopped.toml", output=folder)
    assert (len(result), result.computed) == (POINTS, POINTS)
    assert result.path is not None
    return result.path.read_bytes()


@pytest.mark.large
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_run_goes_on_without_computing_again(in_tmp: Path, uninterrupted: bytes, seed: int) -> None:
    (in_tmp / "stopped.toml").write_text(DESCRIPTION)
    chance = random.Random(seed)  # noqa: S311 (moments, no secrets)
    command = [sys.executable, "-m", "lightloom", "sweep", "stopped.toml", "--format", "json", "--output", "out"]
    parts = in_tmp / "out" / PARTS
    kept: dict[str, tuple[int, int]] = {}
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = len(kept) + chance.randrange(1, POINTS // 3)
        deadline = time.monotonic() + 30
        while len(list(parts.glob("*.parquet"))) < wanted and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(chance.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        now = {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in parts.glob("*.parquet")}
        # A part that was finished before is the very same file.
        assert kept.items() <= now.items()
        assert wanted <= len(now) < POINTS
        kept = now
    # Killed while it wrote: a torn file has no part's name.
    (parts / ".lightloom-0123abcd-0123456789abcdef.tmp").write_bytes(b"PAR1")
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    summary = json.loads(ran.stdout)
    assert (summary["found"], summary["computed"]) == (len(kept), POINTS - len(kept))
    assert (in_tmp / "out" / "stopped.parquet").read_bytes() == uninterrupted
    assert not parts.exists()
    assert not list((in_tmp / "out").glob(".lightloom*"))


@pytest.mark.large
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_that_it_goes_on(in_tmp: Path, number: signal.Signals) -> None:
    (in_tmp / "stopped.toml").write_text(DESCRIPTION)
    # The tests may run in a shell's background job, which starts deaf to interrupts.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from lightloom.cli import program; program()"
    )
    command = [sys.executable, "-c", program, "sweep", "stopped.toml", "--output", "out"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list((in_tmp / "out" / PARTS).glob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err == "interrupted: finished points are kept in out; run the same command again to continue\n"
    assert ll.sweep(in_tmp / "stopped.toml", output=in_tmp / "out").found > 0


@pytest.mark.large
def test_damaged_parts_are_computed_again(tmp_path: Path, uninterrupted: bytes) -> None:
    (tmp_path / "stopped.toml").write_text(DESCRIPTION)
    made = SweepDescription.load(tmp_path / "stopped.toml")
    layout = Layout(made)
    assert layout.chunk_points == 1
    from lightloom.sweeps.engines import evaluate_chunk

    with opened(made, tmp_path, restart=False) as store:
        for chunk in range(6):
            store.put(chunk, evaluate_chunk(made, store.digest, chunk))
        assert store.finished() == set(range(6))
        folder = tmp_path / PARTS
        whole = (folder / "000000.parquet").read_bytes()
        (folder / "000000.parquet").write_bytes(whole[: len(whole) // 2])
        (folder / "000001.parquet").write_bytes(b"")
        flipped = bytearray((folder / "000002.parquet").read_bytes())
        # Within the first page, which its checksum covers.
        flipped[40] ^= 1
        (folder / "000002.parquet").write_bytes(flipped)
        (folder / "000003.parquet").write_bytes(uninterrupted)
        (folder / "999999.parquet").write_bytes(whole)
        assert store.finished() == {4, 5}
    result = ll.sweep(made, output=tmp_path)
    assert (result.found, result.computed) == (2, POINTS - 2)
    assert result.path is not None
    assert result.path.read_bytes() == uninterrupted


@pytest.mark.large
def test_a_finished_sweep_computes_nothing(tmp_path: Path, uninterrupted: bytes) -> None:
    (tmp_path / "stopped.toml").write_text(DESCRIPTION)
    (tmp_path / "stopped.parquet").write_bytes(uninterrupted)
    # Killed when the table was there and the parts were not all gone.
    (tmp_path / PARTS).mkdir()
    (tmp_path / PARTS / "000007.parquet").write_bytes(b"left")
    (tmp_path / PARTS / LABEL).write_text(label_of(SweepDescription.load(tmp_path / "stopped.toml")))
    told: list[int] = []
    result = ll.sweep(tmp_path / "stopped.toml", output=tmp_path, advance=told.append)
    assert (result.found, result.computed, sum(told)) == (POINTS, 0, POINTS)
    assert not (tmp_path / PARTS).exists()
    again = ll.sweep(tmp_path / "stopped.toml", output=tmp_path, restart=True)
    assert (again.found, again.computed) == (0, POINTS)
    assert (tmp_path / "stopped.parquet").read_bytes() == uninterrupted


SMALL: dict[str, Any] = {
    "settings": {"collective": "all-gather", "gpus": 8, "algorithm": "ring", "planner": "harvest"},
    "axes": {"size": ["1KiB", "1MiB"]},
}


def test_another_description_is_refused_unless_it_starts_anew(tmp_path: Path) -> None:
    ll.sweep(SMALL, output=tmp_path)
    changed = {**SMALL, "axes": {"size": ["1KiB", "2MiB"]}}
    with pytest.raises(InputError, match=r"output: .*another description \(other axes\).*--restart"):
        ll.sweep(changed, output=tmp_path)
    # Pictures and summaries change nothing that was computed.
    assert ll.sweep({**SMALL, "summary": "a title", "plots": []}, output=tmp_path).computed == 0
    assert ll.sweep(changed, output=tmp_path, restart=True).computed == 2
    assert ll.sweep(changed, output=tmp_path).computed == 0


def test_a_file_that_changed_is_another_description(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text("gpus = 8\n")
    settings = {"collective": "all-gather", "algorithm": "ring", "planner": "harvest", "fabric": "lab.toml"}
    text = "[settings]\n" + "".join(f'{key} = "{value}"\n' for key, value in settings.items())
    (tmp_path / "sweep.toml").write_text(f"{text}[axes]\nsize = [1024]\n")
    assert ll.sweep(tmp_path / "sweep.toml", output=tmp_path / "out").computed == 1
    (tmp_path / "lab.toml").write_text("gpus = 8\nports = 2\n")
    with pytest.raises(InputError, match=r"output: .*\(other files\)"):
        ll.sweep(tmp_path / "sweep.toml", output=tmp_path / "out")


def test_a_folder_with_something_else_and_a_folder_in_use_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sweep.parquet").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"output: .*a file that no sweep wrote"):
        ll.sweep(SMALL, output=tmp_path)
    assert (tmp_path / "sweep.parquet").read_bytes() == b"mine"
    used = tmp_path / "used"
    with (
        opened(SweepDescription.of(SMALL), used, restart=False),
        pytest.raises(InputError, match="output: another sweep"),
    ):
        ll.sweep(SMALL, output=used)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="output: "):
        ll.sweep(SMALL, output=tmp_path / "file")


@pytest.mark.large
def test_the_command_line(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "mine.toml").write_text(
        'baseline = "static"\n[settings]\ncollective = "all-gather"\ngpus = 8\n[axes]\nsize = ["1KiB", "1MiB"]\n'
        'planner = ["harvest", "bvn"]\nalgorithm = ["ring", "bruck"]\n'
    )
    ran = cli("sweep", "mine.toml", "--plot", "svg", "--format", "json")
    assert (ran.status, ran.err) == (0, "")
    summary = json.loads(ran.out)
    assert (summary["points"], summary["computed"], summary["without_plan"]) == (8, 8, 0)
    assert summary["files"] == [
        "out/sweeps/mine/mine.parquet",
        *(f"out/sweeps/mine/mine-{metric}.svg" for metric in ("time", "ratio", "reconfigurations")),
    ]
    assert all(Path(file).is_file() for file in summary["files"])
    table = cli("sweep", "mine.toml")
    assert (table.status, table.err) == (0, "")
    assert "8 points were there from a run before" in table.out
    for arguments, field in [
        (["nothing.toml"], "description"),
        (["mine.toml", "--engine", "packets"], "engine"),
        (["mine.toml", "--workers", "0"], "workers"),
        (["mine.toml", "--plot", "gif"], "plot"),
        (["mine.toml", "--engine", "flow"], "output"),
        (["mine.toml", "--restart", "--scheduler", "nowhere"], "scheduler"),
    ]:
        ran = cli("sweep", *arguments)
        assert ran.status == 2
        assert ran.err.startswith(f"error: {field}: ")
        assert ran.err.count("\n") == 1


def test_a_sweep_without_any_plan_leaves_its_folder_free(in_tmp: Path, cli: RunCli) -> None:
    wrong = '[settings]\ncollective = "all-reduce"\n[axes]\nsize = ["1KiB", "1MiB"]\n'
    (in_tmp / "mended.toml").write_text(wrong)
    assert cli("sweep", "mended.toml").status == 2
    assert not list((in_tmp / "out" / "sweeps" / "mended").glob("*.parquet"))
    (in_tmp / "mended.toml").write_text(wrong.replace("[axes]", "gpus = 8\n[axes]"))
    ran = cli("sweep", "mended.toml")
    assert ran.status == 0, ran.err
