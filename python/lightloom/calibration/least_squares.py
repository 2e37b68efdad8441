"""Least squares with terms of at least zero, in relative, robust or absolute errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ERRORS = ("relative", "robust", "absolute")
# Huber's bound, in standard deviations: 95 % as efficient as squares where errors are normal (Huber 1981, ch. 4).
HUBER = 1.345
# Standard deviation of a normal variable over the median of its absolute value.
DEVIATION_PER_MEDIAN = 1.4826
ITERATIONS = 100
SETTLED = 1e-13


class Fit(NamedTuple):
    """values: of the terms, all at least zero; kept: which terms were not held at zero.

    free, deviations: the terms when no term is held at zero, and their standard deviations.
    fitted: the values of the fit with the offset; freedom: rows less terms; standardised: residuals in units of their
    typical size, from the median.
    """

    values: NDArray[np.float64]
    kept: NDArray[np.bool_]
    free: NDArray[np.float64]
    deviations: NDArray[np.float64]
    fitted: NDArray[np.float64]
    freedom: int
    standardised: NDArray[np.float64]


def fit_by_errors(
    errors: str, matrix: NDArray[np.float64], measured: NDArray[np.float64], offset: NDArray[np.float64]
) -> Fit:
    """Fit `measured = matrix @ values + offset` with values of at least zero.

    matrix: shape (rows, terms), of at least as many rows and of full rank; measured: above zero.
    errors: of `ERRORS`. Relative errors are of the fitted value, not of the measured one: dividing by the measured one
        favours times that are small by chance.

    A term that comes out below zero is held at zero and the rest fitted again. Raises `LinAlgError` where numbers are
    too large or too small to compute with.
    """
    kept = np.ones(matrix.shape[1], dtype=np.bool_)
    while True:
        values, weights = _reweighted(errors, matrix[:, kept], measured, offset)
        if values.min() >= 0 or kept.sum() == 1:
            break
        kept[np.flatnonzero(kept)[values.argmin()]] = False
    whole = np.zeros(len(kept))
    whole[kept] = np.maximum(values, 0.0)
    fitted = matrix @ whole + offset
    residuals = (measured - fitted) * weights
    typical = DEVIATION_PER_MEDIAN * float(np.median(np.abs(residuals)))
    freedom = len(measured) - matrix.shape[1]
    free, deviations = whole, np.zeros(len(kept))
    if freedom:
        if not kept.all():
            free, weights = _reweighted(errors, matrix, measured, offset, fitted)
        scaled = matrix * weights[:, None]
        # Columns of one length: bytes and steps differ by many orders of magnitude.
        lengths = np.linalg.norm(scaled, axis=0)
        even = _finite(scaled / lengths)
        spread = np.sqrt(np.diag(np.linalg.pinv(even.T @ even))) / lengths
        of_free = (measured - offset - matrix @ free) * weights
        deviations = spread * (
            _huber_deviation(of_free, freedom) if errors == "robust" else np.sqrt(np.sum(of_free**2) / freedom)
        )
    return Fit(whole, kept, free, deviations, fitted, freedom, residuals / max(typical, 1e-300))


def _reweighted(
    errors: str,
    matrix: NDArray[np.float64],
    measured: NDArray[np.float64],
    offset: NDArray[np.float64],
    expected: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values, and the factors that turn residuals into errors of the kind that is minimised.

    expected: the reference of relative errors, if it is not the fit itself.
    """
    target = measured - offset
    factors = np.full(len(measured), 1 / measured.mean()) if errors == "absolute" else 1 / measured
    trust = np.ones(len(measured))
    values = _solve(matrix, target, factors)
    for _ in range(0 if errors == "absolute" else ITERATIONS):
        fitted = matrix @ values + offset if expected is None else expected
        # A fit that is not above zero there (yet) says nothing about the size of the errors.
        factors = 1 / np.where(fitted > measured / 100, fitted, measured)
        if errors == "robust":
            residuals = np.abs(measured - fitted) * factors
            typical = max(DEVIATION_PER_MEDIAN * float(np.median(residuals)), 1e-15)
            trust = np.sqrt(np.minimum(1.0, HUBER / np.maximum(residuals / typical, HUBER)))
        before, values = values, _solve(matrix, target, factors * trust)
        if np.all(np.abs(values - before) <= SETTLED * np.abs(values)):
            break
    return values, factors


def _solve(
    matrix: NDArray[np.float64], target: NDArray[np.float64], factors: NDArray[np.float64]
) -> NDArray[np.float64]:
    scaled = matrix * factors[:, None]
    lengths = np.linalg.norm(scaled, axis=0)
    solved: NDArray[np.float64] = np.linalg.lstsq(_finite(scaled / lengths), _finite(target * factors))[0] / lengths
    return solved


def _finite(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers. Raises `LinAlgError` where some are not finite, of which LAPACK complains on standard output."""
    if not np.all(np.isfinite(numbers)):
        message = "some numbers are beyond those that floats hold"
        raise np.linalg.LinAlgError(message)
    return numbers


def _huber_deviation(residuals: NDArray[np.float64], freedom: int) -> float:
    """Standard deviation that goes with Huber's weights (Huber 1981, eq. 6.6 to 6.8 of ch. 7, its first form)."""
    terms = len(residuals) - freedom
    typical = DEVIATION_PER_MEDIAN * float(np.median(np.abs(residuals)))
    standardised = residuals / max(typical, 1e-300)
    inside = float(np.mean(np.abs(standardised) <= HUBER))
    if typical == 0 or inside == 0:
        return 0.0
    bounded = np.clip(standardised, -HUBER, HUBER) * typical
    correction = 1 + terms / len(residuals) * (1 - inside) / inside
    return correction * float(np.sqrt(np.sum(bounded**2) / freedom)) / inside
