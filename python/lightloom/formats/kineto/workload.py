"""Profiles of PyTorch (Kineto) as workloads: what the GPUs of a job computed and communicated in one iteration.

Each rank's profile becomes a graph of nodes (see `lightloom.formats.kineto.dependencies`), and these are joined as
those of Chakra traces are (see `lightloom.formats.chakra.joint_graph`): the k-th collective that each rank of a group
calls is one collective, and sends match receives.

- Computation is the time in which a GPU runs kernels or copies that are not NCCL's. Idle time is no node.
- Communications are kernels of NCCL. What they are is in their arguments, which PyTorch copies from its record of the
  call, or in the record `record_param_comms` of the same `External id`. Kernels of one record are one collective. A
  kernel without a record is that of a batch: the sends and receives that its thread recorded before it launched it.
- Sizes are elements times the bytes of their type: of what goes in, for AllGather of what comes out.
- Operators of CPUs are left out: what they launch has its times.

Facts that are asked for: how many ranks do the same as the only one that has a profile; the ranks of groups that the
profile does not list; bytes of elements and of collectives, where it states none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.formats.chakra.document import document
from lightloom.formats.chakra.files import MAX_NODES
from lightloom.formats.chakra.membership import groups_of_ranks, number_of_ranks
from lightloom.formats.chakra.trace import Trace
from lightloom.formats.kineto.dependencies import items_of
from lightloom.formats.kineto.files import documents, is_profile, profile_files
from lightloom.formats.kineto.groups import Groups
from lightloom.formats.kineto.iteration import of_one_iteration
from lightloom.formats.kineto.nodes import rank_file
from lightloom.formats.kineto.profile import profile_of
from lightloom.formats.kineto.sizes import Sizes

if TYPE_CHECKING:
    from lightloom.formats.chakra.files import RankFile
    from lightloom.formats.kineto.profile import Profile
    from lightloom.formats.source import Source
    from lightloom.formats.workload_options import Asked

__all__ = ["OPTIONS", "read", "recognises"]

OPTIONS = frozenset({"comm_groups", "element_bytes", "message_sizes", "profile_step", "ranks"})
SUFFIXES = (".gz", ".json", ".trace", ".pt")


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return bool(profile_files(source)) if source.is_folder else is_profile(source.path)


def read(source: Source, asked: Asked) -> dict[str, Any]:
    """The workload of the profile of one rank, or of those of all ranks in a folder.

    Raises `InputError` that names the field, or the option that is missing, wrong or of no use.
    """
    field = source.field
    profiles = _by_rank(field, asked, [profile_of(field, *one) for one in documents(field, profile_files(source))])
    files, groups = _rank_files(field, profiles, asked)
    trace = Trace(_name(source), files, groups.members or None, field)
    ranks = number_of_ranks(trace, asked)
    members = groups_of_ranks(field, trace, ranks, asked)
    told = document(field, trace, ranks, members, lambda _kind, size, _ranks: size)
    return {**told, "same_bits": True} if any(profile.same_bits for profile in profiles) else told


def _rank_files(field: str, profiles: list[Profile], asked: Asked) -> tuple[list[RankFile], Groups]:
    """The graph of each rank, and the groups of their communications."""
    iterations = of_one_iteration(field, profiles, asked.profile_step)
    groups, sizes = Groups(field, len(profiles), asked), Sizes(asked)
    files, nodes = [], 0
    for rank, (profile, work) in enumerate(zip(profiles, iterations, strict=True)):
        sizes.begin_rank()
        items = items_of(field, str(profile.path), work, profile.waits_ns)
        files.append(rank_file(field, profile, items, groups, sizes, is_alone=len(profiles) == 1))
        sizes.end_rank(rank)
        nodes += len(files[-1].nodes)
        if nodes > MAX_NODES:
            raise refuse(field, f"the profile has more than {MAX_NODES} nodes, counted up to `{profile.path}`")
    groups.check_used()
    sizes.check_used()
    return files, groups


def _by_rank(field: str, asked: Asked, profiles: list[Profile]) -> list[Profile]:
    """The profiles of ranks 0, 1, ...; one alone, of any rank, stands for all."""
    if len(profiles) == 1:
        stated = profiles[0].ranks
        if asked.ranks is not None and stated not in (None, asked.ranks):
            raise refuse("ranks", f"{asked.ranks} differs from the profile's world_size, {stated}")
        return profiles
    found: dict[int, Profile] = {}
    for profile in profiles:
        if profile.rank is None:
            raise refuse(field, f"`{profile.path}` states no rank, and its name has none; it takes a name with rankN")
        if profile.rank in found:
            raise refuse(
                field,
                f"`{found[profile.rank].path}` and `{profile.path}` are of rank {profile.rank}; it takes one file",
            )
        found[profile.rank] = profile
    ranks = max(len(found), *(profile.ranks or 0 for profile in profiles))
    for rank in range(ranks):
        if rank not in found:
            held = f"`{profiles[0].path.parent}` has {len(found)} files, and the job {ranks} ranks"
            raise refuse(field, f"the profile of rank {rank} is missing: {held}")
    return [found[rank] for rank in range(ranks)]


def _name(source: Source) -> str:
    name = source.path.resolve().name if source.is_folder else source.path.name
    while name.lower().endswith(SUFFIXES):
        name = name.rpartition(".")[0]
    return name or "profile"
