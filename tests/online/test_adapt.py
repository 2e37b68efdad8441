"""Replays of a chooser over drifting delays: the order of ways to choose, known optima, rules of drift, processes."""

from __future__ import annotations

import json
import sys
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightloom as ll
from lightloom.inputs.options import by_name, options_of
from lightloom.online.adaptation import WAYS
from lightloom.online.drifts import DRIFTS, read_delays
from lightloom.online.lines import Line
from lightloom.online.others import known_plans, others
from lightloom.online.replay import _computed, _followed
from tests.online.tables import real_table, table_of
from tests.picture_checks import faults
from tests.refusals import assert_refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli

TWO = [Line(3e-6, 0.0, 0), Line(1e-6, 0.0, 2)]


@given(st.lists(st.lists(st.floats(0.0, 10.0), min_size=3, max_size=3), min_size=1, max_size=5), st.floats(0.01, 10.0))
def test_the_known_way_is_the_best_of_all_sequences(rows: list[list[float]], change_s: float) -> None:
    every = np.array(rows)

    def total_s(plans: tuple[int, ...]) -> float:
        own = sum(every[call, place] for call, place in enumerate(plans))
        return float(own + change_s * sum(a != b for a, b in pairwise(plans)))

    least_s = min(total_s(plans) for plans in product(range(3), repeat=len(every)))
    assert total_s(tuple(known_plans(every, change_s).tolist())) == pytest.approx(least_s)
    ways = others(every, np.ones(len(every), dtype=np.int64), change_s)
    assert ways["known"].times_s.sum() == pytest.approx(least_s)
    assert ways["each"].times_s.sum() == pytest.approx(every.min(axis=1).sum())
    assert ways["single"].times_s.sum() == pytest.approx(every.sum(axis=0).min())


@pytest.mark.parametrize(
    "delays", ["step:1us:1ms", "ramp:1us:1ms", "flicker:30us:60us", "noise:45us:1", "walk:45us:0.3"]
)
def test_ways_are_in_order_of_what_they_know(delays: str) -> None:
    found = ll.adapt(real_table(), delays, "64MiB", calls=150, seed=4)
    total_s = {one.name: one.total_s for one in found.totals}
    assert list(total_s) == list(WAYS)
    for name in ("adaptive", "latest", "first", "single"):
        assert total_s[name] >= total_s["known"] * (1 - 1e-12)
    assert total_s["known"] >= total_s["each"] * (1 - 1e-12)
    assert total_s["first"] >= total_s["single"] * (1 - 1e-12)
    assert found.total("known").regret_s == 0.0
    assert ll.adapt(real_table(), delays, "64MiB", calls=150, seed=4).to_json() == found.to_json()


def test_after_a_step_the_plan_is_changed_once_and_the_regret_stays() -> None:
    table = real_table()
    found = ll.adapt(table, "step:1us:1ms", "64MiB", calls=200, probe=0)
    adaptive = found.ways["adaptive"]
    assert adaptive.changes == 1
    # The median of three knows the new delay at the second call with it.
    assert found.estimates_s[101] == 1e-6
    assert found.estimates_s[102] == 1e-3
    assert set(adaptive.plans[:101]) == {table.choose(64 << 20, 1e-6)}
    assert set(adaptive.plans[104:]) == {table.choose(64 << 20, 1e-3)}
    # Two calls by the first plan after the step; the change is paid for by both.
    excess_s = found.ways["first"].times_s[150] - found.ways["known"].times_s[150]
    assert found.total("adaptive").regret_s == pytest.approx(2 * excess_s)
    assert adaptive.times_s[104:] == pytest.approx(found.ways["known"].times_s[104:])


def test_each_size_has_plans_of_its_own() -> None:
    table = real_table()
    delays_s = read_delays("walk:30us:0.2", 120, 5, table.delays_s).delays_s
    found = ll.adapt(table, delays_s, "1MiB,64MiB")
    assert found.sizes_bytes[:3].tolist() == [1 << 20, 64 << 20, 1 << 20]
    for first, size in enumerate((1 << 20, 64 << 20)):
        alone = ll.adapt(table, delays_s[first::2], size)
        # All but the chooser, whose estimate comes from calls of both sizes, are as if the size were alone.
        for name in ("first", "latest", "single", "known", "each"):
            assert found.ways[name].times_s[first::2].tolist() == alone.ways[name].times_s.tolist()
        plans = found.ways["adaptive"].plans[first::2]
        changed = found.ways["adaptive"].extra_s[first::2] >= found.change_cost_s
        assert changed[1:].tolist() == (plans[1:] != plans[:-1]).tolist()
    assert found.ways["adaptive"].changes > 0


def test_probes_take_no_more_than_their_share_and_find_the_way_back() -> None:
    table = table_of(TWO)
    object.__setattr__(table, "sizes_bytes", (1, 1 << 20))
    delays_s = np.array([1e-3] * 2000 + [1e-7] * 2000)

    for share, finds in ((0.05, False), (0.9, True), (0.0, False)):
        chooser = ll.PlanChooser(table, delay="1ms", change_cost="1us")
        followed = _followed(chooser, np.ones(4000, dtype=np.int64), delays_s, share, _computed(TWO))
        slow_s = float(followed.way.extra_s[:2000].sum())
        assert slow_s <= share * float(followed.way.calls_s[:2000].sum())
        assert (followed.way.plans[-1] == 1) == finds
        assert (followed.probes > 0) == finds


def test_rules_of_drift_are_what_they_say() -> None:
    assert read_delays("step:1us:2us", 5).delays_s.tolist() == [1e-6, 1e-6, 2e-6, 2e-6, 2e-6]
    assert read_delays("ramp:1us:1ms", 4).delays_s == pytest.approx([1e-6, 1e-5, 1e-4, 1e-3])
    assert read_delays("flicker:1us:2us", 3).delays_s.tolist() == [1e-6, 2e-6, 1e-6]
    noise = np.log(read_delays("noise:1us:0.5", 20_000, 3).delays_s / 1e-6)
    assert abs(noise.mean()) < 4 * 0.5 / np.sqrt(20_000)
    assert noise.std() == pytest.approx(0.5, rel=0.05)
    steps = np.diff(np.log(read_delays("walk:1us:0.1", 20_000, 3).delays_s))
    assert steps.std() == pytest.approx(0.1, rel=0.05)
    assert read_delays("noise:1us:0.5", 9, 1).delays_s.tolist() != read_delays("noise:1us:0.5", 9, 2).delays_s.tolist()
    # A new rule is named where people look for it, too.
    meaning = by_name(options_of("adapt"))["delays"].meaning
    assert [drift.form for drift in DRIFTS.values() if drift.form not in meaning] == []
    assert [name for name, drift in DRIFTS.items() if not drift.form.startswith(f"{name}:")] == []


def test_delays_are_read_from_files(in_tmp: Path) -> None:
    (in_tmp / "us.csv").write_text("call,delay_us\n0,10\n1,2.5\n")
    (in_tmp / "text.csv").write_text("delay,more\n10us,x\n1ms,\n")
    assert read_delays("us.csv").delays_s.tolist() == pytest.approx([1e-5, 2.5e-6])
    assert read_delays("text.csv").delays_s.tolist() == [1e-5, 1e-3]
    (in_tmp / "sizes.csv").write_text("size,delay_us\n1MiB,10\n2097152,20\n")
    sizes = read_delays("sizes.csv").sizes_bytes
    assert sizes is not None
    assert sizes.tolist() == [1 << 20, 2 << 20]
    assert ll.adapt(real_table(), "sizes.csv").sizes_bytes.tolist() == [1 << 20, 2 << 20]
    for delays, size in (("us.csv", None), ("sizes.csv", "1MiB")):
        with pytest.raises(ll.InputError, match=r"^size: "):
            ll.adapt(real_table(), delays, size)
    for text in (
        "delay_us,size\n1,none\n",
        "delay_us,size\n1\n",
        "",
        "delay_us\n",
        "delay_us,delay_s\n1,1\n",
        "time\n1\n",
        "delay_us\n-1\n",
        "delay_us\nnan\n",
        'a"b\n',
    ):
        (in_tmp / "bad.csv").write_text(text)
        with pytest.raises(ll.InputError) as error:
            read_delays("bad.csv")
        assert error.value.field == "delays"
    with pytest.raises(ll.InputError) as error:
        read_delays("us.csv", calls=3)
    assert error.value.field == "calls"


@pytest.mark.parametrize("rule", ["walk:900us:0.5", "noise:2us:3", "walk:1us:10", "noise:1ms:0"])
def test_random_delays_stay_in_the_range_of_the_table(rule: str) -> None:
    table = real_table()
    first_s, last_s = table.delays_s
    found = ll.adapt(table, rule, "64MiB", calls=300, seed=2)
    assert first_s <= found.delays_s.min() <= found.delays_s.max() <= last_s
    assert first_s <= found.estimates_s.min() <= found.estimates_s.max() <= last_s


def test_a_walk_at_the_end_of_its_range_turns_back_at_once() -> None:
    bounded = read_delays("walk:10us:0.5", 400, 3, (1e-5, 1e-4)).delays_s
    steps = np.diff(np.log(read_delays("walk:10us:0.5", 400, 3).delays_s))
    at_end = np.isclose(bounded[:-1], 1e-4, rtol=1e-12)
    assert at_end.sum() > 10
    down = at_end & (steps < -1e-6) & (steps > -2.0)
    assert down.any()
    assert bounded[1:][down] == pytest.approx(1e-4 * np.exp(steps[down]))


OUTSIDE: dict[str, tuple[Any, str]] = {
    "step": ("step:1us:5ms", "the second delay, `5ms`, is not accepted: the table is for 1.000 µs to 1.000 ms"),
    "ramp": ("ramp:1ns:1ms", "the first delay, `1ns`, is not accepted: the table is for 1.000 µs to 1.000 ms"),
    "flicker": ("flicker:1us:1s", "the second delay, `1s`, is not accepted: the table is for 1.000 µs to 1.000 ms"),
    "walk": ("walk:2ms:0.1", "the first delay, `2ms`, is not accepted: the table is for 1.000 µs to 1.000 ms"),
    "file": ("far.csv", "line 3 of `far.csv`: `1500` is not accepted: the table is for 1.000 µs to 1.000 ms"),
    "list": ([1e-5, 1e-7], "`1e-07`, s, of call 1 is not accepted: the table is for 1.000 µs to 1.000 ms"),
    "negative": ([-1.0], "`-1`, s, of call 0 is not accepted: the table is for 1.000 µs to 1.000 ms"),
}


@pytest.mark.parametrize(("delays", "said"), OUTSIDE.values(), ids=OUTSIDE)
def test_delays_outside_of_the_table_are_refused(in_tmp: Path, delays: Any, said: str) -> None:
    (in_tmp / "far.csv").write_text("delay_us\n7\n1500\n")
    with pytest.raises(ll.InputError) as error:
        ll.adapt(real_table(), delays, "64MiB")
    assert str(error.value) == f"delays: {said}"


def test_delays_at_the_ends_of_the_table_are_in_its_range(in_tmp: Path) -> None:
    # 7 · 10⁻⁶ is rounded to less than 7e-6.
    table = ll.plan_table("all-to-all", "1MiB", "7us:1ms", fabric=ll.Fabric(gpus=4))
    (in_tmp / "ends.csv").write_text("delay_us\n7\n1000\n")
    assert ll.adapt(table, "ends.csv", "1MiB").delays_s.tolist() == [7e-6, 1e-3]
    assert ll.adapt(table, "ramp:7us:1ms", "1MiB", calls=7).delays_s[-1] == 1e-3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"delay_us\n3,5\n", "line 2 of `odd.csv` has 2 cells, and the header 1"),
        (b"delay_us,size\n3,1MiB\n\n4\n", "line 4 of `odd.csv` has 1 cell, and the header 2"),
        (b"delay_us\n3\n\xff\n", "`odd.csv` is not UTF-8 text: line 3 has 0xff"),
        (b"\xff", "`odd.csv` is not UTF-8 text: line 1 has 0xff"),
        (b"delay_us\r\n" + b"3\r\n" * 9000 + b"4\xfe\r\n", "`odd.csv` is not UTF-8 text: line 9002 has 0xfe"),
        (b"delay_us\nsoon\n", "line 2 of `odd.csv`: `soon` is no delay such as 20"),
    ],
)
def test_faults_of_a_file_of_delays_name_their_line(in_tmp: Path, content: bytes, said: str) -> None:
    (in_tmp / "odd.csv").write_bytes(content)
    with pytest.raises(ll.InputError) as error:
        read_delays("odd.csv")
    assert str(error.value) == f"delays: {said}"


@given(st.binary(max_size=200))
def test_any_file_of_delays_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "delays.csv"
    path.write_bytes(content)
    try:
        assert (read_delays(path).delays_s > 0).all()
    except ll.InputError as error:
        assert "\n" not in str(error)


@given(st.text(max_size=40))
def test_any_rule_is_drawn_or_refused(text: str) -> None:
    for rule in (text, f"step:{text}", f"noise:1us:{text}"):
        try:
            assert len(read_delays(rule, 3).delays_s) == 3
        except ll.InputError as error:
            assert error.field == "delays"


@pytest.mark.skipif(sys.platform != "linux", reason="plans are run on Linux")
@pytest.mark.slow
def test_on_processes_the_measured_delay_changes_the_plan() -> None:
    table = ll.plan_table(
        "all-reduce",
        "64KiB",
        "50us:5ms",
        fabric=ll.Fabric(gpus=4, bandwidth="1Gbps"),
        algorithm="recursive-doubling",
        planner="harvest",
    )
    found = ll.adapt(table, "step:50us:2ms", "64KiB", calls=12, engine="processes", window=1, change_cost="100us")
    assert found.wrong == 0
    adaptive = found.ways["adaptive"]
    assert adaptive.plans[0] == table.choose(1 << 16, 5e-5)
    assert adaptive.plans[-1] == table.choose(1 << 16, 2e-3)
    assert adaptive.changes == 1
    # A delay that a machine measures is at least that of the switch.
    assert found.estimates_s[1] >= 5e-5
    assert found.estimates_s[-1] >= 2e-3
    assert found.predicted_s is not None
    assert (adaptive.calls_s >= found.predicted_s * (1 - 1e-3)).all()


def test_the_command_line_shows_calls_and_regret(in_tmp: Path, cli: RunCli) -> None:
    real_table().save("table.json")
    asked = ("adapt", "table.json", "--size", "64MiB", "--delays", "step:1us:1ms", "--calls", 40)
    ran = cli(*asked, "--plot", "regret.svg")
    assert ran.status == 0, ran.err
    assert "40 calls of all-reduce" in ran.out
    assert "<svg" in (in_tmp / "regret.svg").read_text()
    told = json.loads(cli(*asked, "--format", "json").out)
    found = ll.adapt("table.json", "step:1us:1ms", "64MiB", calls=40)
    assert told == json.loads(found.to_json())
    assert len(cli(*asked, "--format", "csv").out.splitlines()) == 41


REFUSED = {
    "no size": (("--delays", "step:1us:1ms"), "size"),
    "no delays": (("--size", "64MiB"), "delays"),
    "one size of two": (("--size", "64MiB,", "--delays", "step:1us:1ms"), "size"),
    "a size outside": (("--size", "64GiB", "--delays", "step:1us:1ms"), "size"),
    "rule": (("--size", "64MiB", "--delays", "jump:1us:1ms"), "delays"),
    "calls": (("--size", "64MiB", "--delays", "step:1us:1ms", "--calls", "0"), "calls"),
    "probe": (("--size", "64MiB", "--delays", "step:1us:1ms", "--probe", "200%"), "probe"),
    "change cost": (("--size", "64MiB", "--delays", "step:1us:1ms", "--change-cost", "0s"), "change_cost"),
    "picture": (("--size", "64MiB", "--delays", "step:1us:1ms", "--plot", "a.txt"), "plot"),
    "engine": (("--size", "64MiB", "--delays", "step:1us:1ms", "--engine", "packet"), "engine"),
}


@pytest.mark.parametrize(("arguments", "field"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_names_its_option(in_tmp: Path, cli: RunCli, arguments: tuple[str, ...], field: str) -> None:
    real_table().save("table.json")
    assert_refused(cli, in_tmp, "adapt", "table.json", *arguments, field=field)


def test_a_file_that_is_no_table_is_refused(in_tmp: Path, cli: RunCli) -> None:
    (in_tmp / "plan.json").write_text(ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4)).to_json())
    said = assert_refused(
        cli, in_tmp, "adapt", "plan.json", "--size", "1MiB", "--delays", "step:1us:1ms", field="schema"
    )
    assert "lightloom.plan-table/1" in said


@pytest.mark.large
def test_no_two_plans_of_a_map_have_one_colour_and_regions_have_numbers() -> None:
    # At size 1 plan k is the best between delays of about 1.9^(n - k - 1) and 1.9^(n - k) microseconds.
    for count in (2, 9, 12, 21):
        fixed_s = np.append(0.0, np.cumsum(1e-6 * 1.9 ** np.arange(count - 1)))[::-1]
        lines = [Line(float(seconds), 0.0, place) for place, seconds in enumerate(fixed_s)]
        table = table_of(lines, (1e-7, 1e-6 * 1.9**count))
        object.__setattr__(table, "plans", real_table().plans[:1] * count)
        figure = table.plot()
        patches = figure.legends[0].get_patches()
        assert len(patches) == len({patch.get_facecolor() for patch in patches}) == count
        axes = figure.axes[0]
        written = {text.get_text(): text.get_position() for text in axes.texts}
        # Few plans have regions of 200 / count rows; all but the narrowest have room.
        assert len(written) >= (count if count <= 12 else 1)
        for place, (size, delay_s) in written.items():
            assert table.choose(round(size), float(delay_s)) == int(place)


@pytest.mark.large
def test_plans_of_several_sizes_have_panels_of_their_own() -> None:
    delays_s = read_delays("walk:30us:0.3", 60, 0, real_table().delays_s).delays_s
    for sizes, panels in (("1MiB", 1), ("1MiB,64MiB", 2), ("1MiB,2MiB,4MiB,8MiB,16MiB", 4)):
        found = ll.adapt(real_table(), delays_s, sizes)
        figure = found.plot()
        assert faults(figure) == []
        assert len(figure.axes) == 2 + panels
        for axes, text in zip(figure.axes[1:-1], sizes.split(","), strict=False):
            names = [label.get_text() for label in axes.get_yticklabels()]
            adaptive = next(line for line in axes.get_lines() if line.get_label() == "adaptive")
            own = found.sizes_bytes == int(text.removesuffix("MiB")) << 20
            drawn = [int(names[int(row)]) for row in np.asarray(adaptive.get_ydata())]
            assert drawn == found.ways["adaptive"].plans[own].tolist()
        # Lines at 0 are not cut by the axis.
        assert figure.axes[-1].get_ylim()[0] < 0


@pytest.mark.large
def test_pictures_can_be_read() -> None:
    assert faults(real_table().plot()) == []
    assert faults(ll.plan_table("all-to-all", "1MiB", "10us", fabric=ll.Fabric(gpus=4)).plot()) == []
    for delays, size in (("step:1us:1ms", "64MiB"), ("walk:30us:0.3", "1MiB,64MiB"), ("flicker:10us:10us", "1MiB")):
        assert faults(ll.adapt(real_table(), delays, size, calls=60).plot()) == []
    assert faults(ll.adapt(real_table(), [1e-5], "1MiB").plot()) == []
