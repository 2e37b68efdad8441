"""Advice on switches, as the verb `advise` prints it."""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.advice.job import Job
from lightloom.base.errors import text_of
from lightloom.inputs.catalogue import named_switches, switches_of_text
from lightloom.page.arguments import checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import arguments_text, flags_text
from lightloom.page.work.say import Kind
from lightloom.page.work.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.advice.result import AdviceRow
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say

JOB, SWITCHES = "job.toml", "switches.toml"


def work(asked: dict[str, Any], limits: Limits, say: Say) -> Outcome:
    """Advise on the job that is asked about; every row is told when its time is found."""
    return Outcome(DONE, _advice(asked, limits, lambda row: say(Kind.ROW, asdict(row))).to_json().encode())


def _advice(asked: dict[str, Any], limits: Limits, found: Callable[[AdviceRow], object] | None = None) -> ll.Advice:
    """The advice on the job that is given as TOML. found: is told its rows. Raises `InputError`."""
    asked = dict(asked)
    job = Job.of_text(text_of("job", asked.pop("job", None)))
    limits.check_gpus(job.gpus)
    named, own = asked.pop("switches", None), asked.pop("own_switches", None)
    named_ones = named_switches("all" if named is None else text_of("switches", named))
    more = () if own is None else switches_of_text(text_of("own_switches", own))
    return ll.advise(job, switches=[*named_ones, *more], found=found, **checked("advise", asked))


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    options = dict(options)
    code.files[JOB] = text_of("job", options.pop("job", None))
    names, own = options.pop("switches", None), options.pop("own_switches", None)
    switches = "all" if names is None else text_of("switches", names)
    if own is not None:
        code.files[SWITCHES] = text_of("own_switches", own)
        switches += f",{SWITCHES}"
    given = checked("advise", options)
    flags = flags_text("advise", given)
    code.commands.append(f"lightloom advise {JOB} --switches {quote(switches)}{flags}")
    arguments = arguments_text({"job": JOB, "switches": switches, **given}, ("job",))
    code.lines += [f"advice = ll.advise({arguments})", "print(advice.to_json())"]


SUBJECTS = {"advise": Subject.of_result(_advice, _code)}
