"""Readers of files are bounded in memory and time: an answer or one `InputError`, whatever the file."""

import gzip
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.base.files import read_lines
from lightloom.calibration.measurements import read_measurements
from lightloom.inputs.graphs import read_topology
from lightloom.inputs.matrix import read_matrix
from tests.draws import cases

pytestmark = pytest.mark.slow

MIB = 1 << 20
# Memory of a reader, with the interpreter, NumPy and Lightloom, which take some 100 MiB.
MOST_MIB = 700

LAYERS = b"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1\n1\n"
# A root whose field 8 is a vector of tables without fields, as many as zeros follow.
TASKS = struct.pack("<I12HiIII", 28, 24, 12, *[0] * 8, 4, 0, 24, 8, 0, 15 * MIB)
RANK = tarfile.TarInfo("a.0.et")
RANK.size = 280 * MIB

# Reader, file and content: bytes by the million that are few lines, or few counted items.
FLOODS: dict[str, tuple[str, str, bytes]] = {
    "a line of a matrix": ("matrix", "m.csv", b"1," * (32 * MIB)),
    "blanks in a matrix": ("matrix", "m.csv", b"1 " * (32 * MIB)),
    "a number": ("matrix", "m.csv", b"1" * (64 * MIB)),
    "zeros of a matrix": ("matrix", "m.npy", b"\x93NUMPY\x01\x00v\x00" + bytes(64 * MIB)),
    "columns of measurements": ("calibrate", "t.csv", b"size,time_s" + b",x" * (30 * MIB)),
    "a line of links": ("topology", "t.edgelist", b"0 1 " * (15 * MIB)),
    "elements of GraphML": ("topology", "t.graphml", b"<graphml>" + b"<node/>" * (4 * MIB)),
    "attributes of GraphML": ("topology", "t.graphml", b"<graphml a" + b"='' a" * (4 * MIB)),
    "depth of GraphML": ("topology", "t.graphml", b"<a>" * 50_000),
    "a table of TOML": ("fabric", "f.toml", b"[" * MIB),
    "a deep key of TOML": ("fabric", "f.toml", b"a." * (MIB // 4) + b"a = 1"),
    "a plan": ("plan", "p.json", b"[" * (32 * MIB)),
    "a schedule": ("schedule", "s.xml", b"<a>" * (4 * MIB)),
    "a workload": ("workload", "w.json", b'{"schema": "lightloom.workload/1", "a": ' + b"[" * (32 * MIB)),
    "lines of layers": ("workload", "w.txt", LAYERS + b"\n" * (60 * MIB)),
    "columns of layers": ("workload", "w.txt", LAYERS + b"1 " * (30 * MIB)),
    "tasks": ("workload", "w.fbuf", TASKS + bytes(60 * MIB)),
    "zeros in an archive": ("workload", "w.tgz", gzip.compress(RANK.tobuf()) + gzip.compress(bytes(MIB)) * 280),
}
# `ru_maxrss` of a process starts at what its parent holds, which runs every other test: the kernel's peak of this
# program itself is VmHWM.
READ = """
import re, sys
import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.graphs import read_topology
from lightloom.inputs.matrix import read_matrix
from lightloom.formats.schedules import read_schedule
from lightloom.inputs.workloads.files import read_workload
readers = {
    "matrix": read_matrix, "calibrate": ll.calibrate, "fabric": Fabric.from_toml, "plan": ll.Plan.load,
    "schedule": read_schedule, "workload": lambda path: read_workload(path, time_unit="s" if "fbuf" in path else None),
    "topology": lambda path: read_topology("topology", path, None),
}
for reader, path in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        readers[reader](path)
    except InputError as error:
        peak_kib = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
        print(len(str(error)), str(error).count(chr(10)), peak_kib // 1024)
"""


@pytest.mark.large
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak memory of one program is read from /proc")
def test_a_flood_is_refused_in_little_memory(tmp_path: Path) -> None:
    arguments = []
    for number, (reader, file, content) in enumerate(FLOODS.values()):
        (tmp_path / f"{number}-{file}").write_bytes(content)
        arguments += [reader, str(tmp_path / f"{number}-{file}")]
    command = [sys.executable, "-c", READ, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr[-300:]
    answers = [[int(number) for number in line.split()] for line in ran.stdout.splitlines()]
    assert len(answers) == len(FLOODS)
    for name, (characters, line_breaks, memory_mib) in zip(FLOODS, answers, strict=True):
        assert characters < 1000, name
        assert line_breaks == 0, name
        assert memory_mib < MOST_MIB, name


@pytest.mark.parametrize(
    ("limit", "content", "read"),
    [
        ("lightloom.inputs.matrix.MAX_LINES", "\n", read_matrix),
        ("lightloom.inputs.matrix.MAX_GPUS", "1\n", read_matrix),
        ("lightloom.calibration.measurements.MAX_LINES", "\n", read_measurements),
        ("lightloom.calibration.measurements.MAX_ROWS", "1,1\n", read_measurements),
        ("lightloom.inputs.graphs.MAX_LINES", "0 1\n", lambda path: read_topology("topology", path, None)),
    ],
)
def test_lines_and_rows_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, content: str, read: Callable[[Path], object]
) -> None:
    monkeypatch.setattr(limit, 10)
    (tmp_path / "f.csv").write_text(("size,time_s\n" if "measurements" in limit else "") + content * 50)
    with pytest.raises(InputError, match="has more than 10 "):
        read(tmp_path / "f.csv")


HEADERS = (
    st.text(max_size=60)
    | st.tuples(
        st.sampled_from(
            ["<f8", ">f4", "|i1", "<i8", "O", "<U4", "V8", "<M8[ns]", "f9", "e2", "<c16", "|O8", "[('a','<f8')]"]
        ),
        st.sampled_from(["True", "False", "0", "None"]),
        st.sampled_from(
            ["(2, 2)", "(3, 3)", "(-2, -2)", "(2,)", "()", "(0, 9999999999)", "(1e9, 2)", "(2, 2, 2)", "(0, 0)"]
        ),
    ).map(lambda parts: f"{{'descr': '{parts[0]}', 'fortran_order': {parts[1]}, 'shape': {parts[2]}, }}")
    | st.sampled_from(
        ["-" * 9000 + "1", "(" * 9000, "{" * 500 + "}" * 500, "[" * 90 + "]" * 90, "9" * 5000, "0x" + "f" * 5000]
    )
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=cases(150))
@given(header=HEADERS, data=st.binary(max_size=80), version=st.sampled_from([1, 2, 3, 4]))
@example("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", np.ones(4).tobytes(), 1)
def test_any_header_of_an_npy_file(tmp_path: Path, header: str, data: bytes, version: int) -> None:
    text = header.encode()
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    (tmp_path / "m.npy").write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + text + data)
    try:
        matrix = read_matrix(tmp_path / "m.npy")
    except InputError as error:
        assert error.field == "matrix"
        assert len(str(error)) < 500
    else:
        assert matrix.shape[0] == matrix.shape[1] >= 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    entries=st.lists(st.integers(0, 100), min_size=9, max_size=9),
    dtype=st.sampled_from(["<f8", ">f8", "<f4", "i1", "u2", ">i4", "<u8", "<f2"]),
    order=st.sampled_from("CF"),
)
def test_what_numpy_saves_is_read(tmp_path: Path, entries: list[int], dtype: str, order: Any) -> None:
    array = np.array(entries, dtype=dtype).reshape(3, 3, order=order)
    np.save(tmp_path / "m.npy", array)
    assert np.array_equal(read_matrix(tmp_path / "m.npy"), array.astype(np.float64))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(st.sampled_from("ab,\r\n 1é"), max_size=60), longest=st.integers(1, 12), most=st.integers(1, 12))
def test_lines_are_those_of_the_text_within_the_limits(tmp_path: Path, text: str, longest: int, most: int) -> None:
    (tmp_path / "text").write_bytes(text.encode())
    lines = text.replace("\r\n", "\n").replace("\r", "\n").splitlines(keepends=True)
    within = len(lines) <= most and all(len(line) <= longest for line in lines)
    try:
        read = [line for _, line in read_lines("matrix", tmp_path / "text", MIB, longest=longest, most=most)]
    except InputError:
        assert not within
    else:
        assert within
        assert read == lines


WHOLE_NUMBERS = ("9" * 5000, "0x" + "f" * 5000, "-0x" + "f" * 5000, "0b" + "1" * 20_000, "0o" + "7" * 5000)


@pytest.mark.parametrize("number", WHOLE_NUMBERS)
@pytest.mark.parametrize(
    "key", ["gpus", "ports", "bandwidth", "startup", "window", "initial", "dims", "background_reconfiguration", "x"]
)
def test_whole_numbers_of_thousands_of_digits_in_a_fabric(tmp_path: Path, key: str, number: str) -> None:
    number = number.removeprefix("-") if number.startswith("-0") else number
    for value in (number, f"[{number}]", f"{{ a = {number} }}"):
        (tmp_path / "f.toml").write_text(f"gpus = 8\n{key} = {value}\n" if key != "gpus" else f"gpus = {value}\n")
        with pytest.raises(InputError) as raised:
            ll.plan("all-gather", "1KiB", fabric=tmp_path / "f.toml", algorithm="ring", candidates="ring")
        assert len(str(raised.value)) < 500


KEYS = ", ".join(f'"k{number}": 0' for number in (*range(300_000), 299_999))
# The refusal, and the key of a file: products of numbers without end, keys that each are looked for among all others.
LONG_WORK: dict[str, tuple[str, str]] = {
    "a product of sizes": ("schedule.dims: `[1000", '"dims": [' + ", ".join(["1" + "0" * 4000] * 3000) + "]"),
    "a product that ends too large": ("schedule.dims: `[65536, ", f'"dims": {[65536] * 500_000}'),
    "a key twice": ("schedule: key `k299999` is given twice", KEYS),
}


@pytest.mark.parametrize("what", LONG_WORK)
def test_what_takes_long_to_count_is_refused_at_once(tmp_path: Path, what: str) -> None:
    said, key = LONG_WORK[what]
    head = '{"schema": "collective_pattern/v1", "collective": "all-reduce", "n": 8, "steps": [], '
    (tmp_path / "c.json").write_text(head + key + "}")
    _refused_within_seconds(f"read_schedule({str(tmp_path / 'c.json')!r})", said)


def test_a_body_with_a_key_twice_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "body").write_text(f"{{{KEYS}}}")
    said = "from lightloom.page.parser import RefusedError, parsed\ntry:\n    parsed(open({!r}, 'rb').read())\n"
    said += "except RefusedError as error:\n    raise ll.InputError('body', error.outcome.content.decode())"
    _refused_within_seconds(said.format(str(tmp_path / "body")), '{"error": "body: key `k299999` is given twice"')


def test_a_grid_of_a_million_sizes_is_refused_at_once() -> None:
    said = "dims: 10000000 sizes are not accepted; it takes at most 16"
    _refused_within_seconds("ll.Fabric(dims=[2] * 10_000_000)", said)
    assert ll.Fabric(dims=[2] * 16).sized().gpus == 65536


def _refused_within_seconds(call: str, said: str) -> None:
    """Whether a call ends with an InputError that starts so, in a process that has a minute (it takes a second)."""
    program = f"import lightloom as ll\nfrom lightloom.formats.schedules import read_schedule\n{call}\n"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith(f"lightloom.base.errors.InputError: {said}")


SWEEP = "[settings]\ncollective = 'all-gather'\nalgorithm = 'ring'\nplanner = 'harvest'\n{}\n[axes]\n{}\n"


@pytest.mark.parametrize("number", WHOLE_NUMBERS[:2])
def test_whole_numbers_of_thousands_of_digits_in_a_sweep(tmp_path: Path, number: str) -> None:
    keys = ("gpus", "size", "startup", "dims", "seed", "chunk-size", "planner", "window", "x")
    written = [
        *(SWEEP.format(f"{key} = {number}", "ports = [1]") for key in keys),
        *(SWEEP.format("", f"{key} = {value}") for key in keys for value in (number, f"[{number}]")),
        *(SWEEP.format("", f"{key} = {{ from = 1, to = {number}, step = 1 }}") for key in ("gpus", "size", "startup")),
        *(
            SWEEP.format("", f"size = {{ from = 1, to = 9, {key} = {number} }}")
            for key in ("count", "factor", "step", "x")
        ),
        *(
            f"{key} = {number}\n" + SWEEP.format("gpus = 8", "size = [1]")
            for key in ("name", "summary", "engine", "metrics", "baseline", "plots", "x")
        ),
    ]
    for text in written:
        (tmp_path / "s.toml").write_text(text)
        with pytest.raises(InputError) as raised:
            ll.sweep(tmp_path / "s.toml")
        assert len(str(raised.value)) < 700


ENDS = st.floats(allow_nan=True, allow_infinity=True) | st.integers() | st.sampled_from([0, 5e-324, 1e-300, 1.7e308])


@settings(deadline=None, max_examples=cases(300))
@given(
    key=st.sampled_from(["startup", "bandwidth", "size", "gpus"]),
    low=ENDS,
    high=ENDS,
    spacing=st.none() | st.tuples(st.sampled_from(["count", "factor", "step"]), ENDS),
)
@example(key="startup", low=1e-300, high=1e299, spacing=("factor", 1e300))
@example(key="startup", low=5e-324, high=1e299, spacing=("count", 5))
@example(key="startup", low=0, high=1e299, spacing=("step", 5e-324))
def test_any_range_of_a_sweep(key: str, low: float, high: float, spacing: tuple[str, float] | None) -> None:
    from lightloom.inputs.ranges import MAX_VALUES
    from lightloom.sweeps.axes import axis_of
    from lightloom.sweeps.keys import PLAN_KEYS

    given_range = {"from": low, "to": high, **(dict([spacing]) if spacing else {})}
    try:
        axis = axis_of(key, given_range, PLAN_KEYS)
    except InputError as error:
        assert str(error).startswith("axes.")
    else:
        assert 1 <= len(axis.values) <= MAX_VALUES
        assert all(float(low) * 0.999 - 1 <= float(value) < float("inf") for value in axis.values)


def test_readers_of_good_files_give_what_they_did(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_bytes(b"\xef\xbb\xbf# bytes\r\n0; 1;2\r\n\r\n1;0 ;1\r\n1;1;0")
    assert read_matrix(tmp_path / "m.csv").tolist() == [[0, 1, 2], [1, 0, 1], [1, 1, 0]]
    (tmp_path / "t.csv").write_text("# x\n\nsize\ttime_us\n1KiB\t5\n4KiB\t8\n")
    assert read_measurements(tmp_path / "t.csv").size_bytes.tolist() == [1024, 4096]
    (tmp_path / "t.edgelist").write_text("0 1\r\n1,2,3 # three\n2 0\n")
    assert read_topology("topology", tmp_path / "t.edgelist", None).links.tolist() == [[0, 1, 1], [1, 2, 3], [2, 0, 1]]


def test_a_good_file_of_many_digits_is_read(tmp_path: Path) -> None:
    gpus = 300
    matrix = np.arange(gpus * gpus, dtype=np.float64).reshape(gpus, gpus) * 1.000000001
    with (tmp_path / "m.csv").open("w") as stream:
        stream.writelines(",".join(map(repr, row)) + "\n" for row in matrix.tolist())
    assert np.array_equal(read_matrix(tmp_path / "m.csv"), matrix)
