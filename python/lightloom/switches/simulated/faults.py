"""What a simulated switch does wrong: `slow=50ms,refuse=3,drop-after=2`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from lightloom.errors import refuse, shown, unknown_name
from lightloom.inputs.quantities import seconds_of
from lightloom.inputs.validation import whole_of_text

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_S = 3600.0


@dataclass(frozen=True)
class Faults:
    """Faults of a simulated switch; changes are counted from 1, a change being a request to make or unmake circuits.

    slow_s: each change takes so long. late_s: each answer comes so late. refuse: ingress ports, numbered from 1, that
    are never connected. Of the changes with these numbers: refuse_change is refused; ignore is answered as if it had
    been made; half makes only the first half of its circuits, and says that it failed; drop_before ends the connection
    before, drop_after once it has been made; garbage answers it, and what is asked next, with bytes that mean nothing.
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
        times = {"slow": "slow_s", "late": "late_s"}
        numbers = {one.name.replace("_", "-"): one.name for one in fields(cls) if one.name not in times.values()}
        seconds: dict[str, float] = {}
        chosen: dict[str, frozenset[int]] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, separator, value = (word.strip() for word in part.partition("="))
            if name not in times and name not in numbers:
                raise unknown_name(field, name, (*times, *numbers))
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
