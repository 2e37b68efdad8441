"""Kinds of single faults, such as `any-port`, and the faults of a fabric that each of them stands for."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import combinations, islice
from math import isqrt
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import InputError, refuse, shown, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from lightloom.inputs.fabric import Fabric

__all__ = ["KINDS", "MOST_FAULTS", "Fault", "Wanted", "given_faults", "names_kinds"]

BEGINNING = "any-"
# A fault that any fabric can have.
ANY_LINK = "link:0-1"
LINK = re.compile(r"^link:(\d{1,10})-(\d{1,10})$")
# Single faults of one kind that are looked at: those of all links among 200 GPUs.
MOST_FAULTS = 20_000
# Pairs of single faults that are drawn, and how a list asks for them.
MOST_PAIRS = 10_000
PAIRS = re.compile(r"^any-two:(\d{1,10})$")


class Kind(NamedTuple):
    """A kind of single faults.

    every: all faults of a fabric of so many GPUs and ports. of_port: whether a fault is that of one port, or of one
    port of every GPU; where nothing tells ports apart, that of port 0 costs what those of the others cost.
    """

    every: Callable[[int, int], Iterator[str]]
    of_port: bool


KINDS = {
    "any-gpu": Kind(lambda gpus, _: (f"gpu:{gpu}" for gpu in range(gpus)), of_port=False),
    "any-port": Kind(
        lambda gpus, ports: (f"port:{gpu}.{port}" for gpu in range(gpus) for port in range(ports)), of_port=True
    ),
    "any-receiver": Kind(
        lambda gpus, ports: (f"receiver:{gpu}.{port}" for gpu in range(gpus) for port in range(ports)), of_port=True
    ),
    "any-link": Kind(
        lambda gpus, _: (f"link:{first}-{second}" for first, second in combinations(range(gpus), 2)), of_port=False
    ),
    "any-switch": Kind(lambda _, ports: (f"switch:{port}" for port in range(ports)), of_port=True),
}


class Fault(NamedTuple):
    """A fault, or two, as `--failed` writes it, and the number of faults that cost the same, itself included."""

    failed: str
    alike: int


class Wanted(NamedTuple):
    """The kinds of single faults that are asked for, and the faults that are there in any case.

    pairs: number of pairs of these single faults that are asked for, too.
    """

    kinds: tuple[str, ...]
    given: tuple[str, ...]
    pairs: int = 0

    @classmethod
    def of(cls, failed: str | Sequence[str]) -> Self:
        """The parts of a list such as `"any-port,link:0-7"`. Raises `InputError` for an unknown kind, or for none."""
        listed = _parts(failed)
        asked = [part for part in listed if part.partition(":")[0] == "any-two"]
        pairs = [int(found[1]) for part in asked if (found := PAIRS.match(part))]
        parts = [part for part in listed if part not in asked]
        if asked and not (len(asked) == len(pairs) == 1 and 1 <= pairs[0] <= MOST_PAIRS):
            raise refuse(
                "failed", f"`{shown(failed)}` is not accepted; it takes any-two:N once, N from 1 to {MOST_PAIRS:,}"
            )
        kinds = tuple(dict.fromkeys(part for part in parts if part.startswith(BEGINNING)))
        for kind in kinds:
            if kind not in KINDS:
                raise unknown_name("failed", kind, KINDS)
        if not kinds:
            raise refuse("failed", f"`{shown(failed)}` names no kind of faults; it takes {', '.join(KINDS)}")
        return cls(kinds, given_faults([part for part in parts if part not in kinds]), sum(pairs))

    def on(self, fabric: Fabric) -> Self:
        """The same, with the faults that a fabric has. Errors as for `faults`, where the fabric says its GPUs."""
        made = self._replace(given=given_faults([*given_faults(fabric.failed or ()), *self.given]))
        if fabric.gpus is not None:
            made.faults(fabric.gpus, fabric.ports)
            # Settings that no fault goes with are refused before faults are gone over.
            try:
                replace(fabric, failed=(*made.given, ANY_LINK)).to_core()
            except InputError as error:
                kinds = str(error).replace(f"`{ANY_LINK}`", f"`{','.join(self.kinds)}`")
                raise InputError(error.field, kinds) from error
        return made

    def faults(self, gpus: int, ports: int) -> list[str]:
        """All single faults of the kinds, in order, those left out that are there in any case.

        Raises `InputError` where there are more than `MOST_FAULTS` of a kind.
        """
        return [fault for name in self.kinds for fault in self._of_kind(name, gpus, ports)]

    def drawn_pairs(self, gpus: int, ports: int) -> list[Fault]:
        """So many different pairs of the single faults as are asked for, drawn with a fixed seed.

        All of them where they are fewer. Errors as for `faults`.
        """
        single = self.faults(gpus, ports) if self.pairs else []
        count = len(single) * (len(single) - 1) // 2
        drawn = sorted(random.Random(0).sample(range(count), min(self.pairs, count)))  # noqa: S311 (no secret)
        made = []
        for number in drawn:
            later = (1 + isqrt(1 + 8 * number)) // 2
            first = number - later * (later - 1) // 2
            made.append(Fault(f"{single[first]},{single[later]}", 1))
        return made

    def distinct(self, gpus: int, ports: int, *, ports_alike: bool) -> list[Fault]:
        """The single faults, one for all ports of a GPU and one for all planes where ports are alike; errors as above.

        ports_alike: whether nothing but faults tells the ports of a GPU apart.
        """
        alike = ports_alike and all(fault.startswith(("gpu:", "link:")) for fault in self.given)
        made: list[Fault] = []
        for name in self.kinds:
            count = ports if alike and KINDS[name].of_port else 1
            made += [Fault(fault, count) for fault in self._of_kind(name, gpus, ports // count)]
        return made

    def _of_kind(self, name: str, gpus: int, ports: int) -> list[str]:
        found = list(islice(KINDS[name].every(gpus, ports), MOST_FAULTS + 1))
        if len(found) > MOST_FAULTS:
            raise refuse("failed", f"`{name}` on {gpus} GPUs is not accepted; it takes at most {MOST_FAULTS:,} faults")
        return [fault for fault in found if fault not in self.given]


def names_kinds(failed: object) -> bool:
    """Whether a value of `failed` names a kind of faults, such as `any-port`."""
    return isinstance(failed, (str, list, tuple)) and any(part.startswith(BEGINNING) for part in _parts(failed))


def given_faults(failed: str | Sequence[str]) -> tuple[str, ...]:
    """The faults of a list, each once and spelled as plans spell it, such as `link:0-7` for `link:7-0`."""
    spelled = (re.sub(r"\d{1,10}", lambda digits: str(int(digits[0])), part) for part in _parts(failed))
    return tuple(dict.fromkeys(LINK.sub(_smaller_first, part) for part in spelled))


def _smaller_first(link: re.Match[str]) -> str:
    first, second = sorted(map(int, link.groups()))
    return f"link:{first}-{second}"


def _parts(failed: str | Sequence[str]) -> list[str]:
    texts = failed.split(",") if isinstance(failed, str) else map(str, failed)
    return [text.strip() for text in texts]
