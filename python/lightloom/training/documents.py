"""Files that hold a plan or a training iteration: which of the two it is, and its content."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.base.files import read_text
from lightloom.plans import MAX_FILE_BYTES, Plan
from lightloom.training.result import Training

if TYPE_CHECKING:
    import os

__all__ = ["is_training", "is_training_file", "plan_or_training"]

# Beginning of a file that the verb `train` writes.
MOST_BEGINNING = 4096
BEGINNING = re.compile(r'\A\s*\{\s*"schema"\s*:\s*"lightloom\.training/')


def is_training(text: str) -> bool:
    """Whether a text is meant to be a training iteration, by its schema."""
    return BEGINNING.match(text) is not None


def is_training_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file is meant to be a training iteration, by its beginning; not where it cannot be read."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return is_training(file.read(MOST_BEGINNING))
    except OSError:
        return False


def plan_or_training(subject: Plan | Training | str | os.PathLike[str]) -> Plan | Training:
    """The plan or iteration itself, or that of a JSON file, which must pass the verifier.

    Raises `InputError` that names `plan`, or the place of the fault.
    """
    if isinstance(subject, (Plan, Training)):
        return subject
    text = read_text("plan", subject, MAX_FILE_BYTES)
    return (Training if is_training(text) else Plan).from_json(text)
