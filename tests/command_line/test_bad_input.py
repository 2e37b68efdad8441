"""Wrong input: exactly one line `error: FIELD: ...`, exit status 2, nothing written."""

from pathlib import Path

import numpy as np
import pytest

from tests.conftest import RunCli
from tests.refusals import assert_refused

GOOD = {"--collective": "all-reduce", "--size": "1MiB", "--gpus": "8"}


def plan_with(**changes: str | None) -> list[str]:
    """The arguments of a good plan with some options changed, added, or (None) left out."""
    options = GOOD | {"--" + name.replace("_", "-"): value for name, value in changes.items()}
    return [
        "plan",
        "--output",
        "out.json",
        *(text for name, value in options.items() if value is not None for text in (name, value)),
    ]


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("collective", {"collective": "all-educe"}),
        ("collective", {"collective": None}),
        ("algorithm", {"algorithm": "recursive-dubling"}),
        ("planner", {"planner": "harvets"}),
        ("topology", {"planner": "static", "topology": "rign"}),
        ("topology", {"planner": "static", "topology": ""}),
        ("topology", {"planner": "static", "topology": "torus:3x3"}),
        ("candidates", {"candidates": "shifted-ring"}),
        ("candidates", {"candidates": ","}),
        ("routing", {"routing": "shortest"}),
        ("convention", {"convention": "harvestt"}),
        ("initial", {"initial": "nowhere.edgelist"}),
        ("initial", {"initial": "rign"}),
        ("fabric", {"fabric": "mems"}),
        ("fabric", {"fabric": "nowhere.toml"}),
        ("size", {"size": None}),
        ("size", {"size": "1"}),
        ("size", {"size": "-1MiB"}),
        ("size", {"size": "nanMiB"}),
        ("size", {"size": "infB"}),
        ("size", {"size": "0B"}),
        ("size", {"size": "1.5B"}),
        ("size", {"size": "1MiBB"}),
        ("size", {"size": "1e40TiB"}),
        ("size", {"size": "1MiB\nevil"}),
        ("size", {"size": "1MiB/pair"}),
        ("gpus", {"gpus": None}),
        ("gpus", {"gpus": "many"}),
        ("gpus", {"gpus": "-8"}),
        ("gpus", {"gpus": "1"}),
        ("gpus", {"gpus": "8.5"}),
        ("gpus", {"gpus": "99999999999999999999"}),
        ("ports", {"ports": "0"}),
        ("ports", {"ports": "100000"}),
        ("dims", {"dims": "4x4"}),
        ("dims", {"dims": "2x"}),
        ("dims", {"dims": "-2x-4"}),
        ("dims", {"dims": "x".join(["2"] * 400)}),
        ("bandwidth", {"bandwidth": "0Gbps"}),
        ("bandwidth", {"bandwidth": "800"}),
        ("bandwidth", {"bandwidth": "fast"}),
        ("startup", {"startup": "-1ns"}),
        ("startup", {"startup": "5"}),
        ("startup", {"startup": "1e-400s"}),
        ("size", {"size": "8Mb"}),
        ("bandwidth", {"bandwidth": "400GBPS"}),
        ("reconfiguration_delay", {"reconfiguration_delay": "1MS"}),
        ("hop_delay", {"hop_delay": "nans"}),
        ("hop_delay", {"hop_delay": "1e999s"}),
        ("reconfiguration_delay", {"reconfiguration_delay": "memes-3d"}),
        ("reconfiguration_delay", {"reconfiguration_delay": "1us+-1ns/port"}),
        ("algorithm", {"algorithm": "recursive-doubling", "gpus": "12"}),
        ("algorithm", {"algorithm": "dex"}),
        ("algorithm", {"algorithm": "bucket"}),
        ("radix", {"radix": "1"}),
        ("radix", {"algorithm": "bruck", "collective": "all-gather", "radix": "two"}),
        ("seed", {"seed": "-1"}),
        ("seed", {"seed": str(1 << 64)}),
        ("format", {"format": "xml"}),
        ("matrix", {"collective": "all-to-all", "matrix": "nowhere.csv", "size": None}),
        ("schedule", {"schedule": "nowhere.xml"}),
        ("output", {"output": "no/such/folder/plan.json"}),
        ("output", {"output": "."}),
        ("plot", {"plot": "plan.txt"}),
        ("plot", {"plot": "no/such/folder/plan.png"}),
        ("--plannr", {"plannr": "harvest"}),
    ],
)
def test_wrong_options(cli: RunCli, in_tmp: Path, field: str, changes: dict[str, str | None]) -> None:
    assert_refused(cli, in_tmp, *plan_with(**changes), field=field)


def test_unknown_names_list_the_valid_ones_and_the_nearest(cli: RunCli, in_tmp: Path) -> None:
    for changes, nearest, another in [
        ({"algorithm": "recursive-dubling"}, "recursive-doubling", "halving-doubling"),
        ({"planner": "harvset"}, "harvest", "static"),
        ({"fabric": "mems3d"}, "mems-3d", "piezo"),
        ({"routing": "single-paths"}, "single-path", "equal-split"),
    ]:
        message = assert_refused(cli, in_tmp, *plan_with(**changes), field=next(iter(changes)))
        assert f"did you mean `{nearest}`" in message
        assert another in message


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["plam"], "verb"),
        (["plan", "--size"], "size"),
        (["plan", "-o"], "output"),
        (["plan", "extra", "--gpus", "8"], "arguments"),
        (["verify"], "files"),
        (["verify", "nowhere.json"], "file"),
        (["list", "nonsense"], "kind"),
        (["list", "topologies", "--gpus", "8"], "kind"),
        (["list", "algorithms", "--collective", "nonsense", "--gpus", "8"], "collective"),
        (["list", "algorithms", "--gpus", "8", "--radix", "-1"], "radix"),
        (["list", "algorithms", "--gpus", "-8"], "gpus"),
        (["list", "algorithms", "--gpus", "8", "--ports", "-1"], "ports"),
        (["--nonsense"], "--nonsense"),
        (["compare", "--gpus", "8", "--size", "1MiB"], "collective"),
    ],
)
def test_wrong_usage(cli: RunCli, in_tmp: Path, arguments: list[str], field: str) -> None:
    assert_refused(cli, in_tmp, *arguments, field=field)


MATRICES = {
    "ragged.csv": b"0,1,2\n1,0\n2,1,0\n",
    "negative.csv": b"0,1\n-1,0\n",
    "nan.csv": b"0,nan\n1,0\n",
    "infinite.csv": b"0,inf\n1,0\n",
    "words.csv": b"0,one\n1,0\n",
    "wide.csv": b"0,1,1\n1,0,1\n",
    "empty.csv": b"",
    "blank.csv": b"\n\n# nothing\n",
    "zero.csv": b"0,0\n0,0\n",
    "single.csv": b"5\n",
    "binary.csv": b"\xff\xfe\x00\x01",
    "hole.csv": b"0,,1\n1,0,1\n1,1,0\n",
    "text.npy": b"0,1\n1,0\n",
    "truncated.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (99999, 99999), }",
    "huge-header.npy": b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{}",
    "magic.npy": b"\x93NUMPY",
    "future.npy": b"\x93NUMPY\x09\x00v\x00" + b" " * 118,
}


@pytest.mark.parametrize("name", MATRICES)
def test_wrong_matrices(cli: RunCli, in_tmp: Path, name: str) -> None:
    (in_tmp / name).write_bytes(MATRICES[name])
    assert_refused(cli, in_tmp, "plan", "--matrix", name, "--output", "out.json", field="matrix")


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0, 1], [1, 0]], dtype=object),
        np.array([["0", "1"], ["1", "0"]]),
        np.zeros((2, 2), dtype=complex),
        np.zeros((0, 0)),
        np.zeros((2, 2, 2)),
        np.array(3.0),
        np.ones((2, 3)),
    ],
)
def test_wrong_npy_contents(cli: RunCli, in_tmp: Path, array: np.ndarray) -> None:
    np.save(in_tmp / "matrix.npy", array, allow_pickle=True)
    assert_refused(cli, in_tmp, "plan", "--matrix", "matrix.npy", field="matrix")


def test_a_ragged_row_is_named(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "matrix.csv").write_text("# bytes\n0,1,2\n\n1,0\n")
    message = assert_refused(cli, in_tmp, "plan", "--matrix", "matrix.csv", field="matrix")
    assert "row 1" in message
    assert "line 4" in message


def test_contradictions(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "matrix.csv").write_text("0,1,2\n1,0,1\n1,1,0\n")
    assert_refused(cli, in_tmp, "plan", "--matrix", "matrix.csv", "--gpus", 8, field="matrix")
    assert_refused(cli, in_tmp, "plan", "--matrix", "matrix.csv", "--collective", "all-reduce", field="")
    assert_refused(cli, in_tmp, "plan", "--matrix", "matrix.csv", "--algorithm", "ring", field="")
    (in_tmp / "fabric.toml").write_text('gpus = 64\ndims = "4x4x4"\n')
    assert_refused(cli, in_tmp, *plan_with(fabric="fabric.toml", gpus="8"), field="dims")


ALGO = '<algo name="x" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="{}" coll="allreduce">'
SCHEDULES = {
    "empty.xml": "",
    "text.xml": "not xml at all",
    "truncated.xml": ALGO.format(2) + '<gpu id="0"',
    "other.xml": "<html><body/></html>",
    "bomb.xml": '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><algo name="&b;"/>',
    "deep.xml": "<a>" * 100_000,
    "negative.xml": ALGO.format(-2) + "</algo>",
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_wrong_schedules(cli: RunCli, in_tmp: Path, name: str) -> None:
    (in_tmp / name).write_text(SCHEDULES[name])
    assert_refused(cli, in_tmp, "plan", "--schedule", name, "--size", "1MiB", "--output", "out.json", field="schedule")


GRAPHML = "http://graphml.graphdrawing.org/xmlns"
TOPOLOGIES = {
    "words.edgelist": "a b\n",
    "negative.edgelist": "0 -1\n",
    "long.edgelist": "0 1 2 3\n",
    "outside.edgelist": "0 99\n",
    "loop.edgelist": "0 0\n",
    "zero.edgelist": "0 1 0\n",
    "empty.edgelist": "",
    "huge.csv": "0,999999999999\n",
    "not.graphml": "0 1\n",
    "bomb.graphml": '<!DOCTYPE b [<!ENTITY a "aa">]><graphml/>',
    "empty.graphml": "<graphml/>",
    "names.graphml": f'<graphml xmlns="{GRAPHML}"><graph edgedefault="directed"><node id="a"/></graph></graphml>',
}


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_wrong_topology_files(cli: RunCli, in_tmp: Path, name: str) -> None:
    (in_tmp / name).write_text(TOPOLOGIES[name])
    for option, changes in (("topology", {"planner": "static"}), ("initial", {})):
        message = assert_refused(cli, in_tmp, *plan_with(**changes, **{option: name}), field=option)
        assert Path(name).stem in message


FABRICS = {
    "unknown-key.toml": "portss = 2\n",
    "wrong-type.toml": 'ports = "two"\n',
    "boolean.toml": "ports = true\n",
    "list.toml": "startup = [1, 2]\n",
    "negative.toml": "hop_delay = -1.0\n",
    "nan.toml": "hop_delay = nan\n",
    "lost.toml": "hop_delay = 1e-400\n",
    "infinite.toml": "bandwidth = inf\n",
    "not-toml.toml": "ports 2\n",
    "table.toml": "[initial]\nname = 'ring'\n",
    "date.toml": "startup = 2020-01-01\n",
    "dims.toml": "dims = [2.0, 4.0]\n",
}


def test_a_port_has_one_delay(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "ports.toml").write_text('ports = ["10us,5us", "1us"]\n')
    message = assert_refused(cli, in_tmp, *plan_with(fabric="ports.toml"), field="ports")
    assert "`10us,5us`" in message


@pytest.mark.parametrize("name", FABRICS)
def test_wrong_fabric_files(cli: RunCli, in_tmp: Path, name: str) -> None:
    (in_tmp / name).write_text(FABRICS[name])
    assert_refused(cli, in_tmp, *plan_with(fabric=name), field="")


@pytest.mark.parametrize("option", ["--matrix", "--schedule", "--fabric", "--topology", "--initial"])
@pytest.mark.parametrize("file", ["folder.csv", "missing.csv", "program.csv", ""])
def test_files_of_the_wrong_kind(cli: RunCli, in_tmp: Path, option: str, file: str) -> None:
    (in_tmp / "folder.csv").mkdir()
    (in_tmp / "program.csv").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)))
    planner = ["--planner", "static"] if option == "--topology" else []
    assert_refused(
        cli,
        in_tmp,
        "plan",
        "--size",
        "1MiB",
        "--gpus",
        8,
        "--collective",
        "all-reduce",
        *planner,
        option,
        file,
        field="",
    )


@pytest.mark.parametrize(("option", "planner"), [("--topology", "static"), ("--candidates", "harvest")])
def test_topologies_that_are_named_often_count_once(cli: RunCli, option: str, planner: str) -> None:
    problem = ["--collective", "all-reduce", "--size", "1MiB", "--gpus", "8", "--planner", planner, "--format", "csv"]
    often = cli("plan", *problem, option, ",".join(["ring"] * 5000))
    assert often == cli("plan", *problem, option, "ring")
    assert often.status == 0


@pytest.mark.parametrize("verb", ["run", "circuits", "simulate", "verify", "export"])
def test_a_workload_in_place_of_a_plan_is_told_how_it_is_planned(in_tmp: Path, cli: RunCli, verb: str) -> None:
    (in_tmp / "workload.json").write_text('{"name": "two", "schema": "lightloom.workload/1", "ranks": 2, "nodes": []}')
    ran = cli(verb, "workload.json", *(("--to", "msccl-xml", "--output", "out.xml") if verb == "export" else ()))
    assert ran.status == 2
    assert ran.err.startswith("error: plan.schema: it is `lightloom.workload/1`; `lightloom.plan/1` is read: ")
    assert "`lightloom train WORKLOAD --output FILE` plans a workload" in ran.err
    assert [path.name for path in in_tmp.iterdir()] == ["workload.json"]
