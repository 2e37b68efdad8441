"""The process groups of a job, from the profiles of its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown
from lightloom.formats.chakra.joint_graph import ALL
from lightloom.formats.chakra.trace import read_groups
from lightloom.formats.kineto.communication import ranks_in
from lightloom.formats.workload_options import missing

if TYPE_CHECKING:
    from lightloom.formats.kineto.communication import Communication
    from lightloom.formats.kineto.profile import Profile
    from lightloom.formats.workload_options import Asked

__all__ = ["Groups"]

MOST_NAME = 60


class Groups:
    """Process groups by the names that they have in the workload: `members` and, of messages, `numbers`.

    A group is told by its name in PyTorch together with its ranks, since groups of other ranks may have its name. In
    the workload it has the name of its description, such as `mesh_tp`, with a number after it from the second group on.
    """

    def __init__(self, field: str, files: int, asked: Asked) -> None:
        self._field, self._files, self._asked_ranks = field, files, asked.ranks
        self._told = None if asked.comm_groups is None else read_groups("comm_groups", asked.comm_groups, files)
        self._is_told_used = False
        self._names: dict[tuple[str, tuple[int, ...]], str] = {}
        self._of_base: dict[str, int] = {}
        self.members: dict[str, tuple[int, ...]] = {}
        self.numbers: dict[str, int] = {}

    def name_of(self, where: str, profile: Profile, one: Communication) -> str:
        """The name of a communication's group, `ALL` where the only profile stands for all ranks.

        Raises `InputError` that names the option that is missing or wrong, or `where` ranks contradict each other.
        """
        if self._files == 1:
            self._check_stands_for_all(where, one)
            return ALL
        members = self._checked(where, one, self._ranks_of(where, profile, one))
        key = (one.group, members)
        if key not in self._names:
            is_described = one.description not in ("", "undefined")
            base = (one.description if is_described else one.group)[:MOST_NAME] or "group"
            name = base if base not in self.members and base != ALL else ""
            while not name:
                number = self._of_base[base] = self._of_base.get(base, 0) + 1
                name = "" if f"{base}.{number}" in self.members else f"{base}.{number}"
            self._names[key] = name
            self.numbers[name] = len(self.members)
            self.members[name] = members
        return self._names[key]

    def check_used(self) -> None:
        """Refuse `comm_groups` where it was given and no group asked for it."""
        if self._told is not None and not self._is_told_used:
            raise refuse("comm_groups", "no group of the profile needs it; leave the option out")

    def _check_stands_for_all(self, where: str, one: Communication) -> None:
        size = one.group_size if one.members is None else len(one.members)
        if self._asked_ranks is not None and size not in (None, self._asked_ranks):
            raise refuse(
                "ranks",
                f"{self._asked_ranks} differs from the group of {size} ranks of {where}; the profile of one rank "
                "stands for all only where all of them are in every group, else it takes the profiles of all ranks",
            )

    def _ranks_of(self, where: str, profile: Profile, one: Communication) -> tuple[int, ...]:
        if one.members is not None:
            return one.members
        stated = profile.groups.get(one.group) if one.group else None
        listed = ranks_in(stated)
        if listed is not None:
            return listed
        # PyTorch lists no ranks of a group that all are in.
        if stated == [] or one.group_size == self._files:
            return tuple(range(self._files))
        name = one.group or ALL
        if self._told is not None and name in self._told:
            self._is_told_used = True
            return tuple(self._told[name])
        why = f"{where} is of group {shown(name)}, whose ranks the profile does not list"
        raise missing("comm_groups", why, f'a JSON file such as {{"{shown(name)}": [0, 1]}}')

    def _checked(self, where: str, one: Communication, members: tuple[int, ...]) -> tuple[int, ...]:
        if max(members) >= self._files:
            raise refuse(self._field, f"{where} has rank {max(members)} in its group; ranks are 0 to {self._files - 1}")
        if len(set(members)) < len(members):
            raise refuse(self._field, f"{where} has a rank twice in its group {shown(one.group)}")
        if one.group_size not in (None, len(members)):
            raise refuse(
                self._field,
                f"{where} has Group size {one.group_size}, but its group {shown(one.group)} has {len(members)} ranks",
            )
        return members
