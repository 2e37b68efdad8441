"""Which numbers and sizes are accepted; whatever is accepted is served."""

import json
import math
import resource
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from docs.generators.limits_page import PAGE, with_tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom import InputError, _core
from lightloom.sweeps.keys import quantity
from tests.conftest import RunCli

pytestmark = pytest.mark.slow

RANGES = {name: (least, most, or_zero) for name, _unit, least, most, or_zero, _accepts in _core.ranges()}
ACCEPTS = {name: accepts for name, *_, accepts in _core.ranges()}
UNITS = {"time": "s", "rate": "bps", "size": "B"}
FIELDS = {
    "startup": "time",
    "hop_delay": "time",
    "reconfiguration_delay": "time",
    "window": "time",
    "bandwidth": "rate",
}
POWERS = st.integers(-330, 320).map(lambda power: f"1e{power}")
MEMORY = 4 << 30


def is_accepted(kind: str, text: str) -> bool:
    # Exactly: a number too small for a float is not zero.
    number = Fraction(text)
    least, most, or_zero = RANGES[kind]
    return Fraction(repr(least)) <= number <= Fraction(repr(most)) or (or_zero and number == 0)


def kinds_of(kind: str) -> st.SearchStrategy[str]:
    """Numbers of the kind's range, its ends among them."""
    least, most, _ = RANGES[kind]
    powers = st.floats(math.log10(least), math.log10(most)).map(lambda power: repr(min(max(10**power, least), most)))
    return st.one_of(st.sampled_from([repr(least), repr(most)]), powers)


def test_the_page_has_the_tables_of_the_program() -> None:
    assert with_tables(PAGE.read_text()) == PAGE.read_text(), "run python -m docs.generators.limits_page"


@given(field=st.sampled_from(sorted(FIELDS)), text=POWERS)
def test_the_table_says_which_numbers_every_way_in_accepts(field: str, text: str) -> None:
    kind = FIELDS[field]
    fabric: Any = ll.Fabric
    number = float(text)
    # A float that is too small is zero, and nobody can tell.
    for value, says in ((text + UNITS[kind], text), (number, repr(number) if math.isfinite(number) else text)):
        ways: list[Callable[[str, Any], object]] = [lambda field, value: fabric(gpus=4, **{field: value})]
        if field != "window":
            ways.append(lambda field, value: quantity(field, field, value))
        for way in ways:
            if is_accepted(kind, says):
                way(field, value)
            else:
                with pytest.raises(InputError) as caught:
                    way(field, value)
                assert caught.value.field == field
                assert ACCEPTS[kind] in str(caught.value)


@given(terms=st.lists(st.tuples(POWERS, st.booleans()), min_size=1, max_size=4))
def test_sums_of_delays_are_delays(terms: list[tuple[str, bool]]) -> None:
    text = "+".join(f"{number}s{'/port' * per_port}" for number, per_port in terms)
    accepted = all(is_accepted("time", number) for number, _ in terms)
    if accepted:
        sums = [math.fsum(float(number) for number, per_port in terms if per_port == which) for which in (False, True)]
        accepted = all(is_accepted("time", str(s)) for s in sums)
    if accepted:
        ll.Fabric(gpus=4, reconfiguration_delay=text)
    else:
        with pytest.raises(InputError, match="reconfiguration_delay: "):
            ll.Fabric(gpus=4, reconfiguration_delay=text)


@pytest.mark.large
@settings(max_examples=40, deadline=None)
@given(
    gpus=st.integers(2, 9),
    ports=st.integers(1, 3),
    collective=st.sampled_from([entry["name"] for entry in _core.registry()["collectives"]]),
    bandwidth=kinds_of("rate"),
    delays=st.lists(kinds_of("time"), min_size=4, max_size=4),
    size=st.sampled_from([1, 1 << 20, 1 << 53]),
    background=st.booleans(),
)
def test_whatever_is_accepted_has_a_finite_time_above_its_bound(
    gpus: int, ports: int, collective: str, bandwidth: str, delays: list[str], size: int, *, background: bool
) -> None:
    startup, hop_delay, fixed, per_port = delays
    total_of_delays = float(fixed) + float(per_port)
    fabric = ll.Fabric(
        gpus=gpus,
        ports=ports,
        bandwidth=float(bandwidth),
        startup=float(startup),
        hop_delay=float(hop_delay),
        reconfiguration_delay=f"{fixed}s+{per_port}s/port" if total_of_delays < 1e6 else f"{fixed}s",
        background_reconfiguration=background,
    )
    comparison = ll.compare(collective, size, fabric=fabric)
    times = [row.total_s for row in comparison.rows if row.total_s is not None]
    assert times
    assert all(math.isfinite(time) and time > 0 for time in times)
    assert math.isfinite(comparison.lower_bound_s)
    plan = ll.plan(collective, size, fabric=fabric)
    assert 0 < plan.total_s < 1e28
    assert 0 <= plan.lower_bound_s <= plan.total_s * (1 + 1e-9)


@pytest.mark.parametrize(
    "changes",
    [
        {"reconfiguration-delay": "1e308s+1e308s/port"},
        {"bandwidth": "1e-320bps"},
        {"hop-delay": "1e308s"},
    ],
)
def test_numbers_that_once_ran_without_end(cli: RunCli, changes: dict[str, str]) -> None:
    options = [text for name, value in changes.items() for text in (f"--{name}", value)]
    ran = cli("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", 8, *options)
    assert ran.status == 2
    assert ran.err.count("\n") == 1
    assert "from 1" in ran.err


def test_a_rate_of_one_bit_a_second_is_accepted(cli: RunCli) -> None:
    slow = ["--size", "7B", "--gpus", "4", "--bandwidth", "1bps", "--format", "json"]
    ran = cli("plan", "--collective", "all-reduce", *slow)
    assert ran.status == 0
    assert json.loads(ran.out)["total_s"] > 0


def test_arrays_go_through_the_same_table() -> None:
    problem = ll.Problem("all-reduce", fabric=ll.Fabric(gpus=4), algorithm="ring")
    for sizes, delays, field in [
        ([2.0**53 + 2], [0.0], "sizes"),
        ([0.5], [0.0], "sizes"),
        ([1.0], [1e308], "delays"),
        ([1.0], [1e-320], "delays"),
        ([1.0], [np.nan], "delays"),
    ]:
        with pytest.raises(InputError) as caught:
            problem.sweep(sizes, delays)
        assert caught.value.field == field


def served_or_refused(*arguments: str) -> str:
    """The stderr of a command that may take as much memory as the program claims to need at most.

    One that is still at it after some seconds has been accepted, and is ended: its memory is allocated by then.
    """
    program = [sys.executable, "-m", "lightloom", *arguments]
    limit = MEMORY + (1 << 29)
    try:
        ran = subprocess.run(
            program,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
    except subprocess.TimeoutExpired:
        return ""
    assert ran.returncode in {0, 2}, (arguments, ran.returncode, ran.stderr[-300:])
    assert ran.stderr.count("\n") == (ran.returncode == 2), ran.stderr
    return ran.stderr


SECONDS = 6
LARGE = st.tuples(
    st.sampled_from([entry["name"] for entry in _core.registry()["algorithms"]]),
    st.sampled_from(["1024", "16384", "32768", "65536", "65535"]),
    st.sampled_from(["1", "2", "4", "6"]),
    st.sampled_from([[], ["--overlap", "pipelined"], ["--reconfiguration-delay", "1us+1ns/port"], ["--radix", "256"]]),
)


@pytest.mark.large
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(verb=st.sampled_from(["plan", "compare"]), request=LARGE, choice=st.randoms(use_true_random=False))
def test_large_requests_are_served_in_4_gib_or_refused_in_a_line(verb, request, choice) -> None:  # type: ignore[no-untyped-def]
    algorithm, gpus, ports, others = request
    collectives = next(e["collectives"] for e in _core.registry()["algorithms"] if e["name"] == algorithm).split(", ")
    if gpus == "1024":
        # Small enough to be served: with the planner that is fastest.
        others = [*others, "--planner", "static", "--topology", "ring"]
    options = ["--algorithm", algorithm, "--collective", choice.choice(collectives), "--gpus", gpus, "--ports", ports]
    served_or_refused(verb, "--size", "64MiB", *options, *others)


@pytest.mark.parametrize("ports", ["3", "4", "6"])
def test_too_many_gpus_are_refused_with_the_number_that_fits(ports: str) -> None:
    options = ["--algorithm", "ring", "--gpus", "65536", "--ports", ports, "--size", "64MiB"]
    said = served_or_refused("plan", "--collective", "all-reduce", *options)
    assert said.startswith("error: gpus: 65536 with algorithm ring")
    assert "GB" in said
    assert "with this algorithm within 4 GiB of memory" in said
