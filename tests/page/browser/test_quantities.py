"""Numbers in the page are written as the command line writes them, and read back as the same values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom._core import show_size, show_time
from lightloom.inputs.quantities import bytes_of, seconds_of
from tests.inputs import spellings
from tests.page.browser.chromium import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from playwright.sync_api import Browser, Page

    from tests.page.served import Served

TIMES_S = st.floats(1e-12, 1e5) | st.integers(1, 10**7).map(lambda quarter_ns: quarter_ns / 4e9)
SIZES = st.integers(1, 1 << 53) | st.integers(0, 53).map(lambda power: 1 << power)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def page(browser: Browser, server: Served) -> Iterator[Page]:
    opened = Opened.at(browser, server.address)
    opened.page.goto(f"{server.address}/results")
    yield opened.page
    opened.context.close()


def each(page: Page, module: str, call: str, values: list[Any]) -> list[Any]:
    """The results of a function of a module of the page, by value."""
    script = f"(values) => import('/static/js/{module}.js').then((it) => values.map((value) => {call}))"
    found: list[Any] = page.evaluate(script, values)
    return found


@FEW
@given(times_s=st.lists(TIMES_S, min_size=1, max_size=60))
def test_times_are_written_as_the_command_line_writes_them(page: Page, times_s: list[float]) -> None:
    shown = each(page, "quantities", "it.time(value)", times_s)
    assert [words.replace("\xa0", " ") for words in shown] == [show_time(time_s) for time_s in times_s]


@FEW
@given(sizes=st.lists(SIZES, min_size=1, max_size=60))
def test_sizes_are_written_as_the_command_line_writes_them(page: Page, sizes: list[int]) -> None:
    shown = each(page, "quantities", "it.size(value)", sizes)
    assert [words.replace("\xa0", " ") for words in shown] == [
        show_size(size_bytes, size_bytes) for size_bytes in sizes
    ]


@FEW
@given(times_s=st.lists(TIMES_S.filter(lambda time_s: time_s >= 1e-9), min_size=1, max_size=60))
def test_times_that_the_page_writes_are_read_as_they_were(page: Page, times_s: list[float]) -> None:
    written = each(page, "scales", "it.writtenTime(value)", times_s)
    assert [seconds_of("startup", words) for words in written] == pytest.approx(times_s, rel=1e-14)


@FEW
@given(sizes=st.lists(SIZES, min_size=1, max_size=60))
def test_sizes_that_the_page_writes_are_read_as_they_were(page: Page, sizes: list[int]) -> None:
    written = each(page, "scales", "it.writtenSize(value)", sizes)
    assert [bytes_of("size", words) for words in written] == sizes


@pytest.mark.parametrize(
    ("function", "units", "wrong"),
    [
        ("parseSize", spellings.SIZES, spellings.WRONG_SIZES),
        ("parseRate", spellings.RATES, spellings.WRONG_RATES),
        ("parseTime", spellings.TIMES, spellings.WRONG_TIMES),
    ],
)
def test_the_page_reads_what_the_command_line_reads(
    page: Page, function: str, units: dict[str, Fraction], wrong: tuple[str, ...]
) -> None:
    right = spellings.spelled(units)
    read = each(page, "quantities", f"it.{function}(value)", list(right))
    assert read == [pytest.approx(float(value), rel=1e-15, abs=0) for value in right.values()]
    # A value that the server refuses only for its range is a number here.
    strange = [text for text in wrong if "e-" not in text]
    assert each(page, "quantities", f"String(it.{function}(value))", strange) == ["NaN"] * len(strange)


def test_a_fabric_says_each_of_its_delays(page: Page) -> None:
    ports: dict[str, Any] = {"ports": 2, "bandwidth": 1e11}
    fabrics = [
        ll.Fabric(gpus=4, reconfiguration_delay="10us", **ports),
        ll.Fabric(gpus=4, reconfiguration_delay=["100ns", "7us"], **ports),
    ]
    plans = [json.loads(ll.plan("all-reduce", size="1MiB", fabric=fabric).to_json()) for fabric in fabrics]
    words = each(page, "quantities", "it.fabricWords(value)", [plan["fabric"] for plan in plans])
    delays = [said.replace("\xa0", " ").partition("reconfiguration delay ")[2] for said in words]
    assert delays == ["10 µs.", "by port."]
