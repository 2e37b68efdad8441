"""The number of random cases of a long search; `crates/draws` is the same for Rust.

`make test` draws a quarter of the cases; `make test-long` sets `LIGHTLOOM_LONG_TESTS`, draws all of them, and each time
others. Tests of Hypothesis have the marker `long`, by which `make test-long` finds them.
"""

import os


def cases(every: int) -> int:
    """The number of cases that a search draws which has `every` one of them in `make test-long`."""
    return every if "LIGHTLOOM_LONG_TESTS" in os.environ else -(-every // 4)
