"""The functions that sample plans on fabrics whose times are uncertain."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Unpack

from lightloom import _core
from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import MIB, read_text
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.requests import build_request
from lightloom.plans import Plan
from lightloom.simulation.simulator import settings_of
from lightloom.training.documents import plan_or_training
from lightloom.uncertainty.result import Drawn, SampledPlan, SampledPlans

if TYPE_CHECKING:
    import os

    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.options import Settings
    from lightloom.simulation.simulator import Assumptions

__all__ = ["OBJECTIVES", "SAMPLES", "sample", "sample_plans"]

OBJECTIVES = ("nominal", "mean", "p50", "p95", "p99")
SAMPLES, MOST_SAMPLES = 10_000, 10_000_000
MOST_FILE_BYTES = 64 * MIB
FIELD = "uncertain"


def sample(
    plan: Plan | str | os.PathLike[str],
    uncertain: str,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    level: str = "model",
    **settings: Unpack[Assumptions],
) -> SampledPlan:
    """Samples of a plan's completion time on a fabric whose times are uncertain.

    plan: a Plan, or a plan's JSON file; one that was read must pass `lightloom.verify`.
    uncertain: quantities with their distributions, such as `"reconfiguration_delay=lognormal:0.3,startup=normal:0.1"`
        (docs/how-to/plan-under-uncertainty.md).
    samples: how many, from 1 to 10 million; seed: of everything random.
    level: where the nominal times of steps come from: `"model"`, the plan's terms; `"packet"` or `"flow"`, a simulation
        with these `settings`, which are those of `lightloom.simulate`, by barriers and global reconfiguration.

    Raises `InputError` that names the argument.
    """
    simulated: dict[str, Any] | None = None
    if level != "model":
        simulated = asdict(settings_of(level=level, **settings))
    elif settings:
        raise refuse(next(iter(settings)), "it is for times that are simulated; give `level`, `packet` or `flow`, too")
    subject = plan_or_training(plan)
    if not isinstance(subject, Plan):
        raise refuse(FIELD, "it is only for plans, and the file is a training iteration")
    drawn = _drawn(uncertain, samples, seed)
    told = _core.sample(subject.core, drawn.uncertain, _file_of_samples, drawn.samples, drawn.seed, simulated)
    return SampledPlan.of(subject, drawn, level, told)


def sample_plans(
    collective: str | None = None,
    size: str | float | None = None,
    *,
    uncertain: str,
    objective: str = "nominal",
    samples: int = SAMPLES,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> SampledPlans:
    """The plans of a problem on a fabric whose times are uncertain, the best by an objective first.

    Candidates are what the planners give for the nominal times, and for times that the slowest parts of the fabric keep
    with probability 0.5, 0.9 and 0.99.

    uncertain, samples: as for `lightloom.sample`. objective: `"nominal"`, the time where nothing is uncertain;
        `"mean"`, `"p50"`, `"p95"` or `"p99"`.
    The seed of the settings is that of the samples, too. Other arguments and errors as for `lightloom.plan`.
    """
    if objective not in OBJECTIVES:
        raise unknown_name("objective", objective, OBJECTIVES)
    seed = settings.get("seed")
    drawn = _drawn(uncertain, samples, 0 if seed is None else seed)
    named = _core.capabilities(str(settings.get("planner") or "auto"))
    if named is not None and named["calls_solver"]:
        raise refuse("objective", f"planner {settings.get('planner')} finds one plan by its nominal time; name another")
    request = build_request(collective, size, fabric, **settings)
    found = _core.plans_by(request, drawn.uncertain, _file_of_samples, objective, drawn.samples, drawn.seed)
    plans = tuple(SampledPlan.of(Plan(core), drawn, "model", told) for core, told, _ in found)
    return SampledPlans(
        objective=objective, drawn=drawn, plans=plans, regrets_s=tuple(regret_s for _, _, regret_s in found)
    )


def _drawn(uncertain: object, samples: object, seed: object) -> Drawn:
    if not isinstance(uncertain, str):
        raise refuse(FIELD, f"`{shown(uncertain)}` is not accepted; it takes text such as startup=normal:0.1")
    return Drawn(
        uncertain=text_of(FIELD, uncertain),
        samples=whole_number("samples", samples, 1, MOST_SAMPLES),
        seed=whole_number("seed", seed, *WHOLE_RANGES["seed"]),
    )


def _file_of_samples(path: str) -> str:
    return read_text(FIELD, path, MOST_FILE_BYTES)
