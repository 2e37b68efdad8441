"""Collectives of tensors as the core carries them out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from lightloom.torch.planning import Asked
from lightloom.torch.tensors import check_reduction, flat_bytes, on_host, put_back, reduction_of, shares_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.torch.planning import PlanBook
    from lightloom.torch.trace import Trace

__all__ = ["Collectives"]


class Collectives:
    """The collectives of one rank of a group, each of which all ranks carry out together.

    member: the rank's place in the group's memory. book: the group's plans; None for a group of one rank. trace: where
    collectives are written, under the group's name. timeout_s: of calls that state none.
    """

    def __init__(
        self, name: str, rank: int, size: int, member: Any, book: PlanBook | None, trace: Trace | None, timeout_s: float
    ) -> None:
        self._name, self._rank, self._size, self._member = name, rank, size, member
        self._book, self._trace, self.timeout_s = book, trace, timeout_s

    def reduced(self, collective: str, tensor: Any, reduction: str, opts: Any) -> None:
        """The reduction of all ranks' tensors: an AllReduce, or a Reduce to the root of `opts`."""
        check_reduction(tensor, reduction)
        root = opts.rootRank if collective == "reduce" else None
        held = on_host(tensor)
        host = _as_real(held)
        if root in {None, self._rank}:
            self.carry(self.asked(collective, host, host.numel(), root), None, host, opts, tensor, reduction)
            self._divide(host, reduction)
            put_back(tensor, held)
        else:
            nothing = torch.empty(0, dtype=host.dtype)
            self.carry(self.asked(collective, host, host.numel(), root), host, nothing, opts, tensor, reduction)

    def scattered(self, output: Any, given: Any, opts: Any) -> None:
        """The rank's part of the reduction of all ranks' tensors."""
        reduction = reduction_of(opts.reduceOp)
        check_reduction(given, reduction)
        held, given = on_host(output), _as_real(on_host(given))
        host = _as_real(held)
        asked = self.asked("reduce-scatter", given, given.numel(), None)
        self.carry(asked, given, host, opts, given, reduction)
        self._divide(host, reduction)
        put_back(output, held)

    def gathered(self, output: Any, given: Any, opts: Any) -> None:
        """All ranks' tensors, one after the other."""
        host = on_host(output)
        asked = self.asked("all-gather", given, self._size * given.numel(), None)
        self.carry(asked, on_host(given), host, opts, given)
        put_back(output, host)

    def exchanged(self, output: Any, given: Any, sent: Sequence[int], got: Sequence[int], opts: Any) -> None:
        """The blocks that all ranks have for this one; sent, got: elements by rank. `output` is on the host."""
        size = given.element_size()
        told = self._member.share("all_to_all: sizes", [one * size for one in sent], self.seconds(opts))
        for rank, (row, room) in enumerate(zip(told, got, strict=True)):
            if row[self._rank] != room * size:
                came = f"rank {rank} sends {row[self._rank] // size} elements to rank {self._rank}"
                self._member.abort(f"output_split_sizes: {came}, which has room for {room}")
        self._member.watch("all_to_all")
        blocks = tuple(one for row in told for one in row)
        asked = Asked("all-to-all", None, max(map(sum, told)), 1, blocks)
        self.carry(asked, on_host(given), output, opts, given)

    def asked(self, collective: str, tensor: Any, elements: int, root: int | None) -> Asked:
        """The collective as plans know it; what is only moved counts in bytes."""
        if collective in {"all-reduce", "reduce", "reduce-scatter"}:
            return Asked(collective, root, elements, tensor.element_size())
        return Asked(collective, root, elements * tensor.element_size(), 1)

    def carry(
        self, asked: Asked, given: Any, output: Any, opts: Any, tensor: Any, reduction: str | None = None
    ) -> None:
        """Carry a collective out: from `given`, or in place where it is None, to `output`, both on the host."""
        dtype = str(tensor.dtype).removeprefix("torch.")
        if given is not None and shares_memory(given, output):
            given = given.clone()
        if asked.elements == 0:
            return
        if self._book is None:
            if given is not None:
                flat_bytes(output)[:] = flat_bytes(given)
            return
        timeout_s = self.seconds(opts)
        count = asked.elements * asked.element_bytes // tensor.element_size()
        root = "" if asked.root is None else f" from or to rank {asked.root}"
        call = f"{asked.collective} of {count} {dtype}{'' if reduction is None else f', {reduction}'}{root}"
        ready = self._book.ready(asked, call, timeout_s)
        begun_ns = time.monotonic_ns()
        course = self._member.execute(
            ready.task,
            call,
            "uint8" if reduction is None else check_reduction(tensor, reduction),
            "sum" if reduction in {None, "average"} else reduction,
            None if given is None else flat_bytes(given),
            flat_bytes(output),
            timeout_s,
        )
        if self._trace is not None:
            self._trace.collective(self._name, asked, ready.plan, tensor, begun_ns, course)

    def _divide(self, tensor: Any, reduction: str) -> None:
        if reduction == "average":
            whole = not (tensor.dtype.is_floating_point or tensor.dtype.is_complex)
            tensor.div_(self._size, rounding_mode="trunc" if whole else None)

    def seconds(self, opts: Any) -> float:
        """The longest time of a call with these options."""
        # PyTorch's options have minus one millisecond where they state no time.
        told: float = -1.0 if opts is None else opts.timeout.total_seconds()
        return told if told > 0 else self.timeout_s


def _as_real(tensor: Any) -> Any:
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor
