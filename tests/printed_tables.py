"""Reads the tables that the command line prints."""


def covered_steps(out: str) -> list[int]:
    """The steps that the rows of a table stand for, in order: a row begins with `3` or `4–7`."""
    covered: list[int] = []
    for line in out.splitlines():
        first, _, last = line.split()[0].partition("–") if line.strip() else ("", "", "")
        if line.startswith(" ") and first.isdecimal() and (last or first).isdecimal():
            covered += range(int(first), int(last or first) + 1)
    return covered
