"""A process group whose collectives are carried out by their plans."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from lightloom.base.errors import InputError
from lightloom.torch.collectives import Collectives
from lightloom.torch.messages import Messages
from lightloom.torch.tensors import DEVICES, joined, on_host, put_back, reduction_of
from lightloom.torch.work import Call, Caller

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta

    from lightloom.torch.planning import PlanBook
    from lightloom.torch.trace import Trace

__all__ = ["LightloomGroup"]


class LightloomGroup(dist.ProcessGroup):  # type: ignore[misc]
    """The ranks of a group, as PyTorch calls them: its methods are those of `ProcessGroup`, and named like them.

    member: this rank's place in the group's memory. book: its plans; None for a group of one rank. trace: where calls
    are written.
    """

    def __init__(
        self,
        rank: int,
        size: int,
        name: str,
        member: Any,
        book: PlanBook | None,
        trace: Trace | None,
        timeout: timedelta,
    ) -> None:
        super().__init__(rank, size)
        self._name, self._member, self._trace = name, member, trace
        self._made = Collectives(name, rank, size, member, book, trace, timeout.total_seconds())
        self._process = os.getpid()
        self._caller = Caller("lightloom collectives", trace)
        self._messages = Messages(member, trace, self._note_message)
        self._description = ""
        self._calls = 0

    def getBackendName(self) -> str:  # noqa: N802 - PyTorch's
        """The name of the backend."""
        return "lightloom"

    @property
    def group_name(self) -> str:
        """The name by which PyTorch knows the group."""
        return self._name

    def _set_group_name(self, name: str) -> None:
        self._name = name

    @property
    def group_desc(self) -> str:
        """What PyTorch says of the group."""
        return self._description

    def _set_group_desc(self, description: str) -> None:
        self._description = description

    def getGroupName(self) -> str:  # noqa: N802 - PyTorch's
        """As `group_name`."""
        return self._name

    def getGroupDesc(self) -> str:  # noqa: N802 - PyTorch's
        """As `group_desc`."""
        return self._description

    def _get_backend(self, _device: Any) -> LightloomGroup:
        # One backend for tensors of every device, which is the group itself.
        return self

    @property
    def _device_types(self) -> list[Any]:
        return [torch.device(name) for name in DEVICES]

    # Collectives.

    def allreduce(self, tensors: Sequence[Any], opts: Any = None) -> Call:
        """The reduction of all ranks' tensors, at every rank."""
        opts = dist.AllreduceOptions() if opts is None else opts
        reduction = reduction_of(opts.reduceOp)
        return self._called(
            "all_reduce", tensors, [partial(self._made.reduced, "all-reduce", one, reduction, opts) for one in tensors]
        )

    def allreduce_coalesced(self, tensors: Sequence[Any], opts: Any = None) -> Call:
        """As `allreduce`."""
        return self.allreduce(tensors, opts)

    def reduce(self, tensors: Sequence[Any], opts: Any = None) -> Call:
        """The reduction of all ranks' tensors, at the root."""
        opts = dist.ReduceOptions() if opts is None else opts
        reduction = reduction_of(opts.reduceOp)
        return self._called(
            "reduce", tensors, [partial(self._made.reduced, "reduce", one, reduction, opts) for one in tensors]
        )

    def broadcast(self, tensors: Sequence[Any], opts: Any = None) -> Call:
        """The root's tensor, at every rank."""
        opts = dist.BroadcastOptions() if opts is None else opts

        def carry(tensor: Any) -> None:
            host = on_host(tensor)
            asked = self._made.asked("broadcast", host, host.numel(), opts.rootRank)
            given = None if self.rank() == opts.rootRank else torch.empty(0, dtype=host.dtype)
            self._made.carry(asked, given, host, opts, tensor)
            put_back(tensor, host)

        return self._called("broadcast", tensors, [partial(carry, one) for one in tensors])

    def allgather(
        self, output_tensors: Sequence[Sequence[Any]], input_tensors: Sequence[Any], opts: Any = None
    ) -> Call:
        """Every rank's tensor, in a list at every rank."""

        def carry(outputs: Sequence[Any], given: Any) -> None:
            whole = torch.empty(self.size() * given.numel(), dtype=given.dtype)
            self._made.gathered(whole, given, opts)
            _taken_apart(whole, outputs)

        pairs = list(zip(output_tensors, input_tensors, strict=True))
        for outputs, given in pairs:
            self._check_list("all_gather", outputs, [given] * self.size())
        return self._called("all_gather", output_tensors, [partial(carry, *pair) for pair in pairs])

    def allgather_coalesced(
        self, output_lists: Sequence[Sequence[Any]], input_tensors: Sequence[Any], opts: Any = None
    ) -> Call:
        """As `allgather`, of several tensors; the lists are by rank, each with its tensors in their order."""
        return self.allgather([list(outputs) for outputs in zip(*output_lists, strict=True)], input_tensors, opts)

    def all_gather_single(self, output: Any, given: Any, opts: Any = None) -> Call:
        """Every rank's tensor, one after the other in one tensor at every rank."""
        self._check_sizes("all_gather_into_tensor", output.numel(), self.size() * given.numel())
        return self._called("all_gather", [output], [partial(self._made.gathered, output, given, opts)])

    def all_gather_single_coalesced(self, outputs: Sequence[Any], inputs: Sequence[Any], opts: Any = None) -> Call:
        """As `all_gather_single`, of several tensors."""
        pairs = list(zip(outputs, inputs, strict=True))
        return self._called(
            "all_gather", outputs, [partial(self._made.gathered, output, given, opts) for output, given in pairs]
        )

    def reduce_scatter(self, outputs: Sequence[Any], inputs: Sequence[Sequence[Any]], opts: Any = None) -> Call:
        """The reduction of the tensors that all ranks have for a rank, at that rank."""
        opts = dist.ReduceScatterOptions() if opts is None else opts
        pairs = list(zip(outputs, inputs, strict=True))
        for output, given in pairs:
            self._check_list("reduce_scatter", given, [output] * self.size())
        return self._called(
            "reduce_scatter", outputs, [partial(self._made.scattered, one, joined(given), opts) for one, given in pairs]
        )

    def reduce_scatter_single(self, output: Any, given: Any, opts: Any = None) -> Call:
        """The reduction of all ranks' tensors, of which every rank has its part."""
        opts = dist.ReduceScatterOptions() if opts is None else opts
        self._check_sizes("reduce_scatter_tensor", given.numel(), self.size() * output.numel())
        return self._called("reduce_scatter", [output], [partial(self._made.scattered, output, given, opts)])

    def reduce_scatter_single_coalesced(self, outputs: Sequence[Any], inputs: Sequence[Any], opts: Any = None) -> Call:
        """As `reduce_scatter_single`, of several tensors."""
        opts = dist.ReduceScatterOptions() if opts is None else opts
        pairs = list(zip(outputs, inputs, strict=True))
        return self._called(
            "reduce_scatter", outputs, [partial(self._made.scattered, one, given, opts) for one, given in pairs]
        )

    def gather(self, output_tensors: Sequence[Sequence[Any]], input_tensors: Sequence[Any], opts: Any = None) -> Call:
        """Every rank's tensor, in a list at the root."""
        opts = dist.GatherOptions() if opts is None else opts
        (given,) = input_tensors
        outputs = output_tensors[0] if self.rank() == opts.rootRank else []
        if self.rank() == opts.rootRank:
            self._check_list("gather", outputs, [given] * self.size())

        def carry() -> None:
            host = on_host(given)
            count = self.size() * given.numel() if self.rank() == opts.rootRank else 0
            whole = torch.empty(count, dtype=given.dtype)
            asked = self._made.asked("gather", given, self.size() * given.numel(), opts.rootRank)
            self._made.carry(asked, host, whole, opts, given)
            _taken_apart(whole, outputs)

        return self._called("gather", outputs, [carry])

    def scatter(self, output_tensors: Sequence[Any], input_tensors: Sequence[Sequence[Any]], opts: Any = None) -> Call:
        """The tensor that the root has for a rank, at that rank."""
        opts = dist.ScatterOptions() if opts is None else opts
        (output,) = output_tensors
        if self.rank() == opts.rootRank:
            self._check_list("scatter", input_tensors[0], [output] * self.size())

        def carry() -> None:
            host = on_host(output)
            is_root = self.rank() == opts.rootRank
            given = joined(input_tensors[0]) if is_root else torch.empty(0, dtype=output.dtype)
            asked = self._made.asked("scatter", output, self.size() * output.numel(), opts.rootRank)
            self._made.carry(asked, given, host, opts, output)
            put_back(output, host)

        return self._called("scatter", [output], [carry])

    def alltoall(self, outputs: Sequence[Any], inputs: Sequence[Any], opts: Any = None) -> Call:
        """The tensors that all ranks have for a rank, in a list at that rank."""
        for what, found in (("outputs", outputs), ("inputs", inputs)):
            self._check_sizes(f"all_to_all: {what}", len(found), self.size())

        def carry() -> None:
            whole = torch.empty(sum(one.numel() for one in outputs), dtype=outputs[0].dtype)
            sizes = [one.numel() for one in inputs], [one.numel() for one in outputs]
            self._made.exchanged(whole, joined(inputs), *sizes, opts)
            _taken_apart(whole, outputs)

        return self._called("all_to_all", outputs, [carry])

    def all_to_all_single(
        self, output: Any, given: Any, output_splits: Sequence[int], input_splits: Sequence[int], opts: Any = None
    ) -> Call:
        """The parts that all ranks have for a rank, one after the other at that rank.

        Splits are rows of the first dimension by rank; equal ones where they are empty.
        """
        sent = self._split("input_split_sizes", given, input_splits)
        got = self._split("output_split_sizes", output, output_splits)

        def carry() -> None:
            host = on_host(output)
            self._made.exchanged(host, given, sent, got, opts)
            put_back(output, host)

        return self._called("all_to_all", [output], [carry])

    alltoall_base = all_to_all_single

    def barrier(self, opts: Any = None) -> Call:
        """Wait for all ranks."""
        return self._called("barrier", [], [partial(self._member.meet, "barrier", self._made.seconds(opts))])

    def monitored_barrier(self, timeout: timedelta | None = None, *, wait_all_ranks: bool = False) -> None:  # noqa: ARG002
        """Wait for all ranks; those that do not come are named at every rank, whatever `wait_all_ranks` is."""
        seconds = self._made.timeout_s if timeout is None else timeout.total_seconds()
        self._called("monitored_barrier", [], [partial(self._member.meet, "monitored_barrier", seconds)]).wait()

    # Messages.

    def send(self, tensors: Sequence[Any], to: int, tag: int = 0) -> Call:
        """Send a tensor to a rank."""
        (tensor,) = tensors
        return self._messages.send(tensor, to, tag, self._made.timeout_s)

    def recv(self, tensors: Sequence[Any], source: int, tag: int = 0) -> Call:
        """Receive a tensor from a rank."""
        (tensor,) = tensors
        return self._messages.receive(tensor, source, tag, self._made.timeout_s)

    def recv_anysource(self, tensors: Sequence[Any], tag: int = 0) -> Call:
        """Receive a tensor from any rank, which `_source_rank` of the call says."""
        (tensor,) = tensors
        return self._messages.receive(tensor, None, tag, self._made.timeout_s)

    recvAnysource = recv_anysource  # noqa: N815 - PyTorch's

    # The group.

    def abort(self) -> None:
        """End the group at all ranks, whatever they wait for."""
        self._member.abort(f"rank {self.rank()} aborted the group")

    def shutdown(self) -> None:
        """Take part in nothing more, once all that was called is done."""
        if os.getpid() == self._process:
            self._caller.close()  # what was called is done first
            self.leave()

    def leave(self) -> None:
        """Take part in nothing more: what is under way fails here. Does nothing in a process that was forked."""
        if os.getpid() == self._process:
            self._member.leave()
            self._messages.close()
            self._caller.close()
            if self._trace is not None:
                self._trace.close()

    def set_timeout(self, timeout: timedelta) -> None:
        """The longest time of a call that states none."""
        self._made.timeout_s = timeout.total_seconds()

    _set_default_timeout = set_timeout

    def _set_sequence_number_for_group(self) -> None:
        self._calls = 0

    def _get_sequence_number_for_group(self) -> int:
        return self._calls

    def _called(self, name: str, tensors: Sequence[Any], acts: Sequence[Callable[[], object]]) -> Call:
        self._calls += 1

        def carried() -> None:
            try:
                for act in acts:
                    act()
            except (OSError, InputError) as error:
                raise dist.DistBackendError(f"{name}: {error}") from error

        return self._caller.call(list(tensors), carried)

    def _note_message(self, what: str, peer: int, tensor: Any, begun_ns: int) -> None:
        if self._trace is not None:
            self._trace.message(self._name, what, peer, tensor, begun_ns)

    def _split(self, name: str, tensor: Any, splits: Sequence[int]) -> list[int]:
        """Elements of a tensor for each rank."""
        rows = tensor.shape[0] if tensor.dim() else 1
        each = tensor.numel() // rows if rows else 0
        if not splits:
            if rows % self.size():
                raise ValueError(f"{name}: {rows} rows are not divided by {self.size()} ranks; it takes sizes by rank")
            splits = [rows // self.size()] * self.size()
        if len(splits) != self.size() or sum(splits) != rows or min(splits) < 0:
            raise ValueError(f"{name}: `{list(splits)}` is not accepted; it takes {self.size()} sizes, {rows} together")
        return [one * each for one in splits]

    def _check_list(self, name: str, tensors: Sequence[Any], like: Sequence[Any]) -> None:
        self._check_sizes(f"{name}: the list", len(tensors), len(like))
        for one, other in zip(tensors, like, strict=True):
            if one.numel() != other.numel() or one.dtype != other.dtype:
                found = f"a tensor of {one.numel()} {one.dtype} and one of {other.numel()} {other.dtype}"
                raise ValueError(f"{name}: {found} do not fit together; it takes tensors that are alike")

    def _check_sizes(self, name: str, found: int, wanted: int) -> None:
        if found != wanted:
            raise ValueError(f"{name}: it has {found} elements; it takes {wanted} for {self.size()} ranks")


def _taken_apart(whole: Any, tensors: Sequence[Any]) -> None:
    place = 0
    for one in tensors:
        put_back(one, whole[place : place + one.numel()].view(one.shape))
        place += one.numel()
