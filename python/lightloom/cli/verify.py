"""The verb `verify`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import click

from lightloom.base.errors import InputError, refuse
from lightloom.cli.clocks import is_timeline_file
from lightloom.cli.options import verb
from lightloom.views.documents import checks_document
from lightloom.views.rows import rows_as_csv

# Beginning of a file that the verb `circuits` writes.
CIRCUITS = re.compile(r'\A\s*\{\s*"schema"\s*:\s*"lightloom\.circuits/')
# Signs that JSON is meant to be a plan: its schema, or keys that plans have and no format of another tool has.
PLAN = re.compile(r'"lightloom\.plan/|"planner"\s*:|"schema"\s*:\s*(?!"lightloom\.)')

if TYPE_CHECKING:
    from lightloom import Topology
    from lightloom.formats.harvest_schedule.read import StatedSequence
    from lightloom.formats.source import Source
    from lightloom.planning import Check


@verb("verify")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
def command(
    files: tuple[str, ...],
    topology: str | None,
    dims: str | None,
    ports: int,
    plan: str | None,
    optics: str | None,
    output_format: str,
) -> int:
    """Check plans (JSON), training iterations (JSON) and schedules (what `list formats` reads), by their content.

    Either is executed symbolically: it must compute its collective. A plan's ports, paths, loads, costs and total
    are recomputed from its own data as well, and so is its lower bound, where the class of schedules that it names is
    known; else it is "stated, not checked". Exit status 1 when a check fails, 2 when a file cannot be read, or is a
    schedule with a transfer that --topology has no link for.

    In a file of `train` every plan is checked so; every port of every rank is followed through the iteration, and all
    times are recomputed: when events start and what they wait for, when circuits change, and what follows from that.

    In a file of `plan --delays` every plan is checked; its boxes must cover the range, and keep the tolerance.

    In a file of `plan --failed any-port` and the like every plan is checked, and there must be one for each fault.

    In a file of `plan --overlap asynchronous` every circuit of every switch and all data are followed in continuous
    time.

    In Chakra traces, a folder or any file of it, the graphs of all ranks are checked: what each node waits for, that
    every message is sent and received, that the ranks of a group call the same collectives.

    HARVEST's schedule.json: its own numbers are checked, and that collective.json next to it finds its paths there.

    A file of `circuits` is checked against its --plan: its changes are followed from dark switches on, and what they
    join must be the topology of every step, in time; where --plan is a training iteration, those of every event of
    all its groups, in iterations that follow one another. In a mesh of MZIs light is followed from every transmitter
    through the states, and ways and losses are recomputed.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --output plan.json
      lightloom verify plan.json
      lightloom circuits plan.json --output circuits.json
      lightloom verify circuits.json --plan plan.json
      lightloom verify examples/teccl_ring.json --topology ring
    """  # noqa: D301
    wanted = None if topology is None else Wanted(topology, dims, ports)
    reference = None if plan is None and optics is None else Reference(plan, optics)
    checked = [(file, *verify_file(file, wanted, reference)) for file in files]
    passed = all(check.passed for _, _, checks in checked for check in checks)
    if output_format == "json":
        click.echo(checks_document(checked))
    elif output_format == "csv":
        told = (
            {"file": file, "kind": subject, **check._asdict()} for file, subject, checks in checked for check in checks
        )
        click.echo(rows_as_csv(told))
    else:
        from lightloom.views.tables.checks import checks_table

        for file, subject, checks in checked:
            click.echo(checks_table(file, subject, checks))
    return 0 if passed else 1


class Wanted(NamedTuple):
    """The topology on whose links alone schedules may send, as the options gave it."""

    topology: str
    dims: str | None
    ports: int

    def built(self, gpus: int) -> Topology:
        """The matrix for this many GPUs. Raises `InputError`."""
        from lightloom import Fabric, Topology
        from lightloom.inputs.graphs import resolve

        found = resolve("topology", self.topology, gpus)
        if isinstance(found, Topology):
            return found
        return Topology.named(
            found, gpus, Fabric(gpus=gpus, dims=self.dims, ports=self.ports).sized().dimensions, self.ports
        )


class Reference(NamedTuple):
    """References that circuits are judged against, as given: the file of their plan, the kind of their switches."""

    plan: str | None
    optics: str | None


def verify_file(
    path: str, topology: Wanted | None = None, reference: Reference | None = None
) -> tuple[str, list[Check]]:
    """The kind of the file, and its checks; for a schedule, also whether the topology has its links.

    Raises `InputError` when it is neither a plan, nor circuits, nor a schedule.
    """
    from lightloom import verify
    from lightloom.formats import SIDE_SCHEMA
    from lightloom.formats.chakra.files import is_trace
    from lightloom.formats.harvest_schedule import read as harvest_topologies
    from lightloom.formats.links import check_links
    from lightloom.formats.schedules import schedule_of
    from lightloom.formats.source import Source
    from lightloom.plans import MAX_FILE_BYTES, Plan

    if topology is None and is_trace(path):
        from lightloom.planning.trace_checks import verify_trace

        return "trace", verify_trace(path, "file")
    source = Source("file", path, MAX_FILE_BYTES)
    try:
        if topology is None and harvest_topologies.recognises(source):
            return "topologies", _verify_sequence(harvest_topologies.read(source))
        found = schedule_of(source)
        if found is not None:
            if topology is not None:
                check_links(found.schedule, topology.built(found.schedule.gpus))
            checks = verify(found.schedule)
            if source.is_folder and (source.path / harvest_topologies.FILE).is_file():
                checks += _verify_sequence(harvest_topologies.read_sequence(source.path))
            return "schedule", checks
        if topology is not None:
            raise refuse("topology", "it is used only with a schedule; a plan has its own topologies")
        if CIRCUITS.search(source.text, 0, 1000):
            return "circuits", _verify_circuits(source.text, reference or Reference(None, None))
        if reference is not None:
            raise refuse(
                "plan" if reference.plan is not None else "optics",
                "it is used only with a file that the verb circuits wrote",
            )
        if (judged := _of_many_plans(source.text)) is not None:
            return judged
        if f'"{SIDE_SCHEMA}"' in source.text[:200]:
            raise refuse("file", f"`{path}` is the side file of an export; give the exported file or folder")
        if source.text.lstrip().startswith("{") and PLAN.search(source.text):
            return "plan", verify(Plan.from_json(source.text))
    except InputError as error:
        place = "" if f"`{path}`" in str(error) else f" (in `{path}`)"
        raise InputError(error.field, f"{error}{place}") from error
    raise _unknown(path, source)


def _of_many_plans(text: str) -> tuple[str, list[Check]] | None:
    """The kind of a document that holds several plans, and its checks; None where it is none."""
    from lightloom import verify
    from lightloom.clocks.reader import is_timeline, parts_of
    from lightloom.clocks.timeline import Timeline
    from lightloom.faults.fallbacks import Fallbacks
    from lightloom.faults.reader import is_fallbacks
    from lightloom.online.reader import is_plan_table
    from lightloom.online.table import PlanTable
    from lightloom.training.documents import is_training
    from lightloom.training.result import Training

    if is_plan_table(text):
        return "plan table", PlanTable.unjudged(text).verify()
    if is_fallbacks(text):
        return "fallbacks", Fallbacks.from_json(text).verify()
    if is_timeline(text):
        return "timeline", Timeline(parts_of(text)).verify()
    if is_training(text):
        return "training iteration", verify(Training.unjudged(text))
    return None


def _unknown(path: str, source: Source) -> InputError:
    """The error for a file or folder of no kind that `verify` reads."""
    from lightloom.formats import readable_schedules
    from lightloom.training.exports.iterations import EVENTS_FILE, plan_name

    if source.is_folder and (source.path / EVENTS_FILE).is_file():
        some = f"`{path}/{plan_name(0)}`"
        return refuse("file", f"`{path}` is an exported iteration; give one of its plans, such as {some}")
    names = ", ".join(one.name for one in readable_schedules())
    kinds = "neither a plan (JSON), nor a training iteration (JSON), nor circuits (JSON), nor a schedule"
    return refuse("file", f"`{path}` is {kinds} ({names})")


def _verify_sequence(stated: StatedSequence) -> list[Check]:
    from lightloom.planning.sequence_checks import verify_sequence

    return verify_sequence(stated)


def _verify_circuits(text: str, reference: Reference) -> list[Check]:
    from lightloom import verify
    from lightloom.clocks.timeline import Timeline
    from lightloom.optics.port_maps import Circuits
    from lightloom.training.documents import plan_or_training

    circuits = Circuits.from_json(text)
    if reference.plan is None:
        raise refuse("plan", "missing; circuits are checked against their plan: give --plan FILE")
    if is_timeline_file(reference.plan):
        if reference.optics is not None:
            raise refuse("optics", "it is not used with a timeline, whose switches hold a port of each GPU")
        return Timeline.load(reference.plan).verify_circuits(circuits)
    return verify(circuits, plan=plan_or_training(reference.plan), optics=reference.optics)
