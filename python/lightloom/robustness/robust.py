"""Planning an unequal All-to-All once for many iterations, next to planning it anew each time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.errors import InputError, refuse, shown, unknown_name
from lightloom.base.port_rates import one_rate
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.matrices import (
    FIELD,
    MOST_BYTES,
    MOST_ENTRIES,
    MOST_ITERATIONS,
    drawn_matrices,
    read_matrices,
    scaled_matrices,
)
from lightloom.inputs.quantities import number_of
from lightloom.inputs.requests import is_generated
from lightloom.planning import plan
from lightloom.robustness.candidates import Candidate, Clock, best_of, filled
from lightloom.robustness.document import plan_for
from lightloom.robustness.fixed_circuits import FixedPlan
from lightloom.robustness.result import IterationTimes, RobustPlan, iterations_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["OBJECTIVES", "robust"]

OBJECTIVES = ("expected", "worst")
# Number of generated matrices by default.
ITERATIONS, DRIFT, SEED = 8, 0.2, 0
# Bytes of a generated pair before it is scaled to the size.
DRAWN_BYTES = 2.0**30


def robust(
    matrices: str | os.PathLike[str] | ArrayLike | Sequence[ArrayLike],
    size: str | float | None = None,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    objective: str = "expected",
    iterations: int | None = None,
    drift: float | None = None,
    seed: int | None = None,
    hold_out: float | None = None,
    report: Callable[[str], None] = lambda _text: None,
) -> RobustPlan:
    """Plan an unequal All-to-All once for many iterations, and compare that with planning it anew for each of them.

    matrices: by iteration, bytes `[src][dst]` or tokens by rank and expert: a folder of CSV and NPY files, an NPY file
        or an array of three axes; or one of `lightloom list workloads`, such as `"zipf:0.6"`.
    size: of the largest buffer of any rank and iteration, `"64MiB"` or bytes; with `/pair` the mean over all pairs and
        iterations. Left out, a trace has the bytes that are written in it.
    fabric: as for `lightloom.plan`. Where its `initial` is `"repeated"`, changes between iterations are charged.
    objective: `"expected"`, least mean time, or `"worst"`, least time of the slowest iteration.
    iterations, drift, seed: of a generated trace: how many, the share that is drawn anew from one to the next, and of
        everything random; 8, 0.2 and 0 where they are left out.
    hold_out: the last iterations, which the plan is not made for, only judged by: a share above 0 and below 1, or how
        many. A share is rounded to whole iterations, of which at least one is on either side.
    report: is told what is being done.

    The bytes of every pair and iteration are rounded to whole ones. Times are those of the additive cost model, as
    `plan` has them. Raises `InputError` that names the argument.
    """
    if objective not in OBJECTIVES:
        raise unknown_name("objective", objective, OBJECTIVES)
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    if fabric.background_reconfiguration:
        raise refuse(
            "background_reconfiguration", "it is not accepted: what it hides depends on the bytes of each step"
        )
    fabric.refuse_beyond_circuits("plans of many iterations are made")
    one_rate("bandwidth", fabric.rates_bps, None)
    given = {"iterations": iterations, "drift": drift, "seed": seed}
    if is_generated(matrices):
        demands = _drawn(str(matrices), size, fabric, given)
    else:
        for name, value in given.items():
            if value is not None:
                raise refuse(name, "it goes with a generated matrix; a trace says its iterations itself")
        demands = read_matrices(matrices)
    demands = _whole(scaled_matrices(demands, size))
    seen = len(demands) - _held_out(len(demands), hold_out)
    return _compared(demands, seen, fabric.sized(matrices=demands.shape[1]), objective, report)


def _held_out(count: int, hold_out: float | None) -> int:
    """How many of the iterations are held out. Raises `InputError` that names `hold_out`."""
    if hold_out is None:
        return 0
    if count < 2:
        raise refuse("hold_out", "it takes a trace of at least 2 iterations; this one has 1")
    accepts = f"a number from 1 to {count - 1} of the {count} iterations, or a share above 0 and below 1"
    number = number_of("hold_out", hold_out, accepts)
    if 0.0 < number < 1.0:
        return min(max(1, math.floor(number * count + 0.5)), count - 1)
    if not (1 <= number < count and number == math.floor(number)):
        raise refuse("hold_out", f"`{number:g}` is not accepted; it takes {accepts}")
    return int(number)


def _drawn(name: str, size: str | float | None, fabric: Fabric, given: dict[str, Any]) -> NDArray[np.float64]:
    if size is None:
        raise refuse("size", "missing; generated matrices have the size that it says, such as 1MiB/pair")
    gpus = fabric.sized().gpus or 0
    told = {key: value for key, value in given.items() if value is not None}
    iterations = whole_number("iterations", told.get("iterations", ITERATIONS), 1, MOST_ITERATIONS)
    seed = whole_number("seed", told.get("seed", SEED), *WHOLE_RANGES["seed"])
    drift = number_of("drift", told.get("drift", DRIFT), "a number from 0 to 1")
    if not 0.0 <= drift <= 1.0:
        raise refuse("drift", f"`{shown(drift)}` is not accepted; it takes a number from 0 to 1")
    most = MOST_ENTRIES // (gpus * gpus)
    if iterations > most:
        raise refuse("iterations", f"{iterations} of {gpus} GPUs are not accepted; it takes at most {most}")
    try:
        return drawn_matrices(name, gpus, DRAWN_BYTES, matrices=iterations, drift=drift, seed=seed)
    except InputError as error:
        if error.field != "matrix":
            raise
        raise refuse(FIELD, str(error).partition(": ")[2]) from error


def _whole(demands: NDArray[np.float64]) -> NDArray[np.float64]:
    """Whole bytes. Raises `InputError` that names `matrices` where an iteration sends none, or `size` if too many."""
    whole = np.rint(demands)
    if not whole.max() <= MOST_BYTES:
        raise refuse(
            "size", f"a pair would send {whole.max():g} bytes; it takes a size at which no pair sends more than 2^53"
        )
    for index, matrix in enumerate(whole):
        if matrix.sum() <= np.trace(matrix):
            raise refuse(FIELD, f"iteration {index} sends no whole byte between two ranks; give a larger size")
    return whole


def _with_all(matrices: NDArray[np.float64], sends: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The matrices with some bytes for each pair of `sends` that sends none in any of them."""
    never = sends & ~matrices.any(axis=0)
    return np.array([np.where(never, filled(matrix, sends), matrix) for matrix in matrices])


def _compared(
    demands: NDArray[np.float64], seen: int, fabric: Fabric, objective: str, report: Callable[[str], None]
) -> RobustPlan:
    """The plan for the first `seen` iterations, with paths for every pair if there are others, and the times of all."""
    ranks, clock = demands.shape[1], Clock(fabric)
    apart = ~np.eye(ranks, dtype=bool)
    sends = apart if seen < len(demands) else demands.any(axis=0) & apart
    own, known = [], []
    for index, matrix in enumerate(demands):
        report(f"iteration {index + 1} of {len(demands)}")
        own.append(clock.planned(matrix))
        complete = filled(matrix, sends)
        known.append(own[-1] if (complete == matrix).all() else clock.planned(complete))
    report("all iterations together")
    made_on = _with_all(demands[:seen], sends)
    mean, largest = made_on.mean(axis=0), made_on.max(axis=0)
    equal = max(1.0, np.rint(mean[apart].mean()))
    uniform = FixedPlan.of_plan(plan("all-to-all", f"{int(equal)}B/pair", fabric=fabric))
    together = iterations_text(seen, len(demands))
    candidates = [
        Candidate(f"the mean of {together}", clock.planned(np.rint(np.where(sends, np.maximum(mean, 1.0), mean)))),
        Candidate("the largest bytes of each pair", clock.planned(largest)),
        *(Candidate(f"iteration {index}", one) for index, one in enumerate(known[:seen])),
        Candidate("equal blocks", uniform),
    ]
    chosen, tried = best_of(candidates, made_on, clock, worst=objective == "worst", report=report)
    count = len(demands)
    options = []
    for index, matrix in enumerate(demands):
        report(f"iteration {index + 1} of {count} by itself")
        tuned = [clock.with_best_shares(one, matrix[None]) for one in (chosen.plan, *tried)]
        options.append([own[index], chosen.plan, *tuned])
    each = clock.cheapest(options, demands)
    times_s = {
        "once": clock.times_s([chosen.plan] * count, demands),
        "uniform": clock.times_s([uniform] * count, demands),
        "previous": clock.times_s([uniform, *known[:-1]], demands),
        "each": clock.times_s(each, demands),
    }
    iterations = tuple(
        IterationTimes(
            iteration=index,
            held_out=index >= seen,
            traffic_bytes=float(matrix[apart].sum()),
            **{f"{name}_s": found[index] for name, found in times_s.items()},
        )
        for index, matrix in enumerate(demands)
    )
    document = plan_for(chosen.plan, largest if objective == "worst" else mean, fabric)
    return RobustPlan(objective, document, chosen.made_for, chosen.optimised, chosen.plan, iterations)
