"""The verbs `compare` and `plan` for all single faults of a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.cli.options import given_of, problem_arguments
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.inputs.options import OF_PLAN
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom import Fallbacks, FaultCosts


def compared_faults(options: dict[str, Any], others: dict[str, Any], plot: str | None, output_format: str) -> str:
    """The text that is printed for `--failed any-port` and the like; the picture is written where it is asked for.

    others: options that do not go with it.
    """
    from lightloom.faults.costs import fault_costs

    _refuse(others)
    failed = options.pop("failed")
    arguments = problem_arguments(options)
    status = Status()
    found = with_progress("comparing", lambda: fault_costs(**arguments, failed=failed, report=_saying(status)), status)
    if plot is not None:
        with_progress("drawing", lambda: found.plot(plot))
    return _text(found, output_format)


def planned_fallbacks(options: dict[str, Any], others: dict[str, Any], output: str | None, output_format: str) -> str:
    """The text that `plan` prints for kinds of faults; the plans are written where that is asked for.

    others: options that do not go with it.
    """
    from lightloom.faults.fallbacks import fallbacks, unfinished

    _refuse({**others, **given_of({option.name: options.pop(option.name, None) for option in OF_PLAN})})
    known = None if output is None else unfinished(output)
    check_outputs()
    failed = options.pop("failed")
    arguments = problem_arguments(options)
    status = Status()
    found = with_progress(
        "planning",
        lambda: fallbacks(**arguments, failed=failed, known=known, output=output, report=_saying(status)),
        status,
    )
    return fallbacks_text(found, output_format)


def fallbacks_text(found: Fallbacks, output_format: str) -> str:
    """The text that is printed for plans for all single faults."""
    if output_format == "json":
        return found.to_json()
    if output_format == "csv":
        return as_csv(found.to_columns())
    from lightloom.views.tables.fallbacks import fallbacks_table

    return fallbacks_table(found)


def _saying(status: Status) -> Callable[[int, int], None]:
    return lambda done, total: status.say(f"{done:,} of {total:,} faults")


def _refuse(others: dict[str, Any]) -> None:
    for name, value in others.items():
        if value:
            raise refuse(name, "it cannot be combined with a kind of faults, such as --failed any-port")


def _text(found: FaultCosts, output_format: str) -> str:
    if output_format == "json":
        return found.to_json()
    if output_format == "csv":
        return as_csv(found.to_columns())
    from lightloom.views.tables.fault_costs import fault_costs_table

    return fault_costs_table(found)
