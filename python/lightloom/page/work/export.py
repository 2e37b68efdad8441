"""A plan in the format of another tool, all files of it in one archive."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, unknown_name
from lightloom.formats import FILE, FORMATS, written_formats
from lightloom.formats.export import exported
from lightloom.formats.output import OUTPUT_NAME
from lightloom.page.arguments import checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import planned_first
from lightloom.page.work.results import plan_of
from lightloom.page.work.subject import Subject

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say

ZIP = "application/zip"
# Archives of equal files are equal.
WHEN = (1980, 1, 1, 0, 0, 0)
NAME = "plan"
SUFFIXES = {"msccl-xml": ".xml", "mscclpp": ".json", "htsim": ".cm"}
NOTES = "NOTES.txt"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """The plan that is given, or that the options ask for, in the format `to`, or `format`."""
    asked = dict(asked)
    if ("to" in asked) == ("format" in asked):
        raise refuse("to", "it takes one of `lightloom list formats`, once")
    name = checked("export", {"to": asked.pop("to", None) or asked.pop("format", None)}).get("to")
    if name is None:
        raise unknown_name("to", name, written_formats())
    chosen = next(one for one in FORMATS if one.name == name)
    made = exported(chosen, [plan_of(asked, limits)], {})
    file = f"{NAME}{SUFFIXES.get(chosen.name, '')}"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, data in sorted(made.files.items()):
            member = file + key if chosen.written == FILE else key
            archive.writestr(zipfile.ZipInfo(member, WHEN), data, zipfile.ZIP_DEFLATED)
        if made.notes:
            text = "".join(f"{note}\n" for note in made.notes).replace(OUTPUT_NAME, file)
            archive.writestr(zipfile.ZipInfo(NOTES, WHEN), text, zipfile.ZIP_DEFLATED)
    return Outcome(DONE, content.getvalue(), ZIP, f"{NAME}-{chosen.name}.zip")


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    given = checked("export", planned_first(options, {"to"}, code))
    if "to" not in given:
        raise refuse("to", "it is missing; it takes one of `lightloom list formats`")
    code.commands.append(f"lightloom export plan.json --to {given['to']} --output exported")
    code.lines.append(f"ll.export(plan, {given['to']!r}, 'exported')")


SUBJECTS = {"export": Subject(code=_code)}
