"""How long the server takes for a form that was changed, and for a map: `python -m tests.page.latency`."""

from __future__ import annotations

import json
import os
import sys
from itertools import product
from statistics import median, quantiles
from time import monotonic
from typing import Any

from tests.names import names
from tests.page.served import Served

COLLECTIVES = names("collectives")
# What is changed, one after the other, so that nothing is known from before.
CHANGED = [
    {"collective": collective, "size": size, "ports": ports, "gpus": 64}
    for collective, size, ports in product(COLLECTIVES, ("60KiB", "6MiB", "600MiB"), (1, 2, 4))
]
MAP = {
    "options": {"collective": "all-reduce", "gpus": 64},
    "x": {"option": "size", "from": "1KiB", "to": "1GiB", "points": 30},
    "y": {"option": "reconfiguration-delay", "from": "10ns", "to": "10ms", "points": 30},
}


def worked_s(server: Served, asked: dict[str, Any]) -> float:
    """The time that the server states for the plan."""
    answer = server.post("plan", **asked)
    assert answer.headers["x-lightloom-cache"] == "miss"
    return float(answer.headers["server-timing"].partition("dur=")[2]) / 1e3


def ticks_s(server: Served) -> float:
    """Processor time of the processes that work."""
    ticks = 0
    for pid in server.workers():
        with open(f"/proc/{pid}/stat", encoding="ascii") as stream:  # noqa: PTH123
            ticks += sum(map(int, stream.read().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the figures as JSON; the machine's load is among them."""
    server = Served.start()
    server.post("plan", collective="all-reduce", size="1MiB", gpus=8)
    seconds = [worked_s(server, asked) for asked in CHANGED]
    began_s, before_s = monotonic(), ticks_s(server)
    cells = len(server.post("map", **MAP).json()["cells"])
    told = {
        "load_before": os.getloadavg()[0],
        "plans": len(seconds),
        "median_s": round(median(seconds), 4),
        "p90_s": round(quantiles(seconds, n=10)[8], 4),
        "largest_s": round(max(seconds), 4),
        "map_cells": cells,
        "map_s": round(monotonic() - began_s, 2),
        "map_processor_s": round(ticks_s(server) - before_s, 2),
    }
    server.end()
    sys.stdout.write(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
