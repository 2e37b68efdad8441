"""Every reader reads quantities as the same values, and numbers are numbers."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom import _core
from lightloom.inputs.options import FABRIC as FABRIC_OPTIONS
from lightloom.inputs.options import LISTED, SETTINGS, Kind
from lightloom.inputs.quantities import bytes_of, rate_of, seconds_of
from tests.conftest import RunCli
from tests.inputs import spellings
from tests.refusals import assert_refused

FABRIC = ll.Fabric(gpus=8)
READERS: dict[str, tuple[list[Callable[[str, str], float]], dict[str, Any], tuple[str, ...]]] = {
    "size": ([_core.parse_size, bytes_of], spellings.SIZES, spellings.WRONG_SIZES),
    "rate": ([_core.parse_rate, rate_of], spellings.RATES, spellings.WRONG_RATES),
    "time": ([_core.parse_time, seconds_of], spellings.TIMES, spellings.WRONG_TIMES),
}


@pytest.mark.parametrize("kind", READERS)
def test_every_spelling_is_read_as_what_it_says(kind: str) -> None:
    readers, units, wrong = READERS[kind]
    for text, value in spellings.spelled(units).items():
        # A size is whole bytes, and a rate at least 1 bit/s.
        is_refused = (kind == "size" and value.denominator > 1) or (kind == "rate" and value < 1)
        for read in readers:
            if is_refused:
                with pytest.raises(ll.InputError, match="it takes a "):
                    read("field", text)
            else:
                assert read("field", text) == pytest.approx(float(value), rel=1e-15, abs=0), text
    for text in wrong:
        for read in readers:
            if not (read is bytes_of and text.isdecimal()):  # type: ignore[unreachable]
                with pytest.raises(ll.InputError, match=r"^field: `"):
                    read("field", text)


def test_both_meanings_are_said_where_there_are_two(cli: RunCli, in_tmp: Any) -> None:
    plan = ("plan", "--collective", "all-reduce", "--gpus", "4")
    message = assert_refused(cli, in_tmp, *plan, "--size", "8Mb", field="size")
    assert "may be bytes or bits; write 8MB (8000000 bytes) or 1MB (1000000 bytes)" in message
    message = assert_refused(cli, in_tmp, *plan, "--size", "8MB", "--bandwidth", "400GBPS", field="bandwidth")
    assert "write 400Gbps (4e11 bit/s) or 400GB/s (3.2e12 bit/s)" in message
    message = assert_refused(cli, in_tmp, *plan, "--size", "8MB", "--window", "1=1MS", field="window")
    assert "write 1ms (1e-3 s) or 1000000s (1e6 s)" in message
    assert ll.Fabric(gpus=8, bandwidth="100GBps").bandwidth_bps == ll.Fabric(gpus=8, bandwidth="800Gbps").bandwidth_bps


@pytest.mark.parametrize(
    "wrong",
    [
        np.datetime64("2020"),
        np.timedelta64(5, "s"),
        np.bool_(True),
        True,
        np.ma.masked,
        np.ma.array(64, mask=True),
        np.array([64]),
        1j,
        Decimal(64),
        [64],
    ],
    ids=repr,
)
def test_what_is_no_number_is_no_quantity(wrong: Any) -> None:
    for field, make in (
        ("size", lambda: ll.plan("all-reduce", wrong, fabric=FABRIC)),
        ("chunk_size", lambda: ll.plan("all-to-all", "1MiB", fabric=FABRIC, chunk_size=wrong)),
        ("startup", lambda: ll.Fabric(gpus=8, startup=wrong)),
        ("bandwidth", lambda: ll.Fabric(gpus=8, bandwidth=wrong)),
    ):
        if field == "bandwidth" and isinstance(wrong, list | np.ndarray) and not np.ma.is_masked(wrong):
            continue  # a list of one rate for each port
        with pytest.raises(ll.InputError, match="it takes") as refused:
            make()
        assert refused.value.field == field
    for field, make_whole in (
        ("gpus", lambda: ll.Fabric(gpus=wrong)),
        ("radix", lambda: ll.plan("all-reduce", "1MiB", fabric=FABRIC, radix=wrong)),
    ):
        with pytest.raises(ll.InputError, match="whole number from 2 to") as refused:
            make_whole()
        assert refused.value.field == field


def test_numbers_of_numpy_are_numbers() -> None:
    for kind in (np.int64, np.uint16, np.float32, np.float64, np.array):
        assert bytes_of("size", kind(4096)) == 4096  # type: ignore[arg-type]
        assert seconds_of("time", kind(2)) == 2.0  # type: ignore[arg-type]
        assert rate_of("rate", kind(4096)) == 4096.0  # type: ignore[arg-type]


def test_dates_and_masked_points_are_not_swept() -> None:
    problem = ll.Problem("all-reduce", "1MiB", fabric=FABRIC)
    for sizes, part in (
        (np.array(["2020", "2021"], dtype="datetime64[Y]"), "datetime64"),
        (np.array([1024, 2048], dtype="timedelta64[s]"), "timedelta64"),
        (np.ma.array([1024, 2048], mask=[False, True]), "masked"),
        ([1024, np.ma.masked], "masked"),
        ([1024, np.datetime64("2020")], "it takes numbers"),
        (np.array([1 + 2j]), "complex"),
        ([True, False], "bool"),
    ):
        with pytest.raises(ll.InputError, match=part) as refused:
            problem.sweep(sizes, "10us")  # type: ignore[arg-type]
        assert refused.value.field == "sizes"
    whole = np.ma.array([1024, 2048], mask=[False, False])
    assert problem.sweep(whole, "10us").total_s.shape == (2,)


def test_ranges_that_are_stated_hold() -> None:
    """The edges of every option of whole numbers that the core takes, in the words of the core."""
    ranges = {name: (least, most) for name, least, most in _core.whole_ranges()}
    for option in (*FABRIC_OPTIONS, *SETTINGS, *LISTED):
        if option.kind is Kind.WHOLE:
            assert (option.least, option.most) == ranges[option.name], (option.name, option.verbs)

    def make(name: str, number: int) -> object:
        if name in {"gpus", "ports"}:
            return ll.Fabric(**{"gpus": 8, name: number}).to_core()  # type: ignore[arg-type]
        return ll.plan("all-gather", "1KiB", fabric=FABRIC, **{name: number})  # type: ignore[arg-type]

    for name, (least, most) in ranges.items():
        for edge in (least, most):
            # These are refused for other reasons: an AllGather has no root, and one optical port serves no 8 GPUs.
            if name not in {"root", "optical_ports"}:
                make(name, edge)
        for wrong in (least - 1, most + 1, 1 << 70):
            with pytest.raises(ll.InputError, match=f"whole number from {least} to {most}$") as refused:
                make(name, wrong)
            assert refused.value.field == name
