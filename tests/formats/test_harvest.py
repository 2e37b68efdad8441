"""HARVEST's two files, read as their description says and held to the plan's own JSON."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.formats.harvest.read import collective_of
from lightloom.formats.schedules import read_schedule
from tests.conftest import RunCli
from tests.draws import cases
from tests.formats.plans import document_of, random_plans
from tests.reference.plan_document import chunks_of, transfers_of

PLANS = 25


def check(plan: ll.Plan, folder: Path) -> None:
    """The folder of a plan states the same as the plan's JSON."""
    collective = json.loads((folder / "collective.json").read_text())
    schedule = json.loads((folder / "schedule.json").read_text())
    document = document_of(plan)
    assert collective.keys() == {"schema", "collective", "n", "dims", "ports", "units", "steps"}
    assert (collective["schema"], collective["units"]) == ("collective_pattern/v1", "bytes")
    assert collective["ports"] == document["fabric"]["ports"]
    assert schedule.keys() == {
        *("alpha_r", "collective", "cost", "num_of_reconfigs", "reconf_cost_total", "steps"),
    }
    assert (collective["n"], collective["collective"]) == (document["gpus"], document["collective"])
    assert schedule["collective"] == document["collective"]
    assert schedule["cost"] == pytest.approx(document["total_s"] * 1e9, rel=1e-12)
    assert schedule["num_of_reconfigs"] == sum(step["reconfigured"] for step in document["steps"])
    charged = sum(step["reconfiguration_s"] for step in document["steps"]) * 1e9
    assert schedule["reconf_cost_total"] == pytest.approx(charged, rel=1e-12)
    chunks = chunks_of(document)
    for number, (step, demands, topology) in enumerate(
        zip(document["steps"], collective["steps"], schedule["steps"], strict=True), start=1
    ):
        expected: Counter[tuple[int, int]] = Counter()
        for one in transfers_of(step, chunks, document["gpus"]):
            expected[one.src, one.dst] += chunks.share(one.chunks) * plan.size_bytes  # type: ignore[assignment]
        found = {(source, destination): size for source, destination, size in demands["demand"]}
        assert len(found) == len(demands["demand"])
        assert found == pytest.approx({pair: float(size) for pair, size in expected.items()}, rel=1e-12)
        ends = Counter((side, pair[side]) for pair in found for side in (0, 1))
        circuits = max(1, document["fabric"]["ports"] // max(ends.values()))
        assert demands["chunksize"] * circuits == pytest.approx(max(found.values()), rel=1e-12)
        assert topology["step"] == demands["id"] == number
        links = document["topologies"][step["topology"]]["links"]
        assert sorted(map(tuple, topology["topology"])) == sorted(map(tuple, links))


@pytest.mark.slow
def test_random_plans_are_written_as_they_are(tmp_path: Path) -> None:
    for index, plan in enumerate(random_plans(PLANS)):
        ll.export(plan, "harvest", tmp_path / str(index))
        check(plan, tmp_path / str(index))


def test_harvests_published_plan(tmp_path: Path) -> None:
    """AllReduce of 1 MiB on 64 GPUs by recursive doubling at 1 us: HARVEST reports 41 972 ns and 8 changes."""
    fabric = ll.Fabric(gpus=64, reconfiguration_delay="1us")
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    ll.export(plan, "harvest", tmp_path / "out")
    check(plan, tmp_path / "out")
    schedule = json.loads((tmp_path / "out" / "schedule.json").read_text())
    assert schedule["cost"] == pytest.approx(41_972, abs=1)
    assert (schedule["alpha_r"], schedule["num_of_reconfigs"]) == (1000, 8)


def test_a_delay_that_is_no_number_is_noted(tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=4, reconfiguration_delay="1us+20ns/port")
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling")
    made = ll.export(plan, "harvest", tmp_path / "out")
    assert made.notes == (
        "alpha_r is only the fixed part of the reconfiguration delay, 1.000 µs + 20.00 ns per changed port",
    )


def demands_alone(folder: Path) -> Path:
    """The collective without the side file that says its chunks."""
    (folder / "circuits.json").unlink()
    return folder / "collective.json"


def sent(schedule: ll.Schedule) -> list[list[tuple[int, int, str, list[int]]]]:
    return [sorted((*one[:3], sorted(one[3])) for one in schedule.transfers(k)) for k in range(len(schedule.shares))]


@pytest.mark.slow
def test_folders_are_read_back_with_their_chunks(tmp_path: Path) -> None:
    for index, plan in enumerate(random_plans(PLANS)):
        folder = tmp_path / str(index)
        ll.export(plan, "harvest", folder)
        schedule = read_schedule(folder).schedule
        assert all(check.passed for check in ll.verify(schedule))
        assert (schedule.algorithm, schedule.collective) == (plan.algorithm, plan.collective)
        planned = [sorted((*one[:3], one.chunks.tolist()) for one in plan.transfers(k)) for k in range(len(plan.steps))]
        assert sent(schedule) == planned


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [("all-reduce", "swing"), ("reduce-scatter", "bruck"), ("all-to-all", "bruck"), ("broadcast", "binomial-tree")],
)
def test_demands_alone_are_those_of_an_algorithm(collective: str, algorithm: str, tmp_path: Path) -> None:
    plan = ll.plan(collective, "1MiB", fabric=ll.Fabric(gpus=8), algorithm=algorithm, planner="static")
    ll.export(plan, "harvest", tmp_path / "out")
    schedule = read_schedule(demands_alone(tmp_path / "out")).schedule
    assert all(check.passed for check in ll.verify(schedule))
    again = ll.plan(schedule=schedule, size="1MiB", planner="static")
    assert again.total_s == pytest.approx(plan.total_s, rel=1e-12)


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize("algorithm", ["recursive-doubling", "swing"])
def test_a_step_on_its_own_circuits_is_one_chunk_a_circuit(algorithm: str, ports: int, tmp_path: Path) -> None:
    """HARVEST's program gives each demand as many circuits as it has chunks, and finds 1/θ = 1 on them."""
    fabric = ll.Fabric(gpus=8, ports=ports, reconfiguration_delay="1ns")
    plan = ll.plan("all-reduce", "1KiB", fabric=fabric, algorithm=algorithm, planner="bvn")
    ll.export(plan, "harvest", tmp_path / "out")
    for step, planned in zip(
        json.loads((tmp_path / "out" / "collective.json").read_text())["steps"], plan.steps, strict=True
    ):
        circuits = {(source, end): count for source, end, count in planned.topology.links.tolist()}
        assert {(source, end): size // step["chunksize"] for source, end, size in step["demand"]} == circuits


def test_unequal_demands_are_noted(tmp_path: Path) -> None:
    matrix = [[0, 100, 70], [100, 0, 100], [100, 100, 0]]
    plan = ll.plan(matrix=matrix, fabric=ll.Fabric(gpus=3, ports=2), planner="static")
    (note,) = ll.export(plan, "harvest", tmp_path / "out").notes
    assert note.startswith("some demands are not multiples of their step's chunksize")


def of_the_generator(swing: bool, gpus: int = 8, size: int = 1 << 20, ports: int = 2) -> list[dict[str, Any]]:
    """AllReduce steps in the form of HARVEST's generator: ports that send to one GPU are one demand of two chunks."""
    steps: list[dict[str, Any]] = []
    for number in (0, 1, 2, 2, 1, 0):
        part = size // ports >> number + 1
        sent: Counter[tuple[int, int]] = Counter()
        for gpu in range(gpus):
            for port in range(ports):
                along = (1 - (-2) ** (number + 1)) // 3 * (1 - 2 * (gpu % 2)) if swing else 1 << number
                sent[gpu, (gpu + along * (1 - 2 * port)) % gpus] += part
        demand = [[*pair, bytes_] for pair, bytes_ in sent.items()]
        steps.append({"id": len(steps) + 1, "chunksize": part, "demand": demand})
    return steps


@pytest.mark.parametrize(
    ("name", "ports", "algorithm"),
    [("all-reduce-swing-nd", 2, "swing-mirrored"), ("all-reduce-rd-nd", 1, "recursive-doubling")],
)
def test_files_of_harvests_generator_are_read(name: str, ports: int, algorithm: str, cli: RunCli, in_tmp: Path) -> None:
    steps = of_the_generator("swing" in name, ports=ports)
    whole = {"schema": "collective_pattern/v1", "collective": name, "n": 8, "dims": [8], "ports": ports}
    document = {**whole, "units": "bytes", "steps": steps}
    path = in_tmp / f"collective-{name}-8-{ports}-1MB.json"
    path.write_text(json.dumps(document, indent=2))
    schedule = read_schedule(path).schedule
    assert (schedule.collective, schedule.algorithm) == ("all-reduce", algorithm)
    assert all(check.passed for check in ll.verify(schedule))
    # Out again in the same form, and in again.
    fabric = ll.Fabric(gpus=8, ports=ports)
    plan = ll.plan(schedule=schedule, size="1MiB", fabric=fabric, planner="static", topology="ring")
    ll.export(plan, "harvest", "out")
    ours = json.loads((in_tmp / "out" / "collective.json").read_text())
    assert [step.keys() for step in ours["steps"]] == [step.keys() for step in steps]
    for step, theirs in zip(ours["steps"], steps, strict=True):
        assert (sorted(step["demand"]), step["chunksize"]) == (sorted(theirs["demand"]), theirs["chunksize"])
    assert read_schedule(demands_alone(in_tmp / "out")).schedule.transfers(0) == schedule.transfers(0)
    # Keys that the generator leaves out.
    for key in ("dims", "ports", "units", "collective"):
        del document[key]
    path.write_text(json.dumps(document))
    assert read_schedule(path).schedule.algorithm == algorithm
    path.write_text(json.dumps(document | {"units": "bits"}))
    assert cli("verify", path).err.startswith("error: schedule.units: `bits` is not accepted; it takes `bytes`")


@pytest.mark.parametrize(
    ("name", "collective"),
    [
        ("all-to-all-nd", "all-to-all"),
        ("all-to-all", "all-to-all"),
        ("reduce-scatter-rd", "reduce-scatter"),
        ("all-gather-swing-nd", "all-gather"),
        ("bruckalltoall-r2-p1", "all-to-all"),
        ("bruckallgather-r4-p4", "all-gather"),
        ("binomial-broadcast", "broadcast"),
        ("all_reduce", "all-reduce"),
    ],
)
def test_names_of_the_generator_are_known(name: str, collective: str) -> None:
    assert collective_of("schedule", name) == collective


def test_a_matrix_is_an_all_to_all(tmp_path: Path) -> None:
    demand = [[s, d, 1000 * (1 + s + 2 * d)] for s in range(4) for d in range(4) if s != d]
    document = {"n": 4, "dims": [4], "collective": "all_to_all", "steps": [{"demand": demand, "chunksize": 9000}]}
    (tmp_path / "c.json").write_text(json.dumps(document))
    schedule = read_schedule(tmp_path / "c.json").schedule
    assert all(check.passed for check in ll.verify(schedule))
    plan = ll.plan(schedule=schedule, size="18kB", planner="static", topology="ring")
    sums = [sum(size for *pair, size in demand if pair[side] == gpu) for gpu in range(4) for side in range(2)]
    largest = max(size for _, _, size in demand) / max(sums)
    assert schedule.shares.tolist() == pytest.approx([largest])
    assert plan.gpus == 4


WRONG: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no n": (lambda d: d.pop("n"), "schedule.n: `None` is not a whole number from 2 to 4096"),
    "dims": (lambda d: d.update(dims=[3]), "schedule.dims: `[3]` is not a list of sizes whose product is 4"),
    "collective": (
        lambda d: d.update(collective="permute"),
        "schedule.collective: `permute` is not a collective; it takes all-reduce, ",
    ),
    "steps": (lambda d: d.update(steps=[]), "schedule.steps: it is not a list of 1 to 100000 steps"),
    "demand": (lambda d: d["steps"][1].pop("demand"), "schedule.steps[1].demand: it is not a list of demands"),
    "entry": (
        lambda d: d["steps"][0]["demand"].append([1]),
        "schedule.steps[0].demand[4]: `[1]` is not [source, destination, bytes]",
    ),
    "gpu": (
        lambda d: d["steps"][0]["demand"].append([0, 4, 1]),
        "schedule.steps[0].demand[4]: `4` is not a GPU; GPUs are 0 to 3",
    ),
    "itself": (
        lambda d: d["steps"][0]["demand"].append([1, 1, 1]),
        "schedule.steps[0].demand[4]: GPU 1 sends to itself",
    ),
    "bytes": (
        lambda d: d["steps"][0]["demand"].append([0, 1, 0]),
        "schedule.steps[0].demand[4]: `0` is not a number of bytes above 0",
    ),
    "other demands": (
        lambda d: d["steps"][0]["demand"].append([0, 2, 5]),
        "schedule.steps: their demands are those of no algorithm for all-gather (`lightloom list algorithms`), and no "
        "`circuits.json` next to the file says which chunks are sent",
    ),
}


@pytest.mark.parametrize("change", WRONG)
def test_what_is_wrong_is_said_in_one_line(change: str, cli: RunCli, in_tmp: Path) -> None:
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=4), algorithm="ring", planner="static")
    ll.export(plan, "harvest", "out")
    file = demands_alone(in_tmp / "out")
    document = json.loads(file.read_text())
    edit, said = WRONG[change]
    edit(document)
    file.write_text(json.dumps(document))
    ran = cli("verify", file)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {said}")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("collective", ["broadcast", "all-gather", "all-reduce", "reduce-scatter"])
def test_demands_that_leave_a_gpu_out_are_refused_before_any_algorithm_is_built(
    collective: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A broadcast to one of 1 000 GPUs was compared for 13 s with algorithms that no demands of one step could have."""
    monkeypatch.setattr("lightloom._core.Schedule", type("NoneIsBuilt", (), {}))
    document = {"n": 1000, "collective": collective, "steps": [{"demand": [[0, 1, 1000]]}]}
    (tmp_path / "c.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=f"^schedule.steps: GPU [02] receives nothing in any step; in {collective} "):
        read_schedule(tmp_path / "c.json")


def test_only_algorithms_of_as_many_steps_are_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built: list[str] = []
    build = _core.Schedule.build

    class Counted:
        @staticmethod
        def build(name: str, *arguments: Any) -> object:
            built.append(name)
            return build(name, *arguments)

    monkeypatch.setattr("lightloom._core.Schedule", Counted)
    demand = [[0, gpu, 1000 + gpu] for gpu in range(1, 1000)]
    (tmp_path / "c.json").write_text(json.dumps({"n": 1000, "collective": "broadcast", "steps": [{"demand": demand}]}))
    with pytest.raises(InputError, match="their demands are those of no algorithm for broadcast"):
        read_schedule(tmp_path / "c.json")
    # One for each number of ports; a radix makes no other of it.
    assert built == ["one-step"] * 6


def test_a_side_file_that_says_something_else_is_refused(cli: RunCli, in_tmp: Path) -> None:
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=4), algorithm="ring", planner="static")
    ll.export(plan, "harvest", "out")
    side = in_tmp / "out" / "circuits.json"
    document = json.loads(side.read_text())
    document["steps"][0]["transfers"][0][1] = 2
    side.write_text(json.dumps(document))
    ran = cli("verify", "out")
    assert ran.status == 2
    assert "error: schedule.steps: their demands differ from the transfers in `out/circuits.json`" in ran.err
    del document["chunks"]
    side.write_text(json.dumps(document))
    assert "`out/circuits.json` does not say which chunks are sent" in cli("verify", "out").err
    side.write_text("{")
    assert cli("verify", "out").err.startswith("error: schedule: it is not JSON: ")
    side.write_text("{}")
    assert cli("verify", "out").status == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 9) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.data())
@settings(max_examples=cases(150), deadline=None)
def test_any_change_gives_a_schedule_or_one_line(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A value somewhere in one of the files is replaced by any other, or the text is cut."""
    folder = tmp_path_factory.mktemp("harvest") / "out"
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=4), algorithm="ring", planner="static")
    ll.export(plan, "harvest", folder)
    file = folder / data.draw(st.sampled_from(["collective.json", "circuits.json"]))
    document = json.loads(file.read_text())
    holder, key = document, data.draw(st.sampled_from(sorted(document)))
    while isinstance(holder[key], (list, dict)) and holder[key] and data.draw(st.booleans()):
        holder = holder[key]
        key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    holder[key] = data.draw(JSON)
    text = json.dumps(document)
    file.write_text(text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text)
    try:
        schedule = read_schedule(folder).schedule
    except InputError as error:
        assert str(error).startswith("schedule")
        assert "\n" not in str(error)
    else:
        assert schedule.gpus >= 2
