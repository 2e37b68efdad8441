"""Many clients at once against a server of its own: their answers, how soon, and the cost to the server.

`python -m tests.page.load --clients 200 --seconds 60`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from statistics import median, quantiles
from time import monotonic
from typing import Any

from tests.names import names
from tests.page.served import Served

COLLECTIVES = names("collectives")
SIZES = ("1KiB", "32KiB", "1MiB", "32MiB", "1GiB")
FAILED, DONE = 0, 200
HEAD = b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


@dataclass
class Load:
    """The results of the load.

    statuses: how often each, `FAILED` where there was no answer; seconds, work_s: of those that were answered, as
    clients see them, and as the server says; resident_bytes: of the server's own process, before and after.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    work_s: list[float] = field(default_factory=list)
    resident_bytes: list[int] = field(default_factory=list)


def asked(source: random.Random) -> dict[str, Any]:
    """A problem, of some hundreds that there are."""
    return {
        "collective": source.choice(COLLECTIVES),
        "size": source.choice(SIZES),
        "gpus": source.choice([4, 8, 12, 16]),
        "ports": source.choice([1, 2]),
    }


async def ask(server: Served, clients: int, requests: int, seed: int, found: Load) -> None:
    """Clients at once, each with a number of requests, one after the other on a connection that it keeps."""

    async def client(number: int) -> None:
        source = random.Random(1000 * seed + number)  # noqa: S311 (the same load every time)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for _ in range(requests):
            began_s = monotonic()
            status, head = await exchange(reader, writer, json.dumps(asked(source)).encode())
            found.statuses[status] += 1
            if status == DONE:
                found.seconds.append(monotonic() - began_s)
                found.work_s.append(float(head["server-timing"].partition("dur=")[2]) / 1e3)
        writer.close()

    await asyncio.gather(*(client(number) for number in range(clients)))


async def exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
) -> tuple[int, dict[str, str]]:
    """Status and headers of the answer to a request; `FAILED` without an answer. A client costs little this way."""
    writer.write(HEAD % len(body) + body)
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        head = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        content = await reader.readexactly(int(head["content-length"]))
    except (OSError, asyncio.IncompleteReadError):
        return FAILED, {}
    json.loads(content)
    return int(lines[0].split()[1]), head


def main() -> None:
    """Load a server for some time, and print the figures as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    server = Served.start("--cache", "1MiB")
    found = Load()
    # The first round is not counted: processes start, and the cache fills.
    asyncio.run(ask(server, given.clients, 1, 0, Load()))
    found.resident_bytes.append(server.resident_bytes())
    began_s, rounds = monotonic(), 0
    while monotonic() - began_s < given.seconds:
        rounds += 1
        asyncio.run(ask(server, given.clients, 5, rounds, found))
        found.resident_bytes.append(server.resident_bytes())
    took_s = monotonic() - began_s
    status, said = server.end()
    told = {
        "clients": given.clients,
        "seconds": round(took_s, 1),
        "statuses": {str(status): count for status, count in sorted(found.statuses.items())},
        "answers_per_second": round(len(found.seconds) / took_s, 1),
        "median_s": round(median(found.seconds), 4),
        "p99_s": round(quantiles(found.seconds, n=100)[98], 4),
        "server_median_s": round(median(found.work_s), 4),
        "resident_mib": [round(size / 2**20, 1) for size in found.resident_bytes],
        "exit_status": status,
        "standard_error": said,
    }
    sys.stdout.write(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
