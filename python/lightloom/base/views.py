"""Pictures, traces and HTML of results: results ask for them here, and `lightloom.views` makes them.

A view goes by the class and the method that shows it, such as `Plan.plot`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from matplotlib.figure import Figure

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


def write_trace(name: str, result: object, path: str | os.PathLike[str]) -> None:
    """Write the trace of a result to a file."""
    _finders[0](name)(result, path)
