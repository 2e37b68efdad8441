"""A linear programme to which variables are added between solutions, each of which begins at the one before."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lightloom.base.extras import missing
from lightloom.exact.solver import run_solver

if TYPE_CHECKING:
    import highspy
    from numpy.typing import NDArray

__all__ = ["GrowingProgram"]


class GrowingProgram:
    """A minimisation with rows `lower ≤ row ≤ upper`, whose variables are at least 0.

    Raises `InputError` that names `field`, and what needs it, where HiGHS is not installed.
    """

    def __init__(self, what: str, field: str) -> None:
        try:
            from highspy import Highs
        except ImportError as error:
            raise missing(field, what, "highspy") from error
        self._solver: highspy.Highs = Highs()  # type: ignore[no-untyped-call]
        for option, value in {"output_flag": False, "random_seed": 0, "threads": 1}.items():
            self._solver.setOptionValue(option, value)
        self.rows = 0

    def row(self, *, lower: float = -math.inf, upper: float = math.inf) -> int:
        """A new row's index; it has no terms yet."""
        self._solver.addRow(lower, upper, 0, [], [])
        self.rows += 1
        return self.rows - 1

    def variable(self, terms: dict[int, float], *, cost: float = 0.0) -> None:
        """Add a variable with these values in the rows."""
        self._solver.addCol(cost, 0.0, math.inf, len(terms), list(terms), list(terms.values()))

    def solve(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """The optimum, the values of the variables, and the duals of the rows."""
        run_solver(self._solver)
        solution = self._solver.getSolution()
        optimum = float(self._solver.getInfo().objective_function_value)
        return optimum, np.array(solution.col_value), np.array(solution.row_dual)
