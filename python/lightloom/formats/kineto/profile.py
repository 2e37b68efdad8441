"""The profile of one rank: the work of its GPU in order, what launched it, and the steps of the profiler."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import printable, refuse, shown
from lightloom.formats.kineto.files import GPU, LAUNCHES, RECORD, STEP

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lightloom.base.errors import InputError

__all__ = ["Profile", "Work", "profile_of"]

# Keys of a collective's record (PyTorch, torch/csrc/profiler/util.h; kineto, libkineto/src/output_json.cpp).
COLLECTIVE_NAME, EXTERNAL_ID = "Collective name", "External id"
# The key by which traces of the backend `lightloom` say that AllReduces end with the same bits at every rank.
SAME_BITS = "same_bits"
MESSAGES, WAIT = ("send", "recv"), "wait"
# Calls of CUDA and HIP that let a stream, or the program, wait.
WAITS = ("StreamWaitEvent", "Synchronize")
RANK_IN_NAME = re.compile(r"rank[-_ ]?(\d{1,6})(?!\d)", re.IGNORECASE)
# Microseconds that a time is below: 300 years, which leaves a float its nanoseconds, or of times since 1970 nearly.
MOST_US = 1e16
MOST_RANK = 1 << 20

# PyTorch's record of one collective or message.
Record = dict[str, Any]


class Work(NamedTuple):
    """One piece of a GPU's work: a kernel or a copy, or all kernels of one collective.

    start_ns, end_ns: nanoseconds of the profile's clock; launched_ns: when it was launched, its start where the profile
    does not say. records: of a communication, what the profile says of it: none, one, or one for each message of a
    batch.
    """

    start_ns: int
    end_ns: int
    launched_ns: int
    stream: int | str
    name: str
    is_communication: bool
    records: tuple[Record, ...] = ()


class Profile(NamedTuple):
    """The content of a rank's file.

    rank, ranks: as it states them, None where it does not; groups: what is said of process groups, by their name;
    waits_ns: in order, when streams or the program were told to wait, None where the profile has no such calls; steps:
    begin and end of each `ProfilerStep#N` by N; same_bits: whether it says that AllReduces end with the same bits at
    every rank. Times are nanoseconds.
    """

    path: Path
    rank: int | None
    ranks: int | None
    groups: dict[str, Any]
    work: list[Work]
    waits_ns: list[int] | None
    steps: dict[int, tuple[int, int]]
    same_bits: bool


def profile_of(field: str, path: Path, document: Mapping[str, Any]) -> Profile:
    """The profile that a document is. Raises `InputError` that names `field`, the file and the event."""
    reader = _Reader(field, path)
    for event in document["traceEvents"]:
        reader.add(event)
    info = document.get("distributedInfo")
    rank, ranks, groups = _stated(field, path, info)
    named = RANK_IN_NAME.search(path.name)
    if rank is None and named is not None:
        rank = int(named[1])
    same_bits = isinstance(info, dict) and info.get(SAME_BITS) is True
    return Profile(path, rank, ranks, groups, reader.work(), reader.waits(), reader.steps, same_bits)


def _stated(field: str, path: Path, info: object) -> tuple[int | None, int | None, dict[str, Any]]:
    """The rank, the number of ranks and the process groups that `distributedInfo` states, where the file has it."""
    if info is None:
        return None, None, {}

    def wrong(key: str, value: object, accepts: str) -> InputError:
        return refuse(field, f"`{path}`: distributedInfo{key} is `{shown(value)}`; it takes {accepts}")

    if not isinstance(info, dict):
        raise wrong("", info, "an object with rank and world_size")
    numbers: list[int | None] = []
    for key, least, most in (("rank", 0, MOST_RANK - 1), ("world_size", 1, MOST_RANK)):
        number = info.get(key)
        if number is not None and not (type(number) is int and least <= number <= most):
            raise wrong(f".{key}", number, f"a whole number from {least} to {most}")
        numbers.append(number)
    rank, ranks = numbers
    if rank is not None and ranks is not None and rank >= ranks:
        raise wrong(".rank", rank, f"a rank below its world_size, {ranks}")
    groups = info.get("pg_config")
    if groups is not None and not (isinstance(groups, list) and all(isinstance(one, dict) for one in groups)):
        raise wrong(".pg_config", groups, "a list of objects with pg_name and ranks")
    return rank, ranks, {str(one.get("pg_name")): one.get("ranks") for one in groups or []}


class _Event(NamedTuple):
    """An event of a GPU, and the numbers that link it to its launch and to its record."""

    work: Work
    correlation: object
    external: object
    record: Record | None


class _Reader:
    """Takes events in any order."""

    def __init__(self, field: str, path: Path) -> None:
        self._field, self._path = field, path
        self._of_gpu: list[_Event] = []
        # By correlation: when and on which thread the work was launched.
        self._launches: dict[object, tuple[int, object]] = {}
        self._records: dict[object, Record] = {}
        # Messages by thread: when their record began, and its External id.
        self._messages: dict[object, list[tuple[int, object]]] = defaultdict(list)
        # By thread: begin and end of the calls of collectives, and when something was told to wait.
        self._calls: dict[object, list[tuple[int, int]]] = defaultdict(list)
        self._told_to_wait: dict[object, list[int]] = defaultdict(list)
        self._devices: set[object] = set()
        self.steps: dict[int, tuple[int, int]] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        category, name = str(event.get("cat", "")).lower(), str(event.get("name", ""))
        found = event.get("args")
        args: dict[str, Any] = found if isinstance(found, dict) else {}
        thread = (_key(event.get("pid")), _key(event.get("tid")))
        if category in GPU:
            self._add_work(event, printable(name), args)
        elif category.endswith(LAUNCHES):
            correlation = _key(args.get("correlation"))
            if correlation is not None:
                self._launches[correlation] = (self._ns(event, "ts"), thread)
            if name.endswith(WAITS):
                self._told_to_wait[thread].append(self._ns(event, "ts"))
        elif name == RECORD:
            external, start = _key(args.get(EXTERNAL_ID)), self._ns(event, "ts")
            if args.get(COLLECTIVE_NAME) != WAIT:
                self._calls[thread].append((start, start + self._ns(event, "dur")))
            if external is not None:
                self._records[external] = args
                if args.get(COLLECTIVE_NAME) in MESSAGES:
                    self._messages[thread].append((start, external))
        else:
            number = name.removeprefix(STEP)
            if number.isascii() and number.isdecimal() and len(number) < 10:
                start = self._ns(event, "ts")
                self.steps[int(number)] = (start, start + self._ns(event, "dur"))

    def _add_work(self, event: Mapping[str, Any], name: str, args: dict[str, Any]) -> None:
        start = self._ns(event, "ts")
        stream = args.get("stream", event.get("tid"))
        is_communication = name.lower().startswith("nccl") or COLLECTIVE_NAME in args
        work = Work(
            start,
            start + self._ns(event, "dur"),
            start,
            stream if isinstance(stream, int | str) else str(stream),
            name,
            is_communication,
        )
        record = args if COLLECTIVE_NAME in args else None
        self._devices.add(_key(args.get("device", event.get("pid"))))
        if len(self._devices) > 1:
            raise refuse(self._field, f"`{self._path}` has work of several GPUs; it takes one file for each GPU")
        self._of_gpu.append(_Event(work, _key(args.get("correlation")), _key(args.get(EXTERNAL_ID)), record))

    def work(self) -> list[Work]:
        """All work in the order in which it began; kernels of one collective's record are one."""
        found: list[Work] = []
        places: dict[object, int] = {}
        batches: list[tuple[int, object, int]] = []
        own = {event.external for event in self._of_gpu if event.work.is_communication}
        for event in self._of_gpu:
            launch = self._launches.get(event.correlation) if event.correlation is not None else None
            work = (
                event.work if launch is None else event.work._replace(launched_ns=min(launch[0], event.work.start_ns))
            )
            if not work.is_communication:
                found.append(work)
                continue
            record = event.record or self._records.get(event.external)
            if record is None:
                if launch is not None:
                    batches.append((launch[0], launch[1], len(found)))
                found.append(work)
            elif event.external is not None and event.external in places:
                found[places[event.external]] = _both(found[places[event.external]], work)
            else:
                if event.external is not None:
                    places[event.external] = len(found)
                found.append(work._replace(records=(record,)))
        self._fill(found, batches, own)
        return sorted(found, key=lambda work: (work.start_ns, work.end_ns, work.launched_ns))

    def waits(self) -> list[int] | None:
        """When streams or the program were told to wait, but for a collective to begin; None where nothing was."""
        if not self._told_to_wait:
            return None
        found: list[int] = []
        for thread, times in self._told_to_wait.items():
            calls, place = sorted(self._calls.get(thread, [])), 0
            for time in sorted(times):
                while place < len(calls) and calls[place][1] < time:
                    place += 1
                if place == len(calls) or time < calls[place][0]:
                    found.append(time)
        return sorted(found)

    def _fill(self, found: list[Work], batches: list[tuple[int, object, int]], own: set[object]) -> None:
        """Give kernels without a record the messages that their thread had put in a batch before it launched them."""
        waiting = {
            thread: sorted((one for one in messages if one[1] not in own), key=lambda one: one[0], reverse=True)
            for thread, messages in self._messages.items()
        }
        for launched_ns, thread, place in sorted(batches, key=lambda one: (one[0], one[2])):
            messages, records = waiting.get(thread, []), []
            while messages and messages[-1][0] <= launched_ns:
                records.append(self._records[messages.pop()[1]])
            found[place] = found[place]._replace(records=tuple(records))

    def _ns(self, event: Mapping[str, Any], key: str) -> int:
        value = event.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value < MOST_US:  # type: ignore[operator]
            name = shown(event.get("name"))
            raise refuse(
                self._field,
                f"`{self._path}`: event `{name}` has {key} `{shown(value)}`; it takes microseconds from 0",
            )
        return round(value * 1000)  # type: ignore[operator]


def _both(one: Work, other: Work) -> Work:
    return one._replace(
        start_ns=min(one.start_ns, other.start_ns),
        end_ns=max(one.end_ns, other.end_ns),
        launched_ns=min(one.launched_ns, other.launched_ns),
    )


def _key(value: object) -> object:
    """The value, where it can be a key."""
    return value if isinstance(value, int | str) else None
