"""Two hundred clients at once: nothing but answers and requests to come again, and no growth."""

from __future__ import annotations

import pytest

from tests.page.load import Load, ask
from tests.page.own_loop import run_in_own_loop
from tests.page.served import Served

pytestmark = pytest.mark.slow

CLIENTS = 200
# A page or two of the interpreter's own may come and go.
GROWTH_BYTES = 16 << 20


@pytest.mark.large
def test_two_hundred_clients_at_once() -> None:
    server = Served.start("--cache", "1MiB", "--queue", 32)
    run_in_own_loop(ask(server, CLIENTS, 1, 0, Load()))
    before_bytes = server.resident_bytes()
    found = Load()
    for wave in (1, 2, 3):
        run_in_own_loop(ask(server, CLIENTS, 2, wave, found))
    assert set(found.statuses) == {200, 429}, found.statuses
    assert sum(found.statuses.values()) == 3 * 2 * CLIENTS
    assert server.resident_bytes() - before_bytes < GROWTH_BYTES
    assert server.end() == (0, "")
