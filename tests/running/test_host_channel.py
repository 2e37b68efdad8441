"""Messages between the command and agents, and clocks that are compared: closed forms, and somebody in between."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightloom.running.hosts.channel import Channel, ChannelError, answered, asked
from lightloom.running.hosts.clocks import compared
from tests.draws import cases

SECRET, KEY = b"a secret of tests only", b"a key of tests"
Pair = tuple[Channel, Channel]


def joined() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        return one, listener.accept()[0]


def met(of_command: bytes = SECRET, of_agent: bytes = SECRET) -> Pair:
    """Both ends of a channel. Raises `ChannelError` of the command's end."""
    ours, theirs = joined()
    found: list[Channel] = []

    def answer() -> None:
        try:
            found.append(answered(theirs, of_agent))
        except ChannelError:
            theirs.close()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        return asked(ours, of_command), *waited(thread, found)
    except ChannelError:
        ours.close()
        raise
    finally:
        thread.join()


def waited(thread: threading.Thread, found: list[Channel]) -> tuple[Channel]:
    thread.join()
    return (found[0],)


def heard(sent: bytes, hears: bytes = b"command") -> list[dict[str, object]]:
    """What an end with this key hears of bytes, until something is wrong with them."""
    one, other = joined()
    channel = Channel(other, KEY, b"", hears)
    messages = []
    with one, other:
        one.sendall(sent)
        one.shutdown(socket.SHUT_WR)
        with suppress(ChannelError):
            while True:
                messages.append(channel.receive()[0])
    return messages


def said(messages: list[dict[str, object]], data: list[bytes]) -> bytes:
    """The bytes of messages, as the command's end sends them."""
    one, other = joined()
    with one, other:
        channel = Channel(one, KEY, b"command", b"agent")
        for message in messages:
            channel.send(message, data)
        one.shutdown(socket.SHUT_WR)
        found = bytearray()
        while part := other.recv(1 << 16):
            found += part
    return bytes(found)


@pytest.mark.long
@settings(max_examples=cases(200), deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.integers()), st.lists(st.binary(max_size=99), max_size=4))
def test_what_is_said_is_heard_in_both_directions(message: dict[str, int], data: list[bytes]) -> None:
    command, agent = met()
    message.pop("sizes", None)
    for speaker, hearer in ((command, agent), (agent, command), (command, agent)):
        speaker.send(message, [*data, np.arange(3.0)])
        told, parts = hearer.receive()
        assert told == message
        assert [bytes(part) for part in parts] == [*data, np.arange(3.0).tobytes()]
    command.close()
    with pytest.raises(ChannelError, match="it closed its connection"):
        agent.receive()
    agent.close()


@pytest.mark.long
@settings(max_examples=cases(400), deadline=None)
@given(st.data())
def test_no_message_is_changed_left_out_repeated_or_turned_round(draw: st.DataObject) -> None:
    messages: list[dict[str, object]] = [{"number": number} for number in range(3)]
    sent = said(messages, [b"some data"])
    assert heard(sent) == messages
    # A message has a third of the bytes.
    size = len(sent) // 3
    at = draw.draw(st.integers(0, len(sent) - 1))
    changed = bytearray(sent)
    changed[at] ^= draw.draw(st.integers(1, 255))
    assert heard(bytes(changed)) == messages[: at // size]
    assert heard(sent[size:]) == []
    assert heard(sent[:size] * 2) == messages[:1]
    assert heard(sent, hears=b"agent") == []


def test_who_knows_another_secret_is_sent_away() -> None:
    with pytest.raises(ChannelError, match=r"^it knows another secret$"):
        met(SECRET, b"another secret")


@pytest.mark.large
@pytest.mark.long
@settings(max_examples=cases(400), deadline=None)
@given(
    st.floats(-1e6, 1e6),
    st.floats(-1e-4, 1e-4),
    st.lists(st.tuples(st.floats(1e-6, 1e-2), st.floats(1e-6, 1e-2)), min_size=4, max_size=8),
    st.floats(0.0, 1.0),
)
def test_moments_are_wrong_by_no_more_than_is_said(
    ahead_s: float, drift: float, ways_s: list[tuple[float, float]], share: float
) -> None:
    """A clock that is ahead and drifts, asked over ways of any time there and back, before and after ten seconds."""

    def host(moment_s: float) -> float:
        return ahead_s + (1 + drift) * moment_s

    def trips(moment_s: float) -> list[tuple[float, float, float]]:
        return [(moment_s, moment_s + there_s + back_s, host(moment_s + there_s)) for there_s, back_s in ways_s]

    clock = compared(trips(0.0), trips(10.0))
    assert clock.uncertainty_s == pytest.approx(min(map(sum, ways_s)) / 2, abs=1e-9)
    moment_s = 0.01 + share * 9.99
    found_s = float(clock.here(np.array(host(moment_s))))
    # What a clock drifts by on the way, and what sums of a million seconds are rounded by.
    assert abs(found_s - moment_s) <= clock.uncertainty_s + 2e-6 + 1e-9
