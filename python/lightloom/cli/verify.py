"""The verb `verify`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lightloom.cli.options import verb
from lightloom.errors import InputError, refuse
from lightloom.files import read_text
from lightloom.views.rows import rows_as_csv

if TYPE_CHECKING:
    from lightloom.planning import Check


@verb("verify")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
def command(files: tuple[str, ...], output_format: str) -> int:
    """Check plans (JSON) and schedules (MSCCL XML, and what else `list formats` reads), told apart by their content.

    Either is executed symbolically: it must compute its collective. A plan's ports, paths, loads, costs and total
    are recomputed from the plan alone as well, and so is its lower bound, where the class of schedules that it names is
    known; else it is "stated, not checked". Exit status 1 when a check fails, 2 when a file cannot be read.

    \b
    Example:
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --output plan.json
      lightloom verify plan.json
    """  # noqa: D301
    checked = [(file, *verify_file(file)) for file in files]
    passed = all(check.passed for _, _, checks in checked for check in checks)
    if output_format == "json":
        click.echo(json.dumps(_as_json(checked, passed=passed), indent=1, ensure_ascii=False))
    elif output_format == "csv":
        told = (
            {"file": file, "kind": subject, **check._asdict()} for file, subject, checks in checked for check in checks
        )
        click.echo(rows_as_csv(told))
    else:
        from lightloom.views.tables.checks import checks_table

        for file, subject, checks in checked:
            click.echo(checks_table(file, subject, checks))
    return 0 if passed else 1


def verify_file(path: str) -> tuple[str, list[Check]]:
    """What the file is, and its checks. Raises `InputError` when it is neither a plan nor a schedule."""
    from lightloom import verify
    from lightloom.formats import readable_schedules
    from lightloom.inputs.schedules.reading import schedule_of_text
    from lightloom.plans import MAX_FILE_BYTES, Plan

    text = read_text("file", path, MAX_FILE_BYTES)
    try:
        schedule = schedule_of_text(text)
        if schedule is not None:
            return "schedule", verify(schedule)
        if text.lstrip().startswith("{"):
            return "plan", verify(Plan.from_json(text))
    except InputError as error:
        raise InputError(error.field, f"{error} (in `{path}`)") from error
    names = ", ".join(one.name for one in readable_schedules())
    raise refuse("file", f"`{path}` is neither a plan (JSON) nor a schedule ({names})")


def _as_json(checked: list[tuple[str, str, list[Check]]], *, passed: bool) -> dict[str, Any]:
    return {
        "passed": passed,
        "files": [
            {
                "file": file,
                "kind": subject,
                "passed": all(check.passed for check in checks),
                "checks": [check._asdict() for check in checks],
            }
            for file, subject, checks in checked
        ],
    }
