"""`docs/reference/options.md` and the types of keyword arguments, `Settings`, from the table of options.

`python -m docs.generators.options_page` writes both.
"""

from pathlib import Path

from lightloom.cli.registry import VERBS
from lightloom.inputs.options import ARGUMENTS, FABRIC, OPTIONS, SETTINGS, SIMULATION, Group, Kind, Option, settings

PAGE = Path(__file__).resolve().parent.parent / "reference" / "options.md"
TYPES = Path(settings.__file__)
# The types of keyword arguments that take values of a kind.
WRITTEN = {
    Kind.TEXT: "str | Sequence[int]",
    Kind.NAME: "str",
    Kind.WHOLE: "int",
    Kind.SIZE: "str | float",
    Kind.TIME: "str | float",
    Kind.YES_OR_NO: "bool",
    Kind.TOPOLOGIES: "Topologies",
    Kind.MATRIX: "str | os.PathLike[str] | ArrayLike",
    Kind.FILE: "str | os.PathLike[str] | _core.Schedule",
}
HEADER = """\
# Options

Every option, from the table in `python/lightloom/inputs/options/`; `python -m docs.generators.options_page` writes this
page. On the command line a name has dashes for its underscores (`--hop-delay`); in Python it is a keyword argument, in
a fabric file or a sweep a key, both with underscores; `--output` is `-o`, too.

Quantities have units; plain numbers in Python, TOML and C's JSON are bytes, seconds and bit/s. Some
[are too large or too small](../limits.md).

| | units | |
|---|---|---|
| sizes | `B` after `K`, `M`, `G`, `T` or `Ki`, `Mi`, `Gi`, `Ti` | bytes: `1KB` is 1000 of them, `1KiB` 1024 |
| rates | `bps`, `b/s`, `bit/s`, `Bps`, `B/s` after the same | bits per second; `100GB/s` and `100GBps` are `800Gbps` |
| times | `s`, `ms`, `us` or `µs`, `ns`, `ps` | seconds; `0s`, or 1e-15 s and above |

A `b` is a bit and a `B` a byte. Prefixes may be small letters (`800gbps`, `64miB`, `8kB`), since nobody counts
thousandths of a bit; times have no capitals. A text that may mean two things is refused with both: `8Mb` (bytes or
bits?), `64M` (decimal or binary?), `100GBPS` and `100Gb` (bits or bytes per second?), `1MS` (thousandths or millions of
seconds?).

"""


def page() -> str:
    """The page: a table for each set of verbs that share options."""
    sets = list(dict.fromkeys(option.verbs for option in OPTIONS))
    order = [verb.name for verb in VERBS]
    sets.sort(key=lambda verbs: (order.index(verbs[0]), -len(verbs)))
    return HEADER + "\n".join(_section(verbs) for verbs in sets)


def _section(verbs: tuple[str, ...]) -> str:
    rows = sorted((option for option in OPTIONS if option.verbs == verbs), key=lambda o: list(Group).index(o.group))
    title = ", ".join(f"`{verb}`" for verb in verbs)
    lines = [
        f"## {title}",
        "",
        "| option | kind | unit | default | meaning | also in | Python takes too |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_row, rows)]) + "\n"


def _row(option: Option) -> str:
    kind = option.kind.words
    if option.kind is Kind.WHOLE:
        power = (option.most + 1).bit_length() - 1
        most = f"2^{power} - 1" if option.most + 1 == 1 << power else option.most
        kind += f", {option.least} to {most}"
    elif option.choices:
        kind = " or ".join(f"`{choice}`" for choice in option.choices)
    elif option.names:
        kind += f" of `list {option.names}`"
    places = ["fabric files"] if option in FABRIC else []
    places += ["sweeps"] if option in {*ARGUMENTS, *FABRIC, *SETTINGS, *SIMULATION} and option.name != "level" else []
    default, also = option.shown_default, ", ".join(places)
    cells = (f"`{option.name}`", kind, option.kind.unit, default, option.meaning, also, option.python)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def types() -> str:
    """The file of `Settings`: its beginning as it is, and a key a row."""
    begin, _, rest = TYPES.read_text().partition("class Settings(TypedDict, total=False):\n")
    docstring = rest.partition('    """\n\n')[0]
    open_too = {option.name: "" if option.name == "seed" else " | None" for option in SETTINGS}
    keys = [f"    {option.name}: {WRITTEN[option.kind]}{open_too[option.name]}\n" for option in SETTINGS]
    return f'{begin}class Settings(TypedDict, total=False):\n{docstring}    """\n\n{"".join(keys)}'


if __name__ == "__main__":
    TYPES.write_text(types())
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
