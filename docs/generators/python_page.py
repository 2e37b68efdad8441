"""`docs/reference/python.md`, from the exports of the package.

`python -m docs.generators.python_page` writes the page; `make docs` adds signatures and whole docstrings to it.
"""

import inspect
from pathlib import Path

import lightloom

PAGE = Path(__file__).resolve().parent.parent / "reference" / "python.md"
HEADER = """\
# Python

`import lightloom as ll` has all of these. Results are immutable, in seconds and bytes; what is wrong in an argument
raises `lightloom.InputError`, a `ValueError` whose `field` is the argument's name. Settings (`**settings`) are the
[options](options.md) of the command line with underscores for dashes. Other public names are in
[its modules](python-modules.md); [how to plan in Python](../how-to/plan-in-python.md) has examples.

From the docstrings (`python -m docs.generators.python_page`); on the site that `make docs` builds, signatures and whole
descriptions follow.

"""


def page() -> str:
    """The page: the exports of `lightloom`, with the first sentences of the docstrings."""
    names = sorted(name for name in lightloom.__all__ if not name.startswith("_"))
    rows = [f"| `{name}` | {_first_line(getattr(lightloom, name))} |" for name in names]
    return HEADER + "\n".join(["| name | what it is |", "|---|---|", *rows]) + "\n"


def _first_line(value: object) -> str:
    text = inspect.getdoc(value) or ""
    if not text and isinstance(value, type):
        text = _of_stub(value.__name__)
    return text.partition("\n\n")[0].replace("\n", " ")


def _of_stub(name: str) -> str:
    """The docstring of a compiled class, which its stub has."""
    stub = (Path(lightloom.__path__[0]) / "_core.pyi").read_text()
    return stub.partition(f"\nclass {name}:\n")[2].partition('"""')[2].partition('"""')[0]


if __name__ == "__main__":
    PAGE.write_text(page())
