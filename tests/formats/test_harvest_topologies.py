"""HARVEST's `schedule.json`: it is read, checked, and planned with, and its stated time is compared."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats.harvest_schedule.read import read_sequence
from tests.conftest import RunCli
from tests.draws import cases
from tests.formats.plans import random_plans
from tests.refusals import assert_refused

GPUS = 64
# HARVEST's published schedule of recursive doubling, 1 MiB and 1 µs: 41.972 µs, 8 reconfigurations. Its steps send at
# distances 1 to 32 and back, and those at 32 take two circuits of distance 16.
DISTANCES = (1, 2, 4, 8, 16, 16, 16, 16, 8, 4, 2, 1)
ASKED = ("--collective", "all-reduce", "--algorithm", "recursive-doubling", "--size", "1MiB", "--gpus", GPUS)


# And of 256 KiB at 10 µs, 48.848 µs: the ring, one of distance 8 from the fourth step to the ninth, and the ring again.
FEWER_DISTANCES = (1,) * 3 + (8,) * 6 + (1,) * 3


def published(distances: tuple[int, ...] = DISTANCES) -> dict[str, Any]:
    rings = [[[gpu, (gpu + distance) % GPUS, 1] for gpu in range(GPUS)] for distance in distances]
    return {
        "alpha_r": 1000,
        "collective": "all_reduce",
        "cost": 41972.0,
        "num_of_reconfigs": 8,
        "reconf_cost_total": 8000.0,
        "steps": [{"step": number, "topology": ring} for number, ring in enumerate(rings, 1)],
    }


@pytest.fixture
def file(in_tmp: Path) -> Path:
    path = in_tmp / "schedule.json"
    path.write_text(json.dumps(published()))
    return path


def checks_of(cli: RunCli, path: Path) -> dict[str, tuple[bool, str]]:
    (told,) = json.loads(cli("verify", path, "--format", "json").out)["files"]
    return {check["name"]: (check["passed"], check["detail"]) for check in told["checks"]}


def test_the_published_schedule_costs_what_it_states(cli: RunCli, file: Path) -> None:
    fabric = ll.Fabric(gpus=GPUS, reconfiguration_delay="1us")
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling", sequence=file)
    assert plan.planner == "stated"
    assert plan.reconfigurations == 8
    assert plan.total_s == pytest.approx(41.972e-6, rel=1e-4)
    assert all(check.passed for check in ll.verify(plan))
    for step, distance in zip(plan.steps, DISTANCES, strict=True):
        assert {(end - source) % GPUS for source, end, _ in step.topology.links.tolist()} == {distance}
    ran = cli("plan", *ASKED, "--reconfiguration-delay", "1us", "--sequence", file, "--no-baselines")
    assert ran.out.splitlines()[-1] == f"stated       41.97 µs, 8 reconfigurations of 1.000 µs ({file})"
    # Another delay on the fabric, and what that makes of the comparison.
    ran = cli("plan", *ASKED, "--sequence", file, "--no-baselines", "--output", "plan.json")
    assert ran.out.splitlines()[-1].endswith("; at that delay this plan takes 41.97 µs")
    assert ll.Plan.load("plan.json").total_s == pytest.approx(plan.total_s + 8 * 9e-6, rel=1e-9)


def test_a_published_schedule_with_two_changes_costs_what_it_states(in_tmp: Path) -> None:
    stated = {"alpha_r": 10000, "cost": 48847.6927913668, "num_of_reconfigs": 2, "reconf_cost_total": 20000.0}
    path = in_tmp / "collective-all-reduce-rd-nd-64.json"
    path.write_text(json.dumps(published(FEWER_DISTANCES) | stated))
    fabric = ll.Fabric(gpus=GPUS, reconfiguration_delay="10us")
    plan = ll.plan("all-reduce", "256KiB", fabric=fabric, algorithm="recursive-doubling", sequence=path)
    assert plan.reconfigurations == 2
    assert plan.total_s == pytest.approx(48.8476927913668e-6, rel=1e-5)
    assert all(check.passed for check in ll.verify(plan))
    best = ll.plan("all-reduce", "256KiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    assert best.total_s == pytest.approx(plan.total_s, rel=1e-12)
    # Packets of a step over several hops follow each other.
    assert 0.9 * plan.total_s < ll.simulate(plan).total_s < plan.total_s


def test_a_file_alone_is_checked_by_its_own_numbers(cli: RunCli, file: Path) -> None:
    ran = cli("verify", file)
    assert ran.status == 0
    assert "schedule.json (topologies): all 4 checks passed" in ran.out
    checks = checks_of(cli, file)
    assert checks["topologies"][1] == "12 steps on 5 topologies of at most 1 circuit out of and into a GPU"
    assert "the rest is not checked, since bandwidth, startup and hop delays are not in the file" in checks["cost"][1]
    wrong = {
        "num_of_reconfigs": (7, "reconfigurations"),
        "reconf_cost_total": (7000.0, "delays"),
        "cost": (1.0, "cost"),
    }
    for key, (value, check) in wrong.items():
        file.write_text(json.dumps(published() | {key: value}))
        assert cli("verify", file).status == 1
        assert not checks_of(cli, file)[check][0]


@pytest.mark.slow
def test_every_export_is_checked_and_planned_to_the_time_that_it_states(cli: RunCli, in_tmp: Path) -> None:
    for index, plan in enumerate(random_plans(12)):
        folder = in_tmp / str(index)
        ll.export(plan, "harvest", folder)
        ran = cli("verify", folder)
        assert ran.status == 0, ran.out
        assert "paths" in ran.out
        stated = read_sequence(folder)
        assert stated.total_s == pytest.approx(plan.total_s, rel=1e-12)
        assert stated.links == tuple(tuple(map(tuple, step.topology.links.tolist())) for step in plan.steps)


@pytest.mark.parametrize(("collective", "algorithm"), [("all-reduce", "swing"), ("all-to-all", "bruck")])
def test_a_folder_says_schedule_and_size(collective: str, algorithm: str, in_tmp: Path) -> None:
    fabric = ll.Fabric(gpus=8, ports=2, reconfiguration_delay="1us")
    plan = ll.plan(collective, "3MiB", fabric=fabric, algorithm=algorithm, planner="harvest")
    ll.export(plan, "harvest", "out")
    (in_tmp / "out" / "circuits.json").unlink()
    again = ll.plan(sequence="out", fabric=fabric)
    assert (again.size_bytes, again.collective, again.algorithm) == (plan.size_bytes, collective, algorithm)
    assert again.total_s == pytest.approx(plan.total_s, rel=1e-12)
    assert [step.topology.links.tolist() for step in again.steps] == [
        step.topology.links.tolist() for step in plan.steps
    ]


def test_what_is_beside_a_file_is_held_against_it(cli: RunCli, in_tmp: Path) -> None:
    fabric = ll.Fabric(gpus=8, reconfiguration_delay="1us+20ns/port")
    plan = ll.plan("all-gather", "1MiB", fabric=fabric, algorithm="recursive-doubling", planner="bvn")
    ll.export(plan, "harvest", "out")
    path = in_tmp / "out" / "schedule.json"
    right = json.loads(path.read_text())
    assert all(passed for passed, _ in checks_of(cli, path).values())
    path.write_text(json.dumps(right | {"cost": right["cost"] * 1.01}))
    assert not checks_of(cli, path)["cost"][0]
    shutil.copy(path, in_tmp / "schedule.json")
    # GPU 7 is cut off in the first step.
    steps = json.loads(json.dumps(right["steps"]))
    steps[0]["topology"] = [link for link in steps[0]["topology"] if 7 not in link[:2]]
    path.write_text(json.dumps(right | {"steps": steps}))
    passed, said = checks_of(cli, path)["paths"]
    assert not passed
    assert said.startswith("step 1 sends from GPU ")
    path.write_text(json.dumps(right | {"steps": right["steps"][:-1]}))
    assert checks_of(cli, path)["paths"] == (False, "collective.json has 3 steps, but topologies are given for 2")
    path.write_text(json.dumps(right | {"collective": "all-reduce"}))
    assert checks_of(cli, path)["paths"] == (
        False,
        "collective.json is for all-gather, but the topologies are for all-reduce",
    )


WRONG: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no steps": (lambda d: d.update(steps=[]), "sequence.steps: it is not a list of 1 to 100000 steps"),
    "number": (
        lambda d: d["steps"][1].update(step=1),
        "sequence.steps[1].step: `1` is not accepted; it takes 2, since steps are counted from 1",
    ),
    "topology": (lambda d: d["steps"][0].update(topology=[]), "sequence.steps[0].topology: it is not a list of 1 or"),
    "pair": (lambda d: d["steps"][0]["topology"].append([1, 2]), "sequence.steps[0].topology[64]: `[1, 2]` is not [so"),
    "itself": (lambda d: d["steps"][0]["topology"].append([1, 1, 1]), "sequence.steps[0].topology[64]: GPU 1 has a ci"),
    "twice": (lambda d: d["steps"][0]["topology"].append([0, 1, 1]), "sequence.steps[0].topology[64]: circuits from 0"),
    "gpu": (
        lambda d: d["steps"][0]["topology"].append([0, 4096, 1]),
        "sequence.steps[0].topology[64]: `4096` is not a",
    ),
    "none": (lambda d: d["steps"][0]["topology"].append([0, 2, 0]), "sequence.steps[0].topology[64]: `0` is not a num"),
    "count": (lambda d: d.update(num_of_reconfigs=13), "sequence.num_of_reconfigs: `13` is not a whole number from 0"),
    "time": (lambda d: d.update(cost=-1), "sequence.cost: `-1` is not a time from 0 to 1e+18 nanoseconds"),
    "no delay": (lambda d: d.pop("alpha_r"), "sequence.alpha_r: `None` is not a time from 0 to 1e+18 nanoseconds"),
    "collective": (
        lambda d: d.update(collective="gossip"),
        "sequence.collective: `gossip` is not a collective; it takes all-reduce, ",
    ),
}


@pytest.mark.parametrize("change", WRONG)
def test_what_is_wrong_is_said_in_one_line(change: str, cli: RunCli, file: Path) -> None:
    document = published()
    edit, said = WRONG[change]
    edit(document)
    file.write_text(json.dumps(document))
    for arguments in (("verify", file), ("plan", *ASKED, "--sequence", file)):
        assert_refused(cli, file.parent, *arguments, field=said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*ASKED, "--planner", "harvest"), "planner: it cannot be combined with a sequence"),
        ((*ASKED, "--candidates", "ring"), "candidates: it cannot be combined with a sequence"),
        ((*ASKED, "--budget", "1s"), "budget: it cannot be combined with a sequence"),
        (ASKED[:2] + ASKED[4:], "algorithm: auto is not accepted; it takes one algorithm's name"),
        (
            ("--algorithm", "ring", "--size", "1MiB", "--gpus", GPUS),
            "sequence: 12 topologies is not accepted; it takes",
        ),
        ((*ASKED[:6], "--gpus", 32), "sequence: `schedule.json` has circuits of GPU 63; there are 32 GPUs"),
        (("--collective", "all-gather", *ASKED[2:]), "sequence: `schedule.json` is for all-reduce, not for all-gather"),
        (("--size", "1MiB"), "gpus: missing"),
        (("--sizes", "1KiB:1MiB", *ASKED[:4], "--gpus", GPUS), "sequence: it applies to a single plan"),
    ],
)
def test_what_a_sequence_does_not_go_with_is_said(
    arguments: tuple[object, ...], said: str, cli: RunCli, file: Path
) -> None:
    assert_refused(cli, file.parent, "plan", *arguments, "--sequence", file.name, field=said)


def test_topologies_are_no_schedule_and_say_so(cli: RunCli, file: Path) -> None:
    said = "schedule: `schedule.json` states topologies but not what is sent; give it as sequence"
    assert_refused(cli, file.parent, "plan", "--schedule", file.name, "--size", "1MiB", field=said)
    (file.parent / "other.json").write_text("[]")
    said = "sequence: `other.json` is not HARVEST's schedule.json"
    assert_refused(cli, file.parent, "plan", *ASKED, "--sequence", "other.json", field=said)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 9) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.data())
@settings(max_examples=cases(150), deadline=None)
def test_any_change_gives_topologies_or_one_line(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("harvest") / "schedule.json"
    document: Any = published((1, 2))
    holder, key = document, data.draw(st.sampled_from(sorted(document)))
    while isinstance(holder[key], (list, dict)) and holder[key] and data.draw(st.booleans()):
        holder = holder[key]
        key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    holder[key] = data.draw(JSON)
    text = json.dumps(document)
    path.write_text(text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text)
    try:
        stated = read_sequence(path)
    except InputError as error:
        assert str(error).startswith("sequence")
        assert "\n" not in str(error)
    else:
        assert 2 <= stated.gpus <= 4096
        assert stated.topologies(stated.gpus)
