"""Seconds from an address to the first cells of a map, and to its last, in a browser.

    python benches/first_picture.py [--rounds 7]

Every round has a browser without files of the page, and a problem that the server has not answered before. A first
round, which waits for the server's processes to start, is not counted. Two more columns say when the page asked for the
map, and when the server sent the first cell.
"""

from __future__ import annotations

import argparse
import os
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING

from tests.page.browser.chromium import Opened, chromium
from tests.page.served import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The first example, and that of unequal blocks; `startup` makes problems of their own.
MAPS = {
    "AllReduce, 64 GPUs, 609 cells": "/when-it-pays?collective=all-reduce&size=64MiB&gpus=64",
    "All-to-All a pair, 32 GPUs, 165 cells": (
        "/when-it-pays?collective=all-to-all&size=1MiB/pair&gpus=32&ports=2&x-points=11&y-points=15"
    ),
    "AllGather, GPUs by delay": (
        "/when-it-pays?collective=all-gather&size=16MiB&gpus=32&x=gpus&x-from=4&x-to=64&y=reconfiguration-delay"
    ),
}
# At every frame that the browser draws: whether cells are in it.
WATCH = """(() => {
  const look = (now) => {
    if (document.querySelector("rect.cell:not(.empty)")) window.firstCell = now;
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""
TOLD = """() => {
  const found = performance.getEntriesByType("resource");
  const map = found.find(({ name }) => name.endsWith("/api/map"));
  return [map.startTime, map.responseStart, window.firstCell, performance.now()].map((at) => at / 1000);
}"""
COLUMNS = ("asked for", "begins to answer", "first cells", "whole")


def times_s(browser: Browser, address: str, path: str) -> list[float]:
    """Times of `COLUMNS` since the navigation."""
    opened = Opened.at(browser, address)
    try:
        opened.page.add_init_script(WATCH)
        opened.go(path)
        found: list[float] = opened.page.evaluate(TOLD)
        return found
    finally:
        opened.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(f"load before: {os.getloadavg()[0]:.1f}")
    print("| map | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 1) + "|")
    with contextmanager(served)() as server, chromium() as browser:
        for words, path in MAPS.items():
            times_s(browser, server.address, f"{path}&startup=400ns")
            found = [times_s(browser, server.address, f"{path}&startup={500 + number}ns") for number in range(rounds)]
            columns = zip(*found, strict=True)
            shown = [f"{median(column):.2f} ({min(column):.2f}–{max(column):.2f})" for column in columns]
            print(f"| {words} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
