"""Sweeps of training iterations: every point is what `train` plans there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.sweeps.description import SweepDescription
from lightloom.sweeps.outside_files import file_digests
from tests.conftest import RunCli
from tests.training.iterations import workload

BOTH: dict[str, Any] = {
    "baseline": ["one-shot", "static"],
    "metrics": ["time", "ratio", "gap", "exposed", "reconfigurations"],
    "settings": {"ports": 2},
    "axes": {"workload": ["workload.json", "bert-pccl"], "reconfiguration-delay": ["10us", "1ms"]},
    "plots": [{"kind": "heat", "x": "reconfiguration-delay", "y": "workload", "value": "exposed"}],
}


@pytest.fixture
def file(in_tmp: Path) -> Path:
    """A workload of two axes, computation and messages."""
    (in_tmp / "workload.json").write_text(json.dumps(workload()))
    return in_tmp / "workload.json"


@pytest.mark.large
def test_points_are_what_train_plans(file: Path) -> None:
    axes = {"workload": [file.name], "ports": [2, 3], "reconfiguration-delay": ["10us", "1ms"]}
    result = ll.sweep({**BOTH, "settings": {}, "axes": axes, "plots": []})
    assert result.description.engine == "train"
    assert "chosen_planner" not in result.columns
    table = result.to_columns()
    assert len(result) == 4
    for row in range(4):
        ports, delay_s = table["ports"][row], table["reconfiguration_delay_s"][row]
        made = ll.train(file, fabric=ll.Fabric(ports=ports, reconfiguration_delay=delay_s))
        assert table["total_s"][row] == made.total_s
        assert table["lower_bound_s"][row] == made.lower_bound_s
        assert table["exposed_communication_s"][row] == made.exposed_communication_s
        assert table["reconfigurations"][row] == made.reconfigurations
        for policy, time_s in made.policies.items():
            assert table[f"{policy.replace('-', '_')}_s"][row] == time_s
        others = {name: made.policies[name] for name in ("one-shot", "static")}
        least = min(time_s for time_s in others.values() if time_s is not None)
        assert table["ratio"][row] == pytest.approx(least / made.total_s)
        assert others[table["baseline"][row]] == least


@pytest.mark.large
def test_workloads_are_an_axis_and_make_heat_maps(cli: RunCli, file: Path, in_tmp: Path) -> None:
    told = {**BOTH, "settings": {"ports": 1}, "axes": {**BOTH["axes"], "workload": [file.name, "small.toml"]}}
    model = (Path(ll.__file__).parent / "inputs" / "workloads" / "presets" / "bert-pccl.toml").read_text()
    (in_tmp / "small.toml").write_text(model)
    description = SweepDescription.load(told)
    assert set(file_digests(description)) == {"workload.json", "small.toml"}
    lines = ["baseline = ['one-shot']", "[settings]", "ports = 1", "ranks = 8", "[axes]", "workload = ['small.toml']"]
    lines += ["reconfiguration-delay = ['10us', '1ms']", "bandwidth = ['100Gbps', '800Gbps']"]
    (in_tmp / "sweep.toml").write_text("\n".join(lines))
    ran = cli("sweep", "sweep.toml", "--format", "json")
    assert ran.status == 0, ran.err
    summary = json.loads(ran.out)
    assert summary["metrics"]["exposed_communication_s"]["least"]["exposed_communication_s"] > 0
    assert summary["chosen"] == []
    names = {Path(file).name for file in summary["files"]}
    assert {"sweep.parquet", "sweep-ratio.png", "sweep-exposed.png"} <= names
    # What is there is not planned again, unless a file changed.
    assert json.loads(cli("sweep", "sweep.toml", "--format", "json").out)["found"] == 4
    (in_tmp / "small.toml").write_text(model + "\n# another\n")
    assert cli("sweep", "sweep.toml").status == 2


@pytest.mark.large
def test_a_point_that_cannot_be_planned_has_its_reason(file: Path) -> None:
    axes = {"workload": [file.name], "policy": ["carry", "static"], "ports": [1, 2]}
    result = ll.sweep({"axes": axes, "plots": []})
    total_s = result.grid("total_s")[0]
    # Two axes have no torus on one port.
    assert np.isnan(total_s).tolist() == [[False, False], [True, False]]
    assert result.to_columns()["reason"][2].startswith("policy: `static` does not serve")


def test_a_folder_of_traces_is_known_by_its_files(in_tmp: Path) -> None:
    (in_tmp / "traces").mkdir()
    (in_tmp / "traces" / "0.et").write_bytes(b"one")
    description = SweepDescription.load({"axes": {"workload": ["traces"]}})
    before = file_digests(description)
    (in_tmp / "traces" / "0.et").write_bytes(b"two")
    assert file_digests(description) != before


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"engine": "model"}, "settings: unknown name `workload`"),
        ({"engine": "train", "settings": {"size": "1MiB"}}, "settings: unknown name `size`"),
        ({"metrics": ["simulated"]}, "metrics: `simulated` is only for the engines flow and packet, not for train"),
        ({"settings": {}, "metrics": ["exposed"]}, "metrics: `exposed` is only for the engine train, not for model"),
        ({"baseline": ["bvn"]}, "baseline: unknown name `bvn`"),
        ({"baseline": ["static", "static"]}, "baseline: `static` is given twice"),
        ({"axes": {"policy": ["packet-switch"]}}, "axes.policy: unknown name `packet-switch`"),
        ({"engine": "train", "settings": {}}, "workload: it is missing"),
        ({"settings": {"workload": "none.json"}}, "workload: "),
        (
            {"plots": [{"kind": "heat", "x": "ports", "y": "bandwidth", "value": "time", "regions": "planner"}]},
            "plots[0].regions: `planner` is only for plans",
        ),
    ],
)
@pytest.mark.usefixtures("in_tmp")
def test_what_does_not_go_with_iterations_is_refused(changed: dict[str, Any], said: str) -> None:
    settings = {"settings": {"workload": "bert-pccl", "ranks": 8}}
    axes = {"ports": [1, 2], "bandwidth": ["100Gbps", "200Gbps"]}
    given = {**settings, "plots": [], **changed, "axes": {**axes, **changed.get("axes", {})}}
    with pytest.raises(InputError) as refused:
        ll.sweep(given)
    assert str(refused.value).startswith(said)
