"""Options for facts that the formats of workloads leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown, unknown_name

if TYPE_CHECKING:
    import os

COMM_SIZES = ("input", "output", "buffer")
# Seconds of each.
TIME_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
# An iteration is of ranks that communicate.
LEAST_RANKS, MOST_RANKS, MOST_ELEMENT_BYTES, MOST_STEP = 2, 65536, 1 << 20, 999_999_999


class Asked(NamedTuple):
    """Options of the readers, None where they are not given.

    comm_groups: JSON file of the ranks of each group, by its name; comm_size: whether a collective's stated size is a
    rank's input, its output or the whole buffer; element_bytes: bytes of an element that sizes count; time_unit: of run
    times; ranks: how many there are; profile_step: N of the `ProfilerStep#N` that is taken from a profile;
    message_sizes: JSON file of bytes of collectives that a profile states no sizes of; compute_time: seconds or text
    with a unit, that each rank computes.
    """

    comm_groups: str | os.PathLike[str] | None = None
    comm_size: str | None = None
    element_bytes: int | None = None
    time_unit: str | None = None
    ranks: int | None = None
    profile_step: int | None = None
    message_sizes: str | os.PathLike[str] | None = None
    compute_time: str | float | None = None

    def checked(self) -> Asked:
        """The same options. Raises `InputError` that names the first that is not accepted."""
        _check_choice("comm_size", self.comm_size, COMM_SIZES)
        _check_choice("time_unit", self.time_unit, tuple(TIME_UNITS))
        _check_whole("element_bytes", self.element_bytes, 1, MOST_ELEMENT_BYTES)
        _check_whole("ranks", self.ranks, LEAST_RANKS, MOST_RANKS)
        _check_whole("profile_step", self.profile_step, 0, MOST_STEP)
        if self.compute_time is not None:
            _core.read_time("compute_time", self.compute_time)
        return self

    def refuse_others(self, taken: frozenset[str], name: str) -> None:
        """Refuse options that a format does not take. Raises `InputError` that names the first."""
        for option, value in self._asdict().items():
            if value is not None and option not in taken:
                takes = f"it takes {', '.join(sorted(taken))}" if taken else "it takes no options"
                raise refuse(option, f"it is not used for a workload of format {name}; {takes}")


def missing(option: str, why: str, accepted: str) -> InputError:
    """The error for an option that a format needs and that was not given."""
    return refuse(option, f"it is missing: {why}; it takes {accepted}")


def _check_choice(field: str, value: object, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise unknown_name(field, value, choices)


def _check_whole(field: str, value: object, least: int, most: int) -> None:
    if value is not None and (type(value) is not int or not least <= value <= most):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes a whole number from {least} to {most}")
