"""`serve --export`: what it refuses, before anything is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli


@pytest.mark.parametrize("other", [("--port", "9000"), ("--open",), ("--name", "planner.example.org")])
def test_options_of_a_server_are_refused(cli: RunCli, tmp_path: Path, other: tuple[str, ...]) -> None:
    result = cli("serve", "--export", str(tmp_path / "demo"), *other)
    assert result.status == 2
    assert result.err == f"error: export: it writes files and serves nothing; leave out {other[0]}\n"
    assert not list(tmp_path.iterdir())


def test_a_folder_with_files_is_left_alone(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    result = cli("serve", "--export", str(tmp_path))
    assert result.status == 2
    assert "is not empty" in result.err
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("leads", ["missing", "missing/further", "demo"])
def test_a_link_that_leads_nowhere_is_refused_at_once(cli: RunCli, tmp_path: Path, leads: str) -> None:
    link = tmp_path / "demo"
    link.symlink_to(leads)
    result = cli("serve", "--export", str(link))
    said = f"error: export: `{link}` is a link that leads nowhere; it takes an empty folder, or a new name\n"
    assert (result.status, result.out, result.err) == (2, "", said)
    assert [entry.name for entry in tmp_path.iterdir()] == ["demo"]
    assert link.is_symlink()


@pytest.mark.parametrize("parent", ["/proc", "/sys", "{tmp}/missing"])
def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_computed(
    cli: RunCli, tmp_path: Path, parent: str
) -> None:
    parent = parent.format(tmp=tmp_path)
    result = cli("serve", "--export", f"{parent}/demo")
    assert (result.status, result.out) == (2, "")
    assert result.err == f"error: export: cannot write `{parent}/demo`: there is no writable folder `{parent}`\n"
    assert not list(tmp_path.iterdir())
