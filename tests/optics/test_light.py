"""Plans on meshes of MZIs: the light of every configuration, followed, measured and counted here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from tests.conftest import RunCli
from tests.refusals import assert_refused

BESIDE = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}
# Keys that say where light goes.
WAY = ("mzis", "waveguides", "wavelength")
OPPOSITE = dict(zip(BESIDE, ("south", "west", "north", "east"), strict=True))


def ring_plan(gpus: int = 16) -> ll.Plan:
    fabric = ll.Fabric(gpus=gpus, reconfiguration_delay="1us")
    return ll.plan("all-gather", "1MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")


@pytest.fixture(scope="module")
def lit() -> ll.Circuits:
    """Two GPUs a row on each of two interposers of 8x4 MZIs; tiles of 2x2 MZIs."""
    return ll.circuits(ring_plan(), "mesh:8x4,interposers=1x2,fibres=4,wavelengths=3,tile_size_cm=1.5")


def test_every_circuit_has_a_way_between_its_gpus(lit: ll.Circuits) -> None:
    # GPUs 0 to 7 on the left interposer, two a row; the transmitters are at the MZI below and right of a tile's middle.
    mzi = [(2 * (gpu % 8 // 2) + 1) * 8 + 4 * (gpu // 8) + 2 * (gpu % 2) + 1 for gpu in range(16)]
    assert lit.mesh is not None
    assert list(lit.mesh.mzi_of_gpu) == mzi
    assert len(lit.light) == len(lit.configurations) > 1
    for configuration, paths in zip(lit.configurations, lit.light, strict=True):
        told = sorted((one.ingress, one.egress) for one in paths)
        assert told == sorted(map(tuple, configuration.switches[0].connections.tolist()))
        places = set()
        for one in paths:
            assert (one.mzis[0], one.mzis[-1]) == (mzi[one.ingress - 1], mzi[one.egress - 1])
            loss_db = 0.0
            for here, there, number in zip(one.mzis, one.mzis[1:], one.waveguides, strict=False):
                rows, columns = sorted((here // 8, there // 8)), sorted((here % 8, there % 8))
                assert sorted((rows[1] - rows[0], columns[1] - columns[0])) == [0, 1]
                if columns == [3, 4]:
                    # Four fibres in each direction on eight rows: in the middle of every pair of rows.
                    assert here // 8 % 2 == 1
                    loss_db += 2 * 0.5
                else:
                    is_crossing = (rows[1] if rows[0] != rows[1] else columns[1]) % 2 == 0
                    loss_db += 0.75 * 0.4 + (0.25 if is_crossing else 0.0)
                assert number == 0
                places.add((here, there, number, one.wavelength))
            assert 0 <= one.wavelength < 3
            assert one.loss_db == pytest.approx(loss_db)
        assert len(places) == sum(len(one.waveguides) for one in paths)


def test_the_states_of_the_mzis_make_the_circuits(lit: ll.Circuits) -> None:
    for paths, states in zip(lit.light, lit.mzi_states, strict=True):
        through = {(one.mzi, one.wavelength, one.enters, one.input): (one.leaves, one.output) for one in states}
        found = []
        for mzi, wavelength, enters, number in [key for key in through if key[2] == "transmitter"]:
            at, side, lane = mzi, enters, number
            while (left := through.pop((at, wavelength, side, lane)))[0] != "receiver":
                at += BESIDE[left[0]][0] * 8 + BESIDE[left[0]][1]
                side, lane = OPPOSITE[left[0]], left[1]
            found.append((mzi, at, wavelength))
        assert not through
        assert sorted(found) == sorted((one.mzis[0], one.mzis[-1], one.wavelength) for one in paths)


def test_a_circuit_that_stays_keeps_its_way() -> None:
    plan = ll.plan(
        "all-gather",
        "1MiB",
        fabric=ll.Fabric(gpus=8, ports=2, reconfiguration_delay="100ns"),
        algorithm="recursive-doubling",
        planner="harvest",
        candidates=["circulant:1,2", "circulant:1,4"],
    )
    circuits = ll.circuits(plan, "mesh:8x8,wavelengths=4")
    before, after = ({(one.ingress, one.egress): one for one in paths} for paths in circuits.light)
    stay = before.keys() & after
    # The circuits to the next GPU.
    assert len(stay) == 8
    assert [before[ports] for ports in sorted(stay)] == [after[ports] for ports in sorted(stay)]


def test_json_is_read_back_and_judged(lit: ll.Circuits, tmp_path: Path, cli: RunCli) -> None:
    again = ll.Circuits.from_json(lit.to_json())
    assert (again.light, again.mzi_states) == (lit.light, lit.mzi_states)
    assert again == lit
    lit.save(tmp_path / "circuits.json")
    assert lit.plan is not None
    lit.plan.save(tmp_path / "plan.json")
    ran = cli("verify", tmp_path / "circuits.json", "--plan", tmp_path / "plan.json")
    assert ran.status == 0, ran
    assert "stated, not checked" not in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda light, _: light[0].update(loss_db=-1.0), r"light\[0\]\.loss_db"),
        (lambda light, _: light[0]["waveguides"].pop(), r"light\[0\]"),
        (lambda light, _: light.pop(), "light"),
        (lambda light, _: light.append(light[0]), "light"),
        (
            lambda light, _: light[1].update(light[0], ingress=light[1]["ingress"], egress=light[1]["egress"]),
            r"light\[1\]",
        ),
        (lambda _, mzis: mzis.append(mzis[0]), r"mzis\[\d+\]"),
        (lambda _, mzis: mzis[0].update(to=["up", 0]), r"mzis\[0\]\.to\[0\]"),
    ],
)
def test_light_that_cannot_be_is_refused_with_its_place(lit: ll.Circuits, change: Any, place: str) -> None:
    document = json.loads(lit.to_json())
    change(document["configurations"][1]["light"], document["configurations"][1]["mzis"])
    with pytest.raises(ll.InputError, match=rf"^circuits\.configurations\[1\]\.{place}: "):
        ll.Circuits.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("optics", "said"),
    [
        (
            "mesh:4x4",
            "the mesh has no paths for all circuits of shifted-ring:8 in step 1: 8 circuits must leave",
        ),
        (
            "mesh:8x8,max_loss_db=1",
            "in step 1: GPU 0 to GPU 8: the best path loses 1.30 dB, more than the limit max_loss_db",
        ),
        ("mesh:2x2", "optics: mesh of 2x2 MZIs is not accepted; it takes at least 16 MZIs on an interposer"),
        ("mesh:8x8,tiles=3x3", "tiles: 3x3 is not accepted"),
        ("mesh:8x8,colours=3", "optics: unknown name `colours`; one of tiles, "),
        ("mesh:8x8,wavelengths=0", "wavelengths: 0 is not accepted"),
        ("mesh:8x8,transmitters=0", "transmitters: `0` is not accepted; it takes a whole number from 1 to 4096"),
        ("mesh:8x8,tiles=8x8,tiles=4x4", "optics: `tiles` twice is not accepted; it takes every key once"),
        (
            "mesh:8x8,interposers=1000x1000",
            "interposers: 1000x1000 is not accepted; it takes at most 4096 rows and columns of MZIs in all; "
            "an interposer has 8x8",
        ),
        ("mesh:8x8,tile_size_cm=1e308", "tile_size_cm: 1e308 is not accepted; it takes a number from 0 to 1e6"),
        ("mesh", "optics: "),
    ],
)
def test_what_a_mesh_cannot_do_is_said_in_a_line(tmp_path: Path, cli: RunCli, optics: str, said: str) -> None:
    plan = tmp_path / "plan.json"
    ring_plan().save(plan)
    message = assert_refused(cli, tmp_path, "circuits", plan, "--optics", optics, field="")
    assert said in message


@pytest.mark.large
def test_the_table_and_the_picture_show_the_light(lit: ll.Circuits, tmp_path: Path, cli: RunCli) -> None:
    plan = tmp_path / "plan.json"
    ring_plan().save(plan)
    picture = tmp_path / "mesh.png"
    ran = cli("circuits", plan, "--optics", "mesh:8x8,wavelengths=2", "--plot", picture, "--all-connections")
    assert ran.status == 0, ran
    assert "light of configuration 1: " in ran.out
    assert "MZIs" in ran.out
    assert picture.stat().st_size > 10_000
    figure = lit.plot()
    drawn = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert len(drawn) == min(4, len(lit.configurations))
    assert all("16 circuits" in title for title in drawn)


def test_a_picture_of_several_wavelengths_says_which_is_which() -> None:
    circuits = ll.circuits(ring_plan(), "mesh:8x4,interposers=1x2,fibres=4,wavelengths=3")
    figure = circuits.plot()
    (legend,) = figure.legends
    looks = [text.get_text() for text in legend.get_texts()]
    panels = [axes for axes in figure.axes if axes.get_title()]
    used = sorted({one.wavelength for paths in circuits.light[: len(panels)] for one in paths})
    assert looks == [
        "a circuit's transmitter",
        "its receiver",
        *(f"wavelength {wavelength}" for wavelength in used),
        "between interposers",
    ]
    left_out = len(panels) < len(circuits.configurations)
    assert (
        f"first {len(panels)} of {len(circuits.configurations)} configurations" in figure.get_suptitle()
    ) == left_out
    (plain,) = ll.route_mesh("4x4", [(0, 5)]).plot().legends
    assert [text.get_text() for text in plain.get_texts()] == ["a circuit's transmitter", "its receiver"]
