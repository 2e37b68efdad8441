"""`docs/reference/verbs.md`, from the help of the command line.

`python -m docs.generators.verbs_page` writes the page.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from click import Command, Context

from lightloom.cli.registry import VERBS

PAGE = Path(__file__).resolve().parent.parent / "reference" / "verbs.md"
# Options of the text, but for those in code.
FLAG = re.compile(r"(`[^`]*`)|(?<![\w-])(--[a-z-]+)")
HEADER = """\
# Verbs

`lightloom VERB --help` says the same, with all options; [their page](options.md) has them in tables. `--format json`
prints [JSON](json.md). Exit status: 0 done, 2 the input is wrong (one line on standard error that names the field), 1
anything else. `python -m docs.generators.verbs_page` writes this page.
"""


def page() -> str:
    """The page: a section for each verb."""
    return HEADER + "".join(_section(verb.name, command_of(verb.module, verb.name)) for verb in VERBS)


def command_of(module: str, name: str) -> Command:
    """The click command of a verb."""
    found = next(one for one in vars(import_module(module)).values() if isinstance(one, Command) and one.name == name)
    assert isinstance(found, Command)
    return found


def _section(name: str, command: Command) -> str:
    usage = " ".join(["lightloom", name, *command.collect_usage_pieces(Context(command))])
    parts = [f"\n## {name}\n", f"```sh\n{usage}\n```\n", *_paragraphs(inspect.cleandoc(command.help or ""))]
    return "\n".join(parts)


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help text; those that it keeps as they are become blocks, below a first line with a colon."""
    for paragraph in text.split("\n\n"):
        kept, _, lines = paragraph.rpartition("\b\n")
        if kept or not paragraph.startswith("\b"):
            yield FLAG.sub(lambda found: found[1] or f"`{found[2]}`", paragraph) + "\n"
        else:
            title, *rest = lines.split("\n") if lines.split("\n")[0].endswith(":") else ("", *lines.split("\n"))
            language = "sh" if rest and rest[0].strip().startswith(("lightloom", "mpiexec", "eval")) else "text"
            block = f"```{language}\n" + "\n".join(line.removeprefix("  ") for line in rest) + "\n```\n"
            yield f"{title}\n\n{block}" if title else block


if __name__ == "__main__":
    PAGE.write_text(page())
