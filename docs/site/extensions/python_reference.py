"""The Python reference: the exports of `lightloom`, and its public modules, from their docstrings.

Docstrings are prose with a paragraph of arguments, a line each: `name: description`. They are told apart here by the
names that the object has, and become lists of parameters.
"""

from __future__ import annotations
import __future__

import inspect
import re
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

import lightloom

if TYPE_CHECKING:
    from types import ModuleType

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

EXPORTED = "docs/reference/python"
MODULES = "docs/reference/python-modules"
# Members inherited from these classes are left out.
FOREIGN = "object, int, tuple, dict, BaseException, Exception, Enum, IntEnum, StrEnum"
STUB = Path(lightloom.__path__[0]) / "_core.pyi"
QUOTED = re.compile(r"(`[^`]*`)")
MARKUP = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")
ARGUMENT = re.compile(r"(\w+(?:, \w+)*): (.*)", re.DOTALL)
# A package that needs PyTorch, which the site does without; its guide is docs/how-to/train-with-pytorch.md.
WITHOUT = "lightloom.torch"
# Where another argument may begin in a line.
NEXT = re.compile(r"(?<=[.;]) (?=\w+(?:, \w+)*: )")


def describe_compiled() -> None:
    """Put what `_core.pyi` says of the compiled classes that `lightloom` exports in their place: they say little."""
    described: dict[str, Any] = {"__name__": "lightloom"}
    flags = __future__.annotations.compiler_flag  # its annotations name later classes
    exec(compile(STUB.read_text(encoding="utf-8"), STUB, "exec", flags=flags), described)  # noqa: S102
    for name in lightloom.__all__:
        value = getattr(lightloom, name)
        if inspect.isclass(value) and value is getattr(lightloom._core, name, None):
            setattr(lightloom, name, described[name])


def public_modules() -> list[ModuleType]:
    """The modules of the package that say by `__all__` what of them is public, in alphabetical order."""
    found = []
    for info in walk_packages(lightloom.__path__, "lightloom.", onerror=_check_without):
        if not info.name.startswith(WITHOUT) and not any(part.startswith("_") for part in info.name.split(".")):
            module = import_module(info.name)
            if hasattr(module, "__all__"):
                found.append(module)
    return found


def _check_without(package: str) -> None:
    """Re-raise what a package's import raised, but for the one that needs PyTorch."""
    if package != WITHOUT:
        raise  # noqa: PLE0704 - called while the error is handled


def exported() -> str:
    """Directives for everything that `lightloom` exports: functions first, then classes."""
    names = [name for name in lightloom.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isroutine(getattr(lightloom, name))]
    classes = [name for name in names if name not in functions]
    lines = ["## Functions", "", *_directives("lightloom", functions), "", "## Classes", ""]
    return "\n".join([*lines, *_directives("lightloom", classes)])


def modules() -> str:
    """A section for each public module, with what `lightloom` does not export itself."""
    lines = []
    for module in public_modules():
        name = module.__name__
        own = [one for one in module.__all__ if getattr(lightloom, one, None) is not getattr(module, one)]
        summary = inspect.getdoc(module) or ""
        lines += [f"## `{name}`", "", summary.partition("\n\n")[0], "", *_directives(name, own), ""]
    return "\n".join(lines)


def _directives(module: str, names: list[str]) -> list[str]:
    lines = ["```{eval-rst}"]
    for name in names:
        value = getattr(import_module(module), name)
        if inspect.isclass(value):
            # A stub describes what its names do not say; source has a docstring for everything public.
            undescribed = ["   :undoc-members:"] if value.__module__ == "lightloom" else []
            lines += [f".. autoclass:: {module}.{name}", "   :members:", *undescribed]
            lines += [f"   :inherited-members: {FOREIGN}", ""]
        elif inspect.isroutine(value):
            lines += [f".. autofunction:: {module}.{name}", ""]
        else:
            lines += [f".. py:data:: {name}", f"   :module: {module}", "", f"   {_comment(module, name)}", ""]
    return [*lines, "```"]


def _comment(module: str, name: str) -> str:
    """The text of the lines of comments before a constant."""
    lines = inspect.getsource(import_module(module)).split("\n")
    place = next((at for at, line in enumerate(lines) if re.match(rf"{name}\b[^=]*=", line)), 0)
    said: list[str] = []
    while place > 0 and lines[place - 1].startswith("# "):
        place -= 1
        said.insert(0, lines[place].removeprefix("# "))
    return _plain(" ".join(said))


def _names(value: Any) -> set[str]:
    """Names that a docstring's paragraph of arguments may use: parameters, fields, properties."""
    names: set[str] = set()
    if is_dataclass(value):
        names |= {field.name for field in fields(value)}
    if inspect.isclass(value):
        names |= {*getattr(value, "__annotations__", {}), *(n for n in dir(value) if not n.startswith("_"))}
    with suppress(TypeError, ValueError):  # not everything has a signature
        names |= set(inspect.signature(value).parameters)
    return names


def _arguments_listed(_app: Sphinx, _what: str, _name: str, value: Any, _options: Any, lines: list[str]) -> None:
    """Make paragraphs of `name: text` lists of parameters, where the names are the object's own."""
    known = _names(value)
    paragraphs = "\n".join(lines).split("\n\n")
    lines[:] = "\n\n".join(_listed(paragraph, known) for paragraph in paragraphs).split("\n")


def _listed(paragraph: str, known: set[str]) -> str:
    """The paragraph as it is, or its arguments, one a line, where it begins with one."""

    def begins(text: str) -> bool:
        found = ARGUMENT.match(text)
        return found is not None and set(found[1].split(", ")) <= known

    if not begins(paragraph):
        return _plain(paragraph)
    made: list[str] = []
    for line in paragraph.split("\n"):
        for piece in NEXT.split(line.strip()):
            if begins(piece):
                made.append(piece)
            else:
                made[-1] += f" {piece}"
    fields = [ARGUMENT.match(one) for one in made]
    return "\n".join(f":param {one[1]}: {_plain(one[2].rstrip(';'))}" for one in fields if one)


def _plain(text: str) -> str:
    """The text that is not code, without characters that mean something only to reStructuredText."""
    pieces = QUOTED.split(text)
    return "".join(piece if place % 2 else MARKUP.sub(r"\\\1", piece) for place, piece in enumerate(pieces))


def _add(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == EXPORTED:
        source[0] += "\n" + exported()
    elif page == MODULES:
        source[0] += "\n" + modules()


def setup(app: Sphinx) -> ExtensionMetadata:
    """Complete the two pages as they are read, and docstrings as they are found."""
    describe_compiled()
    app.connect("source-read", _add)
    app.connect("autodoc-process-docstring", _arguments_listed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
