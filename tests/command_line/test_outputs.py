"""Outputs: nothing of the user's is replaced but the file that was named, and nothing half-written stays."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightloom.base.errors import InputError, OutputError
from lightloom.base.files import check_distinct, replaced, write_bytes
from lightloom.inputs.options import OPTIONS, Kind
from tests.conftest import ROOT, RunCli
from tests.refusals import assert_refused

pytestmark = pytest.mark.slow

PLAN = ["plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", "8", "--algorithm", "ring"]
TIMES = str(ROOT / "examples" / "single_hop_times.csv")
# Every option that names one file to write, with what its name must end in.
OUTPUTS = {
    "plan-output": ([*PLAN, "--output"], ".json"),
    "plan-plot": ([*PLAN, "--plot"], ".png"),
    "simulate-trace": (["simulate", "plan.json", "--trace"], ".json"),
    "simulate-plot": (["simulate", "plan.json", "--plot"], ".svg"),
    "calibrate-output": (["calibrate", TIMES, "--output"], ".toml"),
    "calibrate-plot": (["calibrate", TIMES, "--plot"], ".pdf"),
}


def device(path: Path, minor: int) -> None:
    """A node like `/dev/full` (7) or `/dev/null` (3), so that no test can take the machine's own away."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.write_bytes(b"")
    except OSError as error:
        pytest.skip(f"needs the right to make devices: {error}")


def nothing_left(folder: Path) -> bool:
    return not [file for file in folder.rglob("*") if file.name.startswith(".lightloom")]


@pytest.mark.large
@pytest.mark.parametrize("name", OUTPUTS)
def test_what_stands_at_the_name_of_an_output_stays_what_it_is(cli: RunCli, plan_file: Path, name: str) -> None:
    folder = plan_file.parent
    command, suffix = OUTPUTS[name]
    # A link stays a link, to a file that is there or not, and the file behind it is written.
    (folder / "far").mkdir()
    (folder / "far" / "old").write_bytes(b"old")
    (folder / "far" / "old").chmod(0o640)
    for target in ("old", "new"):
        link = folder / f"{target}{suffix}"
        link.symlink_to(Path("far") / target)
        assert cli(*command, link).status == 0
        assert link.is_symlink()
        assert (folder / "far" / target).stat().st_size > 50
    assert stat.S_IMODE((folder / "far" / "old").stat().st_mode) == 0o640
    # A pipe gets the content.
    pipe = folder / f"pipe{suffix}"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert cli(*command, pipe).status == 0
    reader.join(30)
    assert len(got[0]) == (folder / "far" / "new").stat().st_size
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    # A folder, a link that leads to itself and a link into nowhere are refused.
    (folder / f"folder{suffix}").mkdir()
    (folder / f"loop{suffix}").symlink_to(f"loop{suffix}")
    (folder / f"nowhere{suffix}").symlink_to("no/such/file")
    field = name.partition("-")[2]
    for place in ("folder", "loop", "nowhere"):
        assert_refused(cli, folder, *command, folder / f"{place}{suffix}", field=field)
    assert nothing_left(folder)


@pytest.mark.large
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_full_device_is_one_line_and_stays(cli: RunCli, plan_file: Path, name: str) -> None:
    command, suffix = OUTPUTS[name]
    full, null = plan_file.with_name(f"full{suffix}"), plan_file.with_name(f"null{suffix}")
    device(full, 7)
    device(null, 3)
    ran = cli(*command, full)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"error: {name.partition('-')[2]}: cannot write `{full}`: No space left on device\n"
    assert cli(*command, null).status == 0
    assert all(stat.S_ISCHR(place.stat().st_mode) for place in (full, null))


@pytest.mark.parametrize(
    "command",
    [
        [*PLAN, "--output", "x.png", "--plot"],
        ["simulate", "plan.json", "--trace", "x.json", "--plot"],
        ["calibrate", TIMES, "--output", "x.toml", "--plot"],
        ["simulate", "plan.json", "--trace"],
        ["plan", "--matrix", "plan.json", "--output"],
        [*PLAN, "--candidates", "ring,plan.json", "--output"],
    ],
)
def test_a_command_refuses_outputs_of_one_name_and_inputs_as_outputs(
    cli: RunCli, plan_file: Path, command: list[str]
) -> None:
    folder = plan_file.parent
    wanted = next((text for text in command if text.startswith("x.")), "plan.json")
    # Pictures and traces must end as they do.
    suffixes = {"--plot": ".png", "--trace": ".json"}
    link = folder / f"link{suffixes.get(command[-1], '')}"
    link.symlink_to(wanted)
    assert_refused(cli, folder, *command, link.name, field=command[-1].lstrip("-"))


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize("spelling", ["x", "./x", "sub/../x", "{}/x", "link", "folder-link/x", "sub/folder-link/./x"])
def test_one_file_by_two_names_is_refused(in_tmp: Path, spelling: str, is_there: bool) -> None:
    (in_tmp / "sub").mkdir()
    (in_tmp / "link").symlink_to("x")
    for folder in (in_tmp, in_tmp / "sub"):
        (folder / "folder-link").symlink_to(in_tmp)
    if is_there:
        (in_tmp / "x").write_bytes(b"mine")
        with pytest.raises(InputError, match=r"output: .*is also the input file of plan"):
            check_distinct({"output": spelling.format(in_tmp)}, {"plan": "x"})
    for names in (["x", spelling], [spelling, "x"]):
        first, second = (name.format(in_tmp) for name in names)
        with pytest.raises(InputError, match=r"plot: .*is also the output file of output"):
            check_distinct({"output": first, "plot": second})
        check_distinct({"output": first, "plot": f"{second}-other"})


def test_the_file_that_standard_output_goes_to_is_no_output(in_tmp: Path) -> None:
    for name in ("out.json", "/dev/stdout"):
        with (in_tmp / "out.json").open("wb") as stdout:
            ran = subprocess.run(
                [sys.executable, "-m", "lightloom", *PLAN, "--output", name],
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert ran.returncode == 2
        assert ran.stderr.endswith("is the file to which standard output is redirected; it takes another file\n")


@pytest.mark.large
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_trace_leaves_nothing(in_tmp: Path, ending: signal.Signals) -> None:
    problem = ["--collective", "all-to-all", "--algorithm", "direct", "--planner", "static", "--topology", "ring"]
    command = [sys.executable, "-m", "lightloom"]
    subprocess.run(
        [*command, "plan", *problem, "--size", "1MiB", "--gpus", "128", "--output", "plan.json"],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (in_tmp / "out").mkdir()
    (in_tmp / "out" / "trace.json").write_bytes(b"mine")
    # A shell's background jobs, such as these tests may be, are started deaf to interrupts.
    hearing = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from lightloom.cli import program; program()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", hearing, "simulate", "plan.json", "--level", "flow", "--trace", "out/trace.json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while nothing_left(in_tmp) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(ending)
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 1, said
    assert b"Traceback" not in said
    assert [file.name for file in (in_tmp / "out").iterdir()] == ["trace.json"]
    assert (in_tmp / "out" / "trace.json").read_bytes() == b"mine"


class Unforeseen(BaseException):
    """Like an interrupt."""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    before=st.none() | st.binary(max_size=20),
    parts=st.lists(st.binary(max_size=30), max_size=4),
    stop=st.none()
    | st.tuples(st.integers(0, 4), st.sampled_from([Unforeseen, KeyboardInterrupt, ValueError, OSError])),
)
def test_a_file_is_whole_or_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    before: bytes | None,
    parts: list[bytes],
    stop: tuple[int, type[BaseException]] | None,
) -> None:
    file = tmp_path_factory.mktemp("whole") / "file"
    if before is not None:
        file.write_bytes(before)
    try:
        with replaced("output", file) as stream:
            for number, part in enumerate(parts):
                if stop is not None and number == stop[0]:
                    raise stop[1]
                stream.write(part)
    except (Unforeseen, KeyboardInterrupt, ValueError):
        assert stop is not None
        assert stop[0] < len(parts)
        assert (file.read_bytes() if file.exists() else None) == before
    else:
        assert file.read_bytes() == b"".join(parts)
    assert [other.name for other in file.parent.iterdir()] in ([], ["file"])


def test_long_names_and_wrong_names_are_input_errors(tmp_path: Path) -> None:
    longest = tmp_path / ("光" * 85)
    write_bytes("output", longest, b"whole")
    assert longest.read_bytes() == b"whole"
    for wrong in ("x" * 300, "a\0b", "", str(tmp_path / "new") + os.sep, 5, None, b"bytes", tmp_path):
        with pytest.raises(InputError, match=r"output: "):
            write_bytes("output", wrong, b"")  # type: ignore[arg-type]


def test_a_disk_that_is_full_is_no_wrong_input(tmp_path: Path) -> None:
    device(tmp_path / "full", 7)
    with pytest.raises(OutputError, match=r"output: cannot write .*No space left"):
        write_bytes("output", tmp_path / "full", b"x")


def test_hard_links_are_the_file_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "read").write_bytes(b"x")
    (tmp_path / "other").hardlink_to(tmp_path / "read")
    with pytest.raises(InputError, match=r"output: .*is also the input file of matrix"):
        check_distinct({"output": tmp_path / "other"}, {"matrix": tmp_path / "read"})


def test_every_output_has_its_letter(cli: RunCli, in_tmp: Path) -> None:
    problem = ("plan", "--collective", "all-gather", "--size", "1KiB", "--gpus", "4")
    assert cli(*problem, "-o", "short.json").status == cli(*problem, "--output", "long.json").status == 0
    assert (in_tmp / "short.json").read_bytes() == (in_tmp / "long.json").read_bytes()
    for verb in {verb for option in OPTIONS if option.name == "output" for verb in option.verbs}:
        assert "-o, --output" in cli(verb, "--help").out


def test_a_picture_without_a_file_takes_a_name_that_nothing_has(cli: RunCli, in_tmp: Path) -> None:
    small = ["plan", "--collective", "all-gather", "--size", "1KiB", "--gpus", "4", "--no-baselines"]
    ran = cli(*small, "--format", "json", "--plot", "--ports", "2")
    json.loads(ran.out)
    assert (ran.status, ran.err) == (0, "picture: plan.png\n")
    first = (in_tmp / "plan.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    # A link that leads nowhere is something, too, and would lead the picture elsewhere.
    (in_tmp / "plan-2.png").symlink_to("elsewhere.png")
    assert cli(*small, "--plot").err == "picture: plan-3.png\n"
    assert (in_tmp / "plan.png").read_bytes() == first
    assert not (in_tmp / "elsewhere.png").exists()
    # Nothing is said of a picture that a refused command did not write.
    assert_refused(cli, in_tmp, *small, "--size", "0", "--plot", field="size")
    assert sorted(file.name for file in in_tmp.iterdir()) == ["plan-2.png", "plan-3.png", "plan.png"]


def test_all_options_of_pictures_do_without_a_file(cli: RunCli) -> None:
    pictures = [(verb, option.flag) for option in OPTIONS if option.kind is Kind.PICTURE for verb in option.verbs]
    assert {flag for _, flag in pictures} == {"--plot", "--break-even"}
    for verb, flag in pictures:
        assert f"{flag} [FILE]" in cli(verb, "--help").out, verb


def test_a_file_of_an_input_folder_is_not_replaced(cli: RunCli, in_tmp: Path) -> None:
    folder = in_tmp / "matrices"
    folder.mkdir()
    for name in ("0.csv", "1.csv"):
        (folder / name).write_text("0,5,6\n1,0,2\n3,4,0\n")
    ran = cli("robust", "--matrices", "matrices", "--output", "matrices/1.csv")
    said = "error: output: `matrices/1.csv` is a file of the input folder of matrices; it takes another file\n"
    assert (ran.status, ran.err) == (2, said)
    assert (folder / "1.csv").read_text().startswith("0,5,6")


def test_a_file_that_an_input_names_is_not_replaced(cli: RunCli, in_tmp: Path) -> None:
    workload = """{"schema": "lightloom.workload/1", "ranks": 2, "mesh": {"all": 2}, "nodes": [{"id": "a",
    "kind": "collective", "collective": "all-reduce", "axis": "all", "size_bytes": 4096, "after": []}]}"""
    (in_tmp / "iteration.json").write_text(workload)
    (in_tmp / "jobs.toml").write_text('[[job]]\nname = "one"\nworkload = "iteration.json"\niterations = 3\n')
    asked = ("jobs", "jobs.toml", "--gpus", "2", "--ports", "2")
    ran = cli(*asked, "--output", "iteration.json")
    said = "`iteration.json` is also an input file, which is read for workload; it takes another file\n"
    assert ran.status == 2
    assert ran.err.startswith("error: ")
    assert ran.err.endswith(f"output: {said}")
    assert (in_tmp / "iteration.json").read_text() == workload
    # Only outputs of this command are meant: the next one may read what this one wrote.
    assert cli(*asked, "--output", "placed.json").status == 0
    assert cli(*asked, "--output", "placed.json").status == 0
    assert cli("train", "iteration.json", "--output", "other.json").status == 0
