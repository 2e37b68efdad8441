"""JSON of jobs on one fabric."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, or_null, record, several, text, version, whole, yes_or_no

PLACED = record(
    {
        "name": text("of the job"),
        "ranks": whole("that it runs on", least=2),
        "iterations": whole("that it does", least=1),
        "iteration_s": number("of one on GPUs of its own"),
        "arrival_s": number("since the beginning"),
        "start_s": number("since the beginning"),
        "end_s": number("since the beginning"),
        "slowdown": number("completion over that on free GPUs of its own with circuits that change"),
        "gpus": several(whole("of the fabric"), "those that it has"),
        "settings": whole("how often all of its circuits are set"),
        "connects": whole("connections that switches set up for it"),
        "shared_with": several(text("name of a job"), "that runs on its GPUs, too"),
        "completion_s": number("from arrival to end"),
    }
)
RUN = record(
    {
        "sharing": text("the way to share the fabric"),
        "title": text("its words"),
        "makespan_s": or_null(number("end of the last job, null where not all jobs are served")),
        "mean_completion_s": or_null(number("mean time from arrival to end, null where not all jobs are served")),
        "mean_slowdown": or_null(number("mean of the jobs, null where not all jobs are served")),
        "gain": or_null(number("mean completion on the wired torus over that, null where one has none")),
        "connects": whole("connections that switches set up for all jobs"),
        "best_order": yes_or_no("whether no order of starts has a smaller mean completion, proved"),
        "note": text("what was left out, or empty"),
        "jobs": several(PLACED, "in the order of the description, empty where not all are served"),
    }
)
JOBS = record(
    {
        "schema": version("lightloom.jobs/1"),
        "gpus": whole("of the fabric", least=2),
        "ports": whole("of a GPU", least=1),
        "reconfiguration_delay": text("in words"),
        "dims": several(whole("GPUs", least=1), "sizes of the wired torus"),
        "order": text("the rule by which waiting jobs start"),
        "best": or_null(text("the way with the least mean completion, null where none serves all jobs")),
        "runs": several(RUN, "one for each way"),
    }
)

DOCUMENTS: dict[str, Form] = {"jobs": JOBS}
