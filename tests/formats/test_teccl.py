"""TE-CCL's schedules: read, verified, planned for, and refused where they are wrong."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats.schedules import read_schedule
from tests.conftest import RunCli
from tests.data import FOLDER, needs
from tests.draws import cases

TECCL = FOLDER / "teccl"
MESH, NDV2 = TECCL / "mesh_4.json", TECCL / "ndv2_schedule.json"
needs_samples = needs("teccl/mesh_4.json", "teccl/ndv2_schedule.json")
LINE = re.compile(r"Chunk (\d+) from (\d+) traveled over (\d+)->(\d+) in epoch (\d+)")


def ring(gpus: int, parts: int = 1) -> dict[str, Any]:
    """An AllGather on a ring, as TE-CCL writes schedules: chunk after chunk to the next GPU, an epoch each."""
    demands = {
        f"GPU {s}": {f"GPU {d}": {f"Chunk {c}": 1.0 for c in range(parts)} for d in range(gpus) if d != s}
        for s in range(gpus)
    }
    flows = [
        f"Chunk {part} from {(gpu - hop) % gpus} traveled over {gpu}->{(gpu + 1) % gpus} in epoch {hop}"
        for hop in range(gpus - 1)
        for gpu in range(gpus)
        for part in range(parts)
    ]
    return {"1-Epoch_Duration": 1.0, "6-Demand_Met": demands, "7-Flows": flows}


def direct(gpus: int) -> dict[str, Any]:
    """A direct All-to-All: chunk d of a GPU is its block for GPU d."""
    demands = {f"GPU {s}": {f"GPU {d}": {f"Chunk {d}": 1.0} for d in range(gpus) if d != s} for s in range(gpus)}
    flows = [
        f"Chunk {(s + k) % gpus} from {s} traveled over {s}->{(s + k) % gpus} with volume 1.0 in epoch {k}"
        for k in range(1, gpus)
        for s in range(gpus)
    ]
    return {"6-Flows": flows, "7-Demand_Met": demands}


def written(folder: Path, document: object) -> Path:
    (folder / "schedule.json").write_text(json.dumps(document))
    return folder / "schedule.json"


@pytest.mark.parametrize("parts", [1, 3])
def test_a_ring_is_a_ring(tmp_path: Path, parts: int) -> None:
    read = read_schedule(written(tmp_path, ring(5, parts)))
    assert read.format is not None
    assert (read.format.name, read.schedule.collective, read.schedule.gpus) == ("teccl", "all-gather", 5)
    assert all(check.passed for check in ll.verify(read.schedule))
    ours = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=5), algorithm="ring", planner="static", topology="ring")
    theirs = ll.plan(schedule=read.schedule, size="1MiB", planner="static", topology="ring")
    assert theirs.total_s == pytest.approx(ours.total_s, rel=1e-12)


def test_an_all_to_all_has_blocks(tmp_path: Path) -> None:
    schedule = read_schedule(written(tmp_path, direct(5))).schedule
    assert (schedule.collective, len(schedule.shares)) == ("all-to-all", 4)
    assert all(check.passed for check in ll.verify(schedule))
    assert [one[:2] for one in schedule.transfers(0)] == [(gpu, (gpu + 1) % 5) for gpu in range(5)]
    assert schedule.shares.tolist() == pytest.approx([1 / 5] * 4)


@needs_samples
@pytest.mark.parametrize(("file", "gpus", "steps"), [(MESH, 16, 8), (NDV2, 15, 35)])
def test_samples_are_read_verified_and_planned_for(file: Path, gpus: int, steps: int, cli: RunCli) -> None:
    """Epochs are counted in the file itself; GPUs are those with demands: NDv2's node 0 is a switch."""
    document = json.loads(file.read_text())
    schedule = read_schedule(file).schedule
    assert (schedule.collective, schedule.gpus, len(schedule.shares)) == ("all-gather", gpus, steps)
    assert len({one.rpartition("epoch ")[2].split()[0] for one in document["7-Flows"]}) == steps
    assert sum(len(schedule.transfers(step)) for step in range(steps)) == len(document["7-Flows"])
    ran = cli("verify", file)
    assert (ran.status, ran.err) == (0, "")
    for planner in ("harvest", "static"):
        ran = cli(
            "plan", "--schedule", file, "--size", "1MiB", "--planner", planner, "--no-baselines", "--format", "json"
        )
        assert ran.status == 0, ran.err
        assert all(check.passed for check in ll.verify(ll.Plan.from_json(ran.out)))


@needs_samples
def test_a_published_schedule_uses_links_that_a_mesh_lacks(cli: RunCli) -> None:
    """The mesh of 4 x 4: rows end at GPUs 3, 7 and 11, and the file goes on from there to the next row's first GPU."""
    flows = [tuple(map(int, LINE.match(one).groups())) for one in json.loads(MESH.read_text())["7-Flows"]]  # type: ignore[union-attr]
    beyond = sorted((epoch, s, d) for _, _, s, d, epoch in flows if abs(s - d) == 1 and min(s, d) % 4 == 3)
    epoch, source, destination = beyond[0]
    said = f"schedule: step {epoch} sends chunk 3 from GPU {source} to {destination}; topology `grid` has no such link"
    ran = cli("verify", MESH, "--topology", "grid", "--dims", "4x4", "--ports", 4)
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {said} (in `{MESH}`)\n")
    grid = ("--topology", "grid", "--dims", "4x4", "--ports", 4)
    ran = cli("plan", "--schedule", MESH, "--size", "1MiB", "--planner", "static", *grid)
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {said}\n")


def test_a_schedule_on_its_own_topology_passes(cli: RunCli, tmp_path: Path) -> None:
    file = written(tmp_path, ring(6))
    assert cli("verify", file, "--topology", "ring").status == 0
    ran = cli("verify", file, "--topology", "shifted-ring:5")
    assert ran.status == 2
    assert "sends chunk" in ran.err
    ran = cli("verify", file, "--topology", "rign")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith("error: topology: ")


def changed(change: str) -> object:
    document = ring(3)
    demands = document["6-Demand_Met"]
    if change in FIRST_FLOWS:
        document["7-Flows"][0] = FIRST_FLOWS[change]
    match change:
        case "no demand":
            del document["6-Demand_Met"]
        case "demands of a list":
            document["6-Demand_Met"] = [1]
        case "a pair without demand":
            del demands["GPU 0"]["GPU 1"]
        case "unequal demands":
            demands["GPU 0"]["GPU 1"]["Chunk 1"] = 1.0
        case "other chunks":
            for by_destination in demands.values():
                for by_chunk in by_destination.values():
                    by_chunk["Chunk 7"] = by_chunk.pop("Chunk 0")
        case "own demand":
            demands["GPU 0"]["GPU 0"] = {"Chunk 0": 1.0}
        case "no flow":
            document["7-Flows"] = []
        case "two lists":
            document["8-Flows"] = document["7-Flows"]
    return document


FIRST_FLOWS: dict[str, object] = {
    "half a chunk": "Chunk 0 from 0 traveled over 0->1 with volume 0.5 in epoch 0",
    "no such chunk": "Chunk 9 from 0 traveled over 0->1 in epoch 0",
    "a switch": "Chunk 0 from 0 traveled over 0->9 in epoch 0",
    "to itself": "Chunk 0 from 0 traveled over 0->0 in epoch 0",
    "a number": 7,
}
CHANGES = {
    "no demand": "schedule.Demand_Met: it is missing",
    "demands of a list": "schedule.Demand_Met: it is not an object with entries",
    "a pair without demand": "schedule.Demand_Met: only 5 pairs of 3 GPUs have demands; an AllGather or "
    "All-to-All has all",
    "unequal demands": "schedule.Demand_Met: pairs of GPUs have unequal numbers of chunks; it takes equal numbers",
    "other chunks": "schedule.Demand_Met: its chunks are neither those of an AllGather nor of an All-to-All",
    "own demand": "schedule.Demand_Met[GPU 0][GPU 0]: a GPU wants its own chunk",
    "half a chunk": "schedule.Flows[0]: it carries 0.5 of a chunk; it takes whole chunks",
    "no such chunk": "schedule.Flows[0]: there is no chunk 9; a GPU has chunks 0 to 0",
    "a switch": "schedule.Flows[0]: it names node 9, which has no demand in Demand_Met",
    "to itself": "schedule.Flows[0]: it goes from GPU 0 to itself",
    "no flow": "schedule.Flows: it is not a list of 1 to 1000000 flows",
    "a number": "schedule.Flows[0]: `7` is not `Chunk C from G traveled over A->B in epoch E`",
    "two lists": "schedule.Flows: it is given 2 times",
}


@pytest.mark.parametrize(("change", "said"), CHANGES.items(), ids=CHANGES)
def test_what_is_wrong_is_said_in_one_line(change: str, said: str, cli: RunCli, tmp_path: Path) -> None:
    file = written(tmp_path, changed(change))
    ran = cli("verify", file)
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {said} (in `{file}`)\n")


def test_a_flow_that_comes_too_early_fails_its_check(cli: RunCli, tmp_path: Path) -> None:
    document = ring(4)
    document["7-Flows"] = [one.replace("epoch 2", "epoch 0") for one in document["7-Flows"]]
    ran = cli("verify", written(tmp_path, document))
    assert (ran.status, ran.err) == (1, "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.data())
@settings(max_examples=cases(150), deadline=None)
def test_any_change_gives_a_schedule_or_one_line(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A value somewhere in the file is replaced by any other, or the text is cut."""
    document = ring(3, 2)
    places: list[tuple[Any, Any]] = [(document, key) for key in document]
    places += [(document["7-Flows"], index) for index in range(4)]
    places += [(document["6-Demand_Met"], "GPU 0"), (document["6-Demand_Met"]["GPU 0"], "GPU 1")]
    holder, key = data.draw(st.sampled_from(places))
    digits = st.text("0123456789 ->", max_size=40).map(lambda text: f"Chunk 0 from {text} in epoch {text}")
    holder[key] = data.draw(JSON | digits)
    text = json.dumps(document)
    file = tmp_path_factory.mktemp("teccl") / "schedule.json"
    file.write_text(text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text)
    try:
        read = read_schedule(file)
    except InputError as error:
        assert str(error).startswith("schedule")
        assert "\n" not in str(error)
    else:
        assert read.schedule.gpus >= 2
