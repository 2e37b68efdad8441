"""Frames a second of a timeline of 100 000 events that is zoomed and moved: `python -m tests.page.browser.frames`."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from itertools import pairwise
from statistics import quantiles
from typing import Any

from tests.page.browser.chromium import Opened, chromium
from tests.page.served import served

EVENTS, ROWS, SECONDS = 100_000, 10, 6
# Zooms to a ten-thousandth of the whole and back, and moves in between, one step for each frame.
SHOWN = """async ([events, rows, seconds]) => {
  const { Timeline } = await import("/static/js/charts/timeline.js");
  const roles = ["=compute", "tp", "dp", "ep", "=dark", "=hidden"];
  const each = events / rows;
  const told = Array.from({ length: rows }, (_, row) => ({
    name: `row ${row}`, lanes: 1,
    boxes: Array.from({ length: each }, (_, at) => ({
      first_s: at / each, last_s: (at + 0.3 + ((at * 7919) % 64) / 100) / each,
      role: roles[(at * 31 + row) % roles.length],
      words: "", event: at, lane: 0,
    })),
  }));
  const began = performance.now();
  const timeline = new Timeline({ rows: told, end: 1, label: "frames", describe: () => "" });
  document.getElementById("result").replaceChildren(timeline.legend, timeline.element);
  timeline.redraw();
  const made = performance.now() - began;
  const moments = [];
  await new Promise((done) => {
    const start = performance.now();
    const step = (now) => {
      moments.push(now);
      if (now - start > seconds * 1000) return done();
      const phase = ((now - start) / 2000) % 3;
      if (phase < 1) timeline.window.zoom(0.93, 0.4);
      else if (phase < 2) timeline.window.move(0.02);
      else timeline.window.zoom(1.07, 0.6);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  return { made, moments };
}"""


def main() -> None:
    """Print the figures as JSON; the machine's load is among them."""
    with contextmanager(served)() as server, chromium() as browser:
        opened = Opened.at(browser, server.address)
        page = opened.go("/plan?collective=broadcast&size=1MiB&gpus=4")
        found: dict[str, Any] = page.evaluate(SHOWN, [EVENTS, ROWS, SECONDS])
    between_ms = [later - earlier for earlier, later in pairwise(found["moments"])]
    told = {
        "load_before": os.getloadavg()[0],
        "events": EVENTS,
        "made_ms": round(found["made"], 1),
        "frames_per_s": round(len(between_ms) / sum(between_ms) * 1e3, 1),
        "p95_frame_ms": round(quantiles(between_ms, n=20)[18], 1),
        "longest_frame_ms": round(max(between_ms), 1),
    }
    sys.stdout.write(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
