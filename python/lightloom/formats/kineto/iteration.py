"""The iteration of training that is taken from a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.formats.kineto.profile import Profile, Work

__all__ = ["of_one_iteration"]


def of_one_iteration(field: str, profiles: Sequence[Profile], step: int | None) -> list[list[Work]]:
    """The work of each rank's GPU that was launched in one `ProfilerStep#N`.

    step: N; None for the last in which every rank launched something, or for everything where no profile has steps.
    Raises `InputError` that names `profile_step` for a step that some rank has not, and `field` where a rank has no
    work at all, or ranks have no step together.
    """
    idle = next((profile for profile in profiles if not profile.work), None)
    if idle is not None:
        why = "has no work of a GPU; it takes a profile with ProfilerActivity.CUDA"
        raise refuse(field, f"`{idle.path}` {why}")
    if not any(profile.steps for profile in profiles):
        if step is not None:
            raise refuse("profile_step", "the profile has no ProfilerStep; leave the option out for all of it")
        return [profile.work for profile in profiles]
    by_step = [_by_step(profile) for profile in profiles]
    common = sorted(set.intersection(*(set(one) for one in by_step)))
    if not common:
        raise refuse(field, "there is no ProfilerStep in which the GPUs of all ranks have work")
    if step is not None and step not in common:
        known = ", ".join(map(str, common[-10:]))
        raise refuse("profile_step", f"{step} is not a step in which the GPUs of all ranks have work; it takes {known}")
    taken = common[-1] if step is None else step
    return [one[taken] for one in by_step]


def _by_step(profile: Profile) -> dict[int, list[Work]]:
    """Work by the step in which it was launched."""
    steps = sorted((start, end, number) for number, (start, end) in profile.steps.items())
    found: dict[int, list[Work]] = {}
    place = 0
    for work in sorted(profile.work, key=lambda one: one.launched_ns):
        while place < len(steps) and work.launched_ns >= steps[place][1]:
            place += 1
        if place < len(steps) and work.launched_ns >= steps[place][0]:
            found.setdefault(steps[place][2], []).append(work)
    order = {id(work): index for index, work in enumerate(profile.work)}
    return {number: sorted(held, key=lambda one: order[id(one)]) for number, held in found.items()}
