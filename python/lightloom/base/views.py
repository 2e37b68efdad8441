"""Pictures, traces, HTML and widgets of results: results ask for them here, folders above make them.

A view goes by the class and the method that shows it, such as `Plan.plot`.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from anywidget import AnyWidget
    from matplotlib.figure import Figure


class InNotebook(Protocol):
    """A result that notebooks show."""

    def _repr_html_(self) -> str: ...


_finders: list[Callable[[str], Callable[..., Any]]] = []


def provide(find: Callable[[str], Callable[..., Any]]) -> None:
    """Take views from `find`, which returns the function that makes the view of a name."""
    _finders[:] = [find]


def picture(name: str, result: object, *arguments: object) -> Figure:
    """The picture of a result, whose function takes these arguments after it."""
    drawn: Figure = _finders[0](name)(result, *arguments)
    return drawn


def pictures(name: str, result: object) -> list[Figure]:
    """The pictures of a result that has several."""
    drawn: list[Figure] = _finders[0](name)(result)
    return drawn


def html(name: str, result: object) -> str:
    """The result as HTML, for notebooks."""
    made: str = _finders[0](name)(result)
    return made


def widget(name: str, result: object) -> AnyWidget:
    """The widget of a result. Raises `InputError` where the package for it is missing."""
    made: AnyWidget = _finders[0](name)(result)
    return made


def display(name: str, result: InNotebook) -> tuple[dict[str, Any], dict[str, Any]]:
    """The forms in which a notebook may show a result, by MIME type, and metadata on them.

    They are its words, its HTML, and the widget of that name where a kernel of IPython runs and the package is there.
    """
    told = {"text/plain": repr(result), "text/html": result._repr_html_()}
    session = sys.modules.get("IPython")
    if getattr(session and session.get_ipython(), "kernel", None) is None or find_spec("anywidget") is None:
        return told, {}
    data, more = widget(name, result)._repr_mimebundle_() or ({}, {})
    return {**data, **told}, more


def write_trace(name: str, result: object, path: str | os.PathLike[str]) -> None:
    """Write the trace of a result to a file."""
    _finders[0](name)(result, path)
