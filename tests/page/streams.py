"""Server-sent events, read as a browser reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.page.served import Served

STREAM = {"accept": "text/event-stream"}


def events(server: Served, task: str, asked: dict[str, Any]) -> list[tuple[str, Any]]:
    """Name and JSON of every event of a task's stream."""
    answer = server.client.post(f"/api/{task}", json=asked, headers=STREAM)
    assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
    found = []
    for block in answer.text.split("\n\n"):
        lines = [line.partition(": ") for line in block.splitlines() if not line.startswith(":")]
        if lines:
            (name,) = [value for field, _, value in lines if field == "event"]
            found.append((name, json.loads("\n".join(value for field, _, value in lines if field == "data"))))
    return found
