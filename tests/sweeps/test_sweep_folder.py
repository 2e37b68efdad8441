"""A sweep's folder: files that no sweep wrote are refused and stay, and parts count where they say that they belong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.sweeps.description import SweepDescription
from lightloom.sweeps.engines import evaluate_chunk
from lightloom.sweeps.labels import label_of
from lightloom.sweeps.store import LABEL, PARTS, opened

SWEEP: dict[str, Any] = {
    "engine": "flow",  # a point a part
    "settings": {"collective": "all-gather", "gpus": 8, "algorithm": "ring", "planner": "harvest"},
    "axes": {"size": ["1KiB", "1MiB", "4MiB", "16MiB"]},
    "plots": [],
}
OTHER: dict[str, Any] = {**SWEEP, "axes": {"size": ["2KiB", "2MiB", "8MiB", "32MiB"]}}
POINTS = 4


@pytest.fixture(scope="module")
def whole() -> Any:
    """The table of a sweep without a folder."""
    return ll.sweep(SWEEP).to_arrow()


def snapshot(folder: Path) -> dict[str, tuple[str, object]]:
    """Everything under a folder but the lock: its kind, and its content or target."""
    made: dict[str, tuple[str, object]] = {}
    for file in sorted(folder.rglob("*")):
        if file.name != ".lock":
            kind = "link" if file.is_symlink() else "folder" if file.is_dir() else "file"
            content = str(file.readlink()) if kind == "link" else file.read_bytes() if kind == "file" else None
            made[str(file.relative_to(folder))] = (kind, content)
    return made


def linked_parts(out: Path) -> None:
    mine = out.parent / "mine"
    mine.mkdir()
    (mine / "000000.parquet").write_bytes(b"mine")
    (out / PARTS).symlink_to(mine)


def parts_with(name: str, content: bytes = b"mine") -> Callable[[Path], None]:
    def make(out: Path) -> None:
        (out / PARTS).mkdir()
        (out / PARTS / name).write_bytes(content)

    return make


def marked_parts_with_more(out: Path) -> None:
    parts_with(LABEL, label_of(SweepDescription.of(SWEEP)).encode())(out)
    (out / PARTS / "thesis.txt").write_bytes(b"mine")


def marked_parts_with_link(out: Path) -> None:
    parts_with(LABEL, label_of(SweepDescription.of(SWEEP)).encode())(out)
    (out.parent / "mine").write_bytes(b"mine")
    (out / PARTS / "000001.parquet").symlink_to(out.parent / "mine")


def linked_table(out: Path) -> None:
    (out.parent / "mine").write_bytes(b"mine")
    (out / "sweep.parquet").symlink_to(out.parent / "mine")


# Files that no sweep left behind; the last one may be replaced with --restart, which says so.
FOREIGN: dict[str, Callable[[Path], Any]] = {
    "parts is a file": lambda out: (out / PARTS).write_bytes(b"mine"),
    "parts is a link": linked_parts,
    "parts leads nowhere": lambda out: (out / PARTS).symlink_to("nowhere"),
    "parts has a file": parts_with("thesis.txt"),
    "parts has no mark": parts_with("000000.parquet"),
    "parts has another mark": parts_with(LABEL, b'{"schema": "mine"}'),
    "parts has a folder": lambda out: (out / PARTS / "000000.parquet").mkdir(parents=True),
    "parts has more": marked_parts_with_more,
    "a part is a link": marked_parts_with_link,
    "the table is a link": linked_table,
    "the table is a folder": lambda out: (out / "sweep.parquet").mkdir(),
    "the table is no table": lambda out: (out / "sweep.parquet").write_bytes(b"mine"),
    "the lock is a link": lambda out: (out / ".lock").symlink_to(out.parent / "mine"),
    "a picture": lambda out: (out / "sweep-time.png").write_bytes(b"mine"),
}


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("name", FOREIGN)
def test_what_no_sweep_wrote_is_refused_and_stays(tmp_path: Path, name: str, restart: bool) -> None:
    out = tmp_path / "out"
    out.mkdir()
    FOREIGN[name](out)
    before = snapshot(tmp_path)
    if restart and name == "a picture":
        ll.sweep(SWEEP, output=out, restart=True)
        assert (out / "sweep-time.png").read_bytes() == b"mine"
        return
    with pytest.raises(InputError, match=r"^output: "):
        ll.sweep(SWEEP, output=out, restart=restart)
    assert snapshot(tmp_path) == before


def test_what_the_user_keeps_in_the_folder_stays(tmp_path: Path) -> None:
    for name in (".sweep.parquet.backup", "notes.txt", ".lightloom-mine"):
        (tmp_path / name).write_bytes(b"mine")
    torn = tmp_path / ".lightloom-e4b12c8a-0123456789abcdef.tmp"
    torn.write_bytes(b"of another output")
    ll.sweep(SWEEP, output=tmp_path)
    left = {".sweep.parquet.backup", "notes.txt", ".lightloom-mine", torn.name, ".lock", "sweep.parquet"}
    assert {file.name for file in tmp_path.iterdir()} == left


def filled(folder: Path, description: dict[str, Any]) -> list[Path]:
    """All parts of a sweep that was stopped before its table."""
    made = SweepDescription.of(description)
    with opened(made, folder, restart=False) as store:
        for chunk in range(POINTS):
            store.put(chunk, evaluate_chunk(made, store.digest, chunk))
    return sorted((folder / PARTS).glob("*.parquet"))


@pytest.mark.large
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=12)
@given(order=st.permutations(range(POINTS)), others=st.sets(st.integers(0, POINTS - 1)))
def test_a_part_counts_where_it_says_that_it_belongs(
    tmp_path_factory: pytest.TempPathFactory, whole: Any, order: list[int], others: set[int]
) -> None:
    own = filled(tmp_path_factory.mktemp("own"), SWEEP)
    other = filled(tmp_path_factory.mktemp("other"), OTHER)
    contents = [(other if place in others else own)[chunk].read_bytes() for place, chunk in enumerate(order)]
    for file, content in zip(own, contents, strict=True):
        file.write_bytes(content)
    result = ll.sweep(SWEEP, output=own[0].parent.parent)
    assert result.found == sum(place == chunk and place not in others for place, chunk in enumerate(order))
    assert result.to_arrow().equals(whole)


def test_a_file_that_changed_within_one_process_is_read_again(in_tmp: Path) -> None:
    sweep = {**SWEEP, "settings": {**SWEEP["settings"], "fabric": "lab.toml"}}
    del sweep["settings"]["gpus"]
    (in_tmp / "lab.toml").write_text("gpus = 8\n")
    first = ll.sweep(sweep)["total_s"]
    (in_tmp / "lab.toml").write_text('gpus = 8\nbandwidth = "80Gbps"\n')
    assert (ll.sweep(sweep)["total_s"] > first).all()


def test_a_worker_with_other_files_is_refused() -> None:
    cluster = pytest.importorskip("lightloom.sweeps.cluster")
    with pytest.raises(InputError, match="scheduler: a worker has other files"):
        cluster.run_chunk(SweepDescription.of(SWEEP), "0123456789abcdef", 0, ll.__version__)


def test_the_label_is_json_of_what_results_depend_on() -> None:
    assert json.loads(label_of(SweepDescription.of(SWEEP)))["schema"] == "lightloom.sweep/1"


def test_a_folder_whose_name_is_no_text_is_one_like_others(tmp_path: Path, whole: Any) -> None:
    folder = tmp_path / "\udc80"
    for _run in range(2):
        assert ll.sweep(SWEEP, output=folder).to_arrow().equals(whole)
