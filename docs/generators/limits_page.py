"""The tables of `docs/limits.md`, from the ranges that the compiled core accepts.

`python -m docs.generators.limits_page` writes them into the page.
"""

import re
from pathlib import Path

from lightloom import Fabric, _core

PAGE = Path(__file__).resolve().parent.parent / "limits.md"
TABLE = re.compile(
    r"(?<=^<!-- {name} -->\n\n).*?(?=^<!-- end -->$)".replace("{name}", "NAME"), re.MULTILINE | re.DOTALL
)
LARGEST = 65_536
GRIDS = {"bucket": "256x256"}


def ranges_table() -> str:
    """The numbers that are accepted."""
    lines = ["| kind | unit | zero | least above it | largest |", "|---|---|---|---|---|"]
    for name, unit, least, most, or_zero, _accepts in _core.ranges():
        lines.append(f"| {name} | {unit} | {'yes' if or_zero else 'no'} | {least:g} | {most:.16g} |")
    for name, least, most in _core.whole_ranges():
        lines.append(f"| `{name}` | | {'no' if least else 'yes'} | {max(least, 1)} | {most} |")
    return "\n".join(lines) + "\n"


def gpus_table() -> str:
    """The most GPUs of every algorithm."""
    lines = ["| algorithm | collective | 1 port | 4 ports |", "|---|---|---|---|"]
    for algorithm in _core.registry()["algorithms"]:
        for collective in algorithm["collectives"].split(", "):
            most = [most_gpus(algorithm["name"], collective, ports) for ports in (1, 4)]
            lines.append(f"| {algorithm['name']} | {collective} | {most[0]} | {most[1]} |")
    return "\n".join(lines) + "\n"


def most_gpus(algorithm: str, collective: str, ports: int) -> int:
    """The most GPUs, of numbers that are a sixteenth part of a power of two apart, that are not refused."""
    fabric = Fabric(gpus=LARGEST, ports=ports, dims=GRIDS.get(algorithm)).to_core()
    return _core.Request(fabric, collective, 1 << 20, algorithm=algorithm).most_gpus() or 0


def with_tables(text: str) -> str:
    """The page with its tables as they are now."""
    for name, table in {"ranges": ranges_table(), "gpus": gpus_table()}.items():
        pattern = re.compile(TABLE.pattern.replace("NAME", name), TABLE.flags)
        # A backslash has a meaning in replacement texts.
        text = pattern.sub((table + "\n").replace("\\", r"\\"), text)
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
