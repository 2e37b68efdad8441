"""Data for the form in the browser: the table of options, the registries, and problems to start from."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from typing import TYPE_CHECKING, Any

from lightloom import __version__
from lightloom.inputs import fabric
from lightloom.inputs.options import Group, Kind, Option, options_of
from lightloom.inputs.workloads.model import preset_workload, presets
from lightloom.page.offer import offered
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.tasks import subjects
from lightloom.views.listings import everything

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

# Verbs of the command line that requests have too.
VERBS = tuple(name for name in subjects("code") if options_of(name))
# The form's input for values, by kind.
FORMS = {
    Kind.TEXT: "text",
    Kind.NAME: "choice",
    Kind.CHOICE: "choice",
    Kind.WHOLE: "count",
    Kind.NUMBER: "number",
    Kind.SIZE: "bytes",
    Kind.TIME: "seconds",
    Kind.RATE: "rate",
    Kind.DELAY: "delay",
    Kind.BARRIER: "text",
    Kind.POSITIONS: "text",
    Kind.PAIR_RATES: "text",
    Kind.WINDOW: "window",
    Kind.DIMS: "dims",
    Kind.TOPOLOGY: "topology",
    Kind.TOPOLOGIES: "topologies",
    Kind.FABRIC: "choice",
    Kind.OPTICS: "text",
    Kind.MATRIX: "matrix",
    Kind.FLAG: "flag",
    Kind.YES_OR_NO: "flag",
}
REQUIRED = {
    **dict.fromkeys(("plan", "compare", "bound", "simulate", "circuits"), ("collective", "size", "gpus")),
    "export": ("to",),
}


def work(_asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """All of it."""
    registries = everything()
    told = {
        "version": __version__,
        "verbs": {verb: {"options": _options(verb, registries)} for verb in VERBS},
        "registries": registries,
        **examples(),
        "fabrics": fabrics(),
        "model_ranks": {name: preset_workload(name)["ranks"] for name in presets()},
        "limits": limits.shown(),
    }
    return Outcome(DONE, json.dumps(told, ensure_ascii=False).encode())


def examples() -> dict[str, Any]:
    """`presets` are problems worth starting from: `name`, `summary`, `verb` and `options` of each, `axes` of some.

    Axes are those of a map, or what the second of two fabrics has instead, after `other_`. `ranges` has by
    option that a map can vary what it goes through: `from`, `to` and the number of `points`.
    """
    return tomllib.loads(resources.files("lightloom.page").joinpath("presets.toml").read_text("utf-8"))


def fabrics() -> dict[str, dict[str, str]]:
    """The options of each fabric that comes with Lightloom, as a person enters them; others are at their defaults."""
    found = {}
    for name in (entry["name"] for entry in fabric.presets()):
        made = fabric.Fabric.preset(name)
        said = {key: str(value) for key, value in made.to_settings().items()}
        delay_s = made.reconfiguration.scalar_s
        # A technology's name shows no number, so its seconds are written in its place.
        if "reconfiguration_delay" in said and delay_s is not None:
            said["reconfiguration_delay"] = f"{delay_s!r}s"
        found[name] = said
    return found


def _options(verb: str, registries: dict[str, list[dict[str, str]]]) -> list[dict[str, Any]]:
    return [_told(option, option.name in REQUIRED.get(verb, ()), registries) for option in offered(verb).values()]


def _told(option: Option, is_required: bool, registries: dict[str, list[dict[str, str]]]) -> dict[str, Any]:
    """The row, as the form takes it."""
    choices = list(option.choices)
    if not choices and option.names and option.kind in {Kind.NAME, Kind.FABRIC}:
        choices = [*option.others, *(entry["name"] for entry in registries[option.names])]
    told: dict[str, Any] = {
        "name": option.name,
        "flag": option.flag,
        "help": option.meaning,
        "kind": FORMS[option.kind],
        "unit": option.kind.unit,
        "default": option.default,
        "otherwise": option.otherwise,
        "choices": choices or None,
        "names": option.names or None,
        "required": is_required,
        "group": option.group.value.lower(),
        "example": option.example or None,
    }
    if option.kind is Kind.WHOLE:
        told |= {"least": option.least, "most": option.most}
    if option.group is Group.EXPERT:
        told["expert"] = True
    return told
