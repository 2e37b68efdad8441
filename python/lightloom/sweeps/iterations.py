"""A series of training iterations: one workload on a fabric, at points that differ in the fabric's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.errors import InputError, refuse
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.options import FABRIC_KEYS
from lightloom.sweeps.keys import POLICIES
from lightloom.sweeps.outside_files import located
from lightloom.sweeps.series import Outcome
from lightloom.training.planning import train
from lightloom.training.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lightloom.sweeps.series import SeriesKey

__all__ = ["TrainedSeries"]


class TrainedSeries:
    """Points each of which is an iteration that is planned; the workload is read once."""

    def __init__(self, key: SeriesKey) -> None:
        """Read the workload. Raises `InputError` that names `workload`, or an option of its format."""
        settings: dict[str, Any] = {name: located(name, value, key.folder) for name, value in key.settings}
        if "workload" not in settings:
            raise refuse("workload", "it is missing: a file, or a model of `lightloom list models`")
        self._fabric = settings.pop("fabric", "default")
        self._own = {name: settings.pop(name) for name in FABRIC_KEYS if name in settings} | dict(key.numbers)
        self._policy = str(settings.pop("policy", "carry"))
        self._workload = Workload.read(settings.pop("workload"), **settings)

    def evaluate(self, numbers: Mapping[str, NDArray[np.float64]], *, bound: bool) -> Outcome:
        """See `Evaluator`."""
        points = len(next(iter(numbers.values()))) if numbers else 1
        total_s, lower_bound_s, exposed_s = (np.full(points, np.nan) for _ in range(3))
        policies_s = {name: np.full(points, np.nan) for name in POLICIES}
        reconfigurations = np.full(points, -1, dtype=np.int32)
        reasons: dict[int, str] = {}
        for index in range(points):
            varying = {name: float(values[index]) for name, values in numbers.items()}
            try:
                fabric = Fabric.load(self._fabric, **{**self._own, **varying})
                made = train(self._workload, fabric=fabric, policy=self._policy)
            except InputError as error:
                reasons[index] = str(error)
                continue
            total_s[index], lower_bound_s[index] = made.total_s, made.lower_bound_s
            exposed_s[index], reconfigurations[index] = made.exposed_communication_s, made.reconfigurations
            for name, time_s in made.policies.items():
                policies_s[name][index] = np.nan if time_s is None else time_s
        return Outcome(
            total_s,
            reconfigurations,
            np.zeros(points, dtype=np.uint32),
            (("", ""),),
            reasons,
            lower_bound_s=lower_bound_s if bound else None,
            exposed_s=exposed_s,
            policies_s=policies_s,
        )
