"""What waits for what in a profile of PyTorch: graphs worked out by hand, and the rule by brute force."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightloom.formats.kineto import dependencies
from lightloom.formats.kineto.profile import Work
from tests.formats.profiles import (
    Event,
    alone,
    called,
    event,
    graph,
    kernel,
    launch,
    nccl,
    record,
    wait,
)

SUM = record("allreduce", 1000)
RESNET = "kineto/resnet50_ddp_2gpus.json.gz"


def backward(*, waits: bool) -> list[Event]:
    """A backward pass of three kernels that an AllReduce of the first two's gradients overlaps; then an update.

    The CPU launches: a (0), b (2), the AllReduce (4, its own wait at 4.5), c (6), c2 (8), the wait (9), an update (10).
    """
    ends = [wait(9)] if waits else []
    starts = [wait(4.5)] if waits else []
    return [
        *(launch(time, number) for time, number in ((0, 1), (2, 2), (5, 3), (6, 4), (8, 5), (10, 6))),
        called(4, 5.5, SUM, 77),
        *starts,
        *ends,
        kernel(10, 20, number=1),
        kernel(20, 30, number=2),
        nccl(30, 50, SUM, number=3),
        kernel(31, 46, number=4),
        kernel(52, 60, number=5),
        kernel(60, 65, number=6),
    ]


def test_computation_waits_for_a_collective_only_after_a_call_that_says_so(tmp_path: Path) -> None:
    """With such calls the backward pass goes on while the collective runs, though a kernel starts after its end."""
    assert graph(alone(tmp_path, backward(waits=True))) == {
        "0.0": (20e-6, []),
        "0.1": (4000, ["0.0"]),
        "0.2": (23e-6, ["0.0"]),
        "0.3": (5e-6, ["0.1", "0.2"]),
    }


def test_without_such_calls_computation_waits_for_what_had_ended(tmp_path: Path) -> None:
    assert graph(alone(tmp_path, backward(waits=False))) == {
        "0.0": (20e-6, []),
        "0.1": (4000, ["0.0"]),
        "0.2": (15e-6, ["0.0"]),
        "0.3": (13e-6, ["0.1", "0.2"]),
    }


def test_a_wait_within_the_record_of_a_wait_counts(tmp_path: Path) -> None:
    """PyTorch records `work.wait()` too: it lets the stream wait for the collective, not the collective."""
    waited = [called(8.5, 9.5, {"Collective name": "wait"}, 78), *backward(waits=True)]
    assert graph(alone(tmp_path, waited)) == graph(alone(tmp_path, backward(waits=True)))


def test_what_was_launched_later_is_not_waited_for(tmp_path: Path) -> None:
    """The CPU launches a kernel before the collective, another after it, which ends before the collective starts."""
    events = [
        *(launch(time, number) for time, number in ((0, 1), (1, 2), (2, 3), (3, 4))),
        kernel(10, 20, number=1),
        kernel(20, 30, stream=8, number=3),
        nccl(40, 50, SUM, number=2),
        kernel(50, 60, number=4),
    ]
    assert graph(alone(tmp_path, events)) == {
        "0.0": (10e-6, []),
        "0.1": (10e-6, ["0.0"]),
        "0.2": (4000, ["0.0"]),
        "0.3": (10e-6, ["0.1", "0.2"]),
    }


def test_computation_is_the_time_in_which_anything_runs(tmp_path: Path) -> None:
    """10 to 30 and 40 to 45: kernels on three streams, a copy, and one kernel within another."""
    events = [
        kernel(10, 20),
        kernel(15, 30, stream=8),
        event("gpu_memcpy", "Memcpy HtoD", 40, 45, args={"stream": 9, "device": 0}),
        kernel(16, 18, stream=9),
        event("gpu_user_annotation", "ProfilerStep#1", 0, 100, args={"stream": 7, "device": 0}),
        event("cpu_op", "aten::mm", 0, 100),
        nccl(50, 60, SUM),
    ]
    assert graph(alone(tmp_path, events)) == {"0.0": (25e-6, []), "0.1": (4000, ["0.0"])}


def work(start: int, end: int, *, launched: int | None = None, stream: int = 0, is_communication: bool = False) -> Work:
    return Work(start, end, start if launched is None else launched, stream, "k", is_communication)


@st.composite
def streams_of_work(draw: st.DrawFn) -> list[Work]:
    """Work of up to four streams, each in its order: launched in order, and one after another."""
    found = []
    for stream in range(draw(st.integers(1, 4))):
        start = launched = 0
        for _ in range(draw(st.integers(0, 6))):
            launched += draw(st.integers(0, 5))
            start = max(start, launched) + draw(st.integers(0, 5))
            end = start + draw(st.integers(0, 6))
            # One stream has both.
            is_communication = stream > 2 or (stream == 2 and draw(st.booleans()))
            found.append(work(start, end, launched=launched, stream=stream, is_communication=is_communication))
            start = end
    return sorted(found, key=lambda one: (one.start_ns, one.end_ns, one.launched_ns))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found=streams_of_work(), waits_ns=st.none() | st.lists(st.integers(0, 40), max_size=4).map(sorted))
def test_nodes_wait_for_what_the_rule_says(found: list[Work], waits_ns: list[int] | None) -> None:
    """By brute force over all pairs: what waits directly or through others, and what each node computes."""
    items = dependencies.items_of("workload", "p", found, waits_ns)
    sequence = [place for place, one in enumerate(found) if not one.is_communication]
    calls = [place for place, one in enumerate(found) if one.is_communication]

    def is_told(before: Work, after: Work) -> bool:
        """Whether something was told to wait between the launches."""
        return waits_ns is None or any(before.launched_ns <= at <= after.launched_ns for at in waits_ns)

    def must_wait(later: int, earlier: int) -> bool:
        one, other = found[later], found[earlier]
        had_ended = other.end_ns <= one.start_ns and other.launched_ns <= one.launched_ns
        told = not other.is_communication or one.stream == other.stream or is_told(other, one)
        return earlier < later and had_ended and told

    direct = {place: {other for other in range(place) if must_wait(place, other)} for place in range(len(found))}
    for earlier, later in pairwise(sequence):
        direct[later].add(earlier)
    for earlier in calls:
        for later in calls:
            if earlier < later and found[earlier].stream == found[later].stream:
                direct[later].add(earlier)
    expected = closure(direct)
    # The reader's items as places: those of computation begin where the sequence is cut.
    begins = [item for item in items if item.work is None]
    assert sum(item.busy_ns for item in begins) == len(
        {at for place in sequence for at in range(found[place].start_ns, found[place].end_ns)}
    )
    taken = iter(calls)
    place_of = {index: next(taken) for index, item in enumerate(items) if item.work is not None}
    reached = closure({index: set(item.after) | same_stream(items, index) for index, item in enumerate(items)})
    if begins:
        last = max(index for index, item in enumerate(items) if item.work is None)
        assert {place_of[other] for other in reached[last] if other in place_of} == {
            other for other in expected[sequence[-1]] if found[other].is_communication
        }
    for index, place in place_of.items():
        assert {place_of[other] for other in reached[index] if other in place_of} == {
            other for other in expected[place] if found[other].is_communication
        }
        waited = sum(items[other].busy_ns for other in reached[index] if items[other].work is None)
        before = [other for other in expected[place] if not found[other].is_communication]
        assert waited == len({at for other in before for at in range(found[other].start_ns, found[other].end_ns)})


def same_stream(items: list[dependencies.Item], index: int) -> set[int]:
    one = items[index].work
    if one is None:
        return set()
    return {other for other in range(index) if (held := items[other].work) is not None and held.stream == one.stream}


def closure(direct: dict[int, set[int]]) -> dict[int, set[int]]:
    """All that each waits for, directly or not; each waits only for smaller numbers."""
    found: dict[int, set[int]] = {}
    for place in sorted(direct):
        assert all(other < place for other in direct[place])
        found[place] = direct[place].union(*(found[other] for other in direct[place]))
    return found
