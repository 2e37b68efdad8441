"""How many random cases a long search draws, and from which seed; `crates/draws` is the same for Rust.

`make test` draws a quarter of the cases, always the same ones; `make test-long` sets `LIGHTLOOM_LONG_TESTS` to its seed,
draws all of them, and each time others. Tests that call these functions have the marker `long`.
"""

import os

LONG = os.environ.get("LIGHTLOOM_LONG_TESTS")


def cases(every: int) -> int:
    """How many cases a search draws that has `every` one of them in `make test-long`."""
    return every if LONG is not None else -(-every // 4)


def seed(usual: int) -> int:
    """The seed of a search whose cases in `make test` are those of `usual`."""
    return usual if LONG is None else usual + int(LONG)
