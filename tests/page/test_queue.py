"""Who comes next: clients in turn, whatever each asks for; and who leaves where there is no room."""

from __future__ import annotations

from ipaddress import ip_address
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightloom.page.job import Job, Length
from lightloom.page.queue import FullError, Queue, client_name
from tests.page.own_loop import run_in_own_loop

SECONDS = st.floats(0.01, 60.0)


def job(client: str, *, is_long: bool = False) -> Job:
    return Job("", b"", client, Length.LONG if is_long else Length.SHORT)


@given(st.lists(st.tuples(st.sampled_from("abc"), SECONDS), min_size=5, max_size=60))
def test_clients_that_always_wait_get_the_same_time(took: list[tuple[str, float]]) -> None:
    """At any moment two of them differ by no more than one job of each: start-time fair queueing's bound."""

    async def run() -> None:
        queue = Queue(1000)
        of = {client: iter([*(seconds for name, seconds in took if name == client), *[1.0] * 100]) for client in "abc"}
        used = dict.fromkeys("abc", 0.0)
        longest = dict.fromkeys("abc", 0.0)
        for client in "abc":
            queue.put(job(client))
        for _ in took:
            taken = queue.take()
            assert taken is not None
            seconds = next(of[taken.client])
            queue.put(job(taken.client))
            queue.put_down(taken, seconds)
            used[taken.client] += seconds
            longest[taken.client] = max(longest[taken.client], seconds)
            assert all(used[a] - used[b] <= longest[a] + 1e-9 for a in "abc" for b in "abc")

    run_in_own_loop(run())


def test_fewest_at_work_comes_first_and_no_credit_is_saved() -> None:
    async def run() -> None:
        queue = Queue(100)
        for _ in range(8):
            queue.put(job("many"))
        first = queue.take()
        queue.put(job("late"))
        second = queue.take()
        third = queue.take()
        assert [one.client for one in (first, second, third) if one is not None] == ["many", "late", "many"]
        assert second is not None
        # Who was away begins like the one that had least.
        queue.put_down(second, 50.0)
        queue.put(job("late"))
        queue.put(job("late"))
        assert [queue.take().client for _ in range(2)] == ["late", "late"]  # type: ignore[union-attr]

    run_in_own_loop(run())


def test_the_reserve_leaves_long_jobs_and_they_keep_their_order() -> None:
    async def run() -> None:
        queue = Queue(100)
        jobs = [job("a", is_long=True), job("a"), job("b", is_long=True)]
        for one in jobs:
            queue.put(one)
        assert queue.take(is_short=True) is jobs[1]
        assert queue.take(is_short=True) is None
        assert len(queue) == 2
        # A long one makes room for another client's, and for one that is new.
        assert queue.has_other_than(job("b"))
        assert queue.take() is jobs[2]
        assert not queue.has_other_than(job("a"))
        queue.put(job("a"))
        assert queue.has_other_than(job("a"))

    run_in_own_loop(run())


@given(st.lists(st.sampled_from("aaaaaabc"), max_size=60), st.integers(1, 8))
def test_whoever_has_most_gives_up(clients: list[str], most: int) -> None:
    async def run() -> None:
        queue, of, number = Queue(most), dict.fromkeys("abc", 0), count()
        order: dict[Job, int] = {}
        for client in clients:
            try:
                leaving = queue.make_room(client)
            except FullError:
                # Nobody has two more than this one would have.
                assert max(of.values()) <= of[client] + 1
                continue
            if leaving is not None:
                assert len(queue) == most - 1
                assert of[leaving.client] == max(of.values()) > of[client] + 1
                newest = max(at for one, at in order.items() if one.client == leaving.client)
                assert order.pop(leaving) == newest
                of[leaving.client] -= 1
            queue.put(new := job(client))
            order[new] = next(number)
            of[client] += 1
            assert len(queue) == sum(of.values()) <= most

    run_in_own_loop(run())


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", str(ip_address("::ffff:192.0.2.7"))),
        (None, ""),
        ("testclient", "testclient"),
    ],
)
def test_a_network_of_ipv6_is_one_client(host: str | None, name: str) -> None:
    assert client_name(host) == name
