"""Addresses of switches and their settings."""

import dataclasses

import pytest
from docs.generators.switches_page import PAGE, page
from hypothesis import given
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.switches import parse_address
from lightloom.switches.registry import DRIVERS
from lightloom.switches.setting import Form
from lightloom.switches.simulated import Faults
from lightloom.switches.simulated.faults import MEANINGS


def test_settings_have_their_defaults() -> None:
    found = parse_address("send", "restconf://switch.example?write=each&timeout=250ms")
    assert (found.host, found.port, found.place) == ("switch.example", 8008, "switch.example:8008")
    assert found.settings == {
        "timeout": 0.25,
        "settle": 10.0,
        "first-egress": None,
        "list": "pair",
        "write": "each",
        "tls": False,
        "ca": None,
    }


def test_an_address_of_ipv6() -> None:
    found = parse_address("send", "scpi://[::1]:5026")
    assert (found.host, found.port, found.place) == ("::1", 5026, "[::1]:5026")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not an address; it takes scpi://HOST[:5025] or restconf://HOST[:8008] or sonic://HOST[:6379]"),
        ("127.0.0.1:5025", "is not an address"),
        ("scip://127.0.0.1", "unknown name `scip`, did you mean `scpi`?"),
        ("scpi://", "is not an address"),
        ("scpi://host/path", "is not an address"),
        ("scpi://host:99999", "out of range"),
        ("scpi://host:x", "is not an address"),
        ("scpi://a b", "is not an address: it contains a space, a line end or a control character"),
        ("scpi://ho\nst", "is not an address: it contains a space, a line end"),
        ("scpi://host\r\n", "is not an address: it contains a space, a line end"),
        ("scpi://host\t:5025", "is not an address: it contains a space, a line end"),
        ("scpi://host?timeout=1s\n&settle=2s", "is not an address: it contains a space, a line end"),
        ("scpi://host\u2028", "is not an address: it contains a space, a line end"),
        ("scpi://host?speed=3", "unknown name `speed`; one of timeout, settle, first-egress"),
        ("scpi://host?list=pairs", "unknown name `list`"),
        ("scpi://host?timeout", "is not an address"),
        ("scpi://host?timeout=", "timeout: "),
        ("scpi://host?timeout=0s", "timeout: "),
        ("scpi://host?timeout=1s&timeout=2s", "timeout is given twice"),
        ("scpi://host?settle=3 parsecs", "settle: "),
        ("scpi://host?first-egress=0", "first-egress: `0` is not accepted; it takes a whole number from 1"),
        ("restconf://host?list=paris", "list: unknown name `paris`, did you mean `pairs`?"),
        ("restconf://host?tls=true", "tls: `true` is not accepted; it takes yes or no"),
        ("scpi://h\udcffst", "it takes text"),
        ("restconf://a..b", "is not an address: every part of a host name has 1 to 63 characters"),
        ("scpi://" + 64 * "a" + ".example", "is not an address: every part of a host name has 1 to 63 characters"),
    ],
)
def test_wrong_addresses_are_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_address("send", text)
    assert said in str(raised.value)
    assert str(raised.value).startswith("send: ")


@pytest.mark.parametrize(
    "text", ["restconf://admin:hunter2@host", "admin:hunter2@host:8008", "x" * 3000 + ":hunter2@h"]
)
def test_a_password_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_address("send", text)
    assert "hunter2" not in str(raised.value)


@given(st.text(max_size=80), st.sampled_from(["", "scpi://", "restconf://h?", "scpi://h?timeout="]))
def test_whatever_is_written_is_an_address_or_refused_in_one_line(text: str, start: str) -> None:
    try:
        found = parse_address("send", start + text)
    except InputError as error:
        assert str(error).isprintable()
        assert str(error).startswith("send")
    else:
        assert 0 <= found.port <= 65535
        assert found.host


def test_every_setting_has_a_default_or_says_what_is_taken() -> None:
    for kind in DRIVERS:
        for setting in kind.settings:
            assert (setting.default is None) == bool(setting.otherwise), setting.name
            assert (setting.form is Form.CHOICE) == bool(setting.choices), setting.name
            if setting.default is not None:
                assert setting.value_of("send", setting.default) is not None


def test_the_page_is_what_the_registry_says() -> None:
    assert PAGE.read_text() == page(), "run: python -m docs.generators.switches_page"


def test_every_fault_has_a_field() -> None:
    names = {one.name.removesuffix("_s").replace("_", "-") for one in dataclasses.fields(Faults)}
    assert names == set(MEANINGS)


@given(st.text(max_size=60) | st.lists(st.sampled_from([*MEANINGS, "=", ",", "1", "2ms", "-", "∞"])).map("".join))
def test_whatever_is_written_is_faults_or_refused_in_one_line(text: str) -> None:
    try:
        Faults.parse("faults", text)
    except InputError as error:
        assert str(error).isprintable()
        assert str(error).startswith("faults")
