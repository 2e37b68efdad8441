"""The workload that a table of a TOML file names: a model by its name or a file, or a trace of any format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from lightloom.base.errors import InputError, refuse, text_of, unknown_name
from lightloom.inputs.workloads.model import presets
from lightloom.training.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["READING", "described_workload", "is_json"]

# Keys next to `workload` that say what a trace leaves open.
READING = (
    *("comm_groups", "comm_size", "element_bytes", "time_unit"),
    *("profile_step", "message_sizes", "compute_time"),
)
# Keys that name files.
FILES = ("comm_groups", "message_sizes")
MOST_PATH = 1000


def described_workload(
    field: str, subject: str, told: Mapping[str, object], ranks: int | None, folder: Path | None
) -> Workload:
    """The workload of a table.

    field: of the table, for messages. subject: its key that names the workload, `model` or `workload`, or holds it as
    JSON. ranks: of a model; as its description has it when None. folder: of the files that it names, None where it may
    name none.

    Raises `InputError` that names the field.
    """
    key = f"{field}.{subject}"
    if subject == "workload" and is_json(text := told[subject]):
        return _given(key, text, [name for name in READING if name in told])
    path, takes_ranks = _named(key, told[subject], folder)
    options = {name: told[name] for name in READING if name in told}
    for name in FILES:
        if name in options:
            if folder is None:
                raise refuse(f"{field}.{name}", "it names a file; a job that is pasted cannot")
            options[name] = folder / text_of(f"{field}.{name}", options[name])
    try:
        return Workload.read(path, **({"ranks": ranks} if takes_ranks else {}), **options)  # type: ignore[arg-type]
    except InputError as error:
        raise InputError(key, f"{key}: {error}") from error


def is_json(value: object) -> TypeGuard[str]:
    """Whether the value of `workload` is the workload itself, a text of JSON, and names no file."""
    return isinstance(value, str) and value.lstrip().startswith("{")


def _given(key: str, text: str, reading: list[str]) -> Workload:
    """The workload in a text of JSON, which leaves nothing open."""
    if reading:
        raise refuse(f"{key.rpartition('.')[0]}.{reading[0]}", "it is only for traces, and the workload is JSON")
    try:
        return Workload.from_json(text)
    except InputError as error:
        raise InputError(key, f"{key}: {error}") from error


def _named(field: str, value: object, folder: Path | None) -> tuple[str | Path, bool]:
    """A model's name, or a file in the folder; and whether it is a model, which takes a number of ranks."""
    text = text_of(field, value)
    if text in presets():
        return text, True
    if folder is None:
        raise unknown_name(field, text, presets())
    path = folder / text
    if len(text) > MOST_PATH:
        raise refuse(field, f"a path of {len(text)} characters is not accepted; it takes at most {MOST_PATH}")
    if not path.exists() and field.endswith("model") and Path(text).name == text and not text.endswith(".toml"):
        raise unknown_name(field, text, presets())
    if not path.exists():
        raise refuse(field, f"no such file: `{path}`")
    return path, path.suffix == ".toml"
