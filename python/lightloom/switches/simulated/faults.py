"""Faults of a simulated switch: `slow=50ms,refuse=3,drop-after=2`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.whole_numbers import whole_of_text
from lightloom.inputs.quantities import seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_S = 3600.0


# By name: the form of its value, and its effect.
MEANINGS = {
    "slow": ("a time", "each change takes so long"),
    "late": ("a time", "each answer comes so late"),
    "refuse": ("an ingress port", "circuits of this port are never made"),
    "refuse-change": ("the number of a change", "it is refused"),
    "ignore": ("the number of a change", "it is answered as if it had been made"),
    "half": ("the number of a change", "only the first half of its circuits is made, and it is said to have failed"),
    "drop-before": ("the number of a change", "the connection ends before it is made"),
    "drop-after": ("the number of a change", "the connection ends once it has been made, before the answer"),
    "garbage": ("the number of a change", "it is made, and answered with bytes that mean nothing"),
}


@dataclass(frozen=True)
class Faults:
    """Faults of a simulated switch, as `MEANINGS` says; changes are requests to make or unmake circuits, from 1.

    Fields have the names of the faults; times are seconds, ports and changes sets of numbers.
    """

    slow_s: float = 0.0
    late_s: float = 0.0
    refuse: frozenset[int] = frozenset()
    refuse_change: frozenset[int] = frozenset()
    ignore: frozenset[int] = frozenset()
    half: frozenset[int] = frozenset()
    drop_before: frozenset[int] = frozenset()
    drop_after: frozenset[int] = frozenset()
    garbage: frozenset[int] = frozenset()

    @classmethod
    def parse(cls, field: str, text: str) -> Faults:
        """The faults that a text names; a name may come several times. Raises `InputError` that names `field`."""
        times = {name: f"{name}_s" for name, (value, _) in MEANINGS.items() if value == "a time"}
        numbers = {name: name.replace("-", "_") for name in MEANINGS if name not in times}
        seconds: dict[str, float] = {}
        chosen: dict[str, frozenset[int]] = {}
        for part in filter(None, (part.strip() for part in text_of(field, text).split(","))):
            name, separator, value = (word.strip() for word in part.partition("="))
            if name not in times and name not in numbers:
                raise unknown_name(field, name, MEANINGS)
            if not separator:
                raise refuse(field, f"`{shown(part)}` is not accepted; it takes {name}=VALUE")
            if name in times:
                seconds[times[name]] = seconds_of(f"{field}: {name}", value)
                if seconds[times[name]] > LONGEST_S:
                    raise refuse(f"{field}: {name}", f"`{shown(value)}` is not accepted; it takes a time up to 1 h")
            else:
                number = whole_of_text(f"{field}: {name}", value)
                chosen[numbers[name]] = chosen.get(numbers[name], frozenset()) | {number}
        return cls(**seconds, **chosen)  # type: ignore[arg-type]


def halved(circuits: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first half, in the order of the ingress ports."""
    ordered = sorted(circuits)
    return ordered[: len(ordered) // 2]
