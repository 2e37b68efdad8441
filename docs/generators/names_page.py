"""`docs/reference/names.md`, from the registries.

`python -m docs.generators.names_page` writes the page.
"""

from pathlib import Path

from docs.generators.json_page import table

from lightloom._core import planners_names
from lightloom.views.listings import everything

PAGE = Path(__file__).resolve().parent.parent / "reference" / "names.md"
HEADER = """\
# Names

Everything that options take by name, from the registries, as `lightloom list KIND` has it;
`python -m docs.generators.names_page` writes this page. Parameters follow a name; those in brackets may
be left out. [Algorithms and families of topologies](../algorithms.md) are drawn; [formats](formats.md),
[models](models.md) and [drivers of switches](switches.md) have pages of their own, figures theirs in
[the reproduction](../reproduction.md).
"""
ELSEWHERE = {"figures", "formats", "models"}


def page() -> str:
    """The page: a table for each kind."""
    parts, given = [HEADER], planners_names()
    for kind, entries in everything().items():
        if kind not in ELSEWHERE:
            keys = dict.fromkeys(key for entry in entries for key in entry)
            columns = sorted(keys.keys() - {"name", "parameters"}, key=lambda key: (key != "summary", key))
            rows = [(_named(entry), *(entry.get(column, "") for column in columns)) for entry in entries]
            parts += [f"\n## {kind.capitalize()}\n\n", *table(("name", *columns), rows)]
            if kind in given:
                meanings = [(f"`{name}`", meaning) for name, meaning in given[kind]]
                parts += [
                    "\nNames that planners give, which no option takes:\n\n",
                    *table(("name", "meaning"), meanings),
                ]
    return "".join(parts)


def _named(entry: dict[str, str]) -> str:
    """The name with its parameters, after a colon."""
    parameters = entry.get("parameters", "")
    colon = ":" if parameters and parameters[0] not in ":[" else ""
    return f"`{entry['name']}{colon}{parameters}`"


if __name__ == "__main__":
    PAGE.write_text(page())
