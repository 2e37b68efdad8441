"""Plans for every single fault of a kind, made beforehand: a file in which a controller looks one up."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, Unpack

from lightloom._core import counted
from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.files import read_text, write_bytes
from lightloom.base.frames import Table
from lightloom.faults.checks import checks_of
from lightloom.faults.kinds import Wanted, given_faults
from lightloom.faults.reader import MAX_FILE_BYTES, SCHEMA, Parts, is_fallbacks, parts_of
from lightloom.inputs.fabric import Fabric
from lightloom.planning import plan
from lightloom.plans import Plan

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import Self

    from lightloom.inputs.options import Settings
    from lightloom.planning import Check

__all__ = ["Fallbacks", "fallbacks", "unfinished"]

# Seconds between two writings of a file that is being made.
BETWEEN_WRITINGS_S = 20.0


@dataclass(frozen=True, eq=False)
class Fallbacks(Table):
    """A plan for every single fault of some kinds; immutable.

    parts: the content of the file. Made by `lightloom.fallbacks`, or read back by `Fallbacks.load` and
    `Fallbacks.from_json`. A plan is judged when it is looked up, all of them by `verify`.
    """

    parts: Parts

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; its plans are not yet verified. Raises `InputError` that names the wrong key."""
        return cls(parts_of(text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The plans in a JSON file; errors as for `from_json`."""
        return cls.from_json(read_text("fallbacks", path, MAX_FILE_BYTES))

    def to_json(self) -> str:
        """The plans as JSON of schema `lightloom.fallbacks/1`."""
        return json.dumps({"schema": SCHEMA, **self.parts._asdict()}, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        content = (self.to_json() + "\n").encode()
        if len(content) > MAX_FILE_BYTES:
            raise refuse("output", f"{len(content):,} bytes are more than can be read back; name fewer kinds of faults")
        write_bytes("output", path, content)

    def verify(self) -> list[Check]:
        """The checks of every plan, by `lightloom.verify`, joined by name, and those of the whole."""
        return checks_of(self.parts)

    @property
    def complete(self) -> bool:
        """Whether every fault was planned for; the file of an interrupted run is not complete."""
        return self.parts.complete

    @property
    def faults(self) -> tuple[str, ...]:
        """The single faults that have a plan."""
        return tuple(self.parts.plans)

    @cached_property
    def healthy(self) -> Plan:
        """The plan where there is no single fault."""
        return _judged("healthy", self.parts.healthy)

    def plan(self, failed: str | Sequence[str]) -> Plan:
        """The plan for a fault, such as `"port:3.1"`; those that are there in any case may be named, too.

        Raises `InputError` that names `failed` where there is no plan for it, or the check that the plan fails.
        """
        asked = given_faults(failed)
        Fabric(gpus=self.parts.gpus, ports=self.parts.ports, failed=asked).to_core()
        single = [fault for fault in asked if fault not in self.parts.given]
        if not single:
            return self.healthy
        name = single[0]
        if len(single) == 1 and name in self.parts.plans:
            return _judged(f"plans.{name}", self.parts.plans[name])
        if len(single) == 1 and name in self.parts.unserved:
            raise InputError("failed", f"failed: no plan serves {name}: {self.parts.unserved[name]}")
        kinds = ", ".join(self.parts.kinds)
        rest = "" if self.complete else "; its making was interrupted, and the same command goes on"
        raise refuse("failed", f"`{shown(','.join(asked))}` has no plan here; there is one for {kinds}, alone{rest}")

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a fault: the time and the reason why there is no plan, one of them None."""
        plans, unserved = self.parts.plans, self.parts.unserved
        return {
            "failed": [*plans, *unserved],
            "total_s": [*(told["total_s"] for told in plans.values()), *(None for _ in unserved)],
            "reason": [*(None for _ in plans), *unserved.values()],
        }

    def __repr__(self) -> str:
        plans = counted(len(self.parts.plans), "plan")
        return f"Fallbacks({self.healthy.collective}, {self.parts.gpus} GPUs, {', '.join(self.parts.kinds)}: {plans})"


def fallbacks(
    collective: str | None = None,
    size: str | float | None = None,
    failed: str | Sequence[str] = "any-port,any-receiver,any-link,any-switch,any-gpu",
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    known: Fallbacks | None = None,
    output: str | os.PathLike[str] | None = None,
    report: Callable[[int, int], None] = lambda _done, _total: None,
    **settings: Unpack[Settings],
) -> Fallbacks:
    """A plan for every single fault of some kinds, and one for none.

    failed: kinds of faults, and faults that are there in any case, as for `lightloom.fault_costs`.
    known: plans of an interrupted run; those for the same problem and settings are taken from it.
    output: a file that is written now and then while plans are made, and at the end.
    report: is called with the number of faults that are done, and with that of all.

    Other arguments and errors as for `lightloom.plan`. Raises `InputError` where no fault has a plan, too.
    """
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    wanted = Wanted.of(failed).on(fabric)
    if wanted.pairs:
        raise refuse("failed", "any-two is for comparisons; plans are made for single faults")
    healthy = plan(collective, size, fabric=replace(fabric, failed=wanted.given or None), **settings)
    gpus = healthy.fabric_gpus
    told = {name: shown(value) for name, value in settings.items() if value is not None}
    document = json.loads(healthy.to_json())
    parts = Parts(wanted.kinds, wanted.given, gpus, fabric.ports, told, False, document, {}, {})
    if known is not None and known.parts._replace(plans={}, unserved={}) == parts:
        parts = known.parts
    plans, unserved = dict(parts.plans), dict(parts.unserved)
    written_s = monotonic()
    single = wanted.faults(gpus, fabric.ports)
    for done, fault in enumerate(single):
        report(done, len(single))
        if fault in plans or fault in unserved:
            continue
        try:
            made = plan(collective, size, fabric=replace(fabric, failed=(*wanted.given, fault)), **settings)
            plans[fault] = json.loads(made.to_json())
        except InputError as error:  # without this fault there is a plan
            unserved[fault] = str(error)
        if output is not None and plans and monotonic() - written_s > BETWEEN_WRITINGS_S:
            Fallbacks(parts._replace(plans=plans, unserved=unserved)).save(output)
            written_s = monotonic()
    if single and not plans:
        fault, reason = next(iter(unserved.items()))
        left = gpus - sum(one.startswith("gpu:") for one in (fault, *wanted.given))
        why = f"with {left} GPUs left {reason.partition(': ')[2]}" if fault.startswith("gpu:") else reason
        raise InputError("failed", f"failed: none of the {len(single)} faults has a plan; the first, {fault}: {why}")
    found = Fallbacks(parts._replace(plans=plans, unserved=unserved, complete=True))
    if output is not None:
        found.save(output)
    return found


def unfinished(path: str | os.PathLike[str]) -> Fallbacks | None:
    """The plans in the file of an interrupted run; None where there is no such file."""
    try:
        text = read_text("output", path, MAX_FILE_BYTES)
        found = Fallbacks.from_json(text) if is_fallbacks(text) else None
    except InputError:
        return None
    return None if found is None or found.complete else found


def _judged(field: str, document: dict[str, Any]) -> Plan:
    try:
        return Plan.from_json(json.dumps(document))
    except InputError as error:  # without this fault there is a plan
        raise InputError(f"{field}.{error.field}", f"{field}.{error}") from error
