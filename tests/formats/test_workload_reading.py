"""Workloads of any format: which reader a file gets, and damage to it, which gives at most one `InputError`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.formats import FORMATS
from lightloom.formats.chakra.files import written
from lightloom.inputs.workloads.files import OWN, read_workload, workload_readers
from tests.conftest import ROOT
from tests.draws import cases
from tests.formats import profiles
from tests.formats.test_workload_nccl_logs import call as nccl_call
from tests.formats.test_workload_nccl_logs import exchange, job
from tests.formats.test_workload_profiles import batch
from tests.formats.test_workload_texts import DEVICES, KIND, LAYERS, TASKS, graph_of
from tests.formats.test_workload_traces import archive_of, call, compute
from tests.reference.workloads import check

SMALL: dict[str, Any] = {
    "schema": "lightloom.workload/1",
    "ranks": 2,
    "mesh": {"dp": 2},
    "groups": {},
    "nodes": [{"id": "a", "kind": "compute", "duration_s": 1.0, "after": []}],
}
RANKS = [[compute(0), call(1, 2, (0,), pg_name="a"), compute(2, (1, 0), tid=1)] for _ in range(2)]
TRACE = {f"t.{rank}.et": written({}, nodes) for rank, nodes in enumerate(RANKS)} | {"t.json": b'{"a": [0, 1]}'}
TEXT = f"{KIND} model_parallel_NPU_group: 2 ep: 2 pp: 1 all_gpus: 8\n{len(LAYERS)}\n" + "\n".join(LAYERS)


def test_every_reader_is_registered() -> None:
    folder = ROOT / "python" / "lightloom" / "inputs" / "workloads"
    own = {file.stem for file in folder.glob("*.py") if "def recognises(" in file.read_text()}
    assert {one.reader.rpartition(".")[2] for one in OWN} == own
    assert len(workload_readers()) == len(OWN) + sum(one.workload for one in FORMATS)


def test_json_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL))
    assert read_workload(path) == SMALL
    with pytest.raises(InputError, match=r"^ranks: it is not used for a workload of format json; it takes no options$"):
        read_workload(path, ranks=2)
    path.write_text(json.dumps(SMALL)[:-1])
    with pytest.raises(InputError, match=r"^workload: it is not JSON: "):
        read_workload(path)
    path.write_text(json.dumps(SMALL)[:-1] + ', "ranks": 3}')
    with pytest.raises(InputError, match=r"^workload: key `ranks` is given twice$"):
        read_workload(path)


def test_descriptions_of_models_are_read(tmp_path: Path) -> None:
    preset = ROOT / "python" / "lightloom" / "inputs" / "workloads" / "presets" / "llama-3-70b.toml"
    (tmp_path / "model.toml").write_bytes(preset.read_bytes())
    assert read_workload(tmp_path / "model.toml", ranks=256)["ranks"] == 256
    with pytest.raises(InputError, match=r"^time_unit: it is not used for a workload of format model; it takes ranks$"):
        read_workload(tmp_path / "model.toml", time_unit="ms")


@pytest.mark.parametrize("content", ["", "{}", "[]", "ring", '{"schema": "lightloom.plan/1"}'])
def test_what_is_of_no_format_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "any").write_text(content)
    formats = [*(one.name for one in FORMATS if one.workload), "json", "model"]
    with pytest.raises(InputError, match=rf"is not in a format that can be read: {', '.join(formats)}$"):
        read_workload(tmp_path / "any")


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    for name in ("none", "none.json", "none.toml", "none.fbuf", "none.0.et", "none.tar.gz"):
        with pytest.raises(InputError, match=r": no such file: `[^`]*`$"):
            read_workload(tmp_path / name)
    with pytest.raises(InputError, match=r"is not in a format"):
        read_workload(tmp_path)


def test_flatbuffers_are_named_where_they_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = graph_of(tmp_path / "small.fbuf", TASKS, DEVICES)
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    with pytest.raises(InputError, match=r"`flatbuffers`: pip install 'lightloom\[topoopt\]'$"):
        read_workload(path, time_unit="ms")


def damaged(data: st.DataObject, content: bytes) -> bytes:
    """The content with some bytes replaced, cut out or put in."""
    changes = st.tuples(
        st.integers(0, len(content)), st.integers(0, 9), st.binary(max_size=9) | st.just(b"\xff\xff\xff\xff")
    )
    for place, gone, come in data.draw(st.lists(changes, min_size=1, max_size=3)):
        content = content[:place] + come + content[place + gone :]
    return content


def read_or_refused(path: Path, **options: Any) -> None:
    """A workload that keeps the contract, or an error of one line."""
    try:
        workload = read_workload(path, **options)
    except InputError as error:
        assert error.field
        assert "\n" not in str(error)
        assert len(str(error)) < 700
    else:
        assert workload["schema"] == "lightloom.workload/1"
        if max((node.get("size_bytes", 0) for node in workload["nodes"]), default=0) <= 1 << 53:
            check(workload)


FUZZED = settings(deadline=None, max_examples=cases(150), suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZED
@given(data=st.data(), name=st.sampled_from(sorted(TRACE)))
def test_any_damage_to_a_trace(tmp_path: Path, data: st.DataObject, name: str) -> None:
    for file, content in (TRACE | {name: damaged(data, TRACE[name])}).items():
        (tmp_path / file).write_bytes(content)
    read_or_refused(tmp_path, comm_size="input", element_bytes=4)


@FUZZED
@given(data=st.data(), is_packed=st.booleans())
def test_any_damage_to_an_archive(tmp_path: Path, data: st.DataObject, is_packed: bool) -> None:
    import gzip

    packed = archive_of(TRACE)
    content = damaged(data, packed) if is_packed else gzip.compress(damaged(data, gzip.decompress(packed)), 1)
    (tmp_path / "t.tar.gz").write_bytes(content)
    read_or_refused(tmp_path / "t.tar.gz", comm_size="input", element_bytes=4)


@FUZZED
@given(data=st.data())
def test_any_damage_to_a_text(tmp_path: Path, data: st.DataObject) -> None:
    (tmp_path / "layers.txt").write_bytes(damaged(data, TEXT.encode()))
    read_or_refused(tmp_path / "layers.txt")


@FUZZED
@given(data=st.data())
def test_any_damage_to_a_task_graph(tmp_path: Path, data: st.DataObject) -> None:
    path = graph_of(tmp_path / "small.fbuf", TASKS, DEVICES)
    path.write_bytes(damaged(data, path.read_bytes()))
    read_or_refused(path, time_unit="ms")


@FUZZED
@given(data=st.data(), rank=st.integers(0, 1), is_packed=st.booleans())
def test_any_damage_to_a_profile(tmp_path: Path, data: st.DataObject, rank: int, is_packed: bool) -> None:
    import gzip

    profiles.folder_of(tmp_path, batch(0), batch(1), packed=True)
    path = tmp_path / f"worker{rank}.pt.trace.json.gz"
    packed = path.read_bytes()
    path.write_bytes(damaged(data, packed) if is_packed else gzip.compress(damaged(data, gzip.decompress(packed)), 1))
    read_or_refused(tmp_path)
    read_or_refused(path, ranks=2)


@FUZZED
@given(data=st.data(), is_number=st.booleans())
def test_any_damage_to_a_log(tmp_path: Path, data: st.DataObject, is_number: bool) -> None:
    calls = [nccl_call(rank, "AllReduce", 1, 10, "0x5", 2) for rank in range(2)]
    text = "\n".join(job(*calls, *exchange(0, 2, {0: 4, 1: 5}), *exchange(1, 2, {0: 5, 1: 4})))
    if is_number:
        # One number of a line replaced by another.
        numbers = list(re.finditer(r"\d+", text))
        found = data.draw(st.sampled_from(numbers))
        text = f"{text[: found.start()]}{data.draw(st.integers(0, 3) | st.integers(0, 1 << 60))}{text[found.end() :]}"
    (tmp_path / "job.log").write_bytes(text.encode() if is_number else damaged(data, text.encode()))
    read_or_refused(tmp_path / "job.log", compute_time="1ms")


VALUES = (
    st.none() | st.booleans() | st.integers(-9, 1 << 70) | st.floats() | st.text(max_size=9) | st.lists(st.integers())
)


@FUZZED
@given(data=st.data(), key=st.sampled_from(["ts", "dur", "cat", "name", "pid", "tid", "args", "ph"]), value=VALUES)
def test_any_value_in_an_event_of_a_profile(tmp_path: Path, data: st.DataObject, key: str, value: Any) -> None:
    events = batch(0)
    event = data.draw(st.sampled_from(events))
    if data.draw(st.booleans()):
        event["args"][data.draw(st.sampled_from(sorted(event["args"]) or ["stream"]))] = value
    else:
        event[key] = value
    read_or_refused(profiles.folder_of(tmp_path, events, batch(1)))


@FUZZED
@given(content=st.binary(max_size=300))
@pytest.mark.parametrize("name", ["t.0.et", "t.tar.gz", "t.fbuf", "t.txt", "t.json.gz", "t.log"])
def test_any_bytes(tmp_path: Path, name: str, content: bytes) -> None:
    begins = {"t.txt": f"{KIND} model_parallel_NPU_group: 1\n1\n".encode(), "t.log": b"gpu-a:1:1 [0] NCCL INFO "}
    (tmp_path / name).write_bytes(begins.get(name, b"") + content)
    options: dict[str, dict[str, Any]] = {"t.0.et": {"ranks": 2}, "t.fbuf": {"time_unit": "us"}}
    options |= {"t.log": {"compute_time": 0}}
    read_or_refused(tmp_path / name, **options.get(name, {}))
