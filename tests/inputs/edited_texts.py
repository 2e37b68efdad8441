"""Edits of a text, and what a reader of workloads has to make of any of them."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from hypothesis import strategies as st

import lightloom as ll
from lightloom.inputs.workloads.model import model_workload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def edited(text: str) -> st.SearchStrategy[str]:
    """The text with up to 12 characters at one place replaced by others."""
    inserted = st.text(max_size=6) | st.sampled_from(["9" * 30, "[", "=", "1e999"])
    places = st.tuples(st.integers(0, len(text)), st.integers(0, 12), inserted)
    return places.map(lambda place: text[: place[0]] + place[2] + text[place[0] + place[1] :])


def hold_to_a_workload_or_one_line(text: str, check: Callable[[Any], object]) -> None:
    """The text is TOML of a workload that passes the check, or is refused in one line."""
    try:
        workload = model_workload(text)
    except ll.InputError as error:
        assert "\n" not in str(error)
    else:
        check(workload)
        tomllib.loads(text)
