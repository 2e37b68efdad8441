"""Advice on switches, as the verb `advise` prints it."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.advice.job import Job
from lightloom.base.errors import text_of
from lightloom.inputs.catalogue import named_switches, switches_of_text
from lightloom.page.arguments import checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import arguments_text, flags_text
from lightloom.page.work.subject import Subject

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say

JOB, SWITCHES = "job.toml", "switches.toml"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Advise on the job that is asked about."""
    return Outcome(DONE, _advice(asked, limits).to_json().encode())


def _advice(asked: dict[str, Any], limits: Limits) -> ll.Advice:
    """The advice on the job that is given as TOML. Raises `InputError`."""
    asked = dict(asked)
    job = Job.of_text(text_of("job", asked.pop("job", None)))
    limits.check_gpus(job.gpus)
    named, own = asked.pop("switches", None), asked.pop("own_switches", None)
    found = named_switches("all" if named is None else text_of("switches", named))
    more = () if own is None else switches_of_text(text_of("own_switches", own))
    return ll.advise(job, switches=[*found, *more], **checked("advise", asked))


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
