"""JSON that `run` prints of plans, iterations, sends and barriers, and `calibrate` of measured times."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, one_of, or_null, record, several, text, version, whole, yes_or_no

VERDICT = one_of("whether the machine was quiet enough for the times to say anything", "conclusive", "inconclusive")
LATENESS = record(
    {
        "sleeps": whole("how many"),
        "median_s": number("half of them ended so late at most"),
        "most_of_99_s": number("99 of 100"),
        "most_s": number("all"),
    }
)
SPREAD = {"min": number("least"), "median": number("middle"), "max": number("largest")}
JITTER = record(
    {
        "tolerated_s": number("with more lateness the measurement is inconclusive; of the machine"),
        "found_s": number("of the machine"),
        "probe": LATENESS,
        "switch": LATENESS,
        "ranks": LATENESS,
        "packet_rate": or_null(number("packets over all hops in a second of the machine")),
        "most_packet_rate": or_null(number("that it keeps up with")),
        "real_time": yes_or_no("whether all processes had real-time priority"),
        "locked": yes_or_no("whether shared memory was locked"),
    },
    "how late the machine was",
)
RUN = record(
    {
        "schema": version("lightloom.run/1"),
        "collective": text("name of the collective"),
        "algorithm": text("name of the algorithm"),
        "planner": text("name of the planner"),
        "gpus": whole("number of ranks", least=1),
        "size_bytes": whole("bytes m of one rank's whole buffer", least=1),
        "transport": text("what carried the bytes"),
        "dilation": number("rates were divided and delays multiplied by it; all times are divided by it"),
        "dtype": text("type of the data"),
        "reduction": text("of the data"),
        "packet_bytes": whole("payload of a packet"),
        "switch": or_null(text("address of an outside switch")),
        "predicted_s": number("by the plan"),
        "measured_s": record(SPREAD, "of the runs"),
        "ratio": number("the middle of the measured times over the predicted one"),
        "algbw": number("B/s, as NCCL's tests count it"),
        "busbw": number("algbw times the collective's bus factor"),
        "wrong": whole("elements that are not what NumPy makes of the data"),
        "verdict": VERDICT,
        "runs_s": several(number("of a run"), "by run"),
        "jitter": JITTER,
        "steps": several(
            record(
                {
                    "index": whole("its place, from 0"),
                    "topology_name": text("name of its topology"),
                    "topology_index": whole("place of its topology in the plan"),
                    "reconfigured": yes_or_no("whether circuits change before it"),
                    "predicted_s": number("by the plan"),
                    "measured_s": number("middle of the runs"),
                    "ratio": number("measured over predicted"),
                    "dark_s": number("from the asking for circuits to their acknowledgement"),
                    "waiting_s": number("of ranks that had arrived for the last one, their mean"),
                    "forwarded_bytes": number("that ranks passed on for others"),
                }
            ),
            "in order",
        ),
    }
)
ITERATION_RUN = record(
    {
        "schema": version("lightloom.iteration-run/1"),
        "workload": or_null(text("name of the workload")),
        "ranks": whole("number of ranks", least=1),
        "policy": text("that decided when circuits change"),
        "transport": text("what carried the bytes"),
        "dilation": number("rates were divided and delays multiplied by it; all times are divided by it"),
        "scale": whole("bytes of the plan for each that was really sent", least=1),
        "dtype": text("type of the data"),
        "reduction": text("of the data"),
        "packet_bytes": whole("payload of a packet"),
        "warm_ups": whole("iterations before those that were measured"),
        "planned_s": number("time of an iteration by the plan"),
        "measured_s": record(SPREAD, "of the iterations"),
        "ratio": number("the middle of the measured times over the planned one"),
        "iterations_s": several(number("of an iteration"), "by iteration"),
        "moved_bytes": whole("that crossed circuits in an iteration, all hops counted"),
        "wrong": whole("elements that are not what NumPy makes of the data"),
        "verdict": VERDICT,
        "jitter": JITTER,
        "kinds": several(
            record(
                {
                    "name": text("`compute`, `sends`, or the collective"),
                    "label": text("its axis or groups, else empty"),
                    "count": whole("events in an iteration", least=1),
                    "planned_s": number("their times by the plan, added up"),
                    "measured_s": number("their measured times, added up"),
                    "wrong": whole("elements that are not what NumPy makes of the data"),
                    "ratio": number("measured over planned"),
                }
            ),
            "of events, in the order of first use",
        ),
        "changes": several(
            record(
                {
                    "configuration": whole("that it makes, as `circuits` counts them", least=1),
                    "planned_time_s": number("when it has to begin, since the iteration began"),
                    "measured_time_s": number("when it was asked for; below 0 while the one before ended", least=None),
                    "planned_dark_s": number("the reconfiguration delay"),
                    "dark_s": number("from the asking for circuits to their acknowledgement"),
                }
            ),
            "of circuits, in the order of their planned times",
        ),
        "events": several(
            record(
                {
                    "node": text("its id in the workload"),
                    "kind": one_of("what it is", "compute", "collective", "send"),
                    "label": text("the axis or groups of a collective, `sends` or `compute`"),
                    "planned_start_s": number("since the iteration began"),
                    "measured_start_s": number("since the iteration began, its circuits being there"),
                    "planned_s": number("its time by the plan"),
                    "measured_s": number("middle of the iterations"),
                    "ratio": number("measured over planned"),
                    "circuit_bytes": whole("that crossed circuits, all hops counted"),
                    "planned_circuit_bytes": whole("that were to cross circuits"),
                    "wrong": whole("elements that are not what NumPy makes of the data"),
                }
            ),
            "in the order of the workload",
        ),
    }
)
SENDS = record(
    {
        "schema": version("lightloom.sends/1"),
        "transport": text("what carried the bytes"),
        "verdict": VERDICT,
        "rows": several(
            record(
                {
                    "size_bytes": whole("of the message", least=1),
                    "time_s": number("middle of the measured times"),
                    "predicted_s": number("by its plan"),
                    "dilation": number("that times are divided by"),
                    "lateness_s": number("of the machine"),
                    "verdict": VERDICT,
                }
            ),
            "by size",
        ),
    }
)
BARRIERS = record(
    {
        "schema": version("lightloom.barriers/1"),
        "cores": whole("that the processes could be on", least=1),
        "barriers": several(
            record({"name": text("its name"), "summary": text("how it works"), "source": text("where it is from")}),
            "what was measured",
        ),
        "rows": several(
            record(
                {
                    "barrier": text("its name"),
                    "ranks": whole("that meet", least=1),
                    "rounds": whole("that were measured", least=1),
                    "median_s": number("of a round"),
                    "mean_s": number("of a round"),
                    "most_of_99_s": number("99 of 100 rounds took so long at most"),
                }
            ),
            "by barrier and ranks",
        ),
    }
)


def _estimate(meaning: str, **more: Form) -> Form:
    ends = {
        "low": or_null(number("least end of its interval; null where nothing bounds it", least=None)),
        "high": or_null(number("largest end", least=None)),
    }
    return record({"value": number("the estimate"), **ends, **more}, meaning)


RESIDUAL = {
    "row": whole("its place, from 1", least=1),
    "line": whole("of the file"),
    "size_bytes": number("of the rank's buffer"),
    "time_s": number("measured"),
    "steps": number("of the collective"),
    "hops": number("over all steps"),
    "wire_bytes": number("on the busiest link, over all steps"),
    "fitted_s": number("by the fit"),
    "residual": number("measured over fitted, less 1", least=None),
}
CALIBRATION = record(
    {
        "schema": version("lightloom.calibration/1"),
        "errors": text("what is least"),
        "confidence": number("of the intervals"),
        "startup_s": _estimate("startup latency of a step"),
        "bandwidth_bps": _estimate("rate of a circuit, bit/s"),
        "hop_delay_s": _estimate("delay of a hop", fitted=yes_or_no("whether it was fitted, not stated")),
        "r_squared": or_null(number("share of the variance that the fit explains", least=None)),
        "rms_residual": number("root mean square of the residuals"),
        "worst": record(RESIDUAL, "the row farthest from the fit"),
        "rows": several(record(RESIDUAL), "all rows"),
        "ignored_columns": several(text("a column"), "of the file"),
        "notes": several(text("a sentence"), "what a reader of the numbers must know"),
    }
)

DOCUMENTS: dict[str, Form] = {
    "run": RUN,
    "iteration-run": ITERATION_RUN,
    "sends": SENDS,
    "barriers": BARRIERS,
    "calibration": CALIBRATION,
}
