"""Titles of training policies, by which tables and pictures call them; files have their names."""

from __future__ import annotations

from lightloom import _core

TITLES = {name: title for name, title, *_ in _core.training_policies()}
# The policy with which the others are compared, and an ideal that no fabric of circuits reaches.
OURS, IDEAL = "carry", "packet-switch"


def title_of(policy: str) -> str:
    """The title of a policy; the name itself if it is unknown, as in a file of a newer version."""
    return TITLES.get(policy, policy)
