"""Pictures, as `--plot` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, unknown_name
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.map import swept
from lightloom.page.work.results import advice_of, circuits_of, plan_of, simulation_of, training_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """The picture `of` a plan, a simulation, circuits, training, a break-even or a map, in `format` svg, png or pdf."""
    asked = dict(asked)
    subject, kind = asked.pop("of", "plan"), asked.pop("format", "svg")
    if kind not in list(TYPES):
        raise unknown_name("format", kind, TYPES)
    if subject not in list(DRAWN):
        raise unknown_name("of", subject, DRAWN)
    from lightloom.views.charts import as_bytes

    figure = DRAWN[subject](asked, limits)
    return Outcome(DONE, as_bytes(figure, kind), TYPES[kind], f"{subject}.{kind}")


def _map(asked: dict[str, Any], limits: Limits) -> Figure:
    """The heat map that `lightloom sweep` draws of it."""
    from lightloom.views.pictures.sweep import sweep_figures

    figures = dict(sweep_figures(swept(asked, limits)))
    name = next((name for name in figures if name.endswith("ratio")), next(iter(figures)))
    return figures[name]


def _break_even(asked: dict[str, Any], limits: Limits) -> Figure:
    _, found = training_of({**asked, "break_even": True}, limits, lambda _done, _total: None)
    if found is None:
        raise refuse("break_even", "it is missing")
    return found.plot()


DRAWN: dict[str, Callable[[dict[str, Any], Limits], Figure]] = {
    "plan": lambda asked, limits: plan_of(asked, limits).plot(),
    "simulate": lambda asked, limits: simulation_of(asked, limits)[0].plot(),
    "circuits": lambda asked, limits: circuits_of(asked, limits).plot(),
    "advise": lambda asked, limits: advice_of(asked, limits).plot(),
    "train": lambda asked, limits: training_of(asked, limits, lambda _done, _total: None)[0].plot(),
    "break-even": _break_even,
    "map": _map,
}
