"""The form of every refusal of wrong input."""

from pathlib import Path

from tests.conftest import RunCli


def assert_refused(cli: RunCli, folder: Path, *arguments: object, field: str) -> str:
    """Run `lightloom ARGUMENTS` in a folder; the message."""
    before = sorted(folder.rglob("*"))
    ran = cli(*arguments)
    assert ran.status == 2, ran
    assert ran.out == ""
    assert ran.err.count("\n") == 1, ran.err
    assert ran.err.endswith("\n")
    assert ran.err.startswith(f"error: {field}"), ran.err
    assert "Traceback" not in ran.err
    assert sorted(folder.rglob("*")) == before
    return ran.err
