"""Fabrics: presets, TOML files, strings and numbers, refusals."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom import _core
from lightloom.inputs.fabric import presets
from tests.conftest import RunCli


def test_defaults_are_those_of_the_contract() -> None:
    fabric = ll.Fabric(gpus=64)
    assert (fabric.ports, fabric.bandwidth_bps, fabric.startup_s, fabric.hop_delay_s) == (1, 8e11, 500e-9, 500e-9)
    assert fabric.reconfiguration.scalar_s == 10e-6
    assert fabric.initial is None  # the convention's: free
    assert ll.Fabric.preset("default", gpus=64) == fabric


def test_strings_and_numbers_are_the_same() -> None:
    text = ll.Fabric(bandwidth="85.11Gbps", startup="1.7us", hop_delay="1us", reconfiguration_delay="15ms")
    number = ll.Fabric(bandwidth=85.11e9, startup=1.7e-6, hop_delay=1e-6, reconfiguration_delay=15e-3)
    for name in ("bandwidth_bps", "startup_s", "hop_delay_s"):
        assert getattr(text, name) == getattr(number, name)
    assert text.reconfiguration.scalar_s == number.reconfiguration.scalar_s == 15e-3
    per_port = ll.Fabric(reconfiguration_delay="5us+20ns/port").reconfiguration
    assert (per_port.fixed_s, per_port.scalar_s) == (5e-6, None)
    assert str(per_port) == "5.000 µs + 20.00 ns per changed port"
    assert ll.Fabric(dims="4x2").dimensions == ll.Fabric(dims=(4, 2)).dimensions == (4, 2)


def test_rounds_of_signals_are_counted_by_gpus() -> None:
    """10 ns, and 500 ns in each of ceil(log2 n) rounds: 5 for 32 GPUs, 6 for 33."""
    known = ll.Fabric(reconfiguration_delay="tunable-laser+500ns/round", initial="ring:one-way")
    with pytest.raises(ll.InputError, match=r"^gpus: "):
        _ = known.reconfiguration
    asked: dict[str, Any] = {"planner": "short-circuit", "algorithm": "bruck-doubling"}
    for gpus, delay_s in ((32, 2.51e-6), (33, 3.01e-6)):
        fabric = replace(known, gpus=gpus)
        assert fabric.reconfiguration.scalar_s == pytest.approx(delay_s, rel=1e-12)
        plan = ll.plan("reduce-scatter", "32KB", fabric=replace(fabric, hop_delay="10us"), **asked)
        (charged_s,) = {step.reconfiguration_s for step in plan.steps if step.reconfigured}
        assert charged_s == pytest.approx(delay_s, rel=1e-12)
        constant = replace(fabric, reconfiguration_delay=fabric.reconfiguration.fixed_s, hop_delay="10us")
        assert ll.plan("reduce-scatter", "32KB", fabric=constant, **asked).total_s == plan.total_s
    swept = ll.sweep(
        {
            "settings": {"collective": "reduce-scatter", "size": "32KB", "initial": "ring:one-way", **asked},
            "axes": {"gpus": [32, 33], "reconfiguration-delay": ["tunable-laser+500ns/round"]},
        }
    )
    once = [ll.plan("reduce-scatter", "32KB", fabric=replace(known, gpus=gpus), **asked).total_s for gpus in (32, 33)]
    assert swept["total_s"].tolist() == pytest.approx(once, rel=1e-12)


def test_short_circuiting_rings_take_any_number_of_gpus() -> None:
    """33 GPUs: no recursive doubling, but Bruck's pattern where changes are fast, and Ring where they are slow."""
    found = {
        delay: ll.plan(
            "all-reduce", "32KB", fabric=ll.Fabric(gpus=33, reconfiguration_delay=delay), planner="short-circuit"
        )
        for delay in ("10ns", "10ms")
    }
    assert {delay: plan.algorithm for delay, plan in found.items()} == {"10ns": "bruck-doubling", "10ms": "ring"}


@pytest.mark.large
@pytest.mark.parametrize("preset", [entry["name"] for entry in presets()])
def test_every_preset_plans(preset: str) -> None:
    known = ll.Fabric.preset(preset)
    plan = ll.plan("all-reduce", size="1MiB", fabric=known if known.gpus else ll.Fabric.preset(preset, gpus=8))
    assert plan.total_s > 0


def test_the_technology_presets_have_the_delays_of_the_papers() -> None:
    for name, delay_s in {"passage": 3.7e-6, "sip": 7e-6, "rotornet": 10e-6, "mems-3d": 15e-3, "piezo": 25e-3}.items():
        assert ll.Fabric.preset(name).reconfiguration.scalar_s == delay_s
    assert ll.Fabric.preset("tunable-laser").reconfiguration.scalar_s == 10e-9


def test_a_file_and_what_overrides_it(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "lab").mkdir()
    (in_tmp / "lab" / "start.edgelist").write_text("".join(f"{u} {(u + 3) % 8}\n" for u in range(8)))
    (in_tmp / "lab" / "fabric.toml").write_text(
        'summary = "ours"\ngpus = 8\nbandwidth = "100Gbps"\nreconfiguration_delay = 2e-6\ninitial = "start.edgelist"\n'
    )
    fabric = ll.Fabric.from_toml("lab/fabric.toml", bandwidth="200Gbps")
    assert fabric.bandwidth_bps == 2e11
    plan = ll.plan("all-reduce", size="1MiB", fabric=fabric, algorithm="ring", candidates="ring")
    assert plan.initial == "start"
    assert plan.steps[0].reconfigured
    ran = cli("plan", "--fabric", "lab/fabric.toml", "--collective", "all-reduce", "--size", "1MiB", "--startup", "1ns")
    assert ran.status == 0, ran.err
    assert "100 Gbit/s, startup 1.000 ns" in ran.out


def test_delays_by_port(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "lab.toml").write_text('gpus = 8\nports = 2\nreconfiguration_delay = ["100ns", "sip"]\n')
    known = ll.Fabric(gpus=8, ports=2, reconfiguration_delay=[1e-7, "7us"])
    text = ll.Fabric(gpus=8, ports=2, reconfiguration_delay="100ns,7us")
    assert str(known.reconfiguration) == str(text.reconfiguration) == "100.0 ns on port 1 and 7.000 µs on port 2"
    assert known.reconfiguration.scalar_s is None
    asked: dict[str, Any] = {
        "collective": "all-gather",
        "size": "1MiB",
        "algorithm": "recursive-doubling",
        "planner": "harvest",
        "candidates": ["circulant:1,1", "circulant:1,2", "circulant:4,4"],
    }
    documents = [ll.plan(fabric=fabric, **asked).to_json() for fabric in (known, text, ll.Fabric.load("lab.toml"))]
    assert documents[0] == documents[1] == documents[2]
    (in_tmp / "ports.toml").write_text('gpus = 8\nports = ["100ns", "sip"]\n')
    assert ll.plan(fabric=ll.Fabric.load("ports.toml"), **asked).to_json() == documents[0]
    assert ll.Fabric.load("ports.toml", reconfiguration_delay="1us").reconfiguration.scalar_s == 1e-6
    fabric = json.loads(documents[0])["fabric"]
    assert (fabric["reconfiguration_delay_s"], fabric["reconfiguration_delays_by_port_s"]) == (0.0, [1e-7, 7e-6])
    assert ll.Plan.from_json(documents[0]).to_json() == documents[0]
    alike = ll.plan(fabric=replace(known, reconfiguration_delay=["7us", "7us"]), **asked)
    assert alike.total_s == ll.plan(fabric=replace(known, reconfiguration_delay="7us"), **asked).total_s
    for wrong in ("1us,2us,3us", "1us,", "1us,2us/port", "1us,fast"):
        ran = cli(
            "plan",
            "--fabric",
            "lab.toml",
            "--collective",
            "all-gather",
            "--size",
            "1MiB",
            "--reconfiguration-delay",
            wrong,
        )
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith("error: reconfiguration_delay: "), ran.err


@pytest.mark.parametrize(
    "written",
    [
        "[]",
        '["1us", "fast"]',
        '["1us", "1us/port"]',
        '["1us", true]',
        '[["1us"], "2us"]',
        '["1us", "2us"]\nreconfiguration_delay = "1us"',
    ],
)
def test_wrong_lists_of_ports_are_named(tmp_path: Path, written: str) -> None:
    (tmp_path / "lab.toml").write_text(f"gpus = 8\nports = {written}\n")
    with pytest.raises(ll.InputError) as refused:
        ll.Fabric.load(tmp_path / "lab.toml")
    assert refused.value.field == "ports"


def test_gpus_come_from_dims() -> None:
    assert ll.plan("all-gather", size="1MiB", fabric=ll.Fabric(dims="2x3")).gpus == 6


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("gpus", {"gpus": 0}),
        ("gpus", {"gpus": 2.0}),
        ("gpus", {"gpus": True}),
        ("ports", {"ports": None}),
        ("ports", {"ports": 1 << 40}),
        ("bandwidth", {"bandwidth": 0}),
        ("bandwidth", {"bandwidth": float("nan")}),
        ("bandwidth", {"bandwidth": 10**400}),
        ("startup", {"startup": -1}),
        ("hop_delay", {"hop_delay": None}),
        ("reconfiguration_delay", {"reconfiguration_delay": "1us/porte"}),
        ("dims", {"dims": "4x4x"}),
        ("dims", {"dims": ()}),
        ("dims", {"dims": (4, 0)}),
        ("dims", {"dims": 16}),
    ],
)
def test_wrong_fields(field: str, arguments: dict[str, object]) -> None:
    with pytest.raises(ll.InputError) as raised:
        ll.Fabric(**arguments)  # type: ignore[arg-type]
    assert raised.value.field == field
    assert str(raised.value).startswith(f"{field}: ")


def test_products_are_names_of_their_technologies() -> None:
    products = {one["product"]: one for one in _core.registry()["technologies"] if one["product"]}
    assert products["polatis"]["name"] == "piezo"
    for product, technology in products.items():
        for name in (product, product.title()):
            known = ll.Fabric(reconfiguration_delay=technology["name"])
            assert ll.Fabric(reconfiguration_delay=name).reconfiguration.scalar_s == known.reconfiguration.scalar_s
            assert ll.Fabric.preset(name) == ll.Fabric.preset(technology["name"])
    with pytest.raises(ll.InputError, match="unknown name `cisco`"):
        ll.Fabric.preset("cisco")


def test_unknown_presets_and_keys_name_the_nearest() -> None:
    with pytest.raises(ll.InputError, match="did you mean `mems-3d`"):
        ll.Fabric.preset("mems3d")
    with pytest.raises(ll.InputError, match="did you mean `bandwidth`"):
        ll.Fabric.preset("default", bandwith="1Gbps")
