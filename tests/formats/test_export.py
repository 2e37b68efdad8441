"""The verb `export` and the registry of formats: outputs, refusals, and no output half-written."""

import json
import os
import resource
import signal
from importlib import import_module
from pathlib import Path

import pytest
from docs.generators.formats_page import PAGE, page

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.base.files import write_files
from lightloom.formats import FILE, FOLDER, FORMATS, Format, written_formats
from lightloom.formats import output as exported
from tests.conftest import ROOT, RunCli

PACKAGE = ROOT / "python" / "lightloom"


@pytest.fixture
def plan(in_tmp: Path) -> Path:
    ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4), algorithm="ring").save(in_tmp / "plan.json")
    return in_tmp / "plan.json"


def output_of(one: Format) -> str:
    return "exported" if one.written == FOLDER else "exported.out"


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_a_format_is_what_its_line_says(one: Format) -> None:
    assert one.written in {"", FILE, FOLDER}
    assert one.written or one.read or one.workload
    assert one.cannot_say or not one.written
    for module in filter(None, (one.writer, one.reader, one.workload_reader)):
        assert import_module(module).__doc__


def test_every_folder_of_a_format_is_registered() -> None:
    roles = ("write", "read", "workload")
    files = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in (PACKAGE / "formats").glob("*/*.py")
        if path.stem in roles
    }
    assert files == {module for one in FORMATS for module in (one.writer, one.reader, one.workload_reader) if module}
    folders = {path.parent.name for path in (PACKAGE / "formats").glob("*/__init__.py")}
    assert folders == {one.name.replace("-", "_") for one in FORMATS}


@pytest.mark.parametrize("one", written_formats().values(), ids=lambda one: one.name)
def test_every_format_is_written_from_the_command_line(one: Format, cli: RunCli, plan: Path) -> None:
    ran = cli("export", plan, "--to", one.name, "--output", output_of(one))
    assert (ran.status, ran.err) == (0, "")
    assert one.cannot_say in " ".join(ran.out.split())
    written = {path for path in Path().rglob("*") if path.is_file()} - {Path("plan.json")}
    assert written
    for path in written:
        assert str(path) in ran.out
    assert not list(Path().rglob("*.tmp"))


@pytest.mark.parametrize("one", written_formats().values(), ids=lambda one: one.name)
def test_json_names_every_file(one: Format, cli: RunCli, plan: Path) -> None:
    ran = cli("export", plan, "--to", one.name, "--output", output_of(one), "--format", "json")
    told = json.loads(ran.out)
    assert (told["format"], told["cannot_say"]) == (one.name, one.cannot_say)
    sizes = {file["path"]: file["size_bytes"] for file in told["files"]}
    found = {str(path): path.stat().st_size for path in Path().rglob("*") if path.is_file()}
    del found["plan.json"]
    assert sizes == found
    assert told["side_file"] in sizes


def test_what_is_missing_or_unknown_is_said(cli: RunCli, plan: Path) -> None:
    for arguments, said in (
        ((), "error: to, output: missing; such as: "),
        (("--to", "harvest"), "error: output: missing; such as: "),
        (("--output", "x"), "error: to: missing; such as: "),
        (("--to", "harvset", "--output", "x"), "error: to: unknown name `harvset`, did you mean `harvest`?"),
        (("--to", "harvest", "--output", "no/such/x"), "error: output: cannot write `no/such/x`: "),
        (("--to", "harvest", "--output", "plan.json"), "error: output: `plan.json` is not a folder; "),
    ):
        ran = cli("export", plan, *arguments)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith(said)
        assert ran.err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["plan.json"]


def test_a_folder_with_files_is_left_alone(cli: RunCli, plan: Path) -> None:
    folder = Path("there")
    folder.mkdir()
    assert cli("export", plan, "--to", "harvest", "--output", "there").status == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = cli("export", plan, "--to", "harvest", "--output", "there")
    assert ran.status == 2
    assert ran.err == "error: output: `there` is not empty; it takes an empty folder, or the name of a new one\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_plan_that_does_not_verify_is_not_exported(cli: RunCli, plan: Path) -> None:
    plan.write_text(plan.read_text().replace('"hops": 1', '"hops": 2'))
    for one in written_formats().values():
        ran = cli("export", plan, "--to", one.name, "--output", output_of(one))
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith("error: plan: the plan fails the check `hops`: ")
    assert [path.name for path in Path().iterdir()] == ["plan.json"]


def test_nothing_is_half_written(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full after the first file of a folder: no folder, and no temporary one either."""
    written: list[Path] = []
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if written:
            raise OSError(28, os.strerror(28))
        written.append(path)
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"^output: cannot write `out`: No space left on device$"):
        ll.export(plan, "harvest", "out")
    assert written
    assert [path.name for path in Path().iterdir()] == ["plan.json"]


def test_nothing_is_written_of_a_file_whose_side_file_does_not_fit(
    plan: Path,
) -> None:
    """A limit on the size of files, which the program is within and its side file beyond, or the other way round."""
    sizes = sorted(file.size_bytes for file in ll.export(plan, "msccl-xml", "small.xml").files)
    for path in Path().glob("small.*"):
        path.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[0], before[1]))
        with pytest.raises(OSError, match=r"^output: cannot write `plan\.xml(\.circuits\.json)?`: File too large$"):
            ll.export(plan, "msccl-xml", "plan.xml")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert [path.name for path in Path().iterdir()] == ["plan.json"]


@pytest.mark.parametrize("large", ["first", "last"])
def test_of_several_files_none_is_left_where_one_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: str
) -> None:
    """Small enough that nothing reaches the disk before the file is flushed; the file that is too large is named."""
    monkeypatch.chdir(tmp_path)
    contents = {Path(name): b"x" * (5000 if name == large else 100) for name in ("first", "last")}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError, match=rf"^output: cannot write `{large}`: File too large$"):
            write_files([("output", path, content) for path, content in contents.items()])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []


def test_python_takes_plans_and_files_and_refuses_the_rest(plan: Path) -> None:
    made = ll.export(ll.Plan.load(plan), "harvest", "a")
    assert [file.path.read_bytes() for file in made.files] == [
        file.path.read_bytes() for file in ll.export(plan, "harvest", "b").files
    ]
    assert made.side_file in {file.path for file in made.files}
    with pytest.raises(InputError, match=r"^plan: `7` is not accepted"):
        ll.export(7, "harvest", "c")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^to: `7` is not accepted"):
        ll.export(plan, 7, "c")  # type: ignore[arg-type]


def test_the_side_file_has_every_topology_and_path(plan: Path) -> None:
    loaded = ll.Plan.load(plan)
    side = json.loads(ll.export(loaded, "harvest", "out").side_file.read_bytes())
    assert side["schema"] == "lightloom.exported-circuits/1"
    assert side["total_s"] == loaded.total_s
    for step, told in zip(loaded.steps, side["steps"], strict=True):
        assert side["topologies"][told["topology"]]["links"] == step.topology.links.tolist()
        assert told["reconfigured"] == step.reconfigured
        terms = (told[name] for name in ("startup_s", "propagation_s", "transmission_s", "reconfiguration_s"))
        assert sum(terms) == pytest.approx(step.total_s, rel=1e-12)
        for source, destination, share, gpus in told["routes"]:
            assert (gpus[0], gpus[-1], share) == (source, destination, 1.0)
        chunks = [(source, destination, operation) for source, destination, operation, _ in told["transfers"]]
        assert chunks == [one[:3] for one in loaded.transfers(step.index)]
    assert exported.SIDE == ".circuits.json"


def test_the_page_of_formats_is_what_the_registry_says() -> None:
    assert page() == PAGE.read_text(), "run: python -m docs.generators.formats_page"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plan.txt", "file: `plan.txt` is neither a plan (JSON), nor a training iteration (JSON), nor circuits "),
        (
            "plan.txt.circuits.json",
            "file: `plan.txt.circuits.json` is the side file of an export; give the exported file or folder",
        ),
    ],
)
def test_what_cannot_be_verified_is_not_taken_for_a_plan(name: str, said: str, cli: RunCli, plan: Path) -> None:
    assert cli("export", plan, "--to", "mscclpp", "--output", "plan.txt").status == 0
    ran = cli("verify", name)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {said}")
