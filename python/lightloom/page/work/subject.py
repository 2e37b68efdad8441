"""Results that requests ask for to be drawn, written as rows, or given as code: one for each name in the registry."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lightloom.base.errors import unknown_name
from lightloom.page.tasks import subjects
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from matplotlib.figure import Figure

    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code

    Asked: TypeAlias = dict[str, Any]

__all__ = ["Subject", "shown_by"]


class Result(Protocol):
    """What verbs hold: it draws itself, and has columns."""

    def plot(self) -> Figure:
        """Its picture."""

    def to_columns(self) -> Mapping[str, Sequence[Any]]:
        """Its values by column."""


class Subject(NamedTuple):
    """A result by the ways in which it is shown; None for those in which it is not.

    picture: as `--plot` draws it. table: as `--format csv` prints it. code: adds the command and the Python that give
    it.
    """

    picture: Callable[[Asked, Limits], Figure] | None = None
    table: Callable[[Asked, Limits], str] | None = None
    code: Callable[[Asked, Code, Limits], None] | None = None

    @classmethod
    def of_result(
        cls, result: Callable[[Asked, Limits], Result], code: Callable[[Asked, Code, Limits], None] | None = None
    ) -> Subject:
        """The subject of a result that draws itself and has columns."""
        return cls(
            lambda asked, limits: result(asked, limits).plot(),
            lambda asked, limits: as_csv(result(asked, limits).to_columns()),
            code,
        )


def shown_by(way: str, field: str, name: object) -> Callable[..., Any]:
    """The function that shows the subject of that name in one of `SHOWN`. Raises `InputError` that names the field."""
    known = subjects(way)
    if not isinstance(name, str) or name not in known:
        raise unknown_name(field, name, known)
    made: Subject = import_module(known[name].module).SUBJECTS[name]
    found: Callable[..., Any] = getattr(made, way)
    return found
