"""Widgets of results in notebooks, made of the page's own modules."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lightloom import views
from lightloom.base.extras import missing

if TYPE_CHECKING:
    from collections.abc import Callable

# The classes, below this folder, of the widgets of results, as `lightloom.views.VIEWS` has functions of other views.
WIDGETS = {"Plan.widget": "plan.PlanWidget", "Training.widget": "training.TrainingWidget"}


def view(name: str) -> Callable[..., Any]:
    """The maker of the view of a name in `VIEWS` or `WIDGETS`. Raises `InputError` where a package is missing."""
    if name not in WIDGETS:
        return views.view(name)
    module, _, widget = WIDGETS[name].rpartition(".")
    try:
        made: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), widget)
    except ModuleNotFoundError as error:
        if error.name != "anywidget":
            raise
        raise missing("widget", "a widget", "anywidget") from error
    return made
