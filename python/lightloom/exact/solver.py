"""HiGHS, from rows and variables that are added one by one."""

from __future__ import annotations

import math
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.extras import missing

if TYPE_CHECKING:
    import highspy
    from numpy.typing import NDArray

# Relative difference of bound and solution at which the search ends.
GAP = 1e-6
# Seconds between two looks for an interrupt while HiGHS solves.
LOOK_S = 0.05


class LinearProgram:
    """A minimisation, whose variables may be integers.

    duals: of the rows, in their order, once a programme without integers is solved.
    """

    def __init__(self) -> None:
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._cost: list[float] = []
        self._integer: list[bool] = []
        self._rows: list[tuple[float, float]] = []
        self._starts: list[int] = [0]
        self.duals: NDArray[np.float64] | None = None
        self._columns: list[int] = []
        self._values: list[float] = []

    def variable(self, lower: float, upper: float, *, cost: float = 0.0, integer: bool = False) -> int:
        """A new variable's index."""
        self._lower.append(lower)
        self._upper.append(upper)
        self._cost.append(cost)
        self._integer.append(integer)
        return len(self._lower) - 1

    def row(self, terms: dict[int, float], *, lower: float = -math.inf, upper: float = math.inf) -> None:
        """Add the row lower ≤ Σ value · variable ≤ upper."""
        self._rows.append((lower, upper))
        self._columns += terms.keys()
        self._values += terms.values()
        self._starts.append(len(self._columns))

    def solve(
        self, seconds: float, what: str = "exact for several ports", field: str = "planner"
    ) -> tuple[float, NDArray[np.float64] | None]:
        """A lower bound on the optimum, and the best values that were found in that wall-clock time, if any.

        The bound is infinite where there is no solution. Raises `InputError` where HiGHS is not installed, which names
        `field`, and what needs it.
        """
        try:
            import highspy
        except ImportError as error:
            raise missing(field, what, "highspy") from error
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(self._lower), len(self._rows)
        program.col_cost_ = np.array(self._cost)
        program.col_lower_, program.col_upper_ = np.array(self._lower), np.array(self._upper)
        program.row_lower_, program.row_upper_ = np.array(self._rows).T.copy()
        kinds = highspy.HighsVarType
        program.integrality_ = [kinds.kInteger if integer else kinds.kContinuous for integer in self._integer]
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.array(self._starts, dtype=np.int32)
        program.a_matrix_.index_ = np.array(self._columns, dtype=np.int32)
        program.a_matrix_.value_ = np.array(self._values)
        solver = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "time_limit": max(seconds, 0.0),
            "mip_rel_gap": GAP,
            "random_seed": 0,
        }.items():
            solver.setOptionValue(option, value)
        solver.passModel(program)
        run_solver(solver)
        status, info = solver.getModelStatus(), solver.getInfo()
        if status == highspy.HighsModelStatus.kInfeasible:
            return math.inf, None
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        bound = float(info.mip_dual_bound)
        if not any(self._integer):
            bound = float(info.objective_function_value) if status == highspy.HighsModelStatus.kOptimal else -math.inf
            if found:
                self.duals = np.array(solver.getSolution().row_dual)
        return bound, np.array(solver.getSolution().col_value) if found else None


def run_solver(solver: highspy.Highs) -> None:
    """Solve; an interrupt is raised here, and HiGHS leaves off."""
    import highspy

    interruption, ended = _core.Interruption(), Event()

    def solve() -> None:
        try:
            solver.run()
        finally:
            ended.set()

    solver.setCallback(_leave_off, None)
    # No daemon: HiGHS takes up to some seconds to leave off, and would abort a Python that is gone by then.
    Thread(target=solve).start()
    try:
        while not ended.wait(LOOK_S):
            interruption.check()
    except BaseException:
        # The callbacks start only here, since HiGHS calls them in every iteration.
        kinds = highspy.cb.HighsCallbackType
        for kind in (kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt, kinds.kCallbackMipInterrupt):
            solver.startCallback(kind)
        raise


def _leave_off(_kind: Any, _message: str, _found: Any, told: Any, _own: Any) -> None:
    """Callback of HiGHS at points where it may be interrupted."""
    told.user_interrupt = True
