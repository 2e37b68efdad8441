"""JSON of jobs on one fabric."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, or_null, record, several, text, version, whole, yes_or_no

PLACED = record(
    {
        "name": text("name of the job"),
        "ranks": whole("number of ranks that the job runs on", least=2),
        "iterations": whole("number of iterations of the job", least=1),
        "iteration_s": number("time of one iteration on GPUs that no other job uses"),
        "arrival_s": number("arrival of the job, since the beginning"),
        "start_s": number("start of the job, since the beginning"),
        "end_s": number("end of the job, since the beginning"),
        "slowdown": number(
            "completion time over that on a free fabric that no other job uses, with circuits that change"
        ),
        "gpus": several(whole("a GPU of the fabric"), "GPUs that the job has"),
        "settings": whole("number of times that all circuits of the job are set"),
        "connects": whole("number of connections that switches set up for the job"),
        "shared_with": several(text("name of a job"), "other jobs that run on its GPUs"),
        "completion_s": number("time from the job's arrival to its end"),
    }
)
RUN = record(
    {
        "sharing": text("name of the way to share the fabric"),
        "title": text("description of that way"),
        "makespan_s": or_null(number("end of the last job, null where not all jobs are served")),
        "mean_completion_s": or_null(number("mean time from arrival to end, null where not all jobs are served")),
        "mean_slowdown": or_null(number("mean slowdown of the jobs, null where not all jobs are served")),
        "gain": or_null(
            number("mean completion time on the wired torus over the one here, null where one of the two is missing")
        ),
        "connects": whole("number of connections that switches set up for all jobs"),
        "best_order": yes_or_no("whether it is proved that no order of starts has a smaller mean completion time"),
        "note": text("note on what was left out, else empty"),
        "jobs": several(PLACED, "jobs in the order of the description, empty where not all are served"),
    }
)
JOBS = record(
    {
        "schema": version("lightloom.jobs/1"),
        "gpus": whole("number of GPUs of the fabric", least=2),
        "ports": whole("ports of a GPU", least=1),
        "reconfiguration_delay": text("reconfiguration delay in words"),
        "dims": several(whole("GPUs along the dimension", least=1), "dimensions of the wired torus"),
        "order": text("name of the rule by which waiting jobs start"),
        "best": or_null(
            text("way to share with the least mean completion time, null where there is no way that serves all jobs")
        ),
        "runs": several(RUN, "results, one for each way to share the fabric"),
    }
)

DOCUMENTS: dict[str, Form] = {"jobs": JOBS}
