"""Startup latency, bandwidth and hop delay of a fabric, fitted to measured times.

time = startup * steps + hop_delay * hops + 8 / bandwidth * wire_bytes
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from lightloom._core import show_size, show_time
from lightloom.base.errors import refuse, unknown_name
from lightloom.base.files import write_bytes
from lightloom.base.views import picture
from lightloom.calibration.least_squares import ERRORS, Fit, fit_by_errors
from lightloom.calibration.measurements import FIELD, LEAST_S, Measurements, ScheduleOf, read_measurements
from lightloom.calibration.regimes import two_regimes
from lightloom.calibration.student import two_sided_quantile
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.quantities import ACCEPTS, RANGES, number_of, seconds_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.calibration.regimes import TwoRegimes

SCHEMA = "lightloom.calibration/1"
# A column that the others explain but for this share of itself says nothing of its own.
DEPENDENT = 1e-9
# Many standard deviations: not noise of the kind that the intervals are about.
OUTLIER = 5.0
LEAST_TIME_S = RANGES["time"][0]


class Estimate(NamedTuple):
    """A value and the interval that holds the true one with the calibration's confidence.

    An end is None where the measurements do not bound it; both ends are None if there are as few rows as unknowns.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Calibration:
    """The parameters of a fabric that fit the measurements; seconds and bit/s.

    hop_delay_s: fitted where `hop_delay_fitted`, else what was said, without an interval.
    r_squared: share of the variance of the times (of their logarithms, unless errors are absolute) that the fit
        explains; None where all times are equal.
    fitted_s: times of the fit, row by row.
    notes: remarks that a reader of the numbers must know.
    """

    startup_s: Estimate
    bandwidth_bps: Estimate
    hop_delay_s: Estimate
    hop_delay_fitted: bool
    errors: str
    confidence: float
    r_squared: float | None
    measurements: Measurements
    fitted_s: NDArray[np.float64]
    notes: tuple[str, ...]

    @property
    def residuals(self) -> NDArray[np.float64]:
        """Measured over fitted time, less 1, row by row: above zero where a row is slower than the fit."""
        return self.measurements.time_s / self.fitted_s - 1

    @property
    def worst(self) -> int:
        """Index of the row that is farthest from the fit, as a ratio."""
        return int(np.argmax(np.abs(np.log(self.measurements.time_s / self.fitted_s))))

    def fabric(self, **others: Any) -> Fabric:
        """A fabric of these numbers; `others` are arguments of `Fabric`, such as `gpus`."""
        return Fabric(
            bandwidth=self.bandwidth_bps.value,
            startup=self.startup_s.value,
            hop_delay=self.hop_delay_s.value,
            **others,
        )

    def save_fabric(self, path: str | os.PathLike[str]) -> None:
        """Write a TOML file that `Fabric.load` and `--fabric` take. Raises `InputError` that names `output`."""
        write_bytes("output", path, self.to_toml().encode())

    def to_toml(self) -> str:
        """The fabric as the TOML that `save_fabric` writes."""
        rows = len(self.measurements.rows)
        lines = [
            f'summary = "Calibrated from {rows} measured times, {self.errors} errors"',
            'source = "lightloom calibrate"',
            "# Not measured, so not here: gpus, ports, reconfiguration_delay, initial.",
            f"bandwidth = {self.bandwidth_bps.value!r}  # bit/s",
            f"startup = {self.startup_s.value!r}  # s",
            f"hop_delay = {self.hop_delay_s.value!r}  # s, {'fitted' if self.hop_delay_fitted else 'as said'}",
        ]
        return "\n".join(lines) + "\n"

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Measured points and the fit on logarithmic axes, residuals below; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot`.
        """
        return picture("Calibration.plot", self, path)

    def to_json(self) -> str:
        """Everything, as JSON of schema `lightloom.calibration/1`; rows and lines count from 1."""
        residuals = [
            {"row": number, **row._asdict(), "fitted_s": fitted, "residual": residual}
            for number, (row, fitted, residual) in enumerate(
                zip(self.measurements.rows, self.fitted_s.tolist(), self.residuals.tolist(), strict=True), start=1
            )
        ]
        document = {
            "schema": SCHEMA,
            "errors": self.errors,
            "confidence": self.confidence,
            "startup_s": self.startup_s._asdict(),
            "bandwidth_bps": self.bandwidth_bps._asdict(),
            "hop_delay_s": {**self.hop_delay_s._asdict(), "fitted": self.hop_delay_fitted},
            "r_squared": self.r_squared,
            "rms_residual": float(np.sqrt(np.mean(self.residuals**2))),
            "worst": residuals[self.worst],
            "rows": residuals,
            "ignored_columns": list(self.measurements.ignored_columns),
            "notes": list(self.notes),
        }
        return json.dumps(document, indent=1)


def calibrate(
    measurements: str | os.PathLike[str] | Measurements,
    *,
    errors: str = "relative",
    confidence: float = 0.95,
    hop_delay: str | float | None = None,
    routing: str = "single-path",
    **schedule: Unpack[ScheduleOf],
) -> Calibration:
    """Fit startup, bandwidth and, where the rows vary in hops on their own, hop delay (HARVEST §6.2, figure 7).

    measurements: a CSV file as `read_measurements` takes it, with `routing` and `schedule`, or its result.
    errors: the sum that is minimised: `"relative"`, squares of measured over fitted time; `"robust"`, the same but that
        rows far off count less (Huber's weights); `"absolute"`, squares of seconds.
    confidence: of the intervals, above 0 and below 1. They assume independent errors.
    hop_delay: of a hop where it is known, `"500ns"` or seconds; it is then not fitted.

    No term is negative: a term that would be is held at zero, and the result says so. A delay below the least accepted
    one is set to zero. The results make a valid fabric; measured times that do not are refused.
    Raises `InputError` that names the argument.
    """
    if not isinstance(errors, str) or errors not in ERRORS:
        raise unknown_name("errors", errors, ERRORS)
    confidence = number_of("confidence", confidence, "a number above 0 and below 1 such as 0.95")
    if not 0 < confidence < 1:
        raise refuse("confidence", f"`{confidence:g}` is not accepted; it takes a number above 0 and below 1")
    if not isinstance(measurements, Measurements):
        measurements = read_measurements(measurements, routing=routing, **schedule)
    known_s = 0.0 if hop_delay is None else seconds_of("hop_delay", hop_delay)
    try:
        # Overflow shows as infinities and NaN in the results.
        with np.errstate(all="ignore"):
            made = _fitted(measurements, errors, confidence, known_s, is_known=hop_delay is not None)
    except np.linalg.LinAlgError as error:
        raise refuse(FIELD, f"the numbers in the rows differ too much for a fit: {error}") from error
    numbers = [*made.startup_s, *made.bandwidth_bps, *made.hop_delay_s, made.r_squared, *made.fitted_s.tolist()]
    if not all(number is None or math.isfinite(number) for number in numbers) or np.any(made.fitted_s < LEAST_S):
        raise refuse(
            FIELD, "no startup and bandwidth fit the rows: some fitted times are zero, or too large for a number"
        )
    return made


def _fitted(
    measurements: Measurements, errors: str, confidence: float, known_s: float, *, is_known: bool
) -> Calibration:
    columns = {"startup": measurements.steps, "bandwidth": measurements.wire_bytes}
    _refuse_dependent(measurements, columns)
    hop_delay_fitted = not is_known and _independent([*columns.values(), measurements.hops], measurements.time_s)
    offset_s = known_s * measurements.hops
    if hop_delay_fitted:
        columns["hop delay"] = measurements.hops
    fit = fit_by_errors(errors, np.stack(list(columns.values()), axis=1), measurements.time_s, offset_s)
    if fit.values[1] <= 0:
        raise refuse(FIELD, "the times do not grow with the bytes on the wire, so no bandwidth can be fitted")
    estimates = dict(zip(columns, _estimates(fit, confidence), strict=True))
    of_hops_s = estimates["hop delay"].value * measurements.hops if hop_delay_fitted else offset_s
    beta = estimates["bandwidth"]
    return Calibration(
        startup_s=_accepted_time("startup", estimates["startup"]),
        bandwidth_bps=Estimate(
            _accepted("bandwidth", "rate", 8 / beta.value),
            None if beta.high is None else 8 / beta.high,
            8 / beta.low if beta.low else None,
        ),
        hop_delay_s=_accepted_time("hop delay", estimates.get("hop delay", Estimate(known_s, None, None))),
        hop_delay_fitted=hop_delay_fitted,
        errors=errors,
        confidence=confidence,
        r_squared=_r_squared(measurements.time_s, fit.fitted, logarithms=errors != "absolute"),
        measurements=measurements,
        fitted_s=fit.fitted,
        notes=(
            *_notes(measurements, columns, fit, hop_delay_fitted or is_known, errors),
            *_regimes(two_regimes(measurements, fit.fitted, of_hops_s)),
        ),
    )


def _regimes(found: TwoRegimes | None) -> tuple[str, ...]:
    if found is None:
        return ()
    one, two = found.typical
    return (
        f"two regimes: {found.small_bps / 1e9:.4g} Gbit/s up to {show_size(found.last_bytes)} a step on the wire and "
        f"{found.large_bps / 1e9:.4g} Gbit/s from {show_size(found.first_bytes)} on, after a startup of "
        f"{show_time(found.startup_s)}: half of the rows are within {two:.1%} of these two lines, and within "
        f"{one:.1%} of the single line above. For plans of only small or only large sizes, calibrate with rows of "
        "only such sizes",
    )


def _estimates(fit: Fit, confidence: float) -> list[Estimate]:
    """Values with their intervals, those of the fit in which no term is held at zero, as far as they are above it."""
    if fit.freedom == 0:
        return [Estimate(float(value), None, None) for value in fit.values]
    reach = two_sided_quantile(fit.freedom, confidence) * fit.deviations
    low, high = np.maximum(fit.free - reach, 0.0), np.maximum(fit.free + reach, 0.0)
    low, high = np.minimum(low, fit.values), np.maximum(high, fit.values)
    return [
        Estimate(value, lowest, highest if math.isfinite(highest) else None)
        for value, lowest, highest in zip(fit.values.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _accepted_time(name: str, estimate: Estimate) -> Estimate:
    if estimate.value < LEAST_TIME_S:
        return estimate._replace(value=0.0, low=None if estimate.low is None else 0.0)
    return estimate._replace(value=_accepted(name, "time", estimate.value))


def _accepted(name: str, kind: str, value: float) -> float:
    least, most = RANGES[kind]
    if not least <= value <= most:
        raise refuse(FIELD, f"the rows give a {name} of {value:g}; a fabric takes {ACCEPTS[kind]}")
    return value


def _refuse_dependent(measurements: Measurements, columns: dict[str, NDArray[np.float64]]) -> None:
    if len(measurements.rows) < len(columns):
        raise refuse(FIELD, f"there is only one row; it takes at least {len(columns)} rows, of different sizes")
    if not np.any(measurements.wire_bytes) or not _independent(list(columns.values()), measurements.time_s):
        raise refuse(
            FIELD,
            f"all rows have {show_size(float(measurements.wire_bytes[0] / measurements.steps[0]))} a step on the wire, "
            "so startup and bandwidth cannot be told apart; it takes rows of different sizes",
        )


def _independent(columns: Sequence[NDArray[np.float64]], time_s: NDArray[np.float64]) -> bool:
    """Whether the last column says something that those before it do not, in relative terms."""
    scaled = np.stack([column / time_s for column in columns], axis=1)
    lengths = np.linalg.norm(scaled, axis=0)
    if not np.all((lengths > 0) & np.isfinite(lengths)):
        return False
    scaled /= lengths
    *others, last = scaled.T
    basis = np.stack(others, axis=1)
    rest = last - basis @ np.linalg.lstsq(basis, last)[0]
    return bool(np.linalg.norm(rest) > DEPENDENT)


def _r_squared(time_s: NDArray[np.float64], fitted_s: NDArray[np.float64], *, logarithms: bool) -> float | None:
    measured, fitted = (np.log(time_s), np.log(fitted_s)) if logarithms else (time_s, fitted_s)
    variation = float(np.sum((measured - measured.mean()) ** 2))
    return 1 - float(np.sum((measured - fitted) ** 2)) / variation if variation > 0 else None


def _notes(
    measurements: Measurements, columns: dict[str, Any], fit: Fit, hop_delay_known: bool, errors: str
) -> tuple[str, ...]:
    notes = [
        f"the {name} came out below zero and is held at zero"
        for name, kept in zip(columns, fit.kept, strict=True)
        if not kept
    ]
    if fit.freedom == 0:
        notes.append("there are as many rows as unknowns, so the errors cannot be estimated: no intervals")
    if not hop_delay_known:
        per_step = np.unique(measurements.hops / measurements.steps)
        hops = f"{per_step[0]:g} hop{'s' if per_step[0] != 1 else ''}" if len(per_step) == 1 else "the hops"
        notes.append(
            f"the number of hops grows only together with steps or bytes, so the fitted startup includes the delay of "
            f"{hops} of each step; --hop-delay separates the two"
        )
    far = np.abs(fit.standardised) > OUTLIER
    if errors == "relative" and far.any():
        rows = f"{int(far.sum())} row{'s are' if far.sum() > 1 else ' is'}"
        notes.append(f"{rows} off by more than {OUTLIER:g} times the typical error: consider --errors robust")
    if measurements.ignored_columns:
        notes.append(f"unknown columns were ignored: {', '.join(measurements.ignored_columns)}"[:300])
    return tuple(notes)
