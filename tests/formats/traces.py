"""Small traces for tests, written by hand: nodes of a few words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lightloom.formats.chakra.files import Node, written
from lightloom.formats.chakra.schema import NodeType


def send(number: int, to: int, after: tuple[int, ...] = (), **attributes: Any) -> Node:
    held = {"comm_dst": to, "comm_size": 8, "comm_tag": 0, **attributes}
    return Node(number, f"send{number}", NodeType.SEND, after, 0, held)


def receive(number: int, source: int, after: tuple[int, ...] = (), **attributes: Any) -> Node:
    held = {"comm_src": source, "comm_size": 8, "comm_tag": 0, **attributes}
    return Node(number, f"receive{number}", NodeType.RECEIVE, after, 0, held)


def add(number: int, after: tuple[int, ...]) -> Node:
    return Node(number, f"add{number}", NodeType.COMPUTE, after, 1, {})


def collective(number: int, kind: int, group: str, size: int = 8) -> Node:
    return Node(number, "", NodeType.COLLECTIVE, (), 0, {"comm_type": kind, "comm_size": size, "pg_name": group})


def folder_of(folder: Path, *ranks: list[Node], name: str = "t", **attributes: Any) -> Path:
    for rank, nodes in enumerate(ranks):
        (folder / f"{name}.{rank}.et").write_bytes(written(attributes, nodes))
    return folder
