"""The judge of light: it passes what `circuits` makes of a mesh, and finds each value of a file that is made wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from tests.conftest import RunCli
from tests.refusals import assert_refused

# Two interposers of 2x2 tiles of 2x2 MZIs; three fibres on four rows are at rows 0, 2 and 3.
MESH = "mesh:4x4,tiles=2x2,interposers=1x2,fibres=3,waveguides=2,wavelengths=3,tile_size_cm=1.5,max_loss_db=12"
OTHER_SIDE = {"north": "south", "south": "north", "east": "west", "west": "east", "tile": "north"}


def plan_of(*candidates: str, background: bool = False) -> ll.Plan:
    fabric = ll.Fabric(gpus=8, ports=2, reconfiguration_delay="100ns", background_reconfiguration=background)
    return ll.plan(
        "all-gather",
        "1MiB",
        fabric=fabric,
        algorithm="recursive-doubling",
        planner="harvest",
        candidates=list(candidates),
    )


@pytest.fixture(scope="module")
def plan() -> ll.Plan:
    return plan_of("circulant:1,2", "circulant:1,4")


@pytest.fixture(scope="module")
def document(plan: ll.Plan) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(ll.circuits(plan, MESH).to_json())
    return made


def failures(document: dict[str, Any], plan: ll.Plan, optics: str | None) -> dict[str, str]:
    """Name and detail of each check that fails."""
    checks = ll.verify(ll.Circuits.from_json(json.dumps(document)), plan=plan, optics=optics)
    return {check.name: check.detail for check in checks if not check.passed}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every number and word of a document."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if below is None:
        yield at
    else:
        for key, child in below:
            yield from places(child, (*at, key))


def others(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [OTHER_SIDE.get(value, value + "x")]
    if isinstance(value, float):
        return [1.01 * value + 1e-3, 0.5 * value]
    return [value + 1, max(value - 1, 0), value + 5]


def is_harmless(at: tuple[Any, ...], value: Any, other: Any, document: dict[str, Any], *, described: bool) -> bool:
    """Whether the circuits are as good with the other value.

    A switch may have more ports than are used. Where nobody says what the mesh is, it may be a larger one than is used.
    """
    if at[0] == "switches" and at[-1] == "ports":
        return bool(other >= value)
    if at[0] != "mesh" or described:
        return False
    used = [path for configuration in document["configurations"] for path in configuration["light"]]
    needed = {
        "waveguides": 1 + max(max(path["waveguides"]) for path in used),
        "wavelengths": 1 + max(path["wavelength"] for path in used),
        "transmitters": 2,
        "receivers": 2,
        "max_loss_db": max(path["loss_db"] for path in used),
    }
    # Four fibres on four rows are at all of them, five twice at one; eight, twice at each.
    return (at[1] == "fibres" and other in {4, 8}) or (at[1] in needed and other >= needed[at[1]])


@pytest.mark.large
@pytest.mark.parametrize("described", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_every_wrong_value_is_found(plan: ll.Plan, document: dict[str, Any], described: bool) -> None:
    optics = MESH if described else None
    assert failures(document, plan, optics) == {}
    tried = 0
    for at in places(document if not described else {key: document[key] for key in ("switches", "mesh")}):
        holder = document
        for key in at[:-1]:
            holder = holder[key]
        value = holder[at[-1]]
        for other in others(value):
            if other == value:
                continue
            wrong = copy.deepcopy(document)
            inside = wrong
            for key in at[:-1]:
                inside = inside[key]
            inside[at[-1]] = other
            tried += 1
            try:
                said = list(failures(wrong, plan, optics).values())
            except ll.InputError as error:
                said = [str(error)]
            harmless = is_harmless(at, value, other, document, described=described)
            assert (said == []) == harmless, (at, value, other, said)
            assert not any("\n" in line for line in said)
    assert tried > (40 if described else 2000)


def _first(document: dict[str, Any]) -> Any:
    return document["configurations"][0]["light"][0]


def _state(document: dict[str, Any], mzi: int, wavelength: int, enters: str) -> Any:
    """The state, in the first configuration, for light that enters there."""
    states = document["configurations"][0]["mzis"]
    found = [one for one in states if (one["mzi"], one["wavelength"], one["from"][0]) == (mzi, wavelength, enters)]
    return found[0]


def _too_lossy(document: dict[str, Any]) -> None:
    document["mesh"]["max_loss_db"] = 0.5


def _loss(document: dict[str, Any]) -> None:
    _first(document)["loss_db"] = 0.4


def _starts_elsewhere(document: dict[str, Any]) -> None:
    _first(document)["mzis"][0] += 1


def _jumps(document: dict[str, Any]) -> None:
    path = max(document["configurations"][0]["light"], key=lambda one: len(one["mzis"]))
    del path["mzis"][1], path["waveguides"][1]


def _no_wavelength(document: dict[str, Any]) -> None:
    document["mesh"]["wavelengths"] = 1


def _no_waveguide(document: dict[str, Any]) -> None:
    _first(document)["waveguides"][0] = 7


def _few_tiles(document: dict[str, Any]) -> None:
    document["mesh"]["tiles"] = [1, 1]


def _one_transmitter(document: dict[str, Any]) -> None:
    document["mesh"]["transmitters"] = 1


def _state_lost(document: dict[str, Any]) -> None:
    path = _first(document)
    states = document["configurations"][0]["mzis"]
    states.remove(_state(document, path["mzis"][0], path["wavelength"], "tile"))


def _state_too_many(document: dict[str, Any]) -> None:
    state = {"mzi": 31, "wavelength": 2, "from": ["east", 1], "to": ["tile", 9]}
    document["configurations"][1]["mzis"].append(state)


def _receivers_crossed(document: dict[str, Any]) -> None:
    """Light of two circuits to a GPU comes to each other's receivers, only in the states."""
    configuration = document["configurations"][0]
    to_first = [one for one in configuration["mzis"] if one["to"][0] == "tile"]
    here = [one for one in to_first if one["mzi"] == to_first[0]["mzi"]]
    here[0]["to"], here[1]["to"] = here[1]["to"], here[0]["to"]


@pytest.mark.parametrize(
    ("change", "check", "said"),
    [
        (_too_lossy, "losses", "configuration 1, circuit 1 → "),
        (_loss, "losses", "dB, and 0.4 dB are stated"),
        (_starts_elsewhere, "paths", "its path starts at MZI 10, and the tile of GPU 0 is at MZI 9"),
        (_jumps, "paths", ": nothing joins MZI "),
        (_no_wavelength, "paths", "(from 0) of 1"),
        (_no_waveguide, "paths", "it uses waveguide 7 (from 0) of 2 from MZI 9 to MZI "),
        (_few_tiles, "mesh", "an interposer has 1 tile for 4 GPUs"),
        (_one_transmitter, "paths", "it uses transmitter 1 (from 0) of the tile of GPU 0, which has 1 transmitter"),
        (_state_lost, "states", "its light ends at MZI 9, which has no state for wavelength"),
        (
            _state_too_many,
            "states",
            "MZI 31 has a state for light of wavelength 2 that enters in the east by waveguide 1",
        ),
        (_receivers_crossed, "states", "which is not the end of the circuit"),
    ],
)
def test_what_is_wrong_is_said_with_its_circuit(
    plan: ll.Plan, document: dict[str, Any], change: Callable[[dict[str, Any]], None], check: str, said: str
) -> None:
    wrong = copy.deepcopy(document)
    change(wrong)
    assert said in failures(wrong, plan, None)[check]


@pytest.mark.parametrize(
    ("optics", "said"),
    [
        (MESH.replace("12", "13"), "`max_loss_db` is 12 in the file and 13 in the mesh as described"),
        (MESH.replace(",fibres=3", ""), "`fibres` is 3 in the file and 1 in the mesh as described"),
        (MESH.replace("tiles=2x2", "tiles=4x2"), "`tiles` is 2x2 in the file and 4x2 in the mesh as described"),
        (MESH + ",receivers=3", "`receivers` is 2 in the file and 3 in the mesh as described"),
    ],
)
def test_the_mesh_of_the_file_is_the_one_described(
    plan: ll.Plan, document: dict[str, Any], optics: str, said: str
) -> None:
    assert failures(document, plan, optics) == {"mesh": said}


@pytest.mark.parametrize(
    ("optics", "said"),
    [
        ("mesh:4x4,colour=2", "optics: unknown name `colour`"),
        ("mesh:4", "mzis: `4` is not accepted; it takes ROWSxCOLUMNS"),
        ("mesh:4x4,fibres=few", "fibres: `few` is not accepted; it takes a number"),
        ("mesh:4x4,fibres", "optics: `fibres` is not accepted; it takes key=value"),
    ],
)
def test_a_wrong_description_is_refused(plan: ll.Plan, document: dict[str, Any], optics: str, said: str) -> None:
    with pytest.raises(ll.InputError, match=said):
        failures(document, plan, optics)


def test_circuits_without_light_are_none_of_a_mesh(plan: ll.Plan) -> None:
    crossbar = json.loads(ll.circuits(plan, "crossbar").to_json())
    assert failures(crossbar, plan, "crossbar") == {}
    said = "the circuits have no light, although the optical layer is a mesh"
    assert failures(crossbar, plan, "mesh:4x4") == {"mesh": said}


def test_a_file_of_before_the_mesh_was_written_is_read(
    plan: ll.Plan, document: dict[str, Any], tmp_path: Path, cli: RunCli
) -> None:
    old = {key: value for key, value in document.items() if key != "mesh"}
    (tmp_path / "circuits.json").write_text(json.dumps(old))
    plan.save(tmp_path / "plan.json")
    ran = cli("verify", tmp_path / "circuits.json", "--plan", tmp_path / "plan.json")
    assert ran.status == 0, ran
    assert "stated, not checked" in " ".join(ran.out.split())
    gone = old["configurations"][0]["mzis"][-1]
    wrong = copy.deepcopy(old)
    wrong["configurations"][0]["mzis"].pop()
    assert f"configuration 1: MZI {gone['mzi']} passes" in failures(wrong, plan, None)["light"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda mesh: mesh.pop("max_loss_db"), "mesh"),
        (lambda mesh: mesh.update(tiles=[3, 2]), "mesh.tiles"),
        (lambda mesh: mesh.update(fibres=0), "mesh.fibres"),
        (lambda mesh: mesh.update(mzis=[0, 4]), "mesh.mzis"),
        (lambda mesh: mesh.update(interposers=[4096, 4096]), "mesh.interposers"),
        (lambda mesh: mesh.update(coupling_loss_db=-1.0), "mesh.coupling_loss_db"),
        (lambda mesh: mesh.update(colour=1), "mesh.colour"),
    ],
)
def test_a_mesh_that_cannot_be_is_refused_with_its_place(
    document: dict[str, Any], change: Callable[[dict[str, Any]], None], place: str
) -> None:
    wrong = copy.deepcopy(document)
    change(wrong["mesh"])
    with pytest.raises(ll.InputError, match=rf"^circuits\.{place}: "):
        ll.Circuits.from_json(json.dumps(wrong))


def test_a_mesh_without_light_is_refused(plan: ll.Plan, document: dict[str, Any]) -> None:
    crossbar = json.loads(ll.circuits(plan, "crossbar").to_json())
    with pytest.raises(ll.InputError, match=r"^circuits\.mesh: a mesh goes with light"):
        ll.Circuits.from_json(json.dumps({**crossbar, "mesh": document["mesh"]}))


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("transmitters=1", "1 transmitter; in steps 1 to 3, 2 circuits of circulant:1,4 leave there at once"),
        ("transmitters=2,receivers=1", "1 receiver; in steps 1 to 3, 2 circuits of circulant:1,4 arrive there at once"),
    ],
)
def test_a_tile_with_too_few_ends_is_refused(tmp_path: Path, cli: RunCli, limits: str, said: str) -> None:
    plan_of("circulant:1,4").save(tmp_path / "plan.json")
    optics = f"mesh:8x8,{limits}"
    message = assert_refused(cli, tmp_path, "circuits", tmp_path / "plan.json", "--optics", optics, field="optics")
    assert f"tile 0 (GPU 0) has {said}" in message


def test_circuits_that_are_set_up_beside_others_need_ends_of_their_own(tmp_path: Path, cli: RunCli) -> None:
    hiding = plan_of("one-port-dark", background=True)
    # Each topology has one circuit a GPU, and the next is set up on the port that is dark meanwhile.
    assert [topology.degree for topology in hiding.topologies] == [1, 1, 1]
    assert all(check.passed for check in ll.verify(ll.circuits(hiding, "mesh:8x8,wavelengths=4,transmitters=2")))
    hiding.save(tmp_path / "plan.json")
    optics = "mesh:8x8,wavelengths=4,transmitters=1"
    message = assert_refused(cli, tmp_path, "circuits", tmp_path / "plan.json", "--optics", optics, field="optics")
    said = "2 circuits leave there at once: those of circulant:4 are lit while those of circulant:2 are set up"
    assert f"tile 0 (GPU 0) has 1 transmitter; in step 2, {said}" in message


def test_a_tile_with_enough_ends_is_taken() -> None:
    one = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=8, ports=1, reconfiguration_delay="1us"))
    for limits, numbers in [("", (1, 1)), (",transmitters=1,receivers=3", (1, 3))]:
        made = ll.circuits(one, f"mesh:8x8,wavelengths=4{limits}")
        mesh = json.loads(made.to_json())["mesh"]
        assert (mesh["transmitters"], mesh["receivers"]) == numbers
        assert all(check.passed for check in ll.verify(made))
