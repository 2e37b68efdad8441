"""`calibrate`: exact data give exact numbers, noisy data intervals that hold, wrong rows one line that names them."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from examples import single_hop_times
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.calibration import Calibration, calibrate
from lightloom.calibration.least_squares import ERRORS
from lightloom.calibration.measurements import COLUMNS, Measurements, Row, read_measurements
from tests.conftest import ROOT, RunCli
from tests.draws import cases
from tests.refusals import assert_refused

EXAMPLE = ROOT / "examples" / "single_hop_times.csv"
SIZES = [1024 * 4**power for power in range(11)]


def measured(
    times: np.ndarray | list[float], sizes: list[int], steps: int | list[int] = 1, hops: int | list[int] = 1
) -> Measurements:
    """Rows of one size each, all bytes of which are on the wire."""
    rows = zip(sizes, times, np.broadcast_to(steps, len(sizes)), np.broadcast_to(hops, len(sizes)), strict=True)
    return Measurements(tuple(Row(0, size, float(time), float(s), float(h), size) for size, time, s, h in rows))


@given(
    startup_s=st.floats(1e-8, 1e-2),
    bandwidth_bps=st.floats(1e9, 1e13),
    hop_delay_s=st.floats(1e-8, 1e-4),
    powers=st.lists(st.integers(0, 30), min_size=2, max_size=12, unique=True),
    errors=st.sampled_from(ERRORS),
)
@example(30.32e-6, 85.11e9, 5e-7, list(range(10, 31)), "relative")
def test_exact_times_give_the_numbers_back(
    startup_s: float, bandwidth_bps: float, hop_delay_s: float, powers: list[int], errors: str
) -> None:
    sizes = [1 << power for power in powers]
    once = np.array([startup_s + hop_delay_s + 8 * size / bandwidth_bps for size in sizes])
    # What is lost in the digits of the times cannot come back.
    transmission = 8 * np.array(sizes) / bandwidth_bps / once
    assume(transmission.max() > 1e-3 and transmission.min() < 0.999 and transmission.max() / transmission.min() > 1.9)
    assume(errors != "absolute" or once.max() < 1e4 * startup_s)
    fit = calibrate(measured(once, sizes), errors=errors, hop_delay=hop_delay_s)
    assert fit.startup_s.value == pytest.approx(startup_s, rel=1e-9)
    assert fit.bandwidth_bps.value == pytest.approx(bandwidth_bps, rel=1e-9)
    assert not fit.hop_delay_fitted


@given(
    startup_s=st.floats(1e-6, 1e-4),
    bandwidth_bps=st.floats(1e10, 1e12),
    hop_delay_s=st.floats(1e-7, 1e-5),
    errors=st.sampled_from(["relative", "robust"]),
)
def test_hops_that_vary_on_their_own_tell_their_delay(
    startup_s: float, bandwidth_bps: float, hop_delay_s: float, errors: str
) -> None:
    shapes = [(size, steps, hops) for size in (64, 1 << 15, 1 << 25) for steps, hops in ((1, 1), (1, 5), (3, 3))]
    sizes, steps, hops = (list(column) for column in zip(*shapes, strict=True))
    times = [startup_s * s + hop_delay_s * h + 8 * size / bandwidth_bps for size, s, h in shapes]
    fit = calibrate(measured(times, sizes, steps, hops), errors=errors)
    assert fit.hop_delay_fitted
    assert fit.startup_s.value == pytest.approx(startup_s, rel=1e-9)
    assert fit.hop_delay_s.value == pytest.approx(hop_delay_s, rel=1e-9)
    assert fit.bandwidth_bps.value == pytest.approx(bandwidth_bps, rel=1e-9)
    assert fit.r_squared == pytest.approx(1, abs=1e-12)


@pytest.mark.large
@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_hold_the_truth_as_often_as_they_say(errors: str, confidence: float) -> None:
    """The share of 400 noisy sets lies within four standard deviations of the confidence."""
    chance = np.random.default_rng(11)
    sizes = SIZES * 2
    exact = np.array([30.32e-6 + 8 * size / 85.11e9 for size in sizes])
    sets, held = 400, np.zeros(2)
    for _ in range(sets):
        noise = 1e-6 if errors == "absolute" else 0.05 * exact
        fit = calibrate(
            measured(exact + noise * chance.standard_normal(len(sizes)), sizes), errors=errors, confidence=confidence
        )
        for place, (estimate, truth) in enumerate(((fit.startup_s, 30.32e-6), (fit.bandwidth_bps, 85.11e9))):
            assert estimate.low is not None
            assert estimate.high is not None
            held[place] += estimate.low <= truth <= estimate.high
    # Huber's standard deviations are those of many rows; with 22 they are a little short.
    slack = 4 * math.sqrt(confidence * (1 - confidence) / sets) + (0.01 if errors == "robust" else 0)
    assert np.all(np.abs(held / sets - confidence) < slack), held / sets


def test_relative_errors_find_a_start_up_that_absolute_ones_lose() -> None:
    relative, absolute = (calibrate(EXAMPLE, errors=errors) for errors in ("relative", "absolute"))
    assert relative.startup_s.low is not None
    assert absolute.startup_s.high is not None
    assert relative.startup_s.low > 0.95 * 30.32e-6
    # In seconds the noise of 1 GiB, 5 ms, is all there is.
    assert absolute.startup_s.low == 0
    assert absolute.startup_s.high > 10 * 30.32e-6


def regimes(fit: Calibration) -> list[str]:
    return [note for note in fit.notes if note.startswith("two regimes: ")]


def test_two_bandwidths_are_told_from_one_and_from_noise() -> None:
    random = np.random.default_rng(1)
    sizes = [1 << power for power in range(8, 31) for _ in range(2)]
    size = np.array(sizes)
    for slower, most in ((1.0, 0), (1.1, 0), (0.7, 40), (1.4, 40)):
        found = 0
        for _ in range(40):
            spread = np.exp(random.normal(0, 0.03, len(size)))
            times = (20e-6 + 8 / 100e9 * size * np.where(size > 4 << 20, slower, 1.0)) * spread
            notes = regimes(calibrate(measured(times, sizes)))
            found += len(notes)
            if notes:
                small, large = _bandwidths(notes[0])
                assert small == pytest.approx(100, rel=0.08)
                assert large == pytest.approx(100 / slower, rel=0.08)
        assert abs(found - most) <= 2, slower


def test_the_authors_of_harvest_measured_two_regimes() -> None:
    """Their sends over one hop: 8.39e6 bits take 129 us above the startup at 1 MiB, 85 Gbit/s from 192 MiB on."""
    sends = ROOT / "papers" / "src" / "lightloom_papers" / "harvest" / "measured" / "one_hop.csv"
    (note,) = regimes(calibrate(sends))
    assert "up to 128 MiB a step on the wire" in note
    assert _bandwidths(note) == pytest.approx([69.1, 85.4], rel=0.01)
    assert not regimes(calibrate(EXAMPLE))


def _bandwidths(note: str) -> list[float]:
    return [float(number) for number in re.findall(r"([0-9.]+) Gbit/s", note)]


def test_a_row_far_off_moves_the_robust_fit_little_and_is_pointed_at() -> None:
    rows = list(read_measurements(EXAMPLE).rows)
    rows[3] = rows[3]._replace(time_s=rows[3].time_s * 20)
    spoilt = Measurements(tuple(rows))
    relative, robust = (calibrate(spoilt, errors=errors) for errors in ("relative", "robust"))
    assert relative.worst == robust.worst == 3
    assert abs(robust.startup_s.value / 30.32e-6 - 1) < 0.03
    assert abs(relative.startup_s.value / 30.32e-6 - 1) > 0.2
    assert any("--errors robust" in note for note in relative.notes)


def test_more_than_half_of_the_rows_exact_is_enough_for_the_robust_fit() -> None:
    times = [1e-6 + 8 * size / 1e11 for size in SIZES]
    times[2] *= 3
    times[5] /= 2
    fit = calibrate(measured(times, SIZES), errors="robust")
    assert fit.startup_s.value == pytest.approx(1e-6, rel=1e-9)
    assert fit.bandwidth_bps.value == pytest.approx(1e11, rel=1e-9)


@pytest.mark.usefixtures("in_tmp")
def test_what_the_schedule_says_is_worked_out() -> None:
    """Recursive doubling AllReduce on a one-way ring of 8: 6 steps; 1+2+4 hops and 3·m/2 bytes each way, by hand."""
    sizes = [1 << power for power in range(10, 28, 2)]
    times = [6 * 2e-6 + 14 * 3e-7 + 3 * size * 8 / 1e11 for size in sizes]
    Path("m.csv").write_text(
        "size_bytes;time_us\n" + "".join(f"{s};{1e6 * t!r}\n" for s, t in zip(sizes, times, strict=True))
    )
    whole = {"collective": "all-reduce", "algorithm": "recursive-doubling", "gpus": 8, "ports": 1}
    fit = calibrate("m.csv", hop_delay="300ns", **whole)  # type: ignore[arg-type]
    assert (fit.measurements.steps[0], fit.measurements.hops[0]) == (6, 14)
    assert fit.measurements.wire_bytes == pytest.approx(3 * np.array(sizes), rel=1e-12)
    assert fit.startup_s.value == pytest.approx(2e-6, rel=1e-6)
    assert fit.bandwidth_bps.value == pytest.approx(1e11, rel=1e-6)
    Path("columns.csv").write_text(
        "size,time_us,collective,algorithm,gpus,host\n"
        + "".join(f"{s}B,{1e6 * t!r},all-reduce,recursive-doubling,8,a\n" for s, t in zip(sizes, times, strict=True))
    )
    again = calibrate("columns.csv", hop_delay="300ns")
    assert again.startup_s == fit.startup_s
    assert again.measurements.ignored_columns == ("host",)


@pytest.mark.usefixtures("in_tmp")
def test_the_fabric_file_is_a_fabric(cli: RunCli) -> None:
    ran = cli("calibrate", EXAMPLE, "--hop-delay", "500ns", "--output", "testbed.toml", "--format", "json")
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    fabric = ll.Fabric.load("testbed.toml")
    assert fabric.startup_s == document["startup_s"]["value"]
    assert fabric.bandwidth_bps == document["bandwidth_bps"]["value"]
    assert fabric.hop_delay_s == 500e-9
    plan = ("plan", "--collective", "all-reduce", "--gpus", 8, "--size", "1MiB", "--fabric", "testbed.toml")
    assert cli(*plan).status == 0


def test_json_has_every_row_and_its_residual(cli: RunCli) -> None:
    document = json.loads(cli("calibrate", EXAMPLE, "--format", "json").out)
    assert [row["row"] for row in document["rows"]] == list(range(1, 89))
    assert document["rows"][0]["line"] == 3
    for row in document["rows"]:
        fitted_s = document["startup_s"]["value"] + 8 * row["size_bytes"] / document["bandwidth_bps"]["value"]
        assert row["fitted_s"] == pytest.approx(fitted_s, rel=1e-12)
        assert row["residual"] == pytest.approx(row["time_s"] / fitted_s - 1, abs=1e-12)
    assert document["worst"] in document["rows"]
    table = cli("calibrate", EXAMPLE).out
    assert f"row {document['worst']['row']} (line {document['worst']['line']})" in table


def test_the_picture_shows_the_rows_and_the_fit() -> None:
    fit = calibrate(EXAMPLE)
    above, below = fit.plot().axes
    points, line = above.lines
    assert sorted(points.get_xydata().tolist()) == sorted(  # type: ignore[union-attr]
        [row.size_bytes, row.time_s] for row in fit.measurements.rows
    )
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert y == pytest.approx(fit.startup_s.value + 8 * x / fit.bandwidth_bps.value, rel=1e-12)
    assert (x[0], x[-1]) == (pytest.approx(1024), pytest.approx(1 << 30))
    assert (above.get_xscale(), above.get_yscale()) == ("log", "log")
    assert np.asarray(below.lines[1].get_ydata()) == pytest.approx(100 * fit.residuals)


def test_the_example_is_what_its_script_writes() -> None:
    assert EXAMPLE.read_text() == single_hop_times.as_csv()


def test_a_term_below_zero_is_held_there() -> None:
    fit = calibrate(measured([8 * size / 1e11 * (1 - 100 / size) for size in SIZES], SIZES))
    assert fit.startup_s.value == 0
    assert any("start" in note and "zero" in note for note in fit.notes)
    assert fit.fabric(gpus=8).startup_s == 0


def test_as_many_rows_as_unknowns_have_no_intervals() -> None:
    fit = calibrate(measured([2e-6, 3e-6], [1000, 2000]))
    assert fit.startup_s.value == pytest.approx(1e-6)
    assert fit.startup_s.low is fit.startup_s.high is fit.bandwidth_bps.low is None
    assert any("no intervals" in note for note in fit.notes)


# Tables of Fisher and Yates; the last is the closed form of two degrees of freedom.
WRONG = {
    "header alone": ("size_bytes,time_us\n", "has no rows"),
    "empty": ("", "is empty"),
    "no size": ("bytes,time_us\n1,2\n", "no column for the size"),
    "no time": ("size_bytes,t\n1,2\n", "no column for the time"),
    "two times": ("size_bytes,time_s,time_us\n1,2,3\n", "the columns time_s and time_us for the time"),
    "twice": ("size_bytes,size_bytes,time_us\n1,2,3\n", "more than one column `size_bytes`"),
    "cells": ("size_bytes,time_us\n1024,30\n1024\n", "row 2 (line 3 of `m.csv`) has 1 cells, the header 2"),
    "word": ("size_bytes,time_us\n1024,30\n\n4096,fast\n", "row 2 (line 4 of `m.csv`), column `time_us`"),
    "negative": ("size_bytes,time_us\n1024,-30\n", "row 1 (line 2 of `m.csv`), column `time_us`"),
    "zero": ("size_bytes,time\n1024,0us\n", "row 1 (line 2 of `m.csv`), column `time`"),
    "nan": ("size_bytes,time_us\n1024,nan\n", "row 1 (line 2 of `m.csv`), column `time_us`"),
    "size": ("size,time_us\n12parsecs,30\n", "row 1 (line 2 of `m.csv`), column `size`"),
    "missing": ("size_bytes,time_us\n,30\n", "row 1 (line 2 of `m.csv`) has no size"),
    "steps": ("size_bytes,time_us,steps\n1024,30,1.5\n", "column `steps`"),
    "hops": ("size_bytes,time_us,hops\n1024,30,-1\n", "column `hops`"),
    "wire": ("size_bytes,time_us,wire_bytes\n1024,30,lots\n", "column `wire_bytes`"),
    "quotes": ('size_bytes,time_us\n"1024,30\n', "line 2 of `m.csv` is not a row"),
    "collective": ("size,time_us,collective,algorithm,gpus\n1KiB,3,all-educe,ring,8\n", "row 1 (line 2 of `m.csv`)"),
    "algorithm": ("size,time_us,collective,gpus\n1KiB,3,all-reduce,8\n", "algorithm: missing"),
    "gpus": ("size,time_us,collective,algorithm,gpus\n1KiB,3,all-reduce,ring,x\n", "gpus: `x`"),
    "one row": ("size_bytes,time_us\n1024,30\n", "there is only one row"),
    "one size": ("size_bytes,time_us\n1024,30\n1024,31\n", "cannot be told apart"),
    "zero sizes": ("size_bytes,time_us\n0,30\n0,31\n", "cannot be told apart"),
    "shrinking": ("size_bytes,time_us\n1024,30\n1048576,3\n", "do not grow"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(cli: RunCli, in_tmp: Path, name: str) -> None:
    content, message = WRONG[name]
    Path("m.csv").write_text(content)
    assert message in assert_refused(cli, in_tmp, "calibrate", "m.csv", "--output", "f.toml", field="measurements")


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("errors", ("--errors", "relativ")),
        ("confidence", ("--confidence", "1")),
        ("confidence", ("--confidence", "0")),
        ("hop_delay", ("--hop-delay", "-1us")),
        ("routing", ("--routing", "shortest")),
        ("output", ("--output", "fabric.json")),
        ("output", ("--output", "nowhere/fabric.toml")),
        ("plot", ("--plot", "fit.gif")),
        ("measurements", ("--collective", "all-reduce", "--gpus", "8")),
    ],
)
def test_wrong_options(cli: RunCli, in_tmp: Path, field: str, arguments: tuple[str, ...]) -> None:
    assert_refused(cli, in_tmp, "calibrate", EXAMPLE, *arguments, field=field)


CELLS = st.text("0123456789.,;-+einfKMGBus# \t\"'", max_size=12) | st.sampled_from(["8", "ring", "all-gather", "1e999"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=cases(200))
@given(
    content=st.binary(max_size=200)
    | st.tuples(
        st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=5), st.lists(st.lists(CELLS, max_size=5), max_size=4)
    ).map(lambda parts: "\n".join(",".join(row) for row in (parts[0], *parts[1])).encode())
)
def test_any_file_is_read_or_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "any.csv"
    file.write_bytes(content)
    try:
        fit: Calibration | None = calibrate(file)
    except InputError as error:
        assert error.field
        assert "\n" not in str(error)
        assert str(error).startswith(error.field)
    else:
        assert fit is not None
        assert fit.bandwidth_bps.value > 0
        assert np.all(np.isfinite(fit.fitted_s))
