"""JSON Schemas of the documents that the verbs print with `--format json`, and of the files that they read back."""

from __future__ import annotations

from typing import Any, NamedTuple

from lightloom.base.errors import unknown_name
from lightloom.schemas import advice as advised
from lightloom.schemas import clocks as timed
from lightloom.schemas import faults as failing
from lightloom.schemas import iterations
from lightloom.schemas import jobs as placed
from lightloom.schemas import judgements as judged
from lightloom.schemas import measurements as measured
from lightloom.schemas import online as chosen
from lightloom.schemas import plans as planned
from lightloom.schemas import reports as reported
from lightloom.schemas import robust as planned_once
from lightloom.schemas import uncertain as sampled

__all__ = ["DIALECT", "Document", "documents", "schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FORMS = planned.DOCUMENTS | judged.DOCUMENTS | iterations.DOCUMENTS | measured.DOCUMENTS | reported.DOCUMENTS
_FORMS |= advised.DOCUMENTS | placed.DOCUMENTS | planned_once.DOCUMENTS | chosen.DOCUMENTS | sampled.DOCUMENTS
_FORMS |= failing.DOCUMENTS | timed.DOCUMENTS


class Document(NamedTuple):
    """A kind of JSON document: its name, the commands that print or read it, and its meaning."""

    name: str
    commands: tuple[str, ...]
    summary: str


_DOCUMENTS = (
    Document("plan", ("plan",), "a plan, as `--output` writes, `Plan.to_json` returns and `Plan.from_json` reads it"),
    Document("sizes", ("plan --sizes",), "the plans of many sizes"),
    Document("plan-table", ("plan --sizes --delays",), "few plans for a range of sizes and delays"),
    Document("comparison", ("compare",), "the times of every planner on one problem"),
    Document("bounds", ("bound",), "lower bounds, term by term"),
    Document("checks", ("verify",), "the results of the checks of files"),
    Document("simulation", ("simulate PLAN",), "a plan, packet by packet or flow by flow"),
    Document("samples", ("simulate PLAN --uncertain",), "a plan's completion time where times are uncertain"),
    Document("sampled-plans", ("compare --uncertain",), "plans where times are uncertain, compared by many runs"),
    Document("fault-costs", ("compare --failed any-port",), "times of each planner with every single fault of a kind"),
    Document("fallbacks", ("plan --failed any-port",), "plans for every single fault of a kind"),
    Document("timeline", ("plan --overlap asynchronous",), "a collective on switches with clocks of their own"),
    Document("timeline-simulation", ("simulate TIMELINE",), "a timeline, packet by packet"),
    Document("circuits", ("circuits",), "the circuits that switches are told to set, and when"),
    Document(
        "sent", ("circuits --send", "circuits --restore"), "the circuits that switches made, and their acknowledgements"
    ),
    Document("workload", ("train WORKLOAD",), "a training iteration that is read"),
    Document("training", ("train",), "a training iteration that is planned, with its plans"),
    Document("layouts", ("train --layouts",), "the fastest parallel layouts of a model"),
    Document("training-simulation", ("simulate TRAINING",), "a training iteration, simulated"),
    Document("advice", ("advise JOB",), "the switch that a job needs, with the times on others"),
    Document("jobs", ("jobs",), "the times and GPUs of jobs on one fabric"),
    Document("robust", ("robust",), "an All-to-All that is planned once for many iterations"),
    Document("adaptation", ("adapt",), "calls whose plans are chosen by measured delays"),
    Document("run", ("run PLAN",), "a plan on processes, measured"),
    Document("iteration-run", ("run ITERATION",), "a training iteration on processes, measured"),
    Document("timeline-run", ("run TIMELINE",), "a timeline on processes, measured"),
    Document("sends", ("run --calibrate",), "messages over one hop, measured"),
    Document("barriers", ("run --barriers",), "barriers of processes, measured"),
    Document("calibration", ("calibrate",), "a fabric's numbers from measured times"),
    Document("sweep", ("sweep",), "the summary of a sweep; its points are in a table"),
    Document("benchmark", ("compare --benchmark",), "the summary of a benchmark"),
    Document("export", ("export",), "files for other tools"),
    Document("names", ("list",), "the names that options accept"),
    Document("algorithms", ("list algorithms --gpus",), "the algorithms that serve a number of GPUs"),
)


def documents() -> tuple[Document, ...]:
    """Every kind of document that has a schema."""
    return _DOCUMENTS


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the documents of one kind, whole in itself.

    Objects take no other keys than it names. Raises `InputError` that names `name`.
    """
    if name not in _FORMS:
        raise unknown_name("name", name, _FORMS)
    about = next(document for document in _DOCUMENTS if document.name == name)
    needed = _needed(_FORMS[name])
    made = {"$schema": DIALECT, "title": f"lightloom: {name}", "description": about.summary}
    made |= {key: value for key, value in _FORMS[name].items() if key not in made}
    return made | ({"$defs": {one: _FORMS[one] for one in needed}} if needed else {})


def _needed(form: object) -> list[str]:
    """The documents that a form refers to, directly or not, in order of their names."""
    if isinstance(form, dict):
        reference = form.get("$ref")
        own = [] if reference is None else [str(reference).rpartition("/")[2]]
        found = {*own, *(name for one in own for name in _needed(_FORMS[one]))}
        return sorted(found | {name for value in form.values() for name in _needed(value)})
    if isinstance(form, list):
        return sorted({name for value in form for name in _needed(value)})
    return []
