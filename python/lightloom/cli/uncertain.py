"""The verbs `simulate`, `plan` and `compare` for fabrics whose times are uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.cli.progress import with_progress
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom import SampledPlans


def take_uncertain(options: dict[str, Any]) -> dict[str, Any]:
    """The options about uncertain times that were given, taken out of `options`.

    Raises `InputError` that names one that is given without `uncertain`.
    """
    names = ("objective", "samples")
    given = {name: value for name in names if (value := options.pop(name, None)) is not None}
    uncertain = options.pop("uncertain", None)
    if uncertain is not None:
        return {"uncertain": uncertain, **given}
    for name in given:
        raise refuse(name, "it goes with --uncertain, such as --uncertain reconfiguration_delay=lognormal:0.3")
    return {}


def sampled_text(plan: str, uncertain: dict[str, Any], plot: str | None, output_format: str) -> str:
    """The text that `simulate` prints for samples of a plan; `uncertain` are the arguments of `lightloom.sample`."""
    from lightloom.uncertainty.sampling import sample
    from lightloom.views.tables.samples import sampled_table

    found = with_progress("sampling", lambda: sample(plan, **uncertain))
    if plot is not None:
        found.plot(plot)
    if output_format == "json":
        return found.to_json()
    return as_csv(found.to_columns()) if output_format == "csv" else sampled_table(found)


def sampled_plans(arguments: dict[str, Any], uncertain: dict[str, Any]) -> SampledPlans:
    """The plans of a problem with samples of their times; `arguments` are those of `lightloom.plan`."""
    from lightloom.uncertainty.sampling import sample_plans

    return with_progress("planning", lambda: sample_plans(**arguments, **uncertain))


def sampled_plans_text(found: SampledPlans, output_format: str) -> str:
    """The text that `plan` and `compare` print for plans with samples."""
    if output_format == "json":
        return found.to_json()
    if output_format == "csv":
        return as_csv(found.to_columns())
    from lightloom.views.tables.samples import sampled_plans_table

    return sampled_plans_table(found)
