"""Jobs that arrive at one fabric, as the verb `jobs` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.base.errors import text_of
from lightloom.jobs.description import requests_of_text
from lightloom.page.arguments import checked, fabric_of
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import Bare, arguments_text, fabric_line, flags_text
from lightloom.page.work.subject import Subject

if TYPE_CHECKING:
    from lightloom import JobPlacements
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say

FILE = "jobs.toml"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Place the jobs that are asked about."""
    return Outcome(DONE, _placed(asked, limits).to_json().encode())


def _placed(asked: dict[str, Any], limits: Limits) -> JobPlacements:
    """The placements. Raises `InputError`."""
    asked = dict(asked)
    text = text_of("jobs", asked.pop("jobs", None))
    given = checked("jobs", asked)
    fabric = fabric_of(given).sized()
    limits.check_gpus(fabric.gpus)
    return ll.place_jobs(requests_of_text(text, fabric.gpus or 0), fabric=fabric, **given)


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    options = dict(options)
    code.files[FILE] = text_of("jobs", options.pop("jobs", None))
    given = checked("jobs", options)
    code.commands.append(f"lightloom jobs {FILE}{flags_text('jobs', given)}")
    code.lines.append(fabric_line(given))
    arguments = arguments_text({"jobs": FILE, "fabric": Bare("fabric"), **given}, ("jobs",))
    code.lines += [f"placed = ll.place_jobs({arguments})", "print(placed.to_json())"]


SUBJECTS = {"jobs": Subject.of_result(_placed, _code)}
