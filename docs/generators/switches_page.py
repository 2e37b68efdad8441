"""`docs/reference/switches.md`, from the registry of drivers and the faults of simulated switches.

`python -m docs.generators.switches_page` writes the page.
"""

from pathlib import Path

from lightloom.switches.registry import DRIVERS, DriverKind
from lightloom.switches.setting import Form, Setting
from lightloom.switches.simulated.faults import MEANINGS

PAGE = Path(__file__).resolve().parent.parent / "reference" / "switches.md"
HEADER = """\
# Switches

Addresses that `lightloom circuits --send` takes, from the registry of drivers in
`python/lightloom/switches/registry.py`; `python -m docs.generators.switches_page` writes this page. An address is
`SCHEME://HOST[:PORT][?SETTING=VALUE&...]`, such as `scpi://192.0.2.7?timeout=2s`; settings that a driver does not have
are refused.

Users and passwords belong to hosts. `LIGHTLOOM_SWITCH_USER` and `LIGHTLOOM_SWITCH_PASSWORD` are for the hosts that
`LIGHTLOOM_SWITCH_HOST` names, separated by commas; for others they are read from the `.netrc` file in the home folder,
or the one that `NETRC` names. Without encryption (`tls=yes`) they are sent only to this machine, unless
`LIGHTLOOM_SWITCH_CLEAR=yes` is set: addresses cannot ask for it, since a file of `--restore` holds some.

"""
FAULTS = """
## Faults of simulated switches

`--faults NAME=VALUE,...` of `--simulated-switch`; a name may come several times. Changes, requests to make or unmake
circuits, are counted from 1.

| fault | value | what happens |
|---|---|---|
"""


def page() -> str:
    """The page: a table of settings for each driver, and one of faults."""
    faults = "".join(f"| `{name}` | {value} | {meaning} |\n" for name, (value, meaning) in MEANINGS.items())
    return HEADER + "\n".join(map(_section, DRIVERS)) + FAULTS + faults


def _section(kind: DriverKind) -> str:
    lines = [
        f"## `{kind.scheme}://HOST[:{kind.port}]`",
        "",
        f"{kind.summary[0].upper()}{kind.summary[1:]}.",
        f"Written from: {kind.source} ([decision 11](../decisions/0011-drivers-of-switches.md)).",
        "",
        "| setting | value | default | meaning |",
        "|---|---|---|---|",
        *map(_row, kind.settings),
    ]
    return "\n".join(lines) + "\n"


def _row(setting: Setting) -> str:
    value = " or ".join(f"`{one}`" for one in setting.choices) if setting.form is Form.CHOICE else setting.form.value
    default = f"`{setting.default}`" if setting.default is not None else setting.otherwise
    return f"| `{setting.name}` | {value} | {default} | {setting.meaning} |"


if __name__ == "__main__":
    PAGE.write_text(page())
