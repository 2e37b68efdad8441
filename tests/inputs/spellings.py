"""Quantities as people write them, with their values from whole numbers only: every reader is held to these."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

PREFIXES = {
    "": 1,
    **{letter: 1000**power for power, letters in enumerate(("kK", "mM", "gG", "tT"), 1) for letter in letters},
    **{f"{letter}i": 1024**power for power, letters in enumerate(("kK", "mM", "gG", "tT"), 1) for letter in letters},
}
BITS = {"bps": 1, "b/s": 1, "bit/s": 1, "Bit/s": 1, "Bps": 8, "B/s": 8}
DECIMALS = {"s": 0, "ms": 3, "us": 6, "µs": 6, "μs": 6, "ns": 9, "ps": 12}
NUMBERS = ("1", "3", "1.5", "0.125", "85.11", "1e2", "2E1", "7.", ".5")

# Units by kind: how many bytes, bit/s or seconds one is.
SIZES = {f"{prefix}B": Fraction(factor) for prefix, factor in PREFIXES.items()}
RATES = {
    f"{prefix}{unit}": Fraction(factor * bits)
    for (prefix, factor), (unit, bits) in product(PREFIXES.items(), BITS.items())
}
TIMES = {unit: Fraction(1, 10**decimals) for unit, decimals in DECIMALS.items()}

# Texts that may mean two things, or nothing.
WRONG_SIZES = (
    "8Mb",
    "64mib",
    "1kb",
    "5b",
    "64M",
    "64Mi",
    "64",
    "1MBit",
    "1XB",
    "1 M B",
    "1iB",
    "1e",
    "B",
    "1.2.3B",
    "",
)
WRONG_RATES = ("400GBPS", "400Gb", "400GB", "400G", "400GB/S", "400", "400Gbits", "1ibps", "400Gbps/s")
WRONG_TIMES = ("1MS", "1Ms", "1US", "1S", "1NS", "1PS", "1m", "1µ", "1", "1 min", "1us1us", "1e-400s", "5e-324s")


def spelled(units: dict[str, Fraction]) -> dict[str, Fraction]:
    """Every number with every unit, and with a blank between, and its value."""
    return {
        f"{number}{blank}{unit}": Fraction(number.rstrip(".")) * factor
        for number, blank, (unit, factor) in product(NUMBERS, ("", " "), units.items())
    }
