"""Plans and training iterations written for other tools: `export`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.base.files import read_text, write_folder
from lightloom.formats import export as plans
from lightloom.formats.export import Export, WrittenFile
from lightloom.plans import MAX_FILE_BYTES
from lightloom.training.documents import is_training
from lightloom.training.exports.iterations import iteration_files
from lightloom.training.result import Training

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.plans import Plan

__all__ = ["export"]


def export(
    plan: Plan | Training | str | os.PathLike[str] | Sequence[Plan | str | os.PathLike[str]],
    to: str,
    output: str | os.PathLike[str],
    *,
    sizes: str | None = None,
    gpus_per_host: int | None = None,
) -> Export:
    """Write a plan, or a training iteration, in the format of another tool; `lightloom list formats` lists them.

    plan: a Plan, or its JSON file; where the format holds programs for several sizes (`rccl`), also a list of these.
        A Training, or the JSON file of one: the output is a folder with the files of every distinct plan, and
        `events.json`, which says what uses it and when; in `chakra` with the graph of every rank too.
    output: a file, next to which the side file `NAME.circuits.json` is written, or a folder that is not there or empty,
        as the format is. The side file has what the format cannot express.
    sizes: for formats that MSCCL's runtimes load: sizes of one rank's buffer for which the plan is taken, such as
        `"64KiB:4MiB"`. Left out, one plan is taken for all sizes, and each of several for those at which it is the
        fastest, from the smallest one's size to the largest one's.
    gpus_per_host: of `mscclpp`, how many consecutive GPUs share memory, a divisor of the plan's GPUs; all, where it is
        left out. Not for iterations, whose groups may be of any ranks.

    Everything is written or nothing. Raises `InputError` that names the argument, also if the plan has properties that
    the format cannot hold, such as chunks of unequal sizes.
    """
    several: list[Any] = list(plan) if isinstance(plan, (list, tuple)) else [plan]
    iterations = [one for one in map(_iteration_of, several) if one is not None]
    if not iterations:
        given: Any = plan
        return plans.export(given, to, output, sizes=sizes, gpus_per_host=gpus_per_host)
    if len(several) > 1:
        raise refuse("plan", "a training iteration is exported by itself; give one file")
    if gpus_per_host is not None:
        raise refuse("gpus_per_host", "it is for single plans: the ranks of a group of an iteration lie on any hosts")
    chosen = plans.chosen_format(to)
    made = iteration_files(chosen, iterations[0], lambda one: plans.exported(chosen, [one], {"sizes": sizes}))
    folder = write_folder("output", output, made.files)
    files = tuple(WrittenFile(folder / key, len(content)) for key, content in made.files.items())
    return Export(chosen.name, files, Path(folder) / made.side, chosen.cannot_say, made.notes)


def _iteration_of(subject: object) -> Training | None:
    """The iteration that is given, or that a file holds; None for everything else."""
    if isinstance(subject, Training):
        return subject
    if not isinstance(subject, (str, os.PathLike)):
        return None
    text = read_text("plan", subject, MAX_FILE_BYTES)
    return Training.from_json(text) if is_training(text) else None
