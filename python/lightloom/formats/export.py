"""Plans and training iterations written for other tools: `export`."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import check_distinct, check_folder, write_files, write_folder
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.formats import FOLDER, FORMATS, Format, written_formats
from lightloom.formats.iterations import iteration_files
from lightloom.formats.output import OUTPUT_NAME, SIDE
from lightloom.formats.size_range import size_range
from lightloom.plans import Plan
from lightloom.training.documents import plan_or_training
from lightloom.training.result import Training

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightloom.formats.output import Exported

__all__ = ["Export", "WrittenFile", "check_export_path", "export"]


class WrittenFile(NamedTuple):
    """A file that was written: its path, and its size in bytes."""

    path: Path
    size_bytes: int


class Export(NamedTuple):
    """The files that `export` wrote.

    format: name of the format. files: all of them, in the order of the format. side_file: the one with the facts that
    the format cannot express, or their folder, and cannot_say their names. notes: other remarks, a line each.
    """

    format: str
    files: tuple[WrittenFile, ...]
    side_file: Path
    cannot_say: str
    notes: tuple[str, ...]


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
        left out.

    Everything is written or nothing. Raises `InputError` that names the argument, also if the plan has properties that
    the format cannot hold, such as chunks of unequal sizes.
    """
    chosen = _format(to)
    options = {"sizes": sizes, "gpus_per_host": gpus_per_host}
    subjects = [_loaded(one, to, output) for one in (plan if isinstance(plan, (list, tuple)) else [plan])]
    iteration = next((one for one in subjects if isinstance(one, Training)), None)
    plans = [one for one in subjects if isinstance(one, Plan)]
    check_export_path(to, output, in_folder=iteration is not None)
    if iteration is None:
        made = exported(chosen, plans, options)
    elif len(subjects) > 1:
        raise refuse("plan", "a training iteration is exported by itself; give one file")
    elif gpus_per_host is not None:
        raise refuse("gpus_per_host", "it is for single plans: the ranks of a group of an iteration lie on any hosts")
    else:
        made = iteration_files(chosen, iteration, lambda one: exported(chosen, [one], options))
    if chosen.written == FOLDER or iteration is not None:
        folder = write_folder("output", output, made.files)
        paths = {key: folder / key for key in (*made.files, made.side)}
    else:
        file = Path(output)
        paths = {key: file.with_name(file.name + key) for key in made.files}
        given = plan if isinstance(plan, (str, os.PathLike)) else None
        for path in paths.values():
            check_distinct({"output": path}, None if given is None else {"plan": given})
        write_files([("output", paths[key], content) for key, content in made.files.items()])
    files = tuple(WrittenFile(paths[key], len(content)) for key, content in made.files.items())
    notes = tuple(note.replace(OUTPUT_NAME, quote(os.fspath(output))) for note in made.notes)
    return Export(chosen.name, files, paths[made.side], chosen.cannot_say, notes)


def exported(chosen: Format, plans: Sequence[Plan], options: Mapping[str, object]) -> Exported:
    """The content of the files of a format for plans, before anything is written.

    options: of `export`, by name; those that are None were not given. Raises `InputError` that names the argument.
    """
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in chosen.takes:
            able = " and ".join(one.name for one in FORMATS if name in one.takes)
            raise refuse(name, f"it is only for {able}, not for {chosen.name}")
    if "sizes" in given:
        given["sizes"] = size_range(given["sizes"])
    if "gpus_per_host" in given:
        given["gpus_per_host"] = whole_number("gpus_per_host", given["gpus_per_host"], 1, WHOLE_RANGES["gpus"][1])
    writer = import_module(chosen.writer)
    made: Exported
    if chosen.takes_several:
        if not plans:
            raise refuse("plan", "no plan is given; it takes at least one")
        made = writer.export(plans, **given)
        return made
    if len(plans) != 1:
        able = " and ".join(one.name for one in FORMATS if one.takes_several)
        raise refuse(
            "plan", f"format {chosen.name} takes one plan, and {len(plans)} are given; format {able} takes several"
        )
    made = writer.export(plans[0], **given)
    return made


def _loaded(plan: object, to: str, output: str | os.PathLike[str]) -> Plan | Training:
    if isinstance(plan, (Plan, Training)):
        return plan
    if not isinstance(plan, (str, os.PathLike)):
        raise refuse("plan", f"`{shown(plan)}` is not accepted; it takes a Plan, a Training or a file of one")
    if _format(to).written != FOLDER:
        check_distinct({"output": output}, {"plan": plan})
    return plan_or_training(plan)


def check_export_path(
    to: str,
    output: str | os.PathLike[str],
    inputs: dict[str, str | os.PathLike[str]] | None = None,
    *,
    in_folder: bool = False,
) -> None:
    """Refuse an output that the format cannot be written to, before anything is computed.

    in_folder: whether it is a folder whatever the format, as that of a training iteration.

    Raises `InputError` that names `to` or `output`.
    """
    if _format(to).written == FOLDER or in_folder:
        check_folder("output", output)
        return
    check_distinct({"output": output}, inputs)
    file = Path(output)
    check_distinct({"output": output, "side file": file.with_name(file.name + SIDE)}, inputs)


def _format(to: str) -> Format:
    known = written_formats()
    if text_of("to", to) not in known:
        raise unknown_name("to", to, known)
    return known[to]
